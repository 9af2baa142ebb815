// Inputs and outputs of tools pass through here and are not kept unless the session's app says so:
// a summary is made of what the redactor leaves of them, and also the hash of an idempotent call's
// body is made of that.
#include "api/tool_calls.h"

#include <fmt/format.h>

#include "api/access.h"
#include "api/body.h"
#include "api/limits.h"
#include "api/parameters.h"
#include "base/bytes.h"
#include "base/json_text.h"
#include "model/limits.h"
#include "session/limits.h"
#include "stream/idempotency.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using model::Redacted;

// One of `input` and `output`, as the client gave it.
struct Payload {
  std::optional<wire::JsonValue> raw;
  std::optional<std::string> summary;
};

Result<Payload> read_payload(Body& body, std::string_view raw_name, std::string_view summary_name) {
  Payload payload;
  payload.raw = body.value(raw_name);
  if (payload.raw && payload.raw->is_null()) payload.raw.reset();
  payload.summary = body.text(summary_name, kMaxToolTextBytes);
  if (payload.raw && payload.raw->raw().size() > kMaxToolPayloadBytes)
    return fail(
        Code::kBodyTooLarge,
        fmt::format("{} has {} bytes and at most {} are summarised; send {} instead", raw_name,
                    payload.raw->raw().size(), kMaxToolPayloadBytes, summary_name));
  return payload;
}

struct Summarised {
  Redacted summary;
  // Everything the client said, without its secrets, for comparing two calls.
  std::string identity;
};

Redacted redact_raw(const model::Redactor& redactor, wire::JsonValue raw) {
  // A text is shown as it is, not as JSON.
  if (const auto text = raw.as_string()) return redactor.text(*text);
  return redactor.json(raw);
}

Summarised summarise(const model::Redactor& redactor, const Payload& payload) {
  Redacted raw;
  Redacted said;
  if (payload.raw) raw = redact_raw(redactor, *payload.raw);
  if (payload.summary) said = redactor.text(*payload.summary);
  Summarised made;
  put_text(made.identity, raw.view());
  put_text(made.identity, said.view());
  made.summary = (payload.summary ? said : raw).cut_to(model::kMaxSummaryBytes);
  return made;
}

// What is large is looked through on a thread of the pool: a loop has others to serve.
rt::Task<Result<Summarised>> summarise_payload(const ToolCallRoutes& routes,
                                               const Payload& payload) {
  const std::size_t size = payload.raw ? payload.raw->raw().size() : 0;
  const model::Redactor& redactor = routes.redactor;
  if (size <= kMaxRedactedInLoopBytes) co_return summarise(redactor, payload);
  co_return co_await routes.calls.sessions().store_here().blocking(
      [&redactor, &payload]() -> Result<Summarised> { return summarise(redactor, payload); });
}

// What is kept of a payload besides its summary: all of it as it came, if the session's app says
// so.
rt::Task<Result<std::string>> raw_to_keep(const ToolCallRoutes& routes, session::SessionRef session,
                                          const Payload& payload) {
  if (!payload.raw) co_return std::string();
  session::SessionService& sessions = routes.calls.sessions();
  REPRISE_CO_TRY(const auto view, co_await sessions.get(std::move(session)));
  const auto app = co_await sessions.app(view.state.app);
  if (!app && app.error().code != Code::kAppNotFound) co_return fail(app.error());
  if (!app || !app->settings.keeps_raw_tool_payloads) co_return std::string();
  co_return payload.raw->minified();
}

Result<session::WriteTerms> write_terms(const Exchange& exchange, std::string_view route,
                                        std::string_view identity) {
  session::WriteTerms terms;
  if (const auto key = exchange.request.headers.get("idempotency-key")) {
    REPRISE_TRY(terms.claim, stream::make_claim(route, *key, identity));
  }
  REPRISE_TRY(terms.lease, lease_of(exchange));
  return terms;
}

std::string caller(const Exchange& exchange) {
  return exchange.principal.name == "anonymous" ? std::string() : exchange.principal.name;
}

Reply place_reply(int status, const session::ToolCallPlace& place) {
  return Reply::json(
      status, fmt::format(R"({{"id":"{}","seq":{}}})", place.id.to_string(), place.seq.value));
}

std::string read_tool_name(Body& body, const model::Redactor& redactor) {
  if (!body.value("toolName") || body.is_null("toolName")) {
    body.wrong("toolName", "toolName is needed");
    return {};
  }
  auto name = body.text("toolName", model::kMaxToolNameBytes);
  if (!name) return {};
  if (auto checked = model::check_tool_name(*name); !checked)
    body.wrong("toolName", checked.error().detail);
  else if (redactor.holds_pattern(*name))
    body.wrong("toolName", "toolName looks like a secret");
  return std::move(*name);
}

rt::Task<Result<Reply>> start(const ToolCallRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.calls.sessions(), exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  model::StartToolCall call;
  call.tool_name = read_tool_name(body, routes.redactor);
  REPRISE_CO_TRY(const Payload input, read_payload(body, "input", "inputSummary"));
  REPRISE_CO_CHECK(body.done());
  REPRISE_CO_TRY(auto summarised, co_await summarise_payload(routes, input));
  REPRISE_CO_TRY(auto terms,
                 write_terms(exchange, "tool-calls", call.tool_name + '\n' + summarised.identity));
  call.input_summary = std::move(summarised.summary);
  REPRISE_CO_TRY(call.raw_input, co_await raw_to_keep(routes, ref, input));
  call.by = caller(exchange);
  REPRISE_CO_TRY(const auto place,
                 co_await routes.calls.start(std::move(ref), std::move(call), std::move(terms)));
  co_return place_reply(201, place);
}

