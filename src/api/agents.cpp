#include "api/agents.h"

#include <fmt/format.h>

#include <limits>

#include "api/access.h"
#include "api/body.h"
#include "api/parameters.h"
#include "base/json_text.h"
#include "model/limits.h"
#include "session/limits.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using session::AgentService;

void append_time_or_null(std::string& json, std::optional<TimePoint> at) {
  json += at ? '"' + format_time(*at) + '"' : "null";
}

void append_agent_json(std::string& json, const session::AgentView& view) {
  const model::Agent& agent = view.agent;
  json += "{\"id\":";
  append_json_string(json, view.id);
  json += ",\"status\":";
  append_json_string(json, model::word(agent.status()));
  json += ",\"generation\":";
  append_number(json, agent.generation.value);
  json += ",\"heartbeatSeconds\":";
  append_number(json, agent.heartbeat_seconds);
  json += ",\"registeredAt\":";
  append_time_or_null(json, agent.registered_at);
  json += ",\"lastHeartbeatAt\":";
  append_time_or_null(json, view.last_heartbeat_at);
  json += ",\"lostAt\":";
  append_time_or_null(json, agent.loss.transform([](const auto& loss) { return loss.at; }));
  json += '}';
}

Reply record(int status, const session::AgentView& view) {
  std::string json;
  append_agent_json(json, view);
  return Reply::json(status, std::move(json));
}

// The agent a path names, if the caller may use it.
Result<std::string> agent_of(const Exchange& exchange) {
  const std::string& id = exchange.captured.front();
  REPRISE_CHECK(model::check_agent_id(id));
  REPRISE_CHECK(check_app_access(exchange, model::app_of_agent(id)));
  return id;
}

rt::Task<Result<Reply>> put(AgentService& agents, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(std::string id, agent_of(exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  const auto beat = body.number("heartbeatSeconds", 1, model::kMaxHeartbeatSeconds);
  REPRISE_CO_CHECK(body.done());
  REPRISE_CO_TRY(
      const auto view,
      co_await agents.put(std::move(id), beat.value_or(model::kDefaultHeartbeatSeconds)));
  co_return record(view.is_new ? 201 : 200, view);
}

rt::Task<Result<Reply>> heartbeat(AgentService& agents, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(std::string id, agent_of(exchange));
  REPRISE_CO_TRY(auto shown, lease_of(exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  const auto generation = body.number("generation", 0, std::numeric_limits<std::uint64_t>::max());
  if (shown && generation && shown->value != *generation)
    body.wrong("generation",
               fmt::format("generation is {} but Reprise-Lease is {}", *generation, shown->value));
  REPRISE_CO_CHECK(body.done());
  if (generation) shown = Generation{*generation};
  REPRISE_CO_TRY(const auto view, co_await agents.heartbeat(std::move(id), shown));
  co_return record(200, view);
}

rt::Task<Result<Reply>> get(AgentService& agents, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(std::string id, agent_of(exchange));
  REPRISE_CO_TRY(const auto view, co_await agents.get(std::move(id)));
  co_return record(200, view);
}

rt::Task<Result<Reply>> remove(AgentService& agents, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(std::string id, agent_of(exchange));
  REPRISE_CO_CHECK(co_await agents.remove(std::move(id)));
  co_return Reply::empty(204);
}

rt::Task<Result<Reply>> list(AgentService& agents, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"status", "limit", "cursor"}));
  session::AgentQuery query;
  query.allowed_apps = exchange.principal.apps;
  REPRISE_CO_TRY(const auto word, exchange.query("status"));
  if (word) {
    query.status = model::parse_agent_status(*word);
    if (!query.status)
      co_return fail(Code::kBadParameter,
                     fmt::format("status is '{}'; there are alive and lost", *word));
  }
  REPRISE_CO_TRY(const auto limit, number_parameter(exchange, "limit", 1, session::kMaxListLimit));
  query.limit = limit.value_or(session::kDefaultListLimit);
  REPRISE_CO_TRY(auto cursor, exchange.query("cursor"));
  query.cursor = std::move(cursor).value_or("");
  REPRISE_CO_TRY(const auto page, co_await agents.list(std::move(query)));
  std::string json = "{\"agents\":[";
  for (const auto& view : page.agents) {
    if (json.back() != '[') json += ',';
    append_agent_json(json, view);
  }
  json += "],\"nextCursor\":";
  json += page.next_cursor.empty() ? "null" : json_string(page.next_cursor);
  // How many others there are is not for a token that may not see them.
  if (!exchange.principal.apps)
    json += fmt::format(",\"countsByStatus\":{{\"alive\":{},\"lost\":{}}}", page.alive, page.lost);
  json += '}';
  co_return Reply::json(200, std::move(json));
}

}  // namespace

void add_agent_routes(http::Router& router, AgentService& agents) {
  using enum wire::Method;
  using http::Scope;
  const auto bind = [&agents](rt::Task<Result<Reply>> (*handler)(AgentService&, Exchange&)) {
    return [&agents, handler](Exchange& exchange) { return handler(agents, exchange); };
  };
  router.add(kGet, "/v1/agents", Scope::kRead, bind(list));
  router.add(kPut, "/v1/agents/{id}", Scope::kWrite, bind(put));
  router.add(kGet, "/v1/agents/{id}", Scope::kRead, bind(get));
  router.add(kDelete, "/v1/agents/{id}", Scope::kWrite, bind(remove));
  // A server with too much to do must not take its workers for lost.
  router.add(kPost, "/v1/agents/{id}/heartbeat", Scope::kWrite, bind(heartbeat)).is_never_shed =
      true;
}

}  // namespace reprise::api
