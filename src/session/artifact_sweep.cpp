// What goes: the temporary files of ended sessions, and content that nobody refers to.
#include "base/bytes.h"
#include "base/log.h"
#include "session/artifacts_internal.h"

namespace reprise::session {
namespace {

using Removal = store::BlobFiles::Removal;

void keep_first(Result<>& first, Result<> next) {
  if (first && !next) first = std::move(next);
}

void log_failure(std::string_view what, const Error& error) {
  log::warning(what, {{"code", error_row(error.code).name}, {"detail", error.detail}});
}

// Whether a record names the content. Only a store that can write knows: what a commit of unknown
// outcome has written does not show before.
Result<bool> is_referred(store::Store& store, const std::string& hash) {
  if (store.state() != store::StoreState::kWritable)
    return fail(Code::kNoSpace, "the store cannot write, so nothing is removed");
  const std::string prefix = reference_prefix(hash);
  REPRISE_TRY(const auto page, store.scan({.begin = prefix, .end = prefix_end(prefix), .limit = 1},
                                          store::ReadMode::kBlocking));
  return !page.records.empty();
}

}  // namespace

rt::Task<> ArtifactService::run(rt::CancelScope& scope) {
  rt::Loop& loop = here();
  stopping_ = &scope;
  TimePoint all_at = sessions_.clock().now();
  bool is_all_swept = false;
  while (!scope.is_cancelled()) {
    // What a crash left is looked for until every file could be looked at.
    if (!is_all_swept && sessions_.clock().now() >= all_at) {
      auto swept = co_await sweep_all();
      is_all_swept = swept.has_value();
      all_at = sessions_.clock().now() + kArtifactSweepAllRetry;
      if (!swept) log_failure("artifacts could not all be looked at", swept.error());
    }
    if (auto swept = co_await sweep(); !swept)
      log_failure("artifacts could not all be swept", swept.error());
    if (!co_await rt::sleep_for(loop, kArtifactSweepInterval, scope)) break;
  }
  stopping_ = nullptr;
}

rt::Task<> ArtifactService::close() {
  rt::Loop& origin = here();
  for (const auto& home : homes_) {
    co_await rt::return_to(home->loop);
    home->gate.close();
    co_await home->gate.empty();
    co_await rt::return_to(origin);
  }
}

rt::Task<Result<Removal>> ArtifactService::collect(std::string hash) {
  co_return co_await pool_.run(here(), [&] {
    return files_.remove_unless(hash, [&] { return is_referred(sessions_.store(), hash); });
  });
}

rt::Task<Result<>> ArtifactService::sweep() {
  if (sessions_.store().state() != store::StoreState::kWritable) co_return Result<>{};
  Result<> first;
  const std::vector<std::string> doubtful = files_.take_doubtful();
  for (const std::string& hash : doubtful) {
    if (is_stopping()) {
      files_.add_doubtful(hash);
      continue;
    }
    auto outcome = co_await collect(hash);
    if (outcome && *outcome != Removal::kPinned) continue;
    files_.add_doubtful(hash);
    if (!outcome) keep_first(first, fail(std::move(outcome).error()));
  }
  keep_first(first, co_await sweep_garbage());
  // Where removing temporary files failed before.
  rt::Loop& origin = here();
  for (const auto& home : homes_) {
    co_await rt::return_to(home->loop);
    const std::vector<SessionId> left_over = std::exchange(home->left_over, {});
    for (const SessionId id : left_over)
      if (!is_stopping()) co_await sweep_ended(id);
    co_await rt::return_to(origin);
  }
  co_return first;
}

// A file that cannot be removed keeps no other from it.
rt::Task<Result<>> ArtifactService::sweep_garbage() {
  Result<> first;
  std::string begin = garbage_prefix();
  const std::string end = prefix_end(begin);
  for (;;) {
    REPRISE_CO_TRY(const auto page, co_await sessions_.store_here().scan(
                                        {.begin = begin, .end = end, .limit = kJanitorBatch}));
    store::Commit commit;
    for (const auto& row : page.records) {
      if (is_stopping()) break;
      const auto hash = hash_of_garbage_key(row.key);
      if (!hash) co_return fail(Code::kCorrupt, "a key of dropped content does not decode");
      auto removal = co_await collect(*hash);
      // An upload of the same content is about to refer to it, or not: looked at again.
      if (removal && *removal == Removal::kPinned) continue;
      if (!removal) {
        keep_first(first, fail(std::move(removal).error()));
        continue;
      }
      // Noted anew since: somebody has come and gone meanwhile, so it is looked at again.
      commit.erases.push_back(
          {.key = row.key, .only_if = store::Precondition::version(row.version)});
    }
    if (!commit.is_empty()) {
      auto erased = co_await sessions_.store_here().commit(std::move(commit));
      if (!erased && erased.error().code != Code::kWrongVersion)
        co_return fail(std::move(erased).error());
    }
    if (!page.has_more || is_stopping()) co_return first;
    begin = page.records.back().key + '\0';
  }
}

rt::Task<Result<std::vector<std::string>>> ArtifactService::files_in(unsigned folder) {
  co_return co_await pool_.run(here(), [&] { return files_.list(folder); });
}

rt::Task<Result<>> ArtifactService::sweep_all() {
  Result<> first;
  for (unsigned folder = 0; folder < store::BlobFiles::kFolders; ++folder) {
    auto hashes = co_await files_in(folder);
    if (!hashes) {
      keep_first(first, fail(std::move(hashes).error()));
      continue;
    }
    for (const std::string& hash : *hashes) {
      if (is_stopping()) co_return fail(Code::kCancelled, "the server is stopping");
      auto removal = co_await collect(hash);
      if (!removal) keep_first(first, fail(std::move(removal).error()));
    }
  }
  keep_first(first, co_await sweep_marked());
  co_return first;
}

// Sessions that have temporary files, or had when they ended and the process with them.
rt::Task<Result<>> ArtifactService::sweep_marked() {
  std::string begin = temporary_prefix();
  const std::string end = prefix_end(begin);
  for (;;) {
    REPRISE_CO_TRY(const auto page, co_await sessions_.store_here().scan(
                                        {.begin = begin, .end = end, .limit = kJanitorBatch}));
    for (const auto& row : page.records) {
      if (is_stopping()) co_return Result<>{};
      const auto id = SessionId::from_bytes(row.value);
      if (!id) co_return fail(Code::kCorrupt, "a record of temporary files does not decode");
      rt::Loop& origin = here();
      co_await rt::return_to(home_of(*id).loop);
      co_await sweep_ended(*id);
      co_await rt::return_to(origin);
    }
    if (!page.has_more) co_return Result<>{};
    begin = page.records.back().key + '\0';
  }
}

// On the session's home loop.
rt::Task<> ArtifactService::sweep_ended(SessionId id) {
  Home& home = home_of(id);
  // The actor that tells of the end has not come to its own end yet.
  co_await rt::yield(home.loop);
  auto swept = co_await sweep_temporary(id);
  if (swept || swept.error().code == Code::kSessionNotFound) co_return;
  log_failure("temporary artifacts could not be removed", swept.error());
  home.left_over.push_back(id);
}

rt::Task<Result<>> ArtifactService::sweep_temporary(SessionId id) {
  REPRISE_CO_TRY(const Holds::Held held, co_await home_of(id).holds.take(id));
  co_return co_await sweep_temporary_held(id);
}

rt::Task<Result<>> ArtifactService::sweep_temporary_held(SessionId id) {
  REPRISE_CO_TRY(const SessionView view, co_await sessions_.get(id));
  const StreamId stream = view.stream;
  store::AsyncStore& store = sessions_.store_here();
  REPRISE_CO_TRY(const auto marker, co_await store.get(temporary_key(stream)));
  if (!marker) co_return Result<>{};
  const std::string prefix = artifact_key(stream, "tmp/");
  std::string begin = prefix;
  bool is_all_gone = true;
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(
        const auto page,
        co_await store.scan({.begin = begin, .end = prefix_end(prefix), .limit = kJanitorBatch}));
    has_more = page.has_more;
    for (const auto& row : page.records) {
      begin = row.key + '\0';
      REPRISE_CO_TRY(const auto artifact, decode_artifact(row.key, row.value));
      if (is_visible(view, artifact.newest)) {
        is_all_gone = false;
        continue;
      }
      REPRISE_CO_TRY(const auto versions,
                     co_await read_versions(store, stream, artifact.newest.artifact.path));
      REPRISE_CO_TRY(const auto usage, co_await read_usage(store, stream));
      store::Commit commit;
      std::uint64_t freed = 0;
      for (const StoredVersion& version : versions) {
        drop_version(commit, stream, version);
        freed += version.artifact.size;
      }
      commit.erases.push_back({.key = row.key, .only_if = {}});
      // Only as long as the session is there: what a deletion has swept does not come back.
      commit.puts.push_back({.key = usage_key(stream),
                             .value = encode_usage(usage.minus(freed, versions.size())),
                             .only_if = store::Precondition::version(usage.record_version)});
      REPRISE_CO_CHECK(co_await store.commit(std::move(commit)));
    }
  }
  if (!is_all_gone) co_return Result<>{};
  store::Commit last;
  last.erases.push_back(
      {.key = temporary_key(stream), .only_if = store::Precondition::version(marker->version)});
  REPRISE_CO_CHECK(co_await store.commit(std::move(last)));
  co_return Result<>{};
}

}  // namespace reprise::session
