// The limits of the API, each with a name.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace reprise::api {

// What one catch-up read of a log gives.
inline constexpr std::size_t kMaxLogChunkBytes = 4 * 1024 * 1024;

// A subscription's pattern, address, description or worker.
inline constexpr std::size_t kMaxSubscriptionTextBytes = 2'048;

// How long a call waits for an answer, and how many interactions a page has.
inline constexpr std::uint64_t kMaxWaitMs = 120'000;
inline constexpr std::size_t kDefaultInteractionPageLimit = 50;
inline constexpr std::size_t kMaxInteractionPageLimit = 200;

// An app's webhook's address; the server's own limit for these is no higher.
inline constexpr std::size_t kMaxWebhookTextBytes = 2'048;

// A page of apps.
inline constexpr std::size_t kDefaultAppPageLimit = 50;
inline constexpr std::size_t kMaxAppPageLimit = 500;

// A token that is exchanged for a login.
inline constexpr std::size_t kMaxLoginTokenBytes = 1'024;

// What the events of one call may weigh together.
inline constexpr std::size_t kMaxAppendBytes = 8 * 1024 * 1024;
// Types one page of events may be filtered by.
inline constexpr std::size_t kMaxTypesFilter = 32;

// A tool's input or output that is summarised, and a summary or an error as a client gives it.
inline constexpr std::size_t kMaxToolPayloadBytes = 1024 * 1024;
inline constexpr std::size_t kMaxToolTextBytes = 64 * 1024;
// Redaction of more than this is done on a thread of the pool.
inline constexpr std::size_t kMaxRedactedInLoopBytes = 32 * 1024;

// The devtools feed: what is kept for those who come back, for how long after the last listener
// went, what may wait on its way to the feed, and who may listen at a time.
inline constexpr std::size_t kMaxDevtoolsKept = 10'000;
inline constexpr std::chrono::seconds kDevtoolsAfterglow{60};
inline constexpr std::size_t kMaxDevtoolsMailbox = 8'192;
inline constexpr std::size_t kMaxDevtoolsListeners = 64;
// What one look of a listener takes.
inline constexpr std::size_t kDevtoolsReadEntries = 256;
// What is shown of a message, and how long one may be to be looked into.
inline constexpr std::size_t kMaxDevtoolsTextBytes = 200;
inline constexpr std::size_t kMaxDevtoolsParsedBytes = 64 * 1024;

// The DevTools endpoint: a message of a client, which may bring whole documents; and what waits for
// a client that takes nothing, beyond which it is sent away.
inline constexpr std::size_t kMaxCdpClientMessageBytes = 64 * 1024 * 1024;
inline constexpr std::size_t kMaxCdpBacklogBytes = 32 * 1024 * 1024;

}  // namespace reprise::api
