// Deleting and expiring logs, and looking into the store for those that are there.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "stream/limits.h"
#include "stream/log/service.h"
#include "stream/log/service_parts.h"

namespace reprise::stream {

bool is_log_race(const Error& error) {
  return error.code == Code::kWrongVersion || error.code == Code::kWrongSequence;
}

std::unexpected<Error> lost_log_races() {
  Error error{Code::kOverloaded, "too many callers change this stream at once"};
  error.retry_after_seconds = 1;
  return fail(std::move(error));
}

void file_log_expiry(store::Commit& commit, const std::string& path, LogRecord& record) {
  const auto due = record.is_deleted ? std::nullopt : record.due();
  if (record.filed_expiry == due) return;
  if (record.filed_expiry)
    commit.erases.push_back({.key = log_expiry_key(*record.filed_expiry, path), .only_if = {}});
  if (due) commit.puts.push_back({.key = log_expiry_key(*due, path), .value = {}, .only_if = {}});
  record.filed_expiry = due;
}

rt::Task<Result<>> LogService::remove(std::string path) {
  for (int tries = 0; tries < kMaxLogRaces; ++tries) {
    REPRISE_CO_CHECK(co_await look(path, false));
    auto removed = co_await try_remove(path);
    if (removed || !is_log_race(removed.error())) co_return removed;
  }
  co_return lost_log_races();
}

rt::Task<Result<>> LogService::try_remove(const std::string& path) {
  REPRISE_CO_TRY(Found found, co_await find(path));
  if (!found.record || found.record->is_deleted)
    co_return fail(Code::kStreamNotFound, fmt::format("there is no stream '{}'", path));
  co_return co_await remove_found(path, std::move(found));
}

// The log's actor does not know what is stored by now: who wrote it is about to tell.
rt::Task<Result<>> LogService::be_told(const std::string& path) {
  co_await tell(path, std::nullopt);
  co_return fail(Code::kWrongVersion, "another one came meanwhile");
}

// `found` was read before the log's actor said that there is none. The actor may not have heard of
// a new one yet, so the record must say so too.
rt::Task<Result<>> LogService::remove_expired(const std::string& path, Found found) {
  if (!found.record || found.record->is_deleted || !found.record->is_expired(clock_.now()))
    co_return co_await be_told(path);
  co_return co_await remove_found(path, std::move(found));
}

rt::Task<Result<>> LogService::remove_found(const std::string& path, Found found) {
  Change change;
  REPRISE_CO_CHECK(co_await add_removal(path, std::move(found), change));
  REPRISE_CO_CHECK(co_await store_here().commit(std::move(change.commit)));
  for (const Change::Touched& other : change.touched) co_await tell(other.path, other.removed);
  ++probe_.removed;
  if (listener_) listener_(path, {}, {}, LogChange::kRemoved);
  co_return Result<>{};
}

rt::Task<Result<std::vector<std::string>>> LogService::paths_matching(
    std::string prefix, std::function<bool(std::string_view)> is_wanted) {
  std::vector<std::string> paths;
  std::string begin = log_key(prefix);
  const std::string end = prefix_end(begin);
  for (;;) {
    REPRISE_CO_TRY(const auto page,
                   co_await store_here().scan({.begin = begin, .end = end, .limit = 1000}));
    for (const auto& row : page.records) {
      std::string path = row.key.substr(1);
      if (!is_wanted(path)) continue;
      REPRISE_CO_TRY(const LogRecord record, decode_log(row.value));
      if (!record.is_deleted) paths.push_back(std::move(path));
    }
    if (!page.has_more) co_return paths;
    begin = page.records.back().key + '\0';
    co_await rt::yield(*loops_[here()]);
  }
}

rt::Task<Result<std::optional<LogTail>>> LogService::tail_in_store(std::string path) {
  REPRISE_CO_TRY(const Found found, co_await find(std::move(path)));
  if (!found.record || found.record->is_deleted) co_return std::nullopt;
  REPRISE_CO_TRY(const Seq head, co_await store_here().head(found.record->stream));
  co_return LogTail{found.record->stream, Seq{found.record->base + head.value}};
}

// A log with forks is only marked: they still read it. When the last one goes, so does it, and so
// on up to the first that has others.
rt::Task<Result<>> LogService::add_removal(std::string path, Found found, Change& change) {
  for (;;) {
    LogRecord& record = *found.record;
    change.touched.push_back({path, record.stream});
    if (record.forks > 0) {
      record.is_deleted = true;
      file_log_expiry(change.commit, path, record);
      change.commit.puts.push_back(
          {.key = log_key(path), .value = encode_log(record), .only_if = found.only_if});
      co_return Result<>{};
    }
    if (record.filed_expiry)
      change.commit.erases.push_back(
          {.key = log_expiry_key(*record.filed_expiry, path), .only_if = {}});
    change.commit.erases.push_back({.key = log_key(path), .only_if = found.only_if});
    change.commit.cuts.push_back(
        {.stream = record.stream, .up_to = Seq{UINT64_MAX}, .forget = true});
    std::string begin = producer_prefix(record.stream);
    const std::string end = prefix_end(begin);
    for (bool has_more = true; has_more;) {
      REPRISE_CO_TRY(const auto page,
                     co_await store_here().scan({.begin = begin, .end = end, .limit = 1000}));
      for (const auto& row : page.records)
        change.commit.erases.push_back({.key = row.key, .only_if = {}});
      has_more = page.has_more;
      if (has_more) begin = page.records.back().key + '\0';
    }
    if (!record.origin) co_return Result<>{};
    path = record.origin->path;
    REPRISE_CO_TRY(Found source, co_await find(path));
    if (!source.record || source.record->forks == 0)
      co_return fail(Code::kCorrupt, "a fork's source does not know it");
    --source.record->forks;
    if (!source.record->is_deleted || source.record->forks > 0) {
      change.touched.push_back({path, std::nullopt});
      change.commit.puts.push_back(
          {.key = log_key(path), .value = encode_log(*source.record), .only_if = source.only_if});
      co_return Result<>{};
    }
    found = std::move(source);
  }
}

rt::Task<Result<>> LogService::expire_due() {
  rt::CancelScope scope;
  co_return co_await expire_due(scope);
}

rt::Task<Result<>> LogService::expire_due(rt::CancelScope& scope) {
  Result<> outcome;
  std::string begin = log_expiry_begin();
  const std::string end = log_expiry_end(clock_.now());
  for (;;) {
    REPRISE_CO_TRY(const auto page,
                   co_await store_here().scan({.begin = begin, .end = end, .limit = 256}));
    for (const auto& row : page.records) {
      if (scope.is_cancelled()) co_return outcome;
      const auto path = path_of_log_expiry(row.key);
      if (!path) continue;
      // One that is damaged does not keep the others from it.
      auto done = co_await expire_or_refile(*path);
      if (!done && !is_log_race(done.error())) outcome = std::move(done);
    }
    if (!page.has_more) co_return outcome;
    begin = page.records.back().key + '\0';
  }
}

rt::Task<Result<>> LogService::expire_or_refile(std::string path) {
  REPRISE_CO_TRY(Found found, co_await find(path));
  auto living = co_await look(path, false);
  if (!living && living.error().code == Code::kStreamNotFound)
    co_return co_await remove_expired(path, std::move(found));
  if (!living || !found.record || found.record->stream != living->record.stream)
    co_return Result<>{};
  // It was used since, or is: it is filed under its later time.
  Change change;
  found.record->used_at = std::max(found.record->used_at, living->record.used_at);
  file_log_expiry(change.commit, path, *found.record);
  if (change.commit.is_empty()) co_return Result<>{};
  change.commit.puts.push_back(
      {.key = log_key(path), .value = encode_log(*found.record), .only_if = found.only_if});
  auto filed = co_await store_here().commit(std::move(change.commit));
  if (!filed) co_return fail(std::move(filed).error());
  co_return co_await tell(path, std::nullopt);
}

}  // namespace reprise::stream
