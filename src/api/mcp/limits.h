// The limits of the MCP endpoint, each with a name.
#pragma once

#include <chrono>
#include <cstddef>

namespace reprise::api {

// Transport sessions at a time. They cost a few hundred bytes each, and most clients never end
// theirs; so when there is no room, the one that was idle longest goes, if it was idle for long.
inline constexpr std::size_t kMaxMcpSessions = 10'000;
inline constexpr std::chrono::minutes kMcpSessionMayGo{10};
// Clients stay open overnight, and many of them do not get over a session that is gone.
inline constexpr std::chrono::hours kMcpSessionIdle{24};
// Sessions that are gone and remembered, so that a client is told why.
inline constexpr std::size_t kMaxMcpSessionsRemembered = 10'000;

// Calls that run at a time: in one transport session, and on one loop.
inline constexpr std::size_t kMaxMcpCallsPerSession = 64;
inline constexpr std::size_t kMaxMcpCallsPerLoop = 2'048;

// A call that takes longer is answered with a stream, which costs the connection, and with
// heartbeats in it, by which a client that has gone is noticed.
inline constexpr std::chrono::milliseconds kMcpPatience{1'000};

// What is kept of what a client says that it is.
inline constexpr std::size_t kMaxMcpClientBytes = 128;

// How long a client may believe that the list of tools is still the same.
inline constexpr std::chrono::milliseconds kMcpListFresh{300'000};

}  // namespace reprise::api
