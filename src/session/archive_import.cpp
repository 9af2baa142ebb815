// How an archive becomes a session; see session/archives.h.
#include <fmt/format.h>

#include "model/decide.h"
#include "session/archives.h"
#include "session/browser_rows.h"
#include "session/checkpoint_records.h"
#include "session/feed.h"
#include "session/input_records.h"
#include "session/interactions.h"
#include "session/keys.h"
#include "session/record_changes.h"
#include "session/tool_call_rows.h"

namespace reprise::session {
namespace {

// Gathers what the next commit writes, and places contents.
class Gathered final : public ArchiveSink {
 public:
  Gathered(StreamId stream, store::BlobFiles& files) : stream_(stream), files_(files) {}

  void folding(const model::SessionState& before, Seq seq, const model::Event& event) override {
    add_interaction_change(commit_, stream_, before, seq, event);
    add_input_change(commit_, stream_, before, seq, event);
  }
  void folded(Seq seq, const model::Event& event, std::string entry) override {
    if (model::is_audited_type(event.type)) add_tool_call_rows(commit_, stream_, seq, event);
    add_browser_history(commit_, stream_, seq, event);
    entries_.push_back(std::move(entry));
  }
  void checkpoint(const ArchivedCheckpoint& checkpoint, std::string data) override {
    commit_.puts.push_back(
        {.key = checkpoint_data_key(stream_, checkpoint.name, checkpoint.version.version),
         .value = std::move(data),
         .only_if = {}});
    if (rows_.empty() || rows_.back().name != checkpoint.name)
      rows_.push_back({.name = checkpoint.name, .last_number = 0, .versions = {}});
    rows_.back().versions.push_back(checkpoint.version);
    rows_.back().last_number = checkpoint.last_number.value_or(checkpoint.version.version);
    has_new_rows_ = true;
  }
  Result<> begin_content(const std::string&) override {
    REPRISE_TRY(blob_, files_.begin());
    return {};
  }
  Result<> add_content(std::string_view bytes) override { return blob_->write(bytes); }
  Result<> end_content() override {
    REPRISE_TRY(store::Pin pin, files_.place(std::move(blob_)));
    pins_.push_back(std::move(pin));
    return {};
  }

  // May be empty.
  store::Commit take() {
    if (!entries_.empty()) {
      const Seq head = written_;
      written_.value += entries_.size();
      commit_.appends.push_back({.stream = stream_,
                                 .expected_head = head,
                                 .entries = std::exchange(entries_, {}),
                                 .is_new_stream = head.value == 0});
    }
    add_rows();
    return std::exchange(commit_, {});
  }

  void settle() {
    for (store::Pin& pin : pins_) pin.settle();
  }

 private:
  // With what they name: a sweep goes by these. The last one may have further versions.
  void add_rows() {
    if (!std::exchange(has_new_rows_, false)) return;
    for (const CheckpointRow& row : rows_)
      commit_.puts.push_back({.key = checkpoint_key(stream_, row.name),
                              .value = encode_checkpoint(row),
                              .only_if = {}});
    if (rows_.size() > 1) rows_.erase(rows_.begin(), rows_.end() - 1);
  }

