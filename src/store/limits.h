// The limits of the store; each is a bound on memory or on time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace reprise::store {

// The committer's queue: beyond either, submit() answers kOverloaded.
inline constexpr std::size_t kMaxQueuedCommits = 65536;
inline constexpr std::size_t kMaxQueuedBytes = std::size_t{256} << 20;

// One synced write: it takes at least one commit, whatever that commit's size.
inline constexpr std::size_t kMaxBatchCommits = 4096;
inline constexpr std::size_t kMaxBatchBytes = std::size_t{16} << 20;

// How often a full store is asked whether there is room again.
inline constexpr std::chrono::nanoseconds kRecoveryInterval = std::chrono::seconds{1};

// A server that writes little does not keep it all in memory until a write buffer is full: after
// this long it goes into a table, if it is worth one. The log to be read at a start stays short.
inline constexpr std::chrono::nanoseconds kFlushInterval = std::chrono::seconds{60};
inline constexpr std::size_t kMinFlushBytes = std::size_t{1} << 20;

// Heads of streams that the committer remembers (40 bytes each), so that an append reads nothing.
inline constexpr std::size_t kHeadCacheStreams = std::size_t{128} << 10;
// Counters that the committer remembers.
inline constexpr std::size_t kCounterCacheEntries = std::size_t{64} << 10;

// A cut of a stream that holds no more entries than this deletes them one by one. A range tombstone
// is shorter, but every read has to look at all of them until a compaction has taken them away.
inline constexpr std::size_t kMaxPointDeletesPerCut = 256;

// What blobs leave free on the file system: a large file must not take the room that commits need.
inline constexpr std::uint64_t kBlobReserveBytes = std::uint64_t{64} << 20;

}  // namespace reprise::store
