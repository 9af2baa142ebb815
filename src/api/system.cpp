#include "api/system.h"

#include <fmt/format.h>

#include "api/browser_metrics.h"
#include "api/metrics.h"
#include "base/json_text.h"
#include "browser/service.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;

std::string_view store_word(store::StoreState state) {
  switch (state) {
    case store::StoreState::kWritable: return "ok";
    case store::StoreState::kFull: return "no_space";
    case store::StoreState::kReadOnly: return "read_only";
  }
  return "read_only";
}

std::string_view store_advice(store::StoreState state) {
  switch (state) {
    case store::StoreState::kWritable: return "";
    case store::StoreState::kFull:
      return "the disk is full: make room, and writing goes on by itself";
    case store::StoreState::kReadOnly:
      return "a sync failed, so the disk cannot be trusted: check it, then restart the server";
  }
  return "";
}

rt::Task<Result<Reply>> healthz(SystemContext, Exchange&) {
  co_return Reply::json(200, "{\"status\":\"ok\"}");
}

rt::Task<Result<Reply>> readyz(SystemContext context, Exchange&) {
  const auto state = context.service.store().state();
  if (context.is_draining) co_return fail(Code::kShuttingDown, "the server is stopping");
  if (state == store::StoreState::kFull)
    co_return fail(Code::kNoSpace, std::string(store_advice(state)));
  if (state == store::StoreState::kReadOnly)
    co_return fail(Code::kReadOnly, std::string(store_advice(state)));
  co_return Reply::json(200, "{\"status\":\"ok\"}");
}

struct BrowserHealth {
  std::string json = "null";  // nobody can tell
  std::string problems;       // JSON texts, each after a comma
};

// What becomes of the browsers must not keep anybody from hearing of the rest.
rt::Task<BrowserHealth> browser_health(browser::BrowserService* browsers) {
  BrowserHealth health;
  if (browsers == nullptr) co_return health;
  const auto report = co_await browsers->report();
  if (!report) {
    health.problems = ',' + json_string(report.error().detail);
    co_return health;
  }
  health.json =
      fmt::format(R"({{"isSandboxed":{},"tabs":{},"pools":[)", report->is_sandboxed, report->tabs);
  for (const browser::PoolReport& pool : report->pools) {
    if (health.json.back() != '[') health.json += ',';
    health.json +=
        fmt::format(R"({{"poolKey":{},"kind":"{}","status":"{}","browsers":{},"contexts":{},)"
                    R"("maxContexts":{},"waiting":{},"lastError":{}}})",
                    json_string(pool.key), pool.kind, pool.is_stale ? "stale" : "alive",
                    pool.browsers.size(), pool.contexts, pool.max_contexts, pool.waiting,
                    pool.last_error.empty() ? "null" : json_string(pool.last_error));
    if (!pool.is_external && !pool.last_error.empty())
      health.problems += ',' + json_string(fmt::format("pool '{}': {}", pool.key, pool.last_error));
  }
  health.json += "]}";
  co_return health;
}

rt::Task<Result<Reply>> health(SystemContext context, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  const BrowserHealth browsers = co_await browser_health(context.browsers);
  const store::Store& store = context.service.store();
  const auto state = store.state();
  const auto statistics = store.statistics();
  const auto committer = store.probe();
  const bool is_ok =
      state == store::StoreState::kWritable && !context.is_draining && browsers.problems.empty();
  const auto uptime = (context.service.clock().now() - context.started_at).count() / 1000;
  std::string problems;
  if (state != store::StoreState::kWritable) problems = json_string(store_advice(state));
  if (context.is_draining)
    problems += (problems.empty() ? "" : ",") + json_string("the server is stopping");
  if (!browsers.problems.empty())
    problems += problems.empty() ? browsers.problems.substr(1) : browsers.problems;
  co_return Reply::json(
      200,
      fmt::format(
          "{{\"status\":\"{}\",\"version\":{},\"uptimeSeconds\":{},"
          "\"store\":{{\"engine\":\"rocksdb\",\"state\":\"{}\",\"bytesOnDisk\":{},\"freeBytes\":{},"
          "\"memoryBytes\":{},\"queuedCommits\":{}}},"
          "\"sessions\":{{\"loaded\":{}}},\"agents\":{{\"alive\":{},\"lost\":{}}},\"http\":{{"
          "\"connections\":{},\"streams\":{}}},\"browsers\":{},"
          "\"problems\":[{}]}}",
          is_ok ? "ok" : "degraded", json_string(context.version), uptime, store_word(state),
          statistics.bytes_on_disk, statistics.free_bytes, statistics.memory_bytes,
          committer.queued, context.service.probe().loaded, context.agents.probe().alive.load(),
          context.agents.probe().lost.load(), context.probe.connections_open.load(),
          context.probe.streams_open.load(), browsers.json, problems));
}

rt::Task<Result<Reply>> metrics(SystemContext context, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  Reply reply;
  reply.headers.add("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
  reply.body = metrics_page(context);
  if (context.browsers != nullptr)
    reply.body += co_await browser_metrics(*context.browsers, context.proxies);
  co_return reply;
}

rt::Task<Result<Reply>> openapi(SystemContext, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  co_return Reply::json(200, std::string(openapi_document()));
}

}  // namespace

void add_system_routes(http::Router& router, const SystemContext& context) {
  const auto add = [&](std::string path, http::Scope scope,
                       rt::Task<Result<Reply>> (*handler)(SystemContext, Exchange&),
                       std::string_view produces = "application/json") {
    http::Route& route = router.add(
        wire::Method::kGet, std::move(path), scope,
        [context, handler](Exchange& exchange) { return handler(context, exchange); }, {produces});
    // How the server is must be answered most of all when it has too much to do.
    route.is_never_shed = true;
  };
  // Probes come from load balancers and orchestrators, which have no token and learn nothing.
  add("/healthz", http::Scope::kNone, healthz);
  add("/readyz", http::Scope::kNone, readyz);
  add("/openapi.json", http::Scope::kNone, openapi);
  add("/v1/health", http::Scope::kRead, health);
  add("/metrics", http::Scope::kRead, metrics, "text/plain");
}

}  // namespace reprise::api