  const StreamId stream_;
  store::BlobFiles& files_;
  store::Commit commit_;
  std::vector<std::string> entries_;
  std::vector<CheckpointRow> rows_;
  bool has_new_rows_ = false;
  Seq written_;
  std::unique_ptr<store::IncomingBlob> blob_;
  std::vector<store::Pin> pins_;
};

}  // namespace

struct ArchiveService::Import {
  Note note;
  Gathered& gathered;
  ArchiveReader reader;
};

ArchiveReader ArchiveService::reader_of(const Archive& archive, const ImportAs& as,
                                        ArchiveSink* sink) const {
  const ArtifactOptions& options = artifacts_.options();
  const ArchiveLimits limits{.max_artifact_bytes = options.max_artifact_bytes,
                             .max_session_bytes = options.max_session_bytes,
                             .max_session_versions = options.max_session_versions,
                             .max_versions_per_artifact = options.max_versions_per_artifact};
  const auto source = [&file = *archive.file_,
                       offset = std::uint64_t{0}](std::span<char> buffer) mutable {
    auto count = file.read_at(offset, buffer);
    if (count) offset += *count;
    return count;
  };
  return {source, limits, as, sink};
}

rt::Task<Result<>> ArchiveService::check(ArchiveReader& reader) {
  for (bool has_more = true; has_more;) {
    REPRISE_CO_CHECK(check_going_on());
    REPRISE_CO_TRY(has_more,
                   co_await artifacts_.pool().run(here(), [&reader] { return reader.step(); }));
  }
  co_return Result<>{};
}

rt::Task<Result<SessionView>> ArchiveService::import_checked(const Archive& archive,
                                                             const ImportTerms& terms) {
  ImportAs as{.id = {}, .name = terms.name};
  const TimePoint now = sessions_.clock().now();
  if (terms.wants_new_id) as.id = SessionId::make(now, sessions_.random());
  SessionId id;
  {
    ArchiveReader reader = reader_of(archive, as, nullptr);
    REPRISE_CO_CHECK(co_await check(reader));
    const model::SessionState& state = reader.history().state();
    if (terms.check_app) REPRISE_CO_CHECK(terms.check_app(state.app));
    REPRISE_CO_CHECK(co_await check_place(state));
    id = state.id;
  }
  const StreamId stream = StreamId::make(now, sessions_.random());
  REPRISE_CO_TRY(const Note note, co_await note_import(stream));
  Gathered gathered(stream, artifacts_.files());
  Import import{.note = note, .gathered = gathered, .reader = reader_of(archive, as, &gathered)};
  auto written = co_await write_all(import);
  if (!written) {
    co_await abandon_or_remember(note);
    co_return fail(std::move(written).error());
  }
  gathered.settle();
  co_return co_await sessions_.get(id);
}

// What can be refused before anything is written; the last commit looks again.
rt::Task<Result<AppHold>> ArchiveService::check_place(const model::SessionState& state) {
  REPRISE_CO_TRY(const auto present, co_await sessions_.store_here().get(session_key(state.id)));
  if (present)
    co_return fail(Code::kSessionExists,
                   fmt::format("there is a session {} already; newId=true imports under a new id",
                               state.id.to_string()));
  store::Commit unused;
  REPRISE_CO_CHECK(co_await add_key(unused, state));
  model::Create create{.id = state.id,
                       .app = state.app,
                       .ttl_seconds = state.ttl_seconds,
                       .max_lifetime_seconds = state.max_lifetime_seconds};
  // An app that has all the living sessions it may have takes ended ones.
  co_return co_await sessions_.prepare_for_app(create, !model::is_terminal(state.status));
}

// A living session takes its key, which must be free; an ended one has given it up, and is found by
// it only if nobody has been since.
rt::Task<Result<>> ArchiveService::add_key(store::Commit& commit,
                                           const model::SessionState& state) {
  if (!state.has_key()) co_return Result<>{};
  const std::string key = name_key(state.key());
  REPRISE_CO_TRY(const auto record, co_await sessions_.store_here().get(key));
  store::Precondition only_if = store::Precondition::absent();
  if (record) {
    if (model::is_terminal(state.status)) co_return Result<>{};
    only_if = store::Precondition::version(record->version);
    const auto holder = SessionId::from_bytes(record->value);
    if (!holder) co_return fail(Code::kCorrupt, "a key's record does not decode");
    // Through the actor: the record may have been written by a commit that it has not applied yet.
    auto look = co_await sessions_.call(*holder, Call{.action = Look{}});
    if (!look && look.error().code != Code::kSessionNotFound)
      co_return fail(std::move(look).error());
    if (look && (*look)->view->is_provisional)
      co_return fail(Code::kNoSpace, "the store has no room to write");
    if (look && model::is_living((*look)->view->state.status)) {
      Error taken{Code::kKeyTaken,
                  fmt::format("the living session {} holds the key '{}'; name=... imports under "
                              "another name",
                              holder->to_string(), state.key().to_string())};
      taken.members = "\"sessionId\":\"" + holder->to_string() + '"';
      co_return fail(std::move(taken));
    }
  }
  commit.puts.push_back({.key = key, .value = std::string(state.id.view()), .only_if = only_if});
  co_return Result<>{};
}

rt::Task<Result<>> ArchiveService::write_all(Import& import) {
  for (bool has_more = true; has_more;) {
    REPRISE_CO_CHECK(check_going_on());
    REPRISE_CO_TRY(has_more, co_await artifacts_.pool().run(
                                 here(), [&import] { return import.reader.step(); }));
    store::Commit commit = import.gathered.take();
    if (!commit.is_empty())
      REPRISE_CO_CHECK(co_await sessions_.store_here().commit(std::move(commit)));
  }
  REPRISE_CO_CHECK(co_await write_versions(import));
  co_return co_await show(import);
}

rt::Task<Result<>> ArchiveService::write_versions(const Import& import) {
  const StreamId stream = import.note.stream;
  const ArchivedHistory& history = import.reader.history();
  const auto& versions = history.versions();
  ArtifactUsage usage;
  bool has_temporary = false;
  for (const ArchivedVersion& one : versions) {
    usage = usage.plus(one.version.artifact.size);
    has_temporary = has_temporary || model::is_temporary(one.version.artifact.path);
  }
  store::Commit commit;
  // First: a sweep goes by this one.
  if (!versions.empty())
    commit.puts.push_back({.key = usage_key(stream), .value = encode_usage(usage), .only_if = {}});
  if (has_temporary)
    commit.puts.push_back({.key = temporary_key(stream),
                           .value = std::string(history.state().id.view()),
                           .only_if = {}});
  std::uint64_t of_path = 0;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const StoredVersion& version = versions[i].version;
    const model::ArtifactVersion& artifact = version.artifact;
    ++of_path;
    commit.puts.push_back({.key = version_key(stream, artifact.path, artifact.version),
                           .value = encode_version(version),
                           .only_if = {}});
    commit.puts.push_back(
        {.key = reference_key(artifact.sha256, stream, version.seq), .value = {}, .only_if = {}});
    const bool is_last = i + 1 == versions.size();
    if (is_last || versions[i + 1].version.artifact.path != artifact.path) {
      const StoredArtifact newest{.newest = version,
                                  .last_number = versions[i].last_number.value_or(artifact.version),
                                  .versions = std::exchange(of_path, 0)};
      commit.puts.push_back({.key = artifact_key(stream, artifact.path),
                             .value = encode_artifact(newest),
                             .only_if = {}});
    }
    if (!is_last && (i + 1) % kImportedVersionsPerCommit != 0) continue;
    REPRISE_CO_CHECK(co_await sessions_.store_here().commit(std::exchange(commit, {})));
  }
  co_return Result<>{};
}

