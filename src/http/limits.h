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
inline constexpr std::size_t kMaxRequestIdBytes = 64;
inline constexpr std::size_t kMaxTokens = 10'000;
// A connection closed with unread bytes is reset, and the reset may overtake the last answer. So
// what the client still sends is read, so much and for so long, before the close.
inline constexpr std::size_t kMaxLingerBytes = 4 * 1024 * 1024;
inline constexpr std::chrono::seconds kLingerTimeout{2};
// Connections over the limit that are told so at the same time; further ones are just closed.
inline constexpr std::size_t kMaxRefusing = 64;

}  // namespace reprise::http
