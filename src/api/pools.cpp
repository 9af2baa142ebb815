#include "api/pools.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "api/body.h"
#include "base/json_text.h"
#include "browser/limits.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;

constexpr std::uint64_t kDefaultHeartbeatSeconds = 15;

std::string time_or_null(std::optional<TimePoint> at) {
  return at ? fmt::format("\"{}\"", format_time(*at)) : "null";
}

std::unexpected<Error> no_such_pool(std::string_view key) {
  return fail(Code::kPoolNotFound, fmt::format("there is no pool '{}'", key));
}

// The pool a path names. Pools serve all apps, so that a token for some may not change them.
Result<std::string> pool_of(const Exchange& exchange) {
  const std::string& key = exchange.captured.front();
  REPRISE_CHECK(browser::check_pool_key(key));
  if (exchange.principal.apps)
    return fail(Code::kForbidden,
                fmt::format("the token '{}' is for some apps, and pools are for all of them",
                            exchange.principal.name));
  return key;
}

rt::Task<Result<Reply>> list(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(const auto report, co_await routes.browsers.report());
  std::string json = "{\"pools\":[";
  for (const browser::PoolReport& pool : report.pools) {
    if (json.back() != '[') json += ',';
    json += pool_json(pool);
  }
  co_return Reply::json(200, json + "]}");
}

rt::Task<Result<Reply>> show(const BrowserRoutes& routes, std::string key, int status) {
  REPRISE_CO_TRY(const auto pool, co_await routes.browsers.pool_report(key));
  if (!pool) co_return no_such_pool(key);
  co_return Reply::json(status, pool_json(*pool));
}

rt::Task<Result<Reply>> get(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  co_return co_await show(routes, exchange.captured.front(), 200);
}

rt::Task<Result<Reply>> put(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(std::string key, pool_of(exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  browser::ExternalPoolFacts facts;
  const auto kind = body.text("kind", browser::kMaxPoolKeyBytes);
  if (kind && *kind != "external")
    body.wrong("kind", "a pool that registers is 'external'; others are in the configuration");
  const auto most = body.number("maxContexts", 1, browser::kMaxPoolContexts);
  if (!most) body.wrong("maxContexts", "maxContexts is needed: how many contexts it has room for");
  facts.max_contexts = most.value_or(0);
  facts.location = body.text("location", browser::kMaxPoolLocationBytes).value_or("");
  facts.heartbeat_seconds = body.number("heartbeatSeconds", 1, browser::kMaxPoolHeartbeatSeconds)
                                .value_or(kDefaultHeartbeatSeconds);
  REPRISE_CO_CHECK(body.done());
  REPRISE_CO_TRY(const bool is_new, co_await routes.browsers.put_pool(key, std::move(facts)));
  co_return co_await show(routes, std::move(key), is_new ? 201 : 200);
}

rt::Task<Result<Reply>> heartbeat(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(std::string key, pool_of(exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  browser::PoolBeat beat;
  beat.contexts = body.number("contexts", 0, browser::kMaxPoolContexts);
  beat.waiting = body.number("waiting", 0, browser::kMaxPoolContexts);
  if (body.is_null("lastError"))
    beat.last_error = "";
  else
    beat.last_error = body.text("lastError", browser::kMaxPoolLocationBytes);
  REPRISE_CO_CHECK(body.done());
  REPRISE_CO_CHECK(co_await routes.browsers.beat_pool(key, std::move(beat)));
  co_return co_await show(routes, std::move(key), 200);
}

rt::Task<Result<Reply>> remove(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(std::string key, pool_of(exchange));
  REPRISE_CO_CHECK(co_await routes.browsers.remove_pool(std::move(key)));
  co_return Reply::empty(204);
}

}  // namespace

std::string pool_json(const browser::PoolReport& pool) {
  std::string json =
      fmt::format(R"({{"poolKey":{},"kind":"{}","status":"{}","heartbeatAt":{},"contexts":{},)"
                  R"("maxContexts":{},"waiting":{},"lastError":{},"browsers":[)",
                  json_string(pool.key), pool.kind, pool.is_stale ? "stale" : "alive",
                  time_or_null(pool.heartbeat_at), pool.contexts, pool.max_contexts, pool.waiting,
                  pool.last_error.empty() ? "null" : json_string(pool.last_error));
  for (const auto& browser : pool.browsers) {
    if (json.back() != '[') json += ',';
    json += fmt::format(
        R"({{"pid":{},"version":{},"contexts":{},"clients":{},"memoryBytes":{},"isDraining":{}}})",
        browser.pid, json_string(browser.version), browser.contexts, browser.clients,
        browser.memory_bytes, browser.is_draining);
  }
  json += ']';
  if (pool.is_external)
    json += fmt::format(R"(,"location":{},"heartbeatSeconds":{},"registeredAt":{},"staleSince":{})",
                        json_string(pool.location), pool.heartbeat_seconds,
                        time_or_null(pool.registered_at), time_or_null(pool.stale_since));
  return json + '}';
}

void add_pool_routes(http::Router& router, const BrowserRoutes& routes) {
  using enum wire::Method;
  using http::Scope;
  using Handler = rt::Task<Result<Reply>> (*)(const BrowserRoutes&, Exchange&);
  const auto bind = [&routes](Handler handler) {
    return [&routes, handler](Exchange& exchange) { return handler(routes, exchange); };
  };
  router.add(kGet, "/v1/pools", Scope::kRead, bind(list));
  router.add(kGet, "/v1/pools/{poolKey}", Scope::kRead, bind(get));
  router.add(kPut, "/v1/pools/{poolKey}", Scope::kWrite, bind(put));
  router.add(kDelete, "/v1/pools/{poolKey}", Scope::kWrite, bind(remove));
  // A server with too much to do must not take pools for silent.
  router.add(kPost, "/v1/pools/{poolKey}/heartbeat", Scope::kWrite, bind(heartbeat)).is_never_shed =
      true;
}

}  // namespace reprise::api
