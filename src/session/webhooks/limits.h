// The limits of apps' webhooks, each with a name.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace reprise::session {

// Webhooks of one app, and of all; a further one is refused: 429.
inline constexpr std::size_t kMaxWebhooksPerApp = 50;
inline constexpr std::size_t kMaxWebhooks = 1'000;
inline constexpr std::size_t kMaxWebhookNameBytes = 64;
// Event types one may name.
inline constexpr std::size_t kMaxWebhookEvents = 64;
// Calls at once.
inline constexpr std::size_t kMaxCallsPerWebhook = 16;
inline constexpr std::size_t kMaxWebhookCalls = 256;
// Failed calls that wait to be tried again; while there are so many, the rest waits in the outbox.
inline constexpr std::size_t kMaxLettersRetried = 10'000;
// Calls that were given up; the oldest go first.
inline constexpr std::size_t kMaxDeadLetters = 10'000;
inline constexpr std::size_t kDefaultDeadLetterPageLimit = 50;
inline constexpr std::size_t kMaxDeadLetterPageLimit = 200;
// Entries of its outbox a webhook may be behind; what is older is missed.
inline constexpr std::uint64_t kMaxWebhookLag = 1'000'000;
// What one read of an outbox gives.
inline constexpr std::size_t kOutboxPageEntries = 64;
inline constexpr std::size_t kOutboxPageBytes = 256 * 1024;
// Records removed by one commit of a sweep.
inline constexpr std::size_t kWebhookSweepBatch = 64;
// How often webhooks are looked after; outboxes are trimmed, and looked at for what was not
// announced, less often.
inline constexpr std::chrono::milliseconds kWebhookTick{200};
inline constexpr std::chrono::seconds kOutboxInterval{5};
// A secret that was replaced signs so long besides its successor.
inline constexpr std::chrono::hours kOldSecretLifetime{24};
// What a failed call waits before the next attempt; after the last one it is given up.
inline constexpr std::array<std::chrono::seconds, 7> kWebhookRetryDelays = {
    std::chrono::seconds{5},  std::chrono::seconds{30}, std::chrono::minutes{2},
    std::chrono::minutes{10}, std::chrono::hours{1},    std::chrono::hours{6},
    std::chrono::hours{24}};

}  // namespace reprise::session
