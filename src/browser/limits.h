// The limits of the browser layer, each with a name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reprise::browser {

// Commands that a browser has not taken; one that takes none is stuck, and is given up.
inline constexpr std::size_t kMaxPipeBacklogBytes = 64 * 1024 * 1024;
// Small questions whose answer nobody waits for; beyond it they are not asked.
inline constexpr std::size_t kMaxAsked = 10'000;

// What is remembered of one page; a page that has more is served all the same.
inline constexpr std::size_t kMaxFramesPerPage = 1'000;
// Frames in frames that are followed to an element.
inline constexpr std::size_t kMaxFrameSteps = 8;
inline constexpr std::size_t kMaxKeptRequests = 1'000;
inline constexpr std::size_t kMaxKeptUrlBytes = 2'048;
inline constexpr std::size_t kMaxKeptHeaderBytes = 16 * 1024;
inline constexpr std::size_t kMaxKeptPostBytes = 16 * 1024;
inline constexpr std::size_t kMaxConsoleMessages = 1'000;
inline constexpr std::size_t kMaxConsoleTextBytes = 4'096;
// Of what a page said and asked for, whatever documents it has shown meanwhile: the newest. And
// what is kept of it with one command, in bytes of JSON, and of one text of it.
inline constexpr std::size_t kMaxJournalMessages = 200;
inline constexpr std::size_t kMaxJournalRequests = 200;
inline constexpr std::size_t kMaxCommandLogBytes = 64 * 1024;
inline constexpr std::size_t kMaxLoggedTextBytes = 1'024;

// A snapshot's text, unless less is asked for.
inline constexpr std::size_t kMaxSnapshotBytes = 512 * 1024;

// What a client may ask of a context.
inline constexpr double kMaxViewport = 10'000;
inline constexpr std::size_t kMaxExtraHeaderBytes = 16 * 1024;
// Tabs of one session; a further one is refused, and one that a page opens has no tab.
inline constexpr std::size_t kMaxTabsPerSession = 100;
// Commands that may wait for one session's browser; beyond it: 429.
inline constexpr std::size_t kMaxQueuedCommands = 256;
// What clients of the browser's own protocol have done and the store has not taken, for one
// session; beyond it their messages wait.
inline constexpr std::size_t kMaxUnstored = 256;
// The longest that browser_wait_for waits for nothing but time.
inline constexpr double kMaxWaitSeconds = 60;

// A storage state, in or out; what a context has beyond it is not kept. And what it is made of.
inline constexpr std::size_t kMaxStorageStateBytes = 4 * 1024 * 1024;
inline constexpr std::size_t kMaxStateCookies = 5'000;
inline constexpr std::size_t kMaxStateOrigins = 500;
inline constexpr std::size_t kMaxStateItems = 10'000;
inline constexpr std::size_t kMaxStateOriginBytes = 512;
inline constexpr std::size_t kMaxCookieBytes = 4'096;
// What is told to be wrong with one.
inline constexpr std::size_t kMaxStateErrors = 20;
// A state of so many bytes is written at most once a second, a larger one more rarely.
inline constexpr std::size_t kStateBytesPerSecond = 256 * 1024;

// Live views. Viewers of one session; a further one is refused (429).
inline constexpr std::size_t kMaxViewersPerSession = 100;
// Pictures that a viewer has not acknowledged; until it does it gets no more.
inline constexpr unsigned kMaxPicturesUnderWay = 2;
// What a person says in one message, and how much waits to be done: beyond it nothing is read.
inline constexpr std::size_t kMaxLiveMessageBytes = 256 * 1024;
inline constexpr std::size_t kMaxLiveTextBytes = 64 * 1024;
inline constexpr std::size_t kMaxLiveValues = 100;
inline constexpr std::size_t kMaxLiveInputs = 64;
// Text that is gathered into one command of a person's; more begins another.
inline constexpr std::size_t kMaxTypedBytes = 16 * 1024;

// What a page downloads; a larger one is cancelled, and so is one too many at a time. Lines about
// them that wait for the next answer, and a name's bytes.
inline constexpr std::uint64_t kMaxDownloadBytes = 512ULL * 1024 * 1024;
inline constexpr std::size_t kMaxDownloadsAtOnce = 10;
inline constexpr std::size_t kMaxDownloadNotes = 100;
inline constexpr std::size_t kMaxDownloadNameBytes = 200;
// A file that is lent has at most what a file system takes for a name.
inline constexpr std::size_t kMaxLentNameBytes = 255;
// Artifacts that one call hands to a page.
inline constexpr std::size_t kMaxLentFiles = 100;
inline constexpr std::uint64_t kMaxLentBytes = 1024ULL * 1024 * 1024;

// Pages of commands, and rows that one may look at.
inline constexpr std::size_t kMaxCommandPageLimit = 500;
inline constexpr std::size_t kDefaultCommandPageLimit = 50;
inline constexpr std::size_t kMaxExaminedCommands = 10'000;
// Pools of other processes; a further one is refused with 429.
inline constexpr std::size_t kMaxExternalPools = 1'000;
inline constexpr std::size_t kMaxPoolKeyBytes = 64;
inline constexpr std::size_t kMaxPoolLocationBytes = 1'024;
inline constexpr std::uint64_t kMaxPoolHeartbeatSeconds = 3'600;
inline constexpr std::uint64_t kMaxPoolContexts = 1'000'000;
// Rows of an index that one page of the graph may look at.
inline constexpr std::size_t kMaxGraphExamined = 10'000;
// Nodes of the graph that one key may find.
inline constexpr std::size_t kMaxGraphPage = 100;

}  // namespace reprise::browser
