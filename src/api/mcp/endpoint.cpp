#include "api/mcp/endpoint.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/mcp/plan.h"
#include "base/assert.h"
#include "browser/tools/run.h"
#include "wire/sse.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using wire::RpcKind;

// The protocol has one media type for what is posted.
Result<> check_media_type(const Exchange& exchange) {
  const auto type = exchange.request.headers.get("content-type");
  std::string media(type.value_or("application/json"));
  media.resize(std::min(media.find(';'), media.size()));
  while (media.ends_with(' ')) media.pop_back();
  for (char& c : media)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  if (media == "application/json") return {};
  return fail(Code::kUnsupportedMediaType,
              fmt::format("the body is '{}'; send Content-Type: application/json", media));
}

Reply refusal(const Exchange& exchange, const McpRefusal& refusal) {
  std::string message;
  wire::append_json_rpc_error(message, refusal.error);
  return one_message(exchange, refusal.status, std::move(message));
}

}  // namespace

// A message, and what came with it.
struct McpEndpoint::Asked {
  Exchange& exchange;
  const wire::RpcMessage& message;
  McpTerms terms;
  std::string session_id = {};  // as the client shows it; empty: none, or none is needed

  const std::string& owner() const { return exchange.principal.name; }
  Reply result(std::string_view result_json) const {
    std::string text;
    wire::append_json_rpc_result(text, message.id, result_json);
    return one_message(exchange, 200, std::move(text));
  }
  Reply error(int status, int code, std::string text, std::string data = {}) const {
    return refusal(
        exchange,
        {.status = status,
         .error = {
             .code = code, .message = std::move(text), .data = std::move(data), .id = message.id}});
  }
  // What the transport's sessions answer with instead.
  Reply session_error(const Error& error) const {
    if (error.code != Code::kNotFound) return http::problem(error, exchange.target.path);
    return this->error(404, kMcpSessionNotFound, error.detail, '{' + error.members + '}');
  }
};

McpEndpoint::McpEndpoint(const std::vector<rt::Loop*>& loops, ToolHost& host, const Clock& clock,
                         Random& random, McpOptions options)
    : host_(host),
      options_(std::move(options)),
      answers_(options_.server_version),
      sessions_(*loops.front(), clock, random, options_.sessions) {
  for (rt::Loop* loop : loops) places_.push_back(std::make_unique<Place>(*loop));
}

McpEndpoint::~McpEndpoint() = default;

McpEndpoint::Place& McpEndpoint::here() {
  const auto found =
      std::ranges::find_if(places_, [](const auto& place) { return place->loop.is_current(); });
  REPRISE_ASSERT(found != places_.end());
  return **found;
}

rt::Task<Result<Reply>> McpEndpoint::post(Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"session"}));
  REPRISE_CO_CHECK(check_media_type(exchange));
  const auto document = wire::parse_json(std::move(exchange.request.body));
  if (!document && document.error().code == Code::kOverloaded) co_return fail(document.error());
  if (!document)
    co_return refusal(
        exchange, {.status = 400,
                   .error = {.code = wire::kRpcParseError, .message = document.error().detail}});
  const auto message = wire::parse_json_rpc(*document);
  if (!message) co_return refusal(exchange, {.status = 400, .error = message.error()});
  auto terms = read_mcp_terms(exchange.request.headers, *message);
  if (!terms) co_return refusal(exchange, terms.error());
  Asked asked{.exchange = exchange, .message = *message, .terms = std::move(*terms)};
  if (!is_stateless(asked.terms.revision) && message->method != "initialize")
    asked.session_id = exchange.request.headers.get("mcp-session-id").value_or("");
  if (message->kind == RpcKind::kRequest) co_return co_await answer_request(std::move(asked));
  co_return co_await take_note(std::move(asked));
}

// A notification, or the answer to a question that we never ask.
rt::Task<Reply> McpEndpoint::take_note(Asked asked) {
  if (asked.message.kind == RpcKind::kResponse && is_stateless(asked.terms.revision))
    co_return asked.error(400, wire::kRpcInvalidRequest, "a client sends no responses");
  if (asked.session_id.empty()) co_return Reply::empty(202);
  const auto& params = asked.message.params;
  const auto cancelled = asked.message.method == "notifications/cancelled" && params
                             ? params->find("requestId")
                             : std::nullopt;
  if (cancelled) {
    const auto done =
        co_await sessions_.cancel(asked.session_id, asked.owner(), std::string(cancelled->raw()));
    if (!done) co_return asked.session_error(done.error());
  } else {
    const auto used = co_await sessions_.use(asked.session_id, asked.owner());
    if (!used) co_return asked.session_error(used.error());
  }
  co_return Reply::empty(202);
}

