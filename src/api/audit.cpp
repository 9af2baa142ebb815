// The audit over HTTP: whether it verifies, and all of it as lines of JSON.
#include <fmt/format.h>

#include <memory>

#include "api/access.h"
#include "api/tool_calls.h"
#include "base/json_text.h"
#include "base/log.h"
#include "model/audit.h"
#include "model/audit_export.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;

rt::Task<Result<Reply>> verify(const ToolCallRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.calls.sessions(), exchange));
  REPRISE_CO_TRY(const auto verdict, co_await routes.calls.verify(std::move(ref)));
  std::string json =
      fmt::format(R"({{"valid":{},"entries":{},"head":"{}")", verdict.report.is_valid,
                  verdict.recorded.entries, model::to_hex(verdict.recorded.head));
  if (verdict.report.first_bad)
    json += fmt::format(R"(,"firstBadSeq":{})", verdict.report.first_bad->value);
  if (!verdict.report.is_valid) json += ",\"reason\":" + json_string(verdict.report.reason);
  json += '}';
  co_return Reply::json(200, std::move(json));
}

// An export on its way: the lines are read from the store as the connection takes them.
struct OpenExport {
  session::ToolCalls& calls;
  session::SessionView view;
  http::StreamWriter writer;
  OpenExport(session::ToolCalls& from, session::SessionView of, Exchange& exchange)
      : calls(from), view(std::move(of)), writer(*exchange.socket, *exchange.flusher) {}
};

rt::Task<Result<>> push(http::StreamWriter& writer, std::string lines, rt::CancelScope& scope) {
  const auto bytes = std::make_shared<const std::string>(std::move(lines));
  while (!writer.push(bytes)) REPRISE_CO_CHECK(co_await writer.wait_for_room(scope));
  co_return Result<>{};
}

rt::Task<Result<>> send_lines(OpenExport& open, rt::CancelScope& scope) {
  const auto& state = open.view.state;
  std::string head;
  model::append_export_head(head, state.id, state.audit);
  REPRISE_CO_CHECK(co_await push(open.writer, std::move(head), scope));
  Seq after;
  while (after < state.head) {
    REPRISE_CO_TRY(const auto page,
                   co_await open.calls.audit_page(open.view.stream, after, state.head));
    if (page.entries.empty()) break;
    after = page.next_after;
    std::string lines;
    for (const auto& stored : page.entries) {
      REPRISE_CO_TRY(const model::EntryView entry, model::decode_entry(stored.bytes));
      model::append_export_line(lines, stored.seq, entry);
    }
    REPRISE_CO_CHECK(co_await push(open.writer, std::move(lines), scope));
  }
  co_return co_await open.writer.drain(scope);
}

rt::Task<> send_export(std::shared_ptr<OpenExport> open, rt::CancelScope& scope) {
  // The first line says how many follow: whoever reads an export that was cut short knows.
  const auto sent = co_await send_lines(*open, scope);
  if (!sent && sent.error().code != Code::kClosed)
    log::warning("an audit's export was cut short", {{"code", error_row(sent.error().code).name}});
}

rt::Task<Result<Reply>> export_audit(const ToolCallRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  session::SessionService& sessions = routes.calls.sessions();
  REPRISE_CO_TRY(auto ref, co_await session_of(sessions, exchange));
  REPRISE_CO_TRY(auto view, co_await sessions.get(std::move(ref)));
  auto open = std::make_shared<OpenExport>(routes.calls, std::move(view), exchange);
  Reply reply;
  reply.headers.add("Content-Type", "application/x-ndjson");
  reply.headers.add("Cache-Control", "no-store");
  reply.stream = [open](rt::CancelScope& scope) { return send_export(open, scope); };
  co_return reply;
}

}  // namespace

void add_audit_routes(http::Router& router, const ToolCallRoutes& routes) {
  router.add(wire::Method::kGet, "/v1/sessions/{s}/audit/verify", http::Scope::kRead,
             [&routes](Exchange& exchange) { return verify(routes, exchange); });
  router.add(wire::Method::kGet, "/v1/sessions/{s}/audit/export", http::Scope::kRead,
             [&routes](Exchange& exchange) { return export_audit(routes, exchange); },
             {"application/x-ndjson"});
}

}  // namespace reprise::api