// The commit that makes the session. On its home loop, which tells monitors.
rt::Task<Result<>> ArchiveService::show(const Import& import) {
  const BesidesEvents& besides = import.reader.besides();
  StoredSession session{.state = import.reader.history().state(),
                        .stream = import.note.stream,
                        .filed_expiry = {},
                        .slid_at = besides.touched_at,
                        .revision = besides.revision};
  if (session.slid_at)
    session.state.last_activity_at = std::max(session.state.last_activity_at, *session.slid_at);
  const SessionId id = session.state.id;
  store::Commit common;
  common.erases.push_back({.key = import_key(import.note.stream),
                           .only_if = store::Precondition::version(import.note.version)});
  file_expiry(common, session, session, true);
  add_creation(common, session);
  common.appends.push_back(
      {.stream = feed_stream(feed_of(id)),
       .expected_head = std::nullopt,
       .entries = {encode_feed_entry({.id = id, .before = std::nullopt, .after = session})}});
  common.puts.push_back({.key = session_key(id),
                         .value = encode_stored(session),
                         .only_if = store::Precondition::absent()});
  rt::Loop& origin = here();
  stream::Hub& hub = sessions_.hubs().at(sessions_.home_index(id));
  Result<> outcome = fail(Code::kOverloaded, "too many callers race for this key");
  for (int tries = 0; tries < kMaxKeyRaces; ++tries) {
    REPRISE_CO_TRY(const AppHold app_hold, co_await check_place(session.state));
    store::Commit commit = common;
    app_hold.add_to(commit);
    REPRISE_CO_CHECK(co_await add_key(commit, session.state));
    co_await rt::return_to(hub.loop());
    auto committed = co_await sessions_.store_here().commit(std::move(commit));
    if (committed) hub.publish_gap(feed_stream(feed_of(id)));
    co_await rt::return_to(origin);
    if (committed) co_return Result<>{};
    if (committed.error().code != Code::kWrongVersion) co_return fail(std::move(committed).error());
  }
  co_return outcome;
}

}  // namespace reprise::session
