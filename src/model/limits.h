// The limits of the model, each with a name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reprise::model {

inline constexpr std::size_t kMaxAppBytes = 64;
inline constexpr std::size_t kMaxNameBytes = 512;
inline constexpr std::size_t kMaxIdentifierBytes = 256;  // graphId, ownerAgent
inline constexpr std::size_t kMaxMetadataBytes = 64 * 1024;
inline constexpr std::size_t kMaxReasonBytes = 4 * 1024;  // reason and error texts
inline constexpr std::size_t kMaxStepsBytes = 1024 * 1024;
inline constexpr std::uint64_t kMaxTtlSeconds = 10ULL * 366 * 24 * 3600;
inline constexpr std::size_t kMaxEventsPerAppend = 1000;
// Questions to people.
inline constexpr std::size_t kMaxOpenInteractions = 32;  // of one session
inline constexpr std::size_t kMaxChoices = 100;
inline constexpr std::size_t kMaxQuestionBytes = 64 * 1024;
inline constexpr std::size_t kMaxAnswerBytes = 64 * 1024;
inline constexpr std::uint64_t kMaxDeadlineMs = kMaxTtlSeconds * 1000;
// Agents: how often one beats, and how many beats it may miss.
inline constexpr std::uint64_t kMaxHeartbeatSeconds = 3'600;
inline constexpr std::uint64_t kDefaultHeartbeatSeconds = 15;
inline constexpr std::uint64_t kMissedBeatsUntilLost = 3;

// Checkpoints: a name, and what is saved under it.
inline constexpr std::size_t kMaxCheckpointNameBytes = 200;
inline constexpr std::size_t kMaxCheckpointBytes = 1024 * 1024;
// Inputs that wait behind the active one, and the data of one.
inline constexpr std::size_t kMaxQueuedInputs = 1'000;
// Pools that a session's record names; of more, the latest.
inline constexpr std::size_t kMaxSessionPools = 16;
inline constexpr std::size_t kMaxInputBytes = 256 * 1024;

// Tool calls.
inline constexpr std::size_t kMaxToolNameBytes = 128;
// What is kept of an input, an output or an error; what is longer is cut.
inline constexpr std::size_t kMaxSummaryBytes = 2 * 1024;
// Calls of one session that are started and not finished; the state holds them.
inline constexpr std::size_t kMaxOpenToolCalls = 256;
// Names and prefixes an operator may add to what is redacted.
inline constexpr std::size_t kMaxRedactionRules = 256;
inline constexpr std::size_t kMaxRedactionRuleBytes = 128;
// Texts that hold JSON that holds texts: how far down they are read as JSON.
inline constexpr int kMaxEmbeddedJson = 3;

// Files of a session.
inline constexpr std::size_t kMaxArtifactPathBytes = 1024;
inline constexpr std::size_t kMaxContentTypeBytes = 256;
// What two versions may have to be compared, how different they may be, and how long what is said
// about it may get.
inline constexpr std::size_t kMaxDiffedBytes = 256 * 1024;
inline constexpr std::size_t kMaxDiffedLines = 10'000;
inline constexpr std::size_t kMaxDiffEdits = 1'000;
inline constexpr std::size_t kMaxDiffBytes = 64 * 1024;

}  // namespace reprise::model
