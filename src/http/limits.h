// The limits of the HTTP layer, each with a name. What an operator may want to change is in
// ServerOptions.
#pragma once

#include <chrono>
#include <cstddef>

namespace reprise::http {

// After these many requests a connection is closed politely, so that no client holds one forever.
inline constexpr std::size_t kMaxRequestsPerConnection = 1'000'000;
// Requests being answered per loop; beyond it: 503.
inline constexpr std::size_t kMaxInFlightPerLoop = 4'096;
// What a streaming connection may have waiting before its reader goes back to the store, and when
// it may go on.
inline constexpr std::size_t kMaxBacklogBytes = 1024 * 1024;
inline constexpr std::size_t kLowBacklogBytes = 128 * 1024;
inline constexpr std::size_t kMaxBacklogParts = 4'096;
// A reader that takes nothing for so long is closed.
inline constexpr std::chrono::seconds kStallTimeout{60};
// Reading starts with a small buffer and goes on with a large one when a body is coming.
inline constexpr std::size_t kSmallReadBytes = 4 * 1024;
inline constexpr std::size_t kLargeReadBytes = 64 * 1024;
// What is read of a file at once on its way to a client.
inline constexpr std::size_t kSourceReadBytes = 64 * 1024;
inline constexpr std::size_t kMaxRequestIdBytes = 64;
inline constexpr std::size_t kMaxTokens = 10'000;
// How long the login of a page lasts, and how many ended ones are remembered.
inline constexpr std::chrono::hours kLoginLifetime{12};
inline constexpr std::size_t kMaxEndedLogins = 4'096;
inline constexpr std::size_t kLoginKeyBytes = 32;
// A connection closed with unread bytes is reset, and the reset may overtake the last answer. So
// what the client still sends is read, so much and for so long, before the close.
inline constexpr std::size_t kMaxLingerBytes = 16 * 1024 * 1024;
inline constexpr std::chrono::seconds kLingerTimeout{2};
// Connections over the limit that are told so at the same time; further ones are just closed.
inline constexpr std::size_t kMaxRefusing = 64;

// WebSockets. The longest message, unless a route says otherwise.
inline constexpr std::size_t kMaxWebSocketMessageBytes = 16 * 1024 * 1024;
// What one that waits for a message reads at once: it may wait for days.
inline constexpr std::size_t kIdleReadBytes = 1024;
// A frame up to this size is put together; of a longer one only the header is written anew.
inline constexpr std::size_t kMaxJoinedFrameBytes = 1024;
// How often a peer is asked whether it is there, and how often in vain before it is given up.
inline constexpr std::chrono::seconds kPingInterval{25};
inline constexpr int kMaxMissedPings = 2;
// How long a peer may take to answer a close.
inline constexpr std::chrono::seconds kCloseTimeout{5};

}  // namespace reprise::http
