// The limits of the CDP endpoint: what a client may make us hold.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace reprise::browser {

// Ids of commands that are ours and not the client's. Chromium's ids have 32 bits; clients count
// from one, and one that reaches this is refused.
inline constexpr std::int32_t kFirstOwnCdpId = 1 << 30;
// DevTools sessions on one client's connection, and targets that one of them is shown. A page whose
// process was taken over can announce as many as it likes.
inline constexpr std::size_t kMaxCdpSessions = 10'000;
inline constexpr std::size_t kMaxAnnouncedTargets = 10'000;
// Commands whose replies we wait for on behalf of one client.
inline constexpr std::size_t kMaxTrackedCdpCommands = 4096;
// Messages of a client that wait behind a question, for callers that go on reading.
inline constexpr std::size_t kMaxWaitingCdpMessages = 1024;
// How long a client that is ready to run a page waits for the others of its session.
inline constexpr std::chrono::milliseconds kMaxResumeWait{1500};
// How long after it began to attach a client is sure to be attached to everything new.
inline constexpr std::chrono::milliseconds kWatcherSettles{5000};
// How long a popup is remembered for clients that have not heard of it yet.
inline constexpr std::chrono::milliseconds kPopupMemory{30'000};
// Files of one file input or one drag.
inline constexpr std::size_t kMaxCdpFiles = 1024;
// Downloads of a session that a client is told of.
inline constexpr std::size_t kMaxKnownDownloads = 1024;
// Downloads of which it is not known yet whether they are the session's, and messages about them.
inline constexpr std::size_t kMaxUndecidedDownloads = 64;
inline constexpr std::size_t kMaxUndecidedMessages = 64;

// How long commands behind one whose outcome is not known wait for it to be put on record first.
inline constexpr std::chrono::milliseconds kMaxOutcomeWait{5000};
// Keystrokes, or turns of the wheel, with no longer pause between them are one command.
inline constexpr std::chrono::milliseconds kInputQuiet{1000};
// Keys without a character that are named in one command.
inline constexpr std::size_t kMaxNamedKeys = 16;

}  // namespace reprise::browser
