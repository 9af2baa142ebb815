// The limits of the proxy and of the rules it follows, each with a name. Those that ProxyLimits
// (context_proxy.h) repeats are its defaults.
#pragma once

#include <chrono>
#include <cstddef>

namespace reprise::browser {

// An app's rules.
inline constexpr std::size_t kMaxUrlPatterns = 1'000;  // of one list
inline constexpr std::size_t kMaxUrlPatternBytes = 300;
inline constexpr std::size_t kMaxUrlSchemes = 16;
inline constexpr std::size_t kMaxUrlSchemeBytes = 32;

// Connections of one context. Chromium opens 32 to a proxy, and WebSockets besides.
inline constexpr std::size_t kMaxProxyConnections = 256;
// What is read at once and held on its way, per direction; an idle connection holds the smaller.
inline constexpr std::size_t kProxyBufferBytes = 64 * 1024;
inline constexpr std::size_t kIdleProxyBufferBytes = 4 * 1024;
// The head of a request; Chromium's own limit for one in its answer is as large.
inline constexpr std::size_t kMaxProxyTargetBytes = 64 * 1024;
inline constexpr std::size_t kMaxProxyHeadBytes = 256 * 1024;
inline constexpr std::size_t kMaxProxyHeaders = 200;
// Addresses of one name that are tried.
inline constexpr std::size_t kMaxProxyAddresses = 8;
// Hosts of which it is remembered why they could not be reached.
inline constexpr std::size_t kMaxKnownTroubles = 256;
// Of a URL in a report.
inline constexpr std::size_t kMaxReportedUrlBytes = 2'048;

// From looking up a name to a connection, the user's own proxy included.
inline constexpr std::chrono::milliseconds kProxyConnectTimeout{10'000};
// From the first byte of a request's head to its last.
inline constexpr std::chrono::milliseconds kProxyHeadTimeout{30'000};
// Between two requests. Chromium keeps a connection for five minutes, and copes with its end.
inline constexpr std::chrono::milliseconds kProxyIdleTimeout{120'000};
// A request and its response, while no byte moves: a server may think for so long.
inline constexpr std::chrono::milliseconds kProxyExchangeTimeout{600'000};
// A tunnel, while no byte moves: a WebSocket may be silent for so long. One that ended on one side
// has not much to wait for.
inline constexpr std::chrono::milliseconds kProxyTunnelTimeout{3'600'000};
inline constexpr std::chrono::milliseconds kHalfClosedTunnelTimeout{60'000};
// A connection closed with unread bytes is reset, and the reset may overtake the last answer: what
// the client still sends is read, so much and for so long, before the close.
inline constexpr std::size_t kMaxProxyLingerBytes = 16 * 1024 * 1024;
inline constexpr std::chrono::milliseconds kProxyLingerTimeout{2'000};

// The user's own proxy.
inline constexpr std::size_t kMaxUpstreamTextBytes = 1'024;
inline constexpr std::size_t kMaxUpstreamNameBytes = 255;  // and its password; RFC 1929's limit
// A name that it is given was judged by its addresses here. How long that holds, for how many
// names, and how long a lookup may take where only the rule that nobody wrote could refuse it.
inline constexpr std::chrono::milliseconds kJudgedNameTime{30'000};
inline constexpr std::size_t kMaxJudgedNames = 1'000;
inline constexpr std::chrono::milliseconds kMaxSecondaryLookup{2'000};

}  // namespace reprise::browser