model::ToolCallStatus read_outcome(Body& body) {
  using model::ToolCallStatus;
  if (!body.value("status") || body.is_null("status")) {
    body.wrong("status", "status is needed: success, failure or cancelled");
  } else if (const auto word = body.text("status", model::kMaxIdentifierBytes)) {
    const auto status = model::parse_tool_call_status(*word);
    if (status && *status != ToolCallStatus::kOpen) return *status;
    body.wrong("status", "status is one of success, failure, cancelled");
  }
  return ToolCallStatus::kSuccess;
}

rt::Task<Result<Reply>> finish(const ToolCallRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.calls.sessions(), exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  model::FinishToolCall call;
  call.status = read_outcome(body);
  REPRISE_CO_TRY(const Payload output, read_payload(body, "output", "outputSummary"));
  const auto error = body.text("error", kMaxToolTextBytes);
  REPRISE_CO_CHECK(body.done());
  const std::string& id_text = exchange.captured.at(1);
  const auto id = model::ToolCallId::parse(id_text);
  if (!id)
    co_return fail(Code::kToolCallNotFound,
                   fmt::format("the session has no tool call '{}'", id_text));
  REPRISE_CO_TRY(auto summarised, co_await summarise_payload(routes, output));
  const Redacted whole_error = routes.redactor.text(error.value_or(""));
  std::string identity = fmt::format("{}\n", model::word(call.status)) + summarised.identity;
  put_text(identity, whole_error.view());
  REPRISE_CO_TRY(auto terms,
                 write_terms(exchange, "tool-calls/finish/" + id->to_string(), identity));
  call.id = *id;
  call.output_summary = std::move(summarised.summary);
  REPRISE_CO_TRY(call.raw_output, co_await raw_to_keep(routes, ref, output));
  call.error = whole_error.cut_to(model::kMaxSummaryBytes);
  call.by = caller(exchange);
  REPRISE_CO_TRY(const auto place,
                 co_await routes.calls.finish(std::move(ref), std::move(call), std::move(terms)));
  co_return place_reply(200, place);
}

void append_text_or_null(std::string& json, std::string_view name, std::string_view text) {
  json += fmt::format(",\"{}\":", name);
  if (text.empty())
    json += "null";
  else
    append_json_string(json, text);
}

void append_call(std::string& json, const session::ToolCallView& call) {
  const auto status = call.end ? call.end->told.status : model::ToolCallStatus::kOpen;
  json += fmt::format(R"({{"id":"{}","toolName":"{}","status":"{}","seq":{},"startedAt":"{}")",
                      call.told.id.to_string(), call.told.tool_name, model::word(status),
                      call.seq.value, format_time(call.at));
  append_text_or_null(json, "by", call.by);
  append_text_or_null(json, "inputSummary", call.told.input_summary);
  if (call.end) {
    json += fmt::format(R"(,"finishedSeq":{},"finishedAt":"{}","durationMs":{})",
                        call.end->seq.value, format_time(call.end->at), call.end->told.duration_ms);
    append_text_or_null(json, "outputSummary", call.end->told.output_summary);
    append_text_or_null(json, "error", call.end->told.error);
  } else {
    json += R"(,"finishedSeq":null,"finishedAt":null,"durationMs":null,"outputSummary":null,)"
            R"("error":null)";
  }
  json += '}';
}

Result<session::ToolCallQuery> query_of(const Exchange& exchange) {
  session::ToolCallQuery query;
  REPRISE_TRY(query.tool_name, exchange.query("toolName"));
  if (query.tool_name && !model::check_tool_name(*query.tool_name))
    return fail(Code::kBadParameter, "toolName is no name of a tool");
  REPRISE_TRY(const auto word, exchange.query("status"));
  if (word) {
    query.status = model::parse_tool_call_status(*word);
    if (!query.status)
      return fail(Code::kBadParameter, "status is one of open, success, failure, cancelled");
  }
  REPRISE_TRY(const auto limit,
              number_parameter(exchange, "limit", 1, session::kMaxToolCallPageLimit));
  query.limit = limit.value_or(session::kDefaultToolCallPageLimit);
  REPRISE_TRY(auto cursor, exchange.query("cursor"));
  query.cursor = std::move(cursor).value_or("");
  return query;
}

rt::Task<Result<Reply>> list(const ToolCallRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"toolName", "status", "limit", "cursor"}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.calls.sessions(), exchange));
  REPRISE_CO_TRY(auto query, query_of(exchange));
  REPRISE_CO_TRY(const auto page, co_await routes.calls.list(std::move(ref), std::move(query)));
  std::string json = "{\"toolCalls\":[";
  for (const auto& call : page.calls) {
    if (json.back() != '[') json += ',';
    append_call(json, call);
  }
  json += ']';
  append_text_or_null(json, "nextCursor", page.next_cursor);
  json += '}';
  co_return Reply::json(200, std::move(json));
}

}  // namespace

void add_tool_call_routes(http::Router& router, const ToolCallRoutes& routes) {
  router.add(wire::Method::kPost, "/v1/sessions/{s}/tool-calls", http::Scope::kWrite,
             [&routes](Exchange& exchange) { return start(routes, exchange); });
  router.add(wire::Method::kGet, "/v1/sessions/{s}/tool-calls", http::Scope::kRead,
             [&routes](Exchange& exchange) { return list(routes, exchange); });
  router.add(wire::Method::kPost, "/v1/sessions/{s}/tool-calls/{id}/finish", http::Scope::kWrite,
             [&routes](Exchange& exchange) { return finish(routes, exchange); });
}

}  // namespace reprise::api
