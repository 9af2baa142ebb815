// The limits of the session layer, each with a name.
#pragma once

#include <chrono>
#include <cstddef>

namespace reprise::session {

// Calls that may wait for one session's commit in flight; beyond it: 429.
inline constexpr std::size_t kMaxQueuedPerSession = 4'096;
// Sessions kept in memory per loop; the longest unused are dropped and loaded again on demand.
inline constexpr std::size_t kMaxLoadedPerLoop = 50'000;
inline constexpr std::size_t kMaxListLimit = 500;
inline constexpr std::size_t kDefaultListLimit = 50;
// Rows one page of a list may look at; a page that reaches it is short and has a cursor.
inline constexpr std::size_t kMaxExaminedRows = 10'000;
inline constexpr std::size_t kMaxEventPageLimit = 1'000;
inline constexpr std::size_t kDefaultEventPageLimit = 100;
inline constexpr std::size_t kMaxEventPageBytes = 8 * 1024 * 1024;
// Client ids remembered per session.
inline constexpr std::size_t kMaxSubscribersPerSession = 10'000;
inline constexpr std::size_t kMaxClientIdBytes = 128;
// Entries kept in each of the monitor's feeds.
inline constexpr std::size_t kMaxFeedEntries = 65'536;
// How many things the janitor does between two looks at the clock.
inline constexpr std::size_t kJanitorBatch = 256;
inline constexpr std::chrono::milliseconds kJanitorInterval{200};
inline constexpr std::chrono::seconds kFeedTrimInterval{10};
// Attempts of a call that loses a race for a key, before it is told to come back.
inline constexpr int kMaxKeyRaces = 16;

}  // namespace reprise::session
