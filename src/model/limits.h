// The limits of the model, each with a name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reprise::model {

inline constexpr std::size_t kMaxAppBytes = 64;
inline constexpr std::size_t kMaxNameBytes = 512;
inline constexpr std::size_t kMaxIdentifierBytes = 256;  // graphId, ownerAgent
inline constexpr std::size_t kMaxMetadataBytes = 64 * 1024;
inline constexpr std::size_t kMaxReasonBytes = 4 * 1024;  // reason and error texts
inline constexpr std::size_t kMaxStepsBytes = 1024 * 1024;
inline constexpr std::uint64_t kMaxTtlSeconds = 10ULL * 366 * 24 * 3600;
inline constexpr std::size_t kMaxEventsPerAppend = 1000;

}  // namespace reprise::model
