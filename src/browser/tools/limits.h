// The limits of what tools may be asked for.
#pragma once

#include <cstdint>

namespace reprise::browser {

// A page's width and height, in CSS pixels.
inline constexpr std::int64_t kMaxViewport = 16'384;
inline constexpr std::int64_t kMaxTabIndex = 9'999;

// What a snapshot may be cut to; larger ones are cut by themselves (browser/page).
inline constexpr std::int64_t kMaxSnapshotDepth = 1'000;
inline constexpr std::int64_t kMaxSnapshotBytes = 4 * 1024 * 1024;

inline constexpr double kMaxWaitSeconds = 300;
inline constexpr std::int64_t kMaxRequestIndex = 1'000'000;
inline constexpr std::int64_t kMaxClickCount = 10;
inline constexpr std::int64_t kMaxClickDelayMs = 10'000;

// What the tools about sessions ask for.
inline constexpr std::int64_t kMaxListedSessions = 200;
inline constexpr std::int64_t kMaxListedCommands = 200;

}  // namespace reprise::browser