rt::Task<Reply> McpEndpoint::answer_request(Asked asked) {
  const std::string& method = asked.message.method;
  const McpRevision revision = asked.terms.revision;
  if (method == "tools/call") co_return co_await call_tool(std::move(asked));
  if (!asked.session_id.empty()) {
    const auto used = co_await sessions_.use(asked.session_id, asked.owner());
    if (!used) co_return asked.session_error(used.error());
  }
  if (method == "tools/list") {
    if (asked.message.params && asked.message.params->find("cursor"))
      co_return asked.error(200, wire::kRpcInvalidParams, "there is one page, and no cursor");
    co_return asked.result(answers_.tools_list(revision));
  }
  if (is_stateless(revision)) {
    if (method == "server/discover") co_return asked.result(answers_.discover());
    if (method == "subscriptions/listen") co_return listen(asked);
  } else {
    if (method == "initialize") co_return co_await initialize(std::move(asked));
    if (method == "ping") co_return asked.result("{}");
  }
  co_return asked.error(is_stateless(revision) ? 404 : 200, wire::kRpcMethodNotFound,
                        fmt::format("there is no method '{}'", method));
}

rt::Task<Reply> McpEndpoint::initialize(Asked asked) {
  const auto& params = asked.message.params;
  const auto version = params ? params->find("protocolVersion") : std::nullopt;
  const auto requested = version ? version->as_string() : std::nullopt;
  if (!requested)
    co_return asked.error(200, wire::kRpcInvalidParams, "protocolVersion must be a text");
  const auto id = co_await sessions_.open(asked.owner(), mcp_client_of(params->find("clientInfo")));
  if (!id) co_return asked.session_error(id.error());
  Reply reply = asked.result(answers_.initialize(negotiated(*requested)));
  reply.headers.add("Mcp-Session-Id", *id);
  co_return reply;
}

// There is nothing to subscribe to, so the subscription begins and ends.
Reply McpEndpoint::listen(const Asked& asked) const {
  const auto& params = asked.message.params;
  const auto wanted = params ? params->find("notifications") : std::nullopt;
  if (!wanted || wanted->type() != wire::JsonType::kObject)
    return asked.error(200, wire::kRpcInvalidParams, "notifications must be an object");
  if (!asked.exchange.accepts("text/event-stream"))
    return http::problem(Error{Code::kNotAcceptable, "a subscription is an event stream"},
                         asked.exchange.target.path);
  Reply reply = event_reply();
  wire::append_sse_frame(reply.body, "message", std::nullopt,
                         answers_.subscription_begun(asked.message.id));
  wire::append_sse_frame(reply.body, "message", std::nullopt,
                         answers_.subscription_ended(asked.message.id));
  return reply;
}

rt::Task<Reply> McpEndpoint::call_tool(Asked asked) {
  const auto& params = asked.message.params;
  const auto name = params ? params->find("name") : std::nullopt;
  const auto tool_name = name ? name->as_string() : std::nullopt;
  if (!tool_name) co_return asked.error(200, wire::kRpcInvalidParams, "name must be a text");
  const browser::Tool* tool = browser::find_tool(*tool_name);
  if (tool == nullptr || !browser::can_run(*tool))
    co_return asked.error(200, wire::kRpcInvalidParams,
                          fmt::format("there is no tool '{}'", *tool_name));
  const auto of_address = asked.exchange.query("session");
  if (!of_address) co_return http::problem(of_address.error(), asked.exchange.target.path);
  auto planned = plan_tool_call({.tool = *tool_name,
                                 .arguments = params->find("arguments"),
                                 .default_session = *of_address,
                                 .has_transport_session = !asked.session_id.empty()});
  if (planned) co_return co_await start_call(std::move(asked), std::move(*planned));
  // The model is told, not the program: it is the model's to call the tool again, and rightly.
  if (!asked.session_id.empty()) {
    const auto used = co_await sessions_.use(asked.session_id, asked.owner());
    if (!used) co_return asked.session_error(used.error());
  }
  co_return asked.result(answers_.tool_error(planned.error(), asked.terms.revision));
}

