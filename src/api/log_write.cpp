// Creating, appending to, closing and deleting logs.
#include <fmt/format.h>

#include "api/log_reply.h"
#include "api/log_request.h"
#include "api/logs_internal.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using Kind = stream::AppendOutcome::Kind;

std::string location(const LogRoutes& routes, const Exchange& exchange) {
  return fmt::format("{}://{}{}", routes.is_tls ? "https" : "http",
                     exchange.request.headers.get("host").value_or("localhost"),
                     exchange.target.path);
}

Reply read_only(const Exchange& exchange) {
  Reply reply = http::problem(
      Error{Code::kMethodNotAllowed, "a session's stream is written through the session"},
      exchange.target.path);
  reply.headers.add("Allow", "GET, HEAD, OPTIONS");
  return reply;
}

bool is_reserved(std::string_view path) {
  return path.starts_with(kSessionLogs) || path == "sessions";
}

int status_of(const stream::AppendOutcome& outcome, bool has_producer) {
  switch (outcome.kind) {
    case Kind::kAppended: return has_producer ? 200 : 204;
    case Kind::kClosed:
    case Kind::kDuplicate: return 204;
    case Kind::kStaleEpoch: return 403;
    case Kind::kBadStart: return 400;
    case Kind::kAlreadyClosed:
    case Kind::kWrongType:
    case Kind::kOldWriterSeq:
    case Kind::kGap: return 409;
  }
  return 500;
}

Error error_of(const stream::AppendOutcome& outcome) {
  switch (outcome.kind) {
    case Kind::kStaleEpoch:
      return {Code::kForbidden, "a newer instance of this producer is at work"};
    case Kind::kBadStart: return {Code::kBadParameter, "a new epoch begins with Producer-Seq 0"};
    case Kind::kAlreadyClosed: return {Code::kStreamClosed, "the stream is closed"};
    case Kind::kWrongType: return {Code::kConflict, "the Content-Type is not the stream's"};
    case Kind::kOldWriterSeq:
      return {Code::kWrongSequence, "Stream-Seq is not above the last one accepted"};
    default: return {Code::kWrongSequence, "the producer left appends out"};
  }
}

}  // namespace

rt::Task<Result<Reply>> put_log(const LogRoutes& routes, Exchange& exchange) {
  REPRISE_CO_TRY(std::string path, log_path(exchange));
  if (is_reserved(path)) co_return read_only(exchange);
  REPRISE_CO_TRY(stream::CreateLog create, read_create(exchange));
  REPRISE_CO_TRY(const auto created, co_await routes.logs.create(path, std::move(create)));
  Reply reply = Reply::empty(created.is_new ? 201 : 200);
  reply.headers.add("Content-Type", created.view.record.content_type);
  reply.headers.add("Location", location(routes, exchange));
  add_log_state(reply, created.view.tail, created.view.record.is_closed);
  co_return reply;
}

rt::Task<Result<Reply>> post_log(const LogRoutes& routes, Exchange& exchange) {
  REPRISE_CO_TRY(std::string path, log_path(exchange));
  if (is_reserved(path)) co_return read_only(exchange);
  REPRISE_CO_TRY(stream::AppendLog append, read_append_log(exchange));
  const auto claim = append.producer;
  REPRISE_CO_TRY(const auto outcome, co_await routes.logs.append(path, std::move(append)));
  const int status = status_of(outcome, claim.has_value());
  Reply reply =
      status < 300 ? Reply::empty(status) : http::problem(error_of(outcome), exchange.target.path);
  reply.status = status;
  add_log_state(reply, outcome.tail, outcome.is_closed);
  if (claim && outcome.producer) {
    reply.headers.add("Producer-Epoch", std::to_string(outcome.producer->epoch));
    if (status < 300) reply.headers.add("Producer-Seq", std::to_string(outcome.producer->last_seq));
  }
  if (outcome.kind == Kind::kGap) {
    reply.headers.add("Producer-Expected-Seq", std::to_string(outcome.expected_seq));
    reply.headers.add("Producer-Received-Seq", std::to_string(claim->seq));
  }
  co_return reply;
}

rt::Task<Result<Reply>> delete_log(const LogRoutes& routes, Exchange& exchange) {
  REPRISE_CO_TRY(std::string path, log_path(exchange));
  if (is_reserved(path)) co_return read_only(exchange);
  REPRISE_CO_CHECK(co_await routes.logs.remove(std::move(path)));
  co_return Reply::empty(204);
}

}  // namespace reprise::api
