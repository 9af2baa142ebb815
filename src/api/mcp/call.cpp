#include "api/mcp/call.h"

#include <fmt/format.h>

#include "api/mcp/limits.h"
#include "api/outlet.h"
#include "base/json_text.h"
#include "http/stream_writer.h"
#include "wire/sse.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kEvents = "text/event-stream";

// A call that has ended because its client wished so. One that has ended well before it heard of
// that has an answer like any other.
bool is_cancelled(const McpCall& call) {
  return call.outcome && !*call.outcome && call.scope.is_cancelled();
}

std::string rpc_error(const std::string& id, int code, std::string text) {
  std::string message;
  wire::append_json_rpc_error(message, {.code = code, .message = std::move(text), .id = id});
  return message;
}

// The answer to a call that has ended.
std::string answer_of(const McpCall& call, const McpAsked& asked) {
  if (is_cancelled(call)) return rpc_error(asked.request_id, kMcpCancelled, "cancelled");
  std::string message;
  const auto& outcome = *call.outcome;
  wire::append_json_rpc_result(
      message, asked.request_id,
      outcome ? asked.answers.tool_result(*outcome, asked.terms.revision)
              : asked.answers.tool_error(outcome.error(), asked.terms.revision));
  return message;
}

// What a connection owns while its answer is a stream.
struct OpenAnswer {
  std::shared_ptr<McpCall> call;
  McpAsked asked;
  http::StreamWriter writer;
  rt::Loop& loop;
  const bool is_events;
  int beats = 0;
  OpenAnswer(std::shared_ptr<McpCall> running, McpAsked about, Exchange& exchange, bool events)
      : call(std::move(running)),
        asked(std::move(about)),
        writer(*exchange.socket, *exchange.flusher),
        loop(exchange.flusher->loop()),
        is_events(events) {}
};

rt::Task<Result<>> push(OpenAnswer& open, std::string text, rt::CancelScope& scope) {
  const auto bytes = std::make_shared<const std::string>(std::move(text));
  while (!open.writer.push(bytes)) REPRISE_CO_CHECK(co_await open.writer.wait_for_room(scope));
  co_return Result<>{};
}

std::string framed(const OpenAnswer& open, std::string message) {
  if (!open.is_events) return message;
  std::string frame;
  wire::append_sse_frame(frame, "message", std::nullopt, message);
  return frame;
}

// That it still goes on. Blanks before JSON mean nothing.
std::string beat(OpenAnswer& open) {
  ++open.beats;
  if (!open.is_events) return " ";
  if (open.asked.terms.progress_token.empty()) return ": working\n\n";
  std::string message;
  wire::append_json_rpc_notification(
      message, "notifications/progress",
      fmt::format(R"({{"progressToken":{},"progress":{},"message":{}}})",
                  open.asked.terms.progress_token, open.beats,
                  json_string(open.asked.tool + " is running")));
  return framed(open, std::move(message));
}

rt::Task<Result<>> wait_and_answer(OpenAnswer& open, rt::CancelScope& scope) {
  while (!open.call->outcome) {
    REPRISE_CO_CHECK(co_await push(open, beat(open), scope));
    const auto due = rt::Deadline::after(open.loop, open.asked.heartbeat);
    while (!open.call->outcome && !due.has_passed(open.loop)) {
      (void)co_await open.call->finished.wait(scope, due);
      if (scope.is_cancelled()) co_return fail(scope.reason());
      if (open.writer.is_broken()) co_return fail(Code::kClosed, "the client is gone");
    }
  }
  // Whoever has cancelled a call wants no answer to it; where the answer is a stream, none is.
  if (open.is_events && is_cancelled(*open.call)) co_return Result<>{};
  co_return co_await push(open, framed(open, answer_of(*open.call, open.asked)), scope);
}

rt::Task<> follow(std::shared_ptr<OpenAnswer> open, rt::CancelScope& scope) {
  const auto outcome = co_await wait_and_answer(*open, scope);
  if (!outcome) open->call->scope.cancel(outcome.error());
  if (!outcome && outcome.error().code == Code::kClosed) co_return;
  // The stream's own scope may be cancelled by now; the last bytes have a moment of their own.
  rt::CancelScope last_words;
  if (!outcome) {
    std::string message = rpc_error(open->asked.request_id, wire::kRpcInternalError,
                                    std::string(error_row(outcome.error().code).title));
    (void)co_await push(*open, framed(*open, std::move(message)), last_words);
  }
  (void)co_await open->writer.drain(last_words);
}

rt::Task<> wait_a_little(Exchange& exchange, McpCall& call) {
  const http::OffDuty resting(exchange);
  rt::CancelScope scope;
  rt::Loop& loop = exchange.flusher->loop();
  const auto deadline = rt::Deadline::after(loop, kMcpPatience);
  while (!call.outcome && !deadline.has_passed(loop))
    (void)co_await call.finished.wait(scope, deadline);
}

}  // namespace

Reply event_reply() { return event_stream({}); }

Reply one_message(const Exchange& exchange, int status, std::string message) {
  if (exchange.accepts(kJson)) return Reply::json(status, std::move(message));
  Reply reply = event_reply();
  reply.status = status;
  wire::append_sse_frame(reply.body, "message", std::nullopt, message);
  return reply;
}

rt::Task<Reply> answer_call(Exchange& exchange, std::shared_ptr<McpCall> call, McpAsked asked) {
  co_await wait_a_little(exchange, *call);
  const bool is_events = exchange.accepts(kEvents);
  if (call->outcome && is_cancelled(*call) && is_events) co_return event_reply();
  if (call->outcome) co_return one_message(exchange, 200, answer_of(*call, asked));
  auto open = std::make_shared<OpenAnswer>(std::move(call), std::move(asked), exchange, is_events);
  Reply reply = event_stream([open](rt::CancelScope& scope) { return follow(open, scope); });
  if (is_events) co_return reply;
  Reply json = Reply::json(200, {});
  json.headers.add("X-Accel-Buffering", "no");
  json.stream = std::move(reply.stream);
  co_return json;
}

}  // namespace reprise::api
