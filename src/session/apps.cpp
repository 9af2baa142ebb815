#include "session/apps.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/log.h"
#include "model/status.h"
#include "session/browser_rows.h"
#include "session/keys.h"
#include "session/limits.h"
#include "session/service.h"
#include "session/stored_session.h"

namespace reprise::session {
namespace {

// 1 had no keeps_raw_tool_payloads.
constexpr std::uint8_t kAppFormat = 2;

void put_optional(std::string& out, std::optional<std::uint64_t> value) {
  out.push_back(value ? '\1' : '\0');
  if (value) put_varint(out, *value);
}

bool get_optional(ByteReader& reader, std::optional<std::uint64_t>& value) {
  std::uint8_t is_there = 0;
  if (!reader.byte(is_there) || is_there > 1) return false;
  return is_there == 0 || reader.varint(value.emplace());
}

bool get_time(ByteReader& reader, TimePoint& at) {
  std::uint64_t ms = 0;
  if (!reader.varint(ms) || ms > INT64_MAX) return false;
  at.ms = static_cast<std::int64_t>(ms);
  return true;
}

}  // namespace

std::unexpected<Error> no_such_app(std::string_view id) {
  return fail(Code::kAppNotFound, fmt::format("there is no app '{}'", id));
}

std::string app_key(std::string_view id) { return "N" + std::string(id); }
std::string app_range_begin() { return "N"; }
std::string app_range_end() { return "O"; }

std::string encode_app(const App& app) {
  std::string out(1, static_cast<char>(kAppFormat));
  put_varint(out, static_cast<std::uint64_t>(app.created_at.ms));
  put_varint(out, static_cast<std::uint64_t>(app.updated_at.ms));
  put_text(out, app.settings.description);
  put_optional(out, app.settings.default_ttl_seconds);
  put_optional(out, app.settings.default_max_lifetime_seconds);
  put_optional(out, app.settings.retention_seconds);
  put_optional(out, app.settings.max_sessions);
  out.push_back(app.settings.keeps_raw_tool_payloads ? '\1' : '\0');
  return out;
}

Result<App> decode_app(std::string_view key, std::string_view value) {
  App app{.id = std::string(key.substr(std::min<std::size_t>(key.size(), 1)))};
  ByteReader reader(value);
  std::uint8_t format = 0;
  AppSettings& settings = app.settings;
  std::uint8_t keeps_raw = 0;
  if (!reader.byte(format) || format == 0 || format > kAppFormat ||
      !get_time(reader, app.created_at) || !get_time(reader, app.updated_at) ||
      !reader.text(settings.description) || !get_optional(reader, settings.default_ttl_seconds) ||
      !get_optional(reader, settings.default_max_lifetime_seconds) ||
      !get_optional(reader, settings.retention_seconds) ||
      !get_optional(reader, settings.max_sessions) ||
      (format >= 2 && (!reader.byte(keeps_raw) || keeps_raw > 1)) || !reader.at_end())
    return fail(Code::kCorrupt, "an app's record does not decode");
  settings.keeps_raw_tool_payloads = keeps_raw == 1;
  return app;
}

rt::Task<Result<App>> SessionService::app(std::string id) {
  const std::string key = app_key(id);
  REPRISE_CO_TRY(const auto record, co_await store_here().get(key));
  if (!record) co_return no_such_app(id);
  co_return decode_app(key, record->value);
}

rt::Task<Result<AppPage>> SessionService::apps(std::string after, std::size_t limit) {
  std::string begin = after.empty() ? app_range_begin() : app_key(after) + '\0';
  REPRISE_CO_TRY(const auto rows,
                 co_await store_here().scan(
                     {.begin = std::move(begin), .end = app_range_end(), .limit = limit}));
  AppPage page;
  for (const auto& row : rows.records) {
    auto app = decode_app(row.key, row.value);
    if (app)
      page.apps.push_back(std::move(*app));
    else
      log::error("an app's record is damaged", {{"app", row.key.substr(1)}});
  }
  if (rows.has_more) page.next = rows.records.back().key.substr(1);
  co_return page;
}

rt::Task<Result<PutApp>> SessionService::put_app(std::string id, AppSettings settings) {
  const std::string key = app_key(id);
  for (int tries = 0; tries < kMaxKeyRaces; ++tries) {
    REPRISE_CO_TRY(const auto record, co_await store_here().get(key));
    PutApp put{.app = {.id = id}, .is_new = !record};
    auto only_if = store::Precondition::absent();
    const TimePoint now = clock_.now();
    put.app.created_at = now;
    if (record) {
      REPRISE_CO_TRY(put.app, decode_app(key, record->value));
      only_if = store::Precondition::version(record->version);
    }
    put.app.settings = settings;
    put.app.updated_at = now;
    store::Commit commit;
    commit.puts.push_back({.key = key, .value = encode_app(put.app), .only_if = only_if});
    auto written = co_await store_here().commit(std::move(commit));
    if (written) co_return put;
    if (written.error().code != Code::kWrongVersion) co_return fail(std::move(written).error());
  }
  co_return fail(Code::kOverloaded, "too many callers change this app");
}

rt::Task<Result<std::map<model::Status, std::int64_t>>> SessionService::counts_of_app(
    std::string app) {
  Filter filter;
  filter.app = std::move(app);
  std::map<model::Status, std::int64_t> counts;
  store::Store& store = store_;
  REPRISE_CO_CHECK(co_await store_here().blocking([&]() -> Result<> {
    REPRISE_TRY(counts, count_by_status(store, filter));
    return {};
  }));
  co_return counts;
}

rt::Task<Result<std::uint64_t>> SessionService::living_sessions(std::string app) {
  REPRISE_CO_TRY(const auto counts, co_await counts_of_app(std::move(app)));
  std::int64_t living = 0;
  for (const auto& [status, count] : counts)
    if (model::is_living(status)) living += count;
  co_return static_cast<std::uint64_t>(std::max<std::int64_t>(living, 0));
}

rt::Task<Result<>> SessionService::remove_app(std::string id, store::Commit also) {
  const std::string key = app_key(id);
  also.erases.push_back({.key = app_policy_key(id), .only_if = {}});
  for (int tries = 0; tries < kMaxKeyRaces; ++tries) {
    REPRISE_CO_TRY(const auto record, co_await store_here().get(key));
    if (!record) co_return no_such_app(id);
    REPRISE_CO_CHECK(co_await check_nobody_lives(id));
    store::Commit again;
    again.puts.push_back(
        {.key = key, .value = record->value, .only_if = store::Precondition::absent()});
    for (const auto& erase : also.erases) {
      REPRISE_CO_TRY(const auto other, co_await store_here().get(erase.key));
      if (other) again.puts.push_back({.key = erase.key, .value = other->value, .only_if = {}});
    }
    store::Commit commit = also;
    commit.erases.push_back({.key = key, .only_if = store::Precondition::version(record->version)});
    auto erased = co_await store_here().commit(std::move(commit));
    if (!erased && erased.error().code == Code::kWrongVersion) continue;
    if (!erased) co_return fail(std::move(erased).error());
    // One that was created before that and after the look keeps its app, and all of it. Later ones
    // have seen that it is gone.
    auto still_nobody = co_await check_nobody_lives(id);
    if (still_nobody) co_return Result<>{};
    auto put_back = co_await store_here().commit(std::move(again));
    if (!put_back && put_back.error().code != Code::kWrongVersion)
      co_return fail(std::move(put_back).error());
    co_return still_nobody;
  }
  co_return fail(Code::kOverloaded, "too many callers change this app");
}

rt::Task<Result<>> SessionService::check_nobody_lives(std::string app) {
  REPRISE_CO_TRY(const std::uint64_t living, co_await living_sessions(app));
  if (living == 0) co_return Result<>{};
  co_return fail(Code::kConflict,
                 fmt::format("the app '{}' has {} living sessions: close it first", app, living));
}

}  // namespace reprise::session
