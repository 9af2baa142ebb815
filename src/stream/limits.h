// The limits of the stream layer, each with a name.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace reprise::stream {

// Batches on their way from a session's loop to another loop's hub; beyond it, readers there go
// back to the store.
inline constexpr std::size_t kMaxHubMailbox = 16'384;
// What one read of the store gives a reader that catches up.
inline constexpr std::size_t kReplayChunkBytes = 256 * 1024;
inline constexpr std::size_t kReplayChunkEntries = 2'000;
// Calls that may wait for one log's commit in flight; beyond it: 429.
inline constexpr std::size_t kMaxQueuedPerLog = 4'096;
// Appends that become one commit are no more once they have so many bytes.
inline constexpr std::size_t kMaxLogBatchBytes = 16 * 1024 * 1024;
// Attempts of a change that loses a race for a log's record, before it is told to come back.
inline constexpr int kMaxLogRaces = 16;
// Producers a log's actor remembers; the others are read again.
inline constexpr std::size_t kMaxCachedProducers = 1'024;
// Logs kept in memory per loop.
inline constexpr std::size_t kMaxLoadedLogs = 50'000;
// How often logs past their time are removed.
inline constexpr std::chrono::milliseconds kLogJanitorInterval{500};
// Forks of forks: how many sources a log may have above it. Deleting the last of such a chain may
// remove all of it in one commit.
inline constexpr std::uint64_t kMaxForkDepth = 1'024;
// A century and more is as good as for ever, and fits the clock.
inline constexpr std::uint64_t kMaxTtlSeconds = std::uint64_t{1} << 32;
inline constexpr std::size_t kMaxLogPathBytes = 1'024;
inline constexpr std::size_t kMaxContentTypeBytes = 256;
inline constexpr std::size_t kMaxProducerIdBytes = 256;
inline constexpr std::size_t kMaxWriterSeqBytes = 256;

// Changes of streams on their way to the subscriptions.
inline constexpr std::size_t kMaxSubscriptionNews = 65'536;
inline constexpr std::chrono::milliseconds kSubscriptionTick{100};
// How long after a loss of news, at the earliest, every stream is looked at again.
inline constexpr std::chrono::seconds kLookAtEverythingInterval{5};
inline constexpr std::size_t kMaxSubscriptions = 10'000;
inline constexpr std::size_t kMaxSubscriptionIdBytes = 256;
// Paths of which is remembered whom their news concern.
inline constexpr std::size_t kMaxConcernedPaths = 100'000;
// Streams one wake tells of; the others follow with the next.
inline constexpr std::size_t kMaxStreamsTold = 1'000;
inline constexpr std::size_t kMaxWebhooksInFlight = 256;
// How long a wake's token counts, however often its lease is renewed.
inline constexpr std::chrono::hours kTokenLifetime{24};

// Idempotency keys are kept this long.
inline constexpr std::chrono::hours kIdempotencyWindow{24};
inline constexpr std::size_t kMaxIdempotencyKeyBytes = 255;

}  // namespace reprise::stream
