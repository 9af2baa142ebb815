#include "session/archive_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/bytes.h"
#include "base/json_text.h"
#include "model/artifact.h"
#include "model/limits.h"
#include "session/limits.h"
#include "wire/json.h"

namespace reprise::session {
namespace {

std::unexpected<Error> bad(std::string detail) {
  return fail(Code::kBadArchive, std::move(detail));
}

// What a rule of ours says about a value of the archive.
Result<> as_damage(std::string_view where, Result<> checked) {
  if (checked) return {};
  return bad(fmt::format("{}: {}", where, checked.error().detail));
}

auto place_of(const ArchivedVersion& archived) {
  const model::ArtifactVersion& artifact = archived.version.artifact;
  return std::tuple<std::string_view, std::uint64_t>(artifact.path, artifact.version);
}

// Path and number that an event about an artifact tells of.
struct ToldVersion {
  std::string path;
  std::optional<std::uint64_t> version;
};

Result<ToldVersion> told_by(Seq seq, const model::Event& event) {
  const auto document = wire::parse_json(event.data);
  const auto path = document ? document->root().find("path") : std::nullopt;
  const auto path_text = path ? path->as_string() : std::nullopt;
  const auto version = document ? document->root().find("version") : std::nullopt;
  const auto number = version ? version->as_uint() : std::nullopt;
  if (!path_text || version.has_value() != number.has_value())
    return bad(fmt::format("event {} does not say which artifact it is about", seq.value));
  REPRISE_CHECK(as_damage("an artifact", model::check_artifact_path(*path_text)));
  return ToldVersion{.path = *path_text, .version = number};
}

std::uint64_t messages_after(const model::SessionState& state, std::string_view type) {
  if (type == model::event_type::kMessage) return state.message_count + 1;
  return type == model::event_type::kSessionReset ? 0 : state.message_count;
}

}  // namespace

Result<> ArchivedHistory::check_version(const ArchivedVersion& next) const {
  const model::ArtifactVersion& artifact = next.version.artifact;
  REPRISE_CHECK(as_damage("an artifact", model::check_artifact_path(artifact.path)));
  REPRISE_CHECK(as_damage(artifact.path, model::check_content_type(artifact.content_type)));
  if (artifact.version == 0 || next.version.seq.value == 0)
    return bad(fmt::format("'{}' has no version or no event", artifact.path));
  if (next.last_number && *next.last_number <= artifact.version)
    return bad(fmt::format("the last version of '{}' is not above the one kept", artifact.path));
  if (versions_.empty()) return {};
  const ArchivedVersion& last = versions_.back();
  if (place_of(last) >= place_of(next))
    return bad(
        fmt::format("version {} of '{}' is not in its place", artifact.version, artifact.path));
  if (last.last_number && last.version.artifact.path == artifact.path)
    return bad(fmt::format("'{}' has a version after its last one", artifact.path));
  return {};
}

Result<> ArchivedHistory::check_sizes(const model::ArtifactVersion& artifact) {
  if (artifact.size > limits_.max_artifact_bytes)
    return fail(Code::kQuotaExceeded,
                fmt::format("'{}' has {} bytes, an artifact has at most {}", artifact.path,
                            artifact.size, limits_.max_artifact_bytes));
  const bool is_same_path =
      !versions_.empty() && versions_.back().version.artifact.path == artifact.path;
  versions_of_path_ = is_same_path ? versions_of_path_ + 1 : 1;
  version_bytes_ += artifact.size;
  if (version_bytes_ > limits_.max_session_bytes ||
      versions_.size() >= limits_.max_session_versions ||
      versions_of_path_ > limits_.max_versions_per_artifact)
    return fail(Code::kQuotaExceeded,
                fmt::format("the session's artifacts would pass {} bytes, {} versions or {} "
                            "versions of one",
                            limits_.max_session_bytes, limits_.max_session_versions,
                            limits_.max_versions_per_artifact));
  const auto [content, is_new] = contents_.emplace(artifact.sha256, artifact.size);
  if (!is_new && content->second != artifact.size)
    return bad(fmt::format("{} has two sizes", to_hex(artifact.sha256)));
  return {};
}

Result<> ArchivedHistory::add_version(std::string line) {
  REPRISE_TRY(ArchivedVersion next, parse_version_line(std::move(line)));
  REPRISE_CHECK(check_version(next));
  REPRISE_CHECK(check_sizes(next.version.artifact));
  if (!by_seq_.emplace(next.version.seq.value, versions_.size()).second)
    return bad(fmt::format("event {} made two versions", next.version.seq.value));
  versions_.push_back(std::move(next));
  return {};
}

Result<> ArchivedHistory::end_versions(const ArchiveManifest& manifest) {
  std::uint64_t bytes = 0;
  for (const auto& [hash, size] : contents_) bytes += size;
  if (versions_.size() == manifest.versions && contents_.size() == manifest.contents &&
      bytes == manifest.content_bytes)
    return {};
  return bad(
      fmt::format("reprise.json speaks of {} versions in {} contents of {} bytes, there are "
                  "{} in {} of {}",
                  manifest.versions, manifest.contents, manifest.content_bytes, versions_.size(),
                  contents_.size(), bytes));
}

Result<> ArchivedHistory::check_checkpoint(const ArchivedCheckpoint& next,
                                           std::size_t bytes) const {
  REPRISE_CHECK(as_damage("a checkpoint", model::check_checkpoint_name(next.name)));
  if (next.version.version == 0 || next.version.seq.value == 0)
    return bad(fmt::format("the checkpoint '{}' has no version or no event", next.name));
  if (next.last_number && *next.last_number <= next.version.version)
    return bad(fmt::format("the last version of '{}' is not above the one kept", next.name));
  if (bytes > model::kMaxCheckpointBytes)
    return bad(fmt::format("the checkpoint '{}' has {} bytes, at most {} are allowed", next.name,
                           bytes, model::kMaxCheckpointBytes));
  if (checkpoints_.empty()) return {};
  const ArchivedCheckpoint& last = checkpoints_.back();
  const bool is_same_name = last.name == next.name;
  const bool is_in_place = is_same_name
                               ? last.version.version < next.version.version &&
                                     last.version.seq < next.version.seq && !last.last_number
                               : last.name < next.name;
  if (is_in_place) return {};
  return bad(
      fmt::format("version {} of '{}' is not in its place", next.version.version, next.name));
}

Result<> ArchivedHistory::add_checkpoint(std::string line) {
  REPRISE_TRY(CheckpointLine parsed, parse_checkpoint_line(std::move(line)));
  ArchivedCheckpoint& next = parsed.checkpoint;
  REPRISE_CHECK(check_checkpoint(next, parsed.data.size()));
  const bool is_same_name = !checkpoints_.empty() && checkpoints_.back().name == next.name;
  versions_of_name_ = is_same_name ? versions_of_name_ + 1 : 1;
  if (!is_same_name) ++checkpoint_names_;
  // Beyond what a session may have there may be what a reset or a rollback hid, until it is swept,
  // and one version that is kept for a rollback.
  if (checkpoint_names_ > 2 * kMaxCheckpointsPerSession ||
      versions_of_name_ > kMaxVersionsPerCheckpoint + 1)
    return fail(Code::kQuotaExceeded, "the archive has more checkpoints than a session may have");
  if (!saved_by_seq_.emplace(next.version.seq.value, checkpoints_.size()).second)
    return bad(fmt::format("event {} saved two checkpoints", next.version.seq.value));
  if (sink_ != nullptr) sink_->checkpoint(next, std::move(parsed.data));
  checkpoints_.push_back(std::move(next));
  return {};
}

Result<> ArchivedHistory::end_checkpoints(const ArchiveManifest& manifest) const {
  if (checkpoints_.size() == manifest.checkpoints) return {};
  return bad(fmt::format("reprise.json speaks of {} versions of checkpoints, there are {}",
                         manifest.checkpoints, checkpoints_.size()));
}

Result<> ArchivedHistory::compare_checkpoint(Seq seq, const model::Event& event) {
  const auto listed = saved_by_seq_.find(seq.value);
  if (listed == saved_by_seq_.end()) return {};
  const ArchivedCheckpoint& saved = checkpoints_[listed->second];
  const model::Event told = model::checkpoint_saved(saved.name, saved.version.version,
                                                    saved.version.size, saved.version.at, event.by);
  if (told.type != event.type || told.data != event.data || told.at != event.at)
    return bad(fmt::format("event {} did not save the checkpoint listed with it", seq.value));
  saved_by_seq_.erase(listed);
  return {};
}

// The id and the name stand in the first event and nowhere else.
Result<> ArchivedHistory::rename(model::Event& created) {
  const auto document = wire::parse_json(created.data);
  if (!document) return bad(fmt::format("event 1: {}", document.error().detail));
  std::string data;
  const auto add = [&](std::string_view name, std::string_view json) {
    data += data.empty() ? '{' : ',';
    append_json_string(data, name);
    data += ':';
    data += json;
  };
  for (const wire::JsonMember& member : document->root().members()) {
    if (member.name == "name") {
      archived_name_ = member.value.as_string().value_or("");
      if (as_.name) continue;
    }
    if (member.name == "id") {
      const auto id = SessionId::parse(member.value.as_string().value_or(""));
      if (!id) return bad("event 1 does not say the session's id");
      archived_id_ = *id;
    }
    const bool is_new_id = member.name == "id" && as_.id;
    add(member.name, is_new_id ? json_string(as_.id->to_string()) : member.value.minified());
    if (member.name == "app" && as_.name) add("name", json_string(*as_.name));
  }
  if (as_.id || as_.name) created.data = data + '}';
  return {};
}

Result<> ArchivedHistory::add_event(std::string line) {
  REPRISE_TRY(ArchivedEvent archived, parse_event_line(std::move(line)));
  if (archived.seq != state_.head.next())
    return bad(fmt::format("event {} follows event {}", archived.seq.value, state_.head.value));
  if (archived.seq.value == 1) REPRISE_CHECK(rename(archived.event));
  REPRISE_CHECK(fold(archived));
  REPRISE_CHECK(compare_checkpoint(archived.seq, archived.event));
  return compare_artifacts(archived.seq, archived.event);
}

Result<> ArchivedHistory::fold(const ArchivedEvent& archived) {
  const model::Event& event = archived.event;
  if (sink_ != nullptr) sink_->folding(state_, archived.seq, event);
  const model::EntryCounters counters{messages_after(state_, event.type)};
  const model::EntryView entry{.type = event.type,
                               .at = event.at,
                               .data = event.data,
                               .by = event.by,
                               .counters = counters,
                               .extra = {}};
  if (auto folded = model::evolve(state_, archived.seq, entry); !folded)
    return bad(fmt::format("event {}: {}", archived.seq.value, folded.error().detail));
  // What the state holds is bounded at every event, not only at the end.
  REPRISE_CHECK(check_opened(archived.seq, event));
  if (state_.interactions.size() > model::kMaxOpenInteractions ||
      state_.open_tool_calls.size() > model::kMaxOpenToolCalls ||
      state_.inputs.queued.size() > model::kMaxQueuedInputs)
    return bad(fmt::format("at event {} more questions, tool calls or inputs are open than may be",
                           archived.seq.value));
  std::string extra;
  if (model::is_audited_type(event.type)) {
    if (archived.hash != state_.audit.head)
      return bad(fmt::format("event {} does not have the audit's hash", archived.seq.value));
    extra = model::audit_extra(state_.audit.head);
  } else if (archived.hash) {
    return bad(fmt::format("event {} has a hash but is not audited", archived.seq.value));
  }
  if (sink_ != nullptr)
    sink_->folded(archived.seq, event, model::encode_entry(event, counters, extra));
  return {};
}

// What has been opened stays in the state until it is closed.
Result<> ArchivedHistory::check_opened(Seq seq, const model::Event& event) const {
  if (event.type == model::event_type::kInputRequired &&
      event.data.size() > model::kMaxQuestionBytes)
    return bad(fmt::format("the question of event {} has {} bytes, at most {} are allowed",
                           seq.value, event.data.size(), model::kMaxQuestionBytes));
  if (event.type == model::event_type::kToolStarted)
    return as_damage(fmt::format("event {}", seq.value),
                     model::check_tool_name(state_.open_tool_calls.back().tool_name));
  return {};
}

Result<> ArchivedHistory::compare_artifacts(Seq seq, const model::Event& event) {
  const bool is_listed = by_seq_.contains(seq.value);
  if (!model::is_artifact_type(event.type)) {
    if (is_listed) return bad(fmt::format("event {} did not make an artifact", seq.value));
    return {};
  }
  return event.type == "artifact_created" ? compare_created(seq, event)
                                          : compare_deleted(seq, event);
}

Result<> ArchivedHistory::compare_created(Seq seq, const model::Event& event) {
  const auto listed = by_seq_.find(seq.value);
  if (listed != by_seq_.end()) {
    const StoredVersion& version = versions_[listed->second].version;
    const model::Event told = model::artifact_created(version.artifact, version.at, version.by);
    if (told.data != event.data || told.at != event.at || told.by != event.by)
      return bad(fmt::format("event {} tells of another version than the one listed", seq.value));
    by_seq_.erase(listed);
    return {};
  }
  REPRISE_TRY(ToldVersion told, told_by(seq, event));
  if (!told.version) return bad(fmt::format("event {} tells of no version", seq.value));
  // What is under tmp/ goes without an event.
  if (!model::is_temporary(told.path)) missing_.emplace(std::move(told.path), *told.version);
  if (missing_.size() > limits_.max_session_versions)
    return bad("more versions are told of than a session may have");
  return {};
}

Result<> ArchivedHistory::compare_deleted(Seq seq, const model::Event& event) {
  REPRISE_TRY(const ToldVersion told, told_by(seq, event));
  const auto is_before = [](const ArchivedVersion& one, std::string_view path) {
    return std::string_view(one.version.artifact.path) < path;
  };
  for (auto one = std::lower_bound(versions_.begin(), versions_.end(), std::string_view(told.path),
                                   is_before);
       one != versions_.end() && one->version.artifact.path == told.path; ++one) {
    const bool is_it = !told.version || *told.version == one->version.artifact.version;
    if (is_it && one->version.seq < seq)
      return bad(fmt::format("event {} deleted version {} of '{}', which is listed", seq.value,
                             one->version.artifact.version, told.path));
  }
  const auto first = missing_.lower_bound({told.path, told.version.value_or(0)});
  auto last = first;
  while (last != missing_.end() && last->first == told.path &&
         (!told.version || last->second == *told.version))
    ++last;
  missing_.erase(first, last);
  return {};
}

Result<> ArchivedHistory::check_versions_at_end() const {
  if (!by_seq_.empty())
    return bad(
        fmt::format("no event {} tells of the version listed with it", by_seq_.begin()->first));
  if (!missing_.empty())
    return bad(fmt::format("version {} of '{}' is told of but not listed", missing_.begin()->second,
                           missing_.begin()->first));
  for (const ArchivedVersion& one : versions_) {
    const std::string& path = one.version.artifact.path;
    const bool is_gone =
        model::is_terminal(state_.status) || one.version.seq <= state_.visible_after;
    if (model::is_temporary(path) && is_gone)
      return bad(fmt::format("'{}' went with the session's end or its reset", path));
  }
  return {};
}

Result<> ArchivedHistory::end_events(const ArchiveManifest& manifest, const std::string& record,
                                     const BesidesEvents& besides) {
  if (archived_id_ != manifest.session || state_.app != manifest.app)
    return bad("reprise.json names another session than the first event");
  REPRISE_CHECK(check_versions_at_end());
  if (!saved_by_seq_.empty())
    return bad(fmt::format("no event {} saved the checkpoint listed with it",
                           saved_by_seq_.begin()->first));
  model::SessionState archived = state_;
  archived.id = archived_id_;
  archived.name = archived_name_;
  if (encode_record(archived, besides) != record)
    return bad("session.json is not what follows from the events");
  return check_importable(state_);
}

}  // namespace reprise::session
