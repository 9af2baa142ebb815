// The limits of the session layer, each with a name.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace reprise::session {

// Calls that may wait for one session's commit in flight; beyond it: 429.
inline constexpr std::size_t kMaxQueuedPerSession = 4'096;
// Sessions kept in memory per loop; the longest unused are dropped and loaded again on demand.
inline constexpr std::size_t kMaxLoadedPerLoop = 50'000;
inline constexpr std::size_t kMaxListLimit = 500;
inline constexpr std::size_t kDefaultListLimit = 50;
// Rows one page of a list may look at; a page that reaches it is short and has a cursor.
inline constexpr std::size_t kMaxExaminedRows = 10'000;
inline constexpr std::size_t kMaxEventPageLimit = 1'000;
inline constexpr std::size_t kDefaultEventPageLimit = 100;
inline constexpr std::size_t kMaxEventPageBytes = 8 * 1024 * 1024;
inline constexpr std::size_t kMaxToolCallPageLimit = 500;
inline constexpr std::size_t kDefaultToolCallPageLimit = 50;
// Client ids remembered per session.
inline constexpr std::size_t kMaxSubscribersPerSession = 10'000;
inline constexpr std::size_t kMaxClientIdBytes = 128;
// Entries kept in each of the monitor's feeds.
inline constexpr std::size_t kMaxFeedEntries = 65'536;
// How many things the janitor does between two looks at the clock.
inline constexpr std::size_t kJanitorBatch = 256;
inline constexpr std::chrono::milliseconds kJanitorInterval{200};
inline constexpr std::chrono::seconds kFeedTrimInterval{10};
// Attempts of a call that loses a race for a key, before it is told to come back.
inline constexpr int kMaxKeyRaces = 16;

// Agents that are known, alive or lost; a further one is refused: 429.
inline constexpr std::size_t kMaxAgents = 200'000;
// How often agents are looked at, and after how long a failed write about one is tried again.
inline constexpr std::chrono::milliseconds kAgentInterval{100};
inline constexpr std::chrono::seconds kAgentRetryInterval{1};
// A server that comes to look later than this was not listening either: the time does not count.
inline constexpr std::chrono::seconds kMaxAgentLookDelay{2};
// Agents looked at in one turn of the loop, and losses that may wait for their commit.
inline constexpr std::size_t kAgentsPerTurn = 256;
inline constexpr std::size_t kMaxLossesInFlight = 1'024;
// Of lost agents, how many have their sessions seen to at once, and how many sessions in all.
inline constexpr std::size_t kMaxAgentsSeenToAtOnce = 16;
inline constexpr std::size_t kMaxSessionsSeenToAtOnce = 64;
// A registration or deletion waits so long for a loss to be dealt with, and is then refused: 503.
inline constexpr std::chrono::seconds kMaxWaitForLoss{10};
// A lost agent that does not come back is forgotten after this.
inline constexpr std::chrono::hours kKeepLostAgents{7 * 24};
// Sessions of an app that are closed at once, and failures of that which are told one by one.
inline constexpr std::size_t kSessionsClosedAtOnce = 64;
inline constexpr std::size_t kMaxCloseFailures = 1'000;

// Artifacts: versions of one path, and of one session; beyond: 413. What one session's files may
// take, and one file, unless the operator says otherwise.
inline constexpr std::uint64_t kMaxVersionsPerArtifact = 10'000;
inline constexpr std::uint64_t kMaxVersionsPerSession = 100'000;
inline constexpr std::uint64_t kDefaultMaxSessionBytes = 10ULL << 30;
inline constexpr std::uint64_t kDefaultMaxArtifactBytes = 4ULL << 30;
// Uploads and downloads at one time; beyond: 503. Each has a buffer and at most one call waiting
// for the disk.
inline constexpr std::size_t kMaxTransfers = 512;
// An upload under way is activity of its session, noted so often.
inline constexpr std::chrono::milliseconds kUploadTouchInterval{250};
inline constexpr std::size_t kMaxArtifactPageLimit = 500;
inline constexpr std::size_t kDefaultArtifactPageLimit = 50;
// How often what nobody refers to is looked for.
inline constexpr std::chrono::milliseconds kArtifactSweepInterval{200};
// After how long all content is looked at again, if the look at the start met an error.
inline constexpr std::chrono::seconds kArtifactSweepAllRetry{60};

// Checkpoints: names of one session (beyond: 413), and versions that are kept of each.
inline constexpr std::size_t kMaxCheckpointsPerSession = 1'000;
inline constexpr std::size_t kMaxVersionsPerCheckpoint = 16;
inline constexpr std::size_t kMaxCheckpointPageLimit = 500;
inline constexpr std::size_t kDefaultCheckpointPageLimit = 50;
// A page of inputs.
inline constexpr std::size_t kMaxInputPageLimit = 200;
inline constexpr std::size_t kDefaultInputPageLimit = 50;

// Archives of sessions: what one may have, exports and imports at one time (beyond: 503), and how
// often what a failed import left is tried to be handed to the janitor again.
inline constexpr std::uint64_t kDefaultMaxImportBytes = 16ULL << 30;
inline constexpr std::size_t kMaxArchivesAtOnce = 16;
inline constexpr std::chrono::seconds kAbandonedImportInterval{1};
// A member of lines ends at the line that reaches this; a line has at most so many bytes.
inline constexpr std::size_t kArchiveChunkBytes = 1024 * 1024;
inline constexpr std::size_t kMaxArchiveLineBytes = 16 * 1024 * 1024;
// The manifest, and the record.
inline constexpr std::size_t kMaxManifestBytes = 16 * 1024;
inline constexpr std::size_t kMaxArchivedRecordBytes = 4 * 1024 * 1024;
// What is read or written of an archive before others have their turn.
inline constexpr std::size_t kArchiveStepBytes = 1024 * 1024;
// Records of artifacts that an import writes in one commit.
inline constexpr std::size_t kImportedVersionsPerCommit = 100;

}  // namespace reprise::session
