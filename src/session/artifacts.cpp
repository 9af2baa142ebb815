#include "session/artifacts.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "model/limits.h"
#include "model/unified_diff.h"
#include "session/artifacts_internal.h"
#include "session/keys.h"
#include "wire/range.h"

namespace reprise::session {
namespace {

void count(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) {
  counter.fetch_add(by, std::memory_order_relaxed);
}

Result<> check_conditions(const NewArtifact& what, const std::optional<StoredArtifact>& present) {
  const std::string etag = present ? ArtifactView{.version = present->newest}.etag() : "";
  const auto names = [&](const std::string& list, bool is_weak) {
    return present && wire::names_etag(list, etag, is_weak);
  };
  if (what.if_match && !names(*what.if_match, false))
    return fail(Code::kPreconditionFailed,
                present ? fmt::format("If-Match does not name {}", etag)
                        : fmt::format("there is no artifact '{}' to match", what.path));
  if (what.if_none_match && names(*what.if_none_match, true))
    return fail(Code::kPreconditionFailed,
                fmt::format("'{}' is {}, which If-None-Match names", what.path, etag));
  return {};
}

// Whole content that is known to be small.
Result<std::string> read_whole(const store::BlobFiles& files, const model::ArtifactVersion& what) {
  REPRISE_TRY(const auto file, files.open(what.sha256, what.size));
  std::string bytes(what.size, '\0');
  REPRISE_TRY(const std::size_t size, store::BlobFiles::read_at(file, 0, bytes));
  if (size != bytes.size()) return fail(Code::kCorrupt, "content is cut off");
  return bytes;
}

}  // namespace

std::string ArtifactView::etag() const { return '"' + to_hex(version.artifact.sha256) + '"'; }

// Removing a large file takes a while: not on a loop.
Upload::~Upload() {
  if (received_ > 0) receiving_->remove(session_, received_);
  if (blob_) pool_.submit([blob = std::move(blob_)]() mutable { blob.reset(); });
}
ArtifactService::ArtifactService(SessionService& sessions, store::BlobFiles& files, rt::Pool& pool,
                                 ArtifactOptions options)
    : sessions_(sessions), files_(files), pool_(pool), options_(options) {
  for (std::size_t i = 0; i < sessions.hubs().size(); ++i)
    homes_.push_back(std::make_unique<Home>(sessions.hubs().at(i).loop()));
  sessions_.on_end([this](SessionId id) { rt::spawn(home_of(id).gate, sweep_ended(id)); });
}

ArtifactService::~ArtifactService() = default;

ArtifactService::Home& ArtifactService::home_of(SessionId id) {
  return *homes_[sessions_.home_index(id)];
}

rt::Loop& ArtifactService::here() const { return *rt::Loop::current(); }

std::optional<TransferSlot> ArtifactService::take_slot() {
  if (probe_.transfers.fetch_add(1, std::memory_order_relaxed) < options_.max_transfers)
    return TransferSlot(&probe_.transfers);
  probe_.transfers.fetch_sub(1, std::memory_order_relaxed);
  count(probe_.refused_transfers);
  return std::nullopt;
}

// What is under tmp/ goes with the session's end and with its reset; records that are still there
// are only to be swept.
bool ArtifactService::is_visible(const SessionView& session, const StoredVersion& newest) {
  if (!model::is_temporary(newest.artifact.path)) return true;
  return !model::is_terminal(session.state.status) && newest.seq > session.state.visible_after;
}

Result<> ArtifactService::check_size(std::uint64_t bytes) const {
  if (bytes <= options_.max_artifact_bytes) return {};
  return fail(Code::kBodyTooLarge,
              fmt::format("an artifact has at most {} bytes", options_.max_artifact_bytes));
}

Result<> ArtifactService::check_quota(const ArtifactUsage& usage, std::uint64_t added) const {
  const bool has_room = usage.bytes <= options_.max_session_bytes &&
                        added <= options_.max_session_bytes - usage.bytes &&
                        usage.versions < options_.max_session_versions;
  if (has_room) return {};
  Error error{Code::kQuotaExceeded,
              fmt::format("the session's artifacts have {} bytes in {} versions; {} bytes more "
                          "would pass its {} bytes or {} versions",
                          usage.bytes, usage.versions, added, options_.max_session_bytes,
                          options_.max_session_versions)};
  error.members =
      fmt::format("\"usedBytes\":{},\"maxBytes\":{}", usage.bytes, options_.max_session_bytes);
  return fail(std::move(error));
}

Result<> ArtifactService::check_known(const SessionView& view) const {
  if (!view.is_provisional) return {};
  if (sessions_.store().state() == store::StoreState::kReadOnly)
    return fail(Code::kReadOnly, "the store is read-only after a failed write");
  return fail(Code::kNoSpace, "the store has no room to write");
}

rt::Task<Result<>> ArtifactService::touch(SessionId id, std::optional<Generation> lease) {
  REPRISE_CO_CHECK(
      co_await sessions_.call(id, Call{.action = Touch{}, .lease = lease, .wants_view = false}));
  co_return Result<>{};
}

rt::Task<Result<std::optional<StoredArtifact>>> ArtifactService::visible_artifact(
    const SessionView& session, std::string path) {
  REPRISE_CO_TRY(auto artifact,
                 co_await read_artifact(sessions_.store_here(), session.stream, std::move(path)));
  if (artifact && !is_visible(session, artifact->newest)) artifact.reset();
  co_return artifact;
}

rt::Task<Result<std::unique_ptr<Upload>>> ArtifactService::begin(SessionRef session,
                                                                 NewArtifact what) {
  REPRISE_CO_CHECK(model::check_artifact_path(what.path));
  REPRISE_CO_CHECK(model::check_content_type(what.content_type));
  REPRISE_CO_TRY(const SessionView view, co_await sessions_.get(std::move(session)));
  if (model::is_terminal(view.state.status))
    co_return fail(Code::kSessionEnded,
                   fmt::format("the session is {}", model::word(view.state.status)));
  REPRISE_CO_TRY(const auto present, co_await visible_artifact(view, what.path));
  REPRISE_CO_CHECK(check_conditions(what, present));
  const std::uint64_t announced = what.announced_bytes.value_or(0);
  REPRISE_CO_CHECK(check_size(announced));
  REPRISE_CO_TRY(const auto usage, co_await read_usage(sessions_.store_here(), view.stream));
  if (auto has_room = check_quota(usage, announced); !has_room) {
    count(probe_.over_quota);
    co_return fail(std::move(has_room).error());
  }
  auto slot = take_slot();
  if (!slot) co_return fail(Code::kOverloaded, "too many files are being transferred");
  std::unique_ptr<Upload> upload(new Upload(pool_, std::move(*slot)));
  upload->session_ = view.state.id;
  upload->used_before_ = usage.bytes;
  upload->receiving_ = receiving_;
  upload->what_ = std::move(what);
  REPRISE_CO_TRY(upload->blob_, co_await pool_.run(here(), [this] { return files_.begin(); }));
  co_return std::move(upload);
}

rt::Task<Result<>> ArtifactService::write(Upload& upload, std::string piece) {
  REPRISE_CO_CHECK(check_size(upload.blob_->size() + piece.size()));
  upload.received_ += piece.size();
  const std::uint64_t receiving = receiving_->add(upload.session_, piece.size());
  if (auto has_room = check_quota({.bytes = upload.used_before_}, receiving); !has_room) {
    count(probe_.over_quota);
    co_return has_room;
  }
  if (const TimePoint now = sessions_.clock().now();
      now - upload.touched_at_ >= kUploadTouchInterval) {
    upload.touched_at_ = now;
    REPRISE_CO_CHECK(co_await touch(upload.session_, upload.what_.lease));
  }
  co_return co_await pool_.run(here(), [&] { return upload.blob_->write(piece); });
}

rt::Task<Result<ArtifactPut>> ArtifactService::finish(std::unique_ptr<Upload> upload) {
  const std::uint64_t size = upload->blob_->size();
  count(probe_.upload_bytes, size);
  // To sync much takes a while: the session's time begins anew.
  REPRISE_CO_CHECK(co_await touch(upload->session_, upload->what_.lease));
  REPRISE_CO_TRY(store::Pin pin, co_await pool_.run(here(), [&] {
    return files_.place(std::move(upload->blob_));
  }));
  rt::Loop& origin = here();
  const SessionId id = upload->session_;
  if (!co_await rt::switch_to(home_of(id).loop))
    co_return fail(Code::kOverloaded, "the session's loop has too much waiting");
  auto put = co_await put_held(id, upload->what_, pin.hash(), size);
  co_await rt::return_to(origin);
  // Where it failed, or was there already, the sweep finds out whether somebody refers to it.
  if (put && !put->is_unchanged) pin.settle();
  co_return put;
}

rt::Task<Result<ArtifactPut>> ArtifactService::put_held(SessionId id, const NewArtifact& what,
                                                        std::string hash, std::uint64_t size) {
  REPRISE_CO_TRY(const Holds::Held held, co_await home_of(id).holds.take(id));
  for (int tries = 0; tries < kMaxKeyRaces; ++tries) {
    auto put = co_await put_once(id, what, hash, size);
    if (put && !put->is_unchanged) count(probe_.uploads);
    if (put && put->is_unchanged) count(probe_.unchanged);
    if (!put && put.error().code == Code::kQuotaExceeded) count(probe_.over_quota);
    // A reset came in between: look again.
    if (put || put.error().code != Code::kWrongVersion) co_return put;
  }
  co_return fail(Code::kOverloaded, "the session is reset again and again");
}

rt::Task<Result<ArtifactPut>> ArtifactService::put_once(SessionId id, const NewArtifact& what,
                                                        std::string hash, std::uint64_t size) {
  REPRISE_CO_TRY(const SessionView view, co_await sessions_.get(id));
  REPRISE_CO_CHECK(check_known(view));
  const StreamId stream = view.stream;
  REPRISE_CO_TRY(auto present, co_await read_artifact(sessions_.store_here(), stream, what.path));
  if (present && !is_visible(view, present->newest)) {
    REPRISE_CO_CHECK(co_await sweep_temporary_held(id));
    present.reset();
  }
  REPRISE_CO_CHECK(check_conditions(what, present));
  const StoredArtifact before = present.value_or(StoredArtifact{});
  StoredVersion made{.artifact = {.path = what.path,
                                  .version = before.last_number + 1,
                                  .kind = what.kind.value_or(present ? before.newest.artifact.kind
                                                                     : model::ArtifactKind::kOther),
                                  .content_type = what.content_type,
                                  .size = size,
                                  .sha256 = std::move(hash)},
                     .seq = {},
                     .at = sessions_.clock().now(),
                     .by = what.by};
  const model::ArtifactVersion& newest = before.newest.artifact;
  if (present && newest.sha256 == made.artifact.sha256 && newest.kind == made.artifact.kind &&
      newest.content_type == made.artifact.content_type)
    co_return ArtifactPut{.view = {.version = before.newest, .versions = before.versions},
                          .is_unchanged = true};
  if (before.versions >= options_.max_versions_per_artifact)
    co_return fail(Code::kQuotaExceeded,
                   fmt::format("'{}' has {} versions, which is the most: delete some", what.path,
                               before.versions));
  REPRISE_CO_TRY(const auto usage, co_await read_usage(sessions_.store_here(), stream));
  REPRISE_CO_CHECK(check_quota(usage, size));

  RecordChange change{.events = {model::artifact_created(made.artifact, made.at, made.by)},
                      .add_records = {},
                      .stream = stream,
                      .visible_after = view.state.visible_after};
  if (present)
    if (const auto diff = co_await difference(before.newest, made))
      change.events.push_back(model::artifact_diff(what.path, newest.version, made.artifact.version,
                                                   *diff, made.at, made.by));
  const std::uint64_t versions = before.versions + 1;
  change.add_records = [=](store::Commit& commit, Seq first) {
    StoredVersion version = made;
    version.seq = first;
    const model::ArtifactVersion& artifact = version.artifact;
    commit.puts.push_back(
        {.key = artifact_key(stream, artifact.path),
         .value = encode_artifact(
             {.newest = version, .last_number = artifact.version, .versions = versions}),
         .only_if = {}});
    commit.puts.push_back({.key = version_key(stream, artifact.path, artifact.version),
                           .value = encode_version(version),
                           .only_if = {}});
    commit.puts.push_back(
        {.key = reference_key(artifact.sha256, stream, first), .value = {}, .only_if = {}});
    commit.puts.push_back(
        {.key = usage_key(stream), .value = encode_usage(usage.plus(size)), .only_if = {}});
    if (model::is_temporary(artifact.path))
      commit.puts.push_back(
          {.key = temporary_key(stream), .value = std::string(id.view()), .only_if = {}});
  };
  REPRISE_CO_TRY(const auto answer,
                 co_await sessions_.call(
                     id, {.action = std::move(change), .lease = what.lease, .wants_view = false}));
  made.seq = answer->first;
  co_return ArtifactPut{.view = {.version = std::move(made), .versions = versions},
                        .is_new_path = !present.has_value()};
}

// Of small texts only, and never a reason to refuse a version.
rt::Task<std::optional<std::string>> ArtifactService::difference(const StoredVersion& before,
                                                                 const StoredVersion& after) {
  const auto is_comparable = [](const model::ArtifactVersion& version) {
    return model::is_text_type(version.content_type) && version.size <= model::kMaxDiffedBytes;
  };
  if (!is_comparable(before.artifact) || !is_comparable(after.artifact) ||
      before.artifact.sha256 == after.artifact.sha256)
    co_return std::nullopt;
  auto diff = co_await pool_.run(here(), [&]() -> Result<std::optional<std::string>> {
    REPRISE_TRY(const std::string old_text, read_whole(files_, before.artifact));
    REPRISE_TRY(const std::string new_text, read_whole(files_, after.artifact));
    return model::unified_diff(old_text, new_text, after.artifact.path);
  });
  if (!diff || !*diff) co_return std::nullopt;
  count(probe_.diffs);
  co_return std::move(*diff);
}

}  // namespace reprise::session
