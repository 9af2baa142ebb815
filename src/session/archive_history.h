// ArchivedHistory: what an archive tells of a session, followed line by line and believed only
// where it fits together.
//
// First come the lines about artifacts and checkpoints, then those of the events. Events are folded
// as the server folds its own, so the state at the end is what a server would have; every version
// of an artifact must be told by its event, and every version told must be there or have been
// deleted. What a caller could not have asked for (texts, sizes, a state that no command leads out
// of) is refused: the server must be able to go on with whatever it has taken.
//
// Threads: one at a time; does no I/O.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/event.h"
#include "model/session_state.h"
#include "session/archive_format.h"

namespace reprise::session {

// What the artifacts of an imported session may take; beyond: kQuotaExceeded.
struct ArchiveLimits {
  std::uint64_t max_artifact_bytes = 0;
  std::uint64_t max_session_bytes = 0;
  std::uint64_t max_session_versions = 0;
  std::uint64_t max_versions_per_artifact = 0;
};

// Under which id and name it becomes a session; none: as it was.
struct ImportAs {
  std::optional<SessionId> id;
  std::optional<std::string> name;
};

// Who takes what has been read; nothing of it counts before all of the archive has been.
class ArchiveSink {
 public:
  virtual ~ArchiveSink() = default;
  // Before the event is folded, and after, then with its entry.
  virtual void folding(const model::SessionState& before, Seq seq, const model::Event& event) = 0;
  virtual void folded(Seq seq, const model::Event& event, std::string entry) = 0;
  virtual void checkpoint(const ArchivedCheckpoint& checkpoint, std::string data) = 0;
  virtual Result<> begin_content(const std::string& hash) = 0;
  virtual Result<> add_content(std::string_view bytes) = 0;
  virtual Result<> end_content() = 0;
};

class ArchivedHistory {
 public:
  ArchivedHistory(ArchiveLimits limits, ImportAs as, ArchiveSink* sink)
      : limits_(limits), as_(std::move(as)), sink_(sink) {}

  // Lines without their ends. kBadArchive, kQuotaExceeded.
  Result<> add_version(std::string line);
  Result<> end_versions(const ArchiveManifest& manifest);
  Result<> add_checkpoint(std::string line);
  Result<> end_checkpoints(const ArchiveManifest& manifest) const;
  Result<> add_event(std::string line);
  Result<> end_events(const ArchiveManifest& manifest, const std::string& record,
                      const BesidesEvents& besides);

  const model::SessionState& state() const { return state_; }
  const std::vector<ArchivedVersion>& versions() const { return versions_; }
  const std::vector<ArchivedCheckpoint>& checkpoints() const { return checkpoints_; }
  // Sizes by hash.
  const std::map<std::string, std::uint64_t>& contents() const { return contents_; }

 private:
  Result<> check_version(const ArchivedVersion& next) const;
  Result<> check_sizes(const model::ArtifactVersion& artifact);
  Result<> rename(model::Event& created);
  Result<> fold(const ArchivedEvent& archived);
  Result<> check_checkpoint(const ArchivedCheckpoint& next, std::size_t bytes) const;
  Result<> compare_checkpoint(Seq seq, const model::Event& event);
  Result<> check_opened(Seq seq, const model::Event& event) const;
  Result<> compare_artifacts(Seq seq, const model::Event& event);
  Result<> compare_created(Seq seq, const model::Event& event);
  Result<> compare_deleted(Seq seq, const model::Event& event);
  Result<> check_versions_at_end() const;

  const ArchiveLimits limits_;
  const ImportAs as_;
  ArchiveSink* const sink_;
  model::SessionState state_;
  SessionId archived_id_;
  std::string archived_name_;
  std::vector<ArchivedVersion> versions_;
  std::uint64_t version_bytes_ = 0;
  std::uint64_t versions_of_path_ = 0;
  std::map<std::string, std::uint64_t> contents_;
  std::unordered_map<std::uint64_t, std::size_t> by_seq_;    // places in versions_, not told yet
  std::set<std::pair<std::string, std::uint64_t>> missing_;  // told, and neither here nor deleted
  std::vector<ArchivedCheckpoint> checkpoints_;
  std::size_t checkpoint_names_ = 0;
  std::size_t versions_of_name_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> saved_by_seq_;  // places in it, not told yet
};

// Whether a server can hold this state and go on from it: texts and sizes are those of commands,
// and the session expires, ends and is reset as any other. kBadArchive.
Result<> check_importable(const model::SessionState& state);

}  // namespace reprise::session
