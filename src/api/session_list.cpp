#include "api/session_list.h"

#include <fmt/format.h>

#include "api/devtools.h"
#include "api/outlet.h"
#include "api/parameters.h"
#include "api/session_json.h"
#include "base/json_text.h"
#include "session/limits.h"
#include "session/monitor.h"
#include "wire/sse.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using session::SessionService;

class SseMonitorFrames final : public session::MonitorFrames {
 public:
  explicit SseMonitorFrames(model::Vocabulary vocabulary) : vocabulary_(vocabulary) {}
  void session(std::string& out, const session::StoredSession& stored, std::size_t subscribers,
               std::string_view id) const override {
    frame(out, "session", id, session_json(view_of(stored, subscribers), vocabulary_));
  }
  void snapshot_complete(std::string& out, std::string_view id) const override {
    frame(out, "snapshotComplete", id, fmt::format("{{\"monitorId\":{}}}", json_string(id)));
  }
  void removed(std::string& out, SessionId session, std::string_view id) const override {
    frame(out, "removed", id, "{\"id\":\"" + session.to_string() + "\"}");
  }
  void deleted(std::string& out, SessionId session, std::string_view id) const override {
    frame(out, "deleted", id, "{\"id\":\"" + session.to_string() + "\"}");
  }
  void heartbeat(std::string& out, std::string_view id) const override {
    // A frame without data is not dispatched, but its id is remembered (WHATWG, "dispatch the
    // event").
    out += ": heartbeat\nid: ";
    out += id;
    out += "\n\n";
  }

 private:
  static void frame(std::string& out, std::string_view event, std::string_view id,
                    const std::string& data) {
    wire::append_sse_frame(out, event, id.empty() ? std::nullopt : std::optional(id), data);
  }
  const model::Vocabulary vocabulary_;
};

// What one monitor's connection owns.
struct OpenMonitor {
  http::StreamWriter writer;
  WriterOutlet outlet;
  SseMonitorFrames frames;
  session::Monitor monitor;
  std::optional<DevtoolsPresence> presence = std::nullopt;
  OpenMonitor(SessionService& service, Exchange& exchange, model::Vocabulary vocabulary,
              session::MonitorRequest request)
      : writer(*exchange.socket, *exchange.flusher),
        outlet(writer),
        frames(vocabulary),
        monitor(service, outlet, frames, std::move(request)) {}
};

rt::Task<> follow(std::shared_ptr<OpenMonitor> open, rt::CancelScope& scope) {
  const auto outcome = co_await open->monitor.follow(scope);
  co_await say_goodbye(open->writer, outcome);
}

rt::Task<Result<Reply>> monitor(SessionService& service, Exchange& exchange, Millis heartbeat,
                                DevtoolsFeed* devtools) {
  REPRISE_CO_TRY(const auto vocabulary, vocabulary_parameter(exchange));
  session::MonitorRequest request;
  request.heartbeat_interval = heartbeat;
  REPRISE_CO_TRY(request.filter, filter_parameters(exchange));
  REPRISE_CO_TRY(const auto wants_snapshot, boolean_parameter(exchange, "snapshot"));
  REPRISE_CO_TRY(const auto after, exchange.query("after"));
  const auto last_event_id = exchange.request.headers.get("last-event-id");
  if (last_event_id && !last_event_id->empty()) {
    REPRISE_CO_TRY(request.after, session::decode_monitor_id(*last_event_id));
  } else if (after) {
    REPRISE_CO_TRY(request.after, session::decode_monitor_id(*after));
    // With a snapshot the position is of no use: the snapshot is newer.
    if (wants_snapshot.value_or(false)) request.after.reset();
  } else if (!wants_snapshot.value_or(true)) {
    REPRISE_CO_TRY(request.after, co_await service.monitor_heads());
  }
  auto open = std::make_shared<OpenMonitor>(service, exchange, vocabulary, std::move(request));
  REPRISE_CO_CHECK(co_await open->monitor.subscribe());
  open->presence.emplace(devtools, DevtoolsClient{.stream = "monitor",
                                                  .client = exchange.principal.name,
                                                  .address = exchange.socket->peer_address()});
  co_return event_stream([open](rt::CancelScope& scope) { return follow(open, scope); });
}

rt::Task<Result<Reply>> list(SessionService& service, Exchange& exchange) {
  REPRISE_CO_TRY(const auto vocabulary, vocabulary_parameter(exchange));
  session::ListQuery query;
  REPRISE_CO_TRY(query.filter, filter_parameters(exchange));
  REPRISE_CO_TRY(const auto limit, number_parameter(exchange, "limit", 1, session::kMaxListLimit));
  query.limit = limit.value_or(session::kDefaultListLimit);
  REPRISE_CO_TRY(const auto cursor, exchange.query("cursor"));
  query.cursor = cursor.value_or("");
  REPRISE_CO_TRY(const auto sort, exchange.query("sort"));
  if (sort && *sort != "waiting" && *sort != "newest")
    co_return fail(Code::kBadParameter,
                   fmt::format("sort is '{}'; there are newest and waiting", *sort));
  query.waiting_first = sort == "waiting";
  REPRISE_CO_TRY(const auto result, co_await service.list(std::move(query)));
  std::string json = "{\"sessions\":[";
  for (std::size_t i = 0; i < result.page.sessions.size(); ++i) {
    if (i > 0) json += ',';
    append_session_json(json, view_of(result.page.sessions[i], result.subscribers[i]), vocabulary);
  }
  json += "],\"nextCursor\":";
  json += result.page.next_cursor.empty() ? "null" : json_string(result.page.next_cursor);
  json += ",\"monitorId\":\"" + session::encode_monitor_id(result.monitor_id) +
          "\",\"countsByStatus\":{";
  for (const auto& [status, count] : result.counts) {
    if (json.back() != '{') json += ',';
    append_json_string(json, model::word(status));
    json += ':';
    append_number(json, count);
  }
  json += "}}";
  co_return Reply::json(200, std::move(json));
}

rt::Task<Result<Reply>> list_or_monitor(SessionService& service, Exchange& exchange,
                                        Millis heartbeat, DevtoolsFeed* devtools) {
  if (exchange.prefers("text/event-stream", "application/json")) {
    REPRISE_CO_CHECK(
        exchange.check_query({"app", "graphId", "status", "ownerAgent", "poolKey", "createdAfter",
                              "createdBefore", "q", "waiting", "vocabulary", "snapshot", "after"}));
    co_return co_await monitor(service, exchange, heartbeat, devtools);
  }
  REPRISE_CO_CHECK(exchange.check_query({"app", "graphId", "status", "ownerAgent", "createdAfter",
                                         "createdBefore", "poolKey", "q", "waiting", "sort",
                                         "limit", "cursor", "vocabulary"}));
  co_return co_await list(service, exchange);
}

}  // namespace

void add_session_list_route(http::Router& router, SessionService& service, Millis heartbeat,
                            DevtoolsFeed* devtools) {
  router.add(wire::Method::kGet, "/v1/sessions", http::Scope::kRead,
             [&service, heartbeat, devtools](Exchange& exchange) {
               return list_or_monitor(service, exchange, heartbeat, devtools);
             },
             {"application/json", "text/event-stream"});
}

}  // namespace reprise::api
