#include "api/apps.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/access.h"
#include "api/body.h"
#include "api/limits.h"
#include "api/parameters.h"
#include "base/json_text.h"
#include "model/limits.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using session::SessionService;

std::string number_or_null(std::optional<std::uint64_t> number) {
  return number ? std::to_string(*number) : "null";
}

std::string app_members(const session::App& app) {
  const session::AppSettings& settings = app.settings;
  return fmt::format(
      R"("id":{},"description":{},"defaultTtlSeconds":{},"defaultMaxLifetimeSeconds":{},)"
      R"("retentionSeconds":{},"maxSessions":{},"keepRawToolPayloads":{},"createdAt":"{}",)"
      R"("updatedAt":"{}")",
      json_string(app.id), json_string(settings.description),
      number_or_null(settings.default_ttl_seconds),
      number_or_null(settings.default_max_lifetime_seconds),
      number_or_null(settings.retention_seconds), number_or_null(settings.max_sessions),
      settings.keeps_raw_tool_payloads, format_time(app.created_at), format_time(app.updated_at));
}

Result<std::string> app_id(const Exchange& exchange) {
  const std::string& id = exchange.captured.front();
  REPRISE_CHECK(model::check_app(id));
  REPRISE_CHECK(check_app_access(exchange, id));
  return id;
}

rt::Task<Result<Reply>> put(SessionService& service, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(std::string id, app_id(exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  session::AppSettings settings;
  settings.description = body.text("description", model::kMaxReasonBytes).value_or("");
  settings.default_ttl_seconds = body.number("defaultTtlSeconds", 1, model::kMaxTtlSeconds);
  settings.default_max_lifetime_seconds =
      body.number("defaultMaxLifetimeSeconds", 1, model::kMaxTtlSeconds);
  settings.retention_seconds = body.number("retentionSeconds", 1, model::kMaxTtlSeconds);
  settings.max_sessions = body.number("maxSessions", 1, UINT32_MAX);
  settings.keeps_raw_tool_payloads = body.boolean("keepRawToolPayloads").value_or(false);
  REPRISE_CO_CHECK(body.done());
  REPRISE_CO_TRY(const auto done, co_await service.put_app(std::move(id), std::move(settings)));
  co_return Reply::json(done.is_new ? 201 : 200, '{' + app_members(done.app) + '}');
}

rt::Task<Result<Reply>> get(SessionService& service, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(const std::string id, app_id(exchange));
  REPRISE_CO_TRY(const auto app, co_await service.app(id));
  REPRISE_CO_TRY(const auto counts, co_await service.counts_of_app(id));
  std::string json = '{' + app_members(app) + ",\"countsByStatus\":{";
  for (const auto& [status, count] : counts) {
    if (json.back() != '{') json += ',';
    json += fmt::format(R"("{}":{})", model::word(status), count);
  }
  co_return Reply::json(200, json + "}}");
}

// Of a token that is limited to some: these and no other, also not by the cursor.
rt::Task<Result<session::AppPage>> own_apps(SessionService& service,
                                            std::vector<std::string> allowed, std::string after,
                                            std::size_t limit) {
  std::ranges::sort(allowed);
  session::AppPage page;
  for (const std::string& id : allowed) {
    if (id <= after) continue;
    auto app = co_await service.app(id);
    if (!app && app.error().code != Code::kAppNotFound) co_return fail(std::move(app).error());
    if (!app) continue;
    if (page.apps.size() == limit) {
      page.next = page.apps.back().id;
      break;
    }
    page.apps.push_back(std::move(*app));
  }
  co_return page;
}

rt::Task<Result<Reply>> list(SessionService& service, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"limit", "cursor"}));
  REPRISE_CO_TRY(const auto limit, number_parameter(exchange, "limit", 1, kMaxAppPageLimit));
  REPRISE_CO_TRY(const auto cursor, exchange.query("cursor"));
  const std::string after = cursor.value_or("");
  const std::size_t count = limit.value_or(kDefaultAppPageLimit);
  const auto& allowed = exchange.principal.apps;
  REPRISE_CO_TRY(const auto page, allowed ? co_await own_apps(service, *allowed, after, count)
                                          : co_await service.apps(after, count));
  std::string json = "{\"apps\":[";
  for (const session::App& app : page.apps) {
    if (json.back() != '[') json += ',';
    json += '{' + app_members(app) + '}';
  }
  json += "],\"nextCursor\":" + (page.next.empty() ? "null" : json_string(page.next)) + '}';
  co_return Reply::json(200, std::move(json));
}

rt::Task<Result<Reply>> close(SessionService& service, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(const std::string id, app_id(exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  std::string reason = body.text("reason", model::kMaxReasonBytes).value_or("");
  REPRISE_CO_CHECK(body.done());
  REPRISE_CO_CHECK(co_await service.app(id));
  REPRISE_CO_TRY(const auto report, co_await service.close_app(id, std::move(reason)));
  std::string json =
      fmt::format(R"({{"closed":{},"failed":{},"failures":[)", report.closed, report.failed);
  for (const auto& failure : report.failures) {
    if (json.back() != '[') json += ',';
    json += fmt::format(R"({{"id":"{}","code":"{}","detail":{}}})", failure.id.to_string(),
                        error_row(failure.error.code).name, json_string(failure.error.detail));
  }
  co_return Reply::json(200, json + "]}");
}

}  // namespace

void add_app_routes(http::Router& router, SessionService& service) {
  using enum wire::Method;
  using http::Scope;
  using Handler = rt::Task<Result<Reply>> (*)(SessionService&, Exchange&);
  const auto add = [&](wire::Method method, std::string path, Scope scope, Handler handler) {
    router.add(method, "/v1/apps" + std::move(path), scope,
               [&service, handler](Exchange& exchange) { return handler(service, exchange); });
  };
  add(kGet, "", Scope::kRead, list);
  add(kPut, "/{id}", Scope::kWrite, put);
  add(kGet, "/{id}", Scope::kRead, get);
  add(kPost, "/{id}/close", Scope::kWrite, close);
}

}  // namespace reprise::api
