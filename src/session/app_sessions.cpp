// What apps mean to sessions: what holds for a new one, and how all of an app are closed.
#include <fmt/format.h>

#include "base/bytes.h"
#include "session/apps.h"
#include "session/keys.h"
#include "session/limits.h"
#include "session/service.h"
#include "session/stored_session.h"

namespace reprise::session {

rt::Task<Result<>> SessionService::check_app_room(std::string id, const AppSettings& settings) {
  if (!settings.max_sessions) co_return Result<>{};
  REPRISE_CO_TRY(const std::uint64_t living, co_await living_sessions(id));
  if (living < *settings.max_sessions) co_return Result<>{};
  co_return fail(
      Code::kTooManyRequests,
      fmt::format("the app '{}' has {} living sessions, which is all it may have", id, living));
}

rt::Task<Result<AppHold>> SessionService::prepare_for_app(model::Create& create, bool is_living) {
  const std::string key = app_key(create.app);
  REPRISE_CO_TRY(const auto record, co_await store_here().get(key));
  if (!record) {
    if (options_.is_strict_about_apps) co_return no_such_app(create.app);
    const TimePoint now = clock_.now();
    const App fresh{.id = create.app, .settings = {}, .created_at = now, .updated_at = now};
    co_return AppHold{
        .key = key, .fresh = encode_app(fresh), .only_if = store::Precondition::absent()};
  }
  REPRISE_CO_TRY(const App app, decode_app(key, record->value));
  const AppSettings& settings = app.settings;
  if (!create.ttl_seconds) create.ttl_seconds = settings.default_ttl_seconds;
  if (!create.max_lifetime_seconds)
    create.max_lifetime_seconds = settings.default_max_lifetime_seconds;
  if (is_living) REPRISE_CO_CHECK(co_await check_app_room(create.app, settings));
  co_return AppHold{
      .key = key, .fresh = {}, .only_if = store::Precondition::version(record->version)};
}

void AppHold::add_to(store::Commit& commit) const {
  if (fresh.empty())
    commit.checks.push_back({.key = key, .only_if = only_if});
  else
    commit.puts.push_back({.key = key, .value = fresh, .only_if = only_if});
}

rt::Task<> SessionService::close_one(SessionId id, std::string reason, CloseReport& report) {
  auto closed =
      co_await call(id, Call{.action = model::Command(model::Close{.reason = std::move(reason)}),
                             .wants_view = false});
  if (closed) {
    ++report.closed;
    co_return;
  }
  // It ended or went by itself.
  const Code code = closed.error().code;
  if (code == Code::kSessionNotFound || code == Code::kBadTransition) co_return;
  ++report.failed;
  if (report.failures.size() < kMaxCloseFailures)
    report.failures.push_back({id, std::move(closed).error()});
}

rt::Task<Result<CloseReport>> SessionService::close_app(std::string id, std::string reason) {
  CloseReport report;
  std::string begin = app_prefix(id);
  const std::string end = prefix_end(begin);
  for (;;) {
    REPRISE_CO_TRY(
        const auto page,
        co_await store_here().scan({.begin = begin, .end = end, .limit = kSessionsClosedAtOnce}));
    std::vector<SessionId> living;
    for (const auto& row : page.records) {
      const auto session = id_of_index_key(row.key);
      if (!session) continue;
      REPRISE_CO_TRY(const bool is_over, co_await has_ended(*session));
      if (!is_over) living.push_back(*session);
    }
    // All of a page at once; none of them waits for another.
    rt::Gate gate;
    for (const SessionId session : living) rt::spawn(gate, close_one(session, reason, report));
    co_await gate.empty();
    if (!page.has_more) co_return report;
    begin = page.records.back().key + '\0';
    // Ended sessions cost no wait, and there may be many.
    co_await rt::yield(*loops_[here()]);
  }
}

// One whose record tells nothing has not: closing it says what is wrong with it.
rt::Task<Result<bool>> SessionService::has_ended(SessionId id) {
  REPRISE_CO_TRY(const auto record, co_await store_here().get(session_key(id)));
  if (!record) co_return true;
  const auto stored = decode_stored(record->value, record->version);
  co_return stored&& model::is_terminal(stored->state.status);
}

}  // namespace reprise::session
