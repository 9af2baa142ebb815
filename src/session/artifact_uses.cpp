// Artifacts that are there: looked at, read and removed.
#include <fmt/format.h>

#include <algorithm>

#include "session/artifacts_internal.h"

namespace reprise::session {
namespace {

void count(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) {
  counter.fetch_add(by, std::memory_order_relaxed);
}

std::unexpected<Error> no_artifact(std::string_view path, std::optional<std::uint64_t> number) {
  return fail(Code::kArtifactNotFound,
              number ? fmt::format("there is no version {} of '{}'", *number, path)
                     : fmt::format("there is no artifact '{}'", path));
}

}  // namespace

// Closing a large file that was removed takes a while: not on a loop.
Download::~Download() {
  pool_.submit([file = std::move(file_)]() mutable { file = {}; });
}

rt::Task<Result<std::size_t>> Download::read(std::uint64_t offset, std::span<char> buffer) {
  rt::Loop& loop = *rt::Loop::current();
  REPRISE_CO_TRY(const std::size_t size, co_await pool_.run(loop, [&] {
    return store::BlobFiles::read_at(file_, offset, buffer);
  }));
  if (size != buffer.size()) co_return fail(Code::kCorrupt, "content is cut off");
  count(probe_.download_bytes, size);
  co_return size;
}

rt::Task<Result<ArtifactView>> ArtifactService::look(SessionRef session, std::string path,
                                                     std::optional<std::uint64_t> number) {
  REPRISE_CO_CHECK(model::check_artifact_path(path));
  REPRISE_CO_TRY(const SessionView view, co_await sessions_.get(std::move(session)));
  REPRISE_CO_TRY(const auto artifact, co_await visible_artifact(view, path));
  if (!artifact) co_return no_artifact(path, std::nullopt);
  if (!number || *number == artifact->newest.artifact.version)
    co_return ArtifactView{.version = artifact->newest, .versions = artifact->versions};
  REPRISE_CO_TRY(auto version,
                 co_await read_version(sessions_.store_here(), view.stream, path, *number));
  if (!version) co_return no_artifact(path, number);
  co_return ArtifactView{.version = std::move(*version), .versions = artifact->versions};
}

rt::Task<Result<std::unique_ptr<Download>>> ArtifactService::open(SessionRef session,
                                                                  const ArtifactView& view) {
  const model::ArtifactVersion& artifact = view.version.artifact;
  auto slot = take_slot();
  if (!slot) co_return fail(Code::kOverloaded, "too many files are being transferred");
  auto file =
      co_await pool_.run(here(), [&] { return files_.open(artifact.sha256, artifact.size); });
  if (!file) {
    // It may have been deleted since it was looked at, and then this says so.
    REPRISE_CO_CHECK(co_await look(std::move(session), artifact.path, artifact.version));
    co_return fail(std::move(file).error());
  }
  count(probe_.downloads);
  co_return std::unique_ptr<Download>(
      new Download(pool_, probe_, std::move(*slot), std::move(*file)));
}

rt::Task<Result<>> ArtifactService::remove(SessionRef session, std::string path,
                                           std::optional<std::uint64_t> number, std::string by,
                                           std::optional<Generation> lease) {
  REPRISE_CO_CHECK(model::check_artifact_path(path));
  REPRISE_CO_TRY(const SessionView view, co_await sessions_.get(std::move(session)));
  const SessionId id = view.state.id;
  rt::Loop& origin = here();
  if (!co_await rt::switch_to(home_of(id).loop))
    co_return fail(Code::kOverloaded, "the session's loop has too much waiting");
  auto removed = co_await remove_once(id, path, number, by, lease);
  for (int tries = 1; !removed && removed.error().code == Code::kWrongVersion; ++tries) {
    if (tries == kMaxKeyRaces) break;
    removed = co_await remove_once(id, path, number, by, lease);
  }
  co_await rt::return_to(origin);
  co_return removed;
}

rt::Task<Result<>> ArtifactService::remove_once(SessionId id, const std::string& path,
                                                std::optional<std::uint64_t> number,
                                                const std::string& by,
                                                std::optional<Generation> lease) {
  REPRISE_CO_TRY(const Holds::Held held, co_await home_of(id).holds.take(id));
  REPRISE_CO_TRY(const SessionView view, co_await sessions_.get(id));
  REPRISE_CO_CHECK(check_known(view));
  const StreamId stream = view.stream;
  REPRISE_CO_TRY(const auto present, co_await visible_artifact(view, path));
  if (!present) co_return no_artifact(path, std::nullopt);
  REPRISE_CO_TRY(auto versions, co_await read_versions(sessions_.store_here(), stream, path));
  std::optional<StoredArtifact> remaining;
  if (number) {
    const auto is_asked = [&](const StoredVersion& one) { return one.artifact.version == *number; };
    const auto asked = std::find_if(versions.begin(), versions.end(), is_asked);
    if (asked == versions.end()) co_return no_artifact(path, number);
    std::vector<StoredVersion> dropped{*asked};
    versions.erase(asked);
    if (!versions.empty())
      remaining = StoredArtifact{.newest = versions.back(),
                                 .last_number = present->last_number,
                                 .versions = versions.size()};
    versions = std::move(dropped);
  }
  std::uint64_t freed = 0;
  for (const StoredVersion& version : versions) freed += version.artifact.size;
  REPRISE_CO_TRY(const auto usage, co_await read_usage(sessions_.store_here(), stream));
  const ArtifactUsage left = usage.minus(freed, versions.size());
  const TimePoint now = sessions_.clock().now();
  RecordChange change{
      .events = {model::artifact_deleted(path, number, versions.size(), now, by)},
      .add_records =
          [=](store::Commit& commit, Seq) {
            for (const StoredVersion& version : versions) drop_version(commit, stream, version);
            std::string key = artifact_key(stream, path);
            if (remaining)
              commit.puts.push_back(
                  {.key = std::move(key), .value = encode_artifact(*remaining), .only_if = {}});
            else
              commit.erases.push_back({.key = std::move(key), .only_if = {}});
            commit.puts.push_back(
                {.key = usage_key(stream), .value = encode_usage(left), .only_if = {}});
          },
      .stream = stream,
      .visible_after = view.state.visible_after};
  REPRISE_CO_CHECK(co_await sessions_.call(
      id, {.action = std::move(change), .lease = lease, .wants_view = false}));
  co_return Result<>{};
}

}  // namespace reprise::session
