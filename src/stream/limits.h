// The limits of the stream layer, each with a name.
#pragma once

#include <chrono>
#include <cstddef>

namespace reprise::stream {

// Batches on their way from a session's loop to another loop's hub; beyond it, readers there go
// back to the store.
inline constexpr std::size_t kMaxHubMailbox = 16'384;
// What one read of the store gives a reader that catches up.
inline constexpr std::size_t kReplayChunkBytes = 256 * 1024;
inline constexpr std::size_t kReplayChunkEntries = 2'000;
// Idempotency keys are kept this long.
inline constexpr std::chrono::hours kIdempotencyWindow{24};
inline constexpr std::size_t kMaxIdempotencyKeyBytes = 255;

}  // namespace reprise::stream