rt::Task<Reply> McpEndpoint::start_call(Asked asked, PlannedCall planned) {
  Place& place = here();
  if (place.gate.inside() >= options_.max_calls_per_loop) {
    probe_.refused.fetch_add(1, std::memory_order_relaxed);
    co_return http::problem(Error{Code::kTooManyRequests, "too many tools are running"},
                            asked.exchange.target.path);
  }
  auto call = std::make_shared<McpCall>(place.loop);
  auto reach = std::make_shared<McpCancel>(place.loop, &call->scope);
  ToolHost::Caller caller{.principal = asked.exchange.principal,
                          .session = planned.session,
                          .transport_session = {},
                          .client = asked.terms.client};
  if (!asked.session_id.empty()) {
    const auto entered =
        co_await sessions_.enter(asked.session_id, asked.owner(), asked.message.id, reach);
    if (!entered && entered.error().code == Code::kTooManyRequests)
      probe_.refused.fetch_add(1, std::memory_order_relaxed);
    if (!entered) co_return asked.session_error(entered.error());
    caller.transport_session = entered->name;
    caller.client = entered->client;
  }
  McpAsked about{.answers = answers_,
                 .terms = asked.terms,
                 .request_id = asked.message.id,
                 .tool = planned.tool,
                 .heartbeat = options_.heartbeat};
  if (!rt::spawn(place.gate,
                 run(call, reach, std::move(caller), std::move(planned), asked.session_id))) {
    if (!asked.session_id.empty()) sessions_.leave(asked.session_id, reach);
    co_return http::problem(Error{Code::kShuttingDown, "the server is stopping"},
                            asked.exchange.target.path);
  }
  co_return co_await answer_call(asked.exchange, std::move(call), std::move(about));
}

rt::Task<> McpEndpoint::run(std::shared_ptr<McpCall> call, std::shared_ptr<McpCancel> reach,
                            ToolHost::Caller caller, PlannedCall planned, std::string session_id) {
  probe_.calls.fetch_add(1, std::memory_order_relaxed);
  probe_.running.fetch_add(1, std::memory_order_relaxed);
  auto outcome = co_await host_.call(std::move(caller), std::move(planned.tool),
                                     std::move(planned.arguments), call->scope);
  REPRISE_ASSERT(reach->loop.is_current());  // a host ends where it was called
  reach->scope = nullptr;
  if (!session_id.empty()) sessions_.leave(std::move(session_id), std::move(reach));
  probe_.running.fetch_sub(1, std::memory_order_relaxed);
  if (call->scope.is_cancelled())
    probe_.cancelled.fetch_add(1, std::memory_order_relaxed);
  else if (!outcome || outcome->is_error)
    probe_.failed.fetch_add(1, std::memory_order_relaxed);
  call->outcome = std::move(outcome);
  call->finished.notify();
}

rt::Task<Result<Reply>> McpEndpoint::end(Exchange& exchange) {
  const wire::RpcMessage nothing{.kind = RpcKind::kNotification, .id = {}, .method = {}};
  const Asked asked{.exchange = exchange, .message = nothing, .terms = {}};
  const auto id = exchange.request.headers.get("mcp-session-id");
  if (!id)
    co_return asked.error(400, wire::kRpcInvalidRequest,
                          "Mcp-Session-Id says which session to end");
  const auto ended = co_await sessions_.end(std::string(*id), asked.owner());
  if (!ended) co_return asked.session_error(ended.error());
  co_return Reply::empty(204);
}

rt::Task<> McpEndpoint::close() {
  rt::Loop& origin = *rt::Loop::current();
  // The home last: the others' calls take their leave there.
  for (auto place = places_.rbegin(); place != places_.rend(); ++place) {
    while (!co_await rt::switch_to((*place)->loop)) co_await rt::yield(*rt::Loop::current());
    (*place)->gate.close();
    co_await (*place)->gate.empty();
  }
  co_await rt::yield(*rt::Loop::current());
  co_await rt::return_to(origin);
}

void add_mcp_routes(http::Router& router, McpEndpoint& endpoint) {
  using enum wire::Method;
  router.add(kPost, "/mcp", http::Scope::kWrite,
             [&endpoint](Exchange& exchange) { return endpoint.post(exchange); },
             {"application/json", "text/event-stream"});
  router.add(kDelete, "/mcp", http::Scope::kWrite,
             [&endpoint](Exchange& exchange) { return endpoint.end(exchange); }, {});
}

}  // namespace reprise::api
