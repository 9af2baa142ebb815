// What an archive of a session consists of. It is a tar (wire/tar.h) with these members, in this
// order and no others:
//
//     reprise.json               which format, which session, and how much of it there is
//     session.json               the record, as it follows from the events, and what does not
//     artifacts-000001.ndjson    every version of every artifact: a line each, by path and version
//     checkpoints-000001.ndjson  every version of every checkpoint: the same, by name and version
//     events-000001.ndjson       every event, also what a reset hides: a line each
//     contents/<sha256>          each content once, by its hash
//     SHA256SUMS                 the hashes of all members before it, as sha256sum writes them
//
// Members of lines end at the line that reaches kArchiveChunkBytes, and the next number follows; a
// session without artifacts or checkpoints has none of those. Everything has one spelling: each
// decoder here accepts only what its encoder writes, so a session that is imported under its own id
// is exported as the same bytes. No server, no clock and no internal id is in it.
//
// Interactions, inputs and tool calls are what their events say, and are found anew on import. Not
// in an archive: idempotency keys, subscribers, leases, and files under tmp/ that have gone with
// the session's end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/checkpoint.h"
#include "model/event.h"
#include "model/session_state.h"
#include "session/artifact_records.h"

namespace reprise::session {

inline constexpr std::string_view kManifestName = "reprise.json";
inline constexpr std::string_view kRecordName = "session.json";
inline constexpr std::string_view kSumsName = "SHA256SUMS";
std::string artifacts_name(std::uint64_t number);  // from 1 on
std::string checkpoints_name(std::uint64_t number);
std::string events_name(std::uint64_t number);
std::string content_name(std::string_view hash);

struct ArchiveManifest {
  SessionId session;
  std::string app;
  Seq last_seq;
  std::uint64_t versions = 0;  // of artifacts
  std::uint64_t contents = 0;
  std::uint64_t content_bytes = 0;
  std::uint64_t checkpoints = 0;  // versions of them
};
std::string encode_manifest(const ArchiveManifest& manifest);
Result<ArchiveManifest> parse_manifest(std::string text);

// What of a session its events do not say.
struct BesidesEvents {
  std::uint64_t revision = 1;
  std::optional<TimePoint> touched_at;  // StoredSession::slid_at
};
std::string encode_record(const model::SessionState& state, const BesidesEvents& besides);
// The rest is compared with what follows from the events.
Result<BesidesEvents> parse_besides(std::string text);

struct ArchivedVersion {
  StoredVersion version;
  // Where versions after the last one kept were deleted: the highest number the path has had.
  std::optional<std::uint64_t> last_number;
};
// With the line's end.
void append_version_line(std::string& out, const ArchivedVersion& version);
Result<ArchivedVersion> parse_version_line(std::string line);

struct ArchivedCheckpoint {
  std::string name;
  model::CheckpointVersion version;
  // Where versions after the last one kept have gone: the highest number the name has had.
  std::optional<std::uint64_t> last_number;
};
// `data` is what was saved, minified.
void append_checkpoint_line(std::string& out, const ArchivedCheckpoint& checkpoint,
                            std::string_view data);
struct CheckpointLine {
  ArchivedCheckpoint checkpoint;
  std::string data;
};
Result<CheckpointLine> parse_checkpoint_line(std::string line);

struct ArchivedEvent {
  Seq seq;
  model::Event event;
  std::optional<model::AuditHash> hash;  // of an audited one
};
void append_event_line(std::string& out, Seq seq, const model::EntryView& entry);
Result<ArchivedEvent> parse_event_line(std::string line);

// A line of SHA256SUMS.
std::string sum_line(std::string_view hash, std::string_view name);

}  // namespace reprise::session
