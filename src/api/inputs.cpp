#include "api/inputs.h"

#include <fmt/format.h>

#include "api/access.h"
#include "api/body.h"
#include "api/limits.h"
#include "api/parameters.h"
#include "api/stream_watch.h"
#include "base/json_text.h"
#include "model/limits.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using model::InputId;
using session::InputView;
using session::SessionRef;

std::string caller(const Exchange& exchange) {
  return exchange.principal.name == "anonymous" ? std::string() : exchange.principal.name;
}

std::string input_json(const InputView& view) {
  std::string json = fmt::format(R"({{"id":"{}","state":"{}","whenBusy":{},"data":{},"seq":{})",
                                 view.record.id.to_string(), model::word(view.record.state),
                                 json_string(view.when_busy), view.data, view.record.queued.value);
  json += fmt::format(R"(,"queuedAt":"{}")", format_time(view.queued_at));
  if (!view.queued_by.empty()) json += ",\"queuedBy\":" + json_string(view.queued_by);
  if (view.started_at)
    json += fmt::format(R"(,"startedAt":"{}","fromSeq":{})", format_time(*view.started_at),
                        view.record.started.value);
  if (view.finished_at) {
    json += fmt::format(R"(,"outcome":{},"finishedAt":"{}","finishedSeq":{})",
                        json_string(view.end.outcome), format_time(*view.finished_at),
                        view.record.finished.value);
    if (view.end.to.value != 0) json += fmt::format(R"(,"toSeq":{})", view.end.to.value);
    if (!view.end.error.empty()) json += ",\"error\":" + json_string(view.end.error);
    if (!view.finished_by.empty()) json += ",\"finishedBy\":" + json_string(view.finished_by);
  }
  return json + '}';
}

Result<InputId> input_id(const Exchange& exchange) {
  const auto id = InputId::parse(exchange.captured[1]);
  if (id) return *id;
  return fail(Code::kInputNotFound, fmt::format("'{}' is not an input's id", exchange.captured[1]));
}

Result<session::WriteTerms> write_terms(const Exchange& exchange, std::string_view route) {
  session::WriteTerms terms;
  if (const auto key = exchange.request.headers.get("idempotency-key")) {
    REPRISE_TRY(terms.claim, stream::make_claim(route, *key, exchange.request.body));
  }
  REPRISE_TRY(terms.lease, lease_of(exchange));
  return terms;
}

Result<model::SubmitInput> read_submission(const Exchange& exchange) {
  REPRISE_TRY(Body body, Body::parse(exchange));
  model::SubmitInput submit;
  if (const auto data = body.value("data"))
    submit.data = data->minified();
  else
    body.wrong("data", "data is needed; it may be any JSON");
  if (const auto word = body.text("whenBusy", model::kMaxIdentifierBytes)) {
    const auto policy = model::parse_when_busy(*word);
    if (!policy) body.wrong("whenBusy", "whenBusy is enqueue, reject, interrupt or rollback");
    submit.when_busy = policy.value_or(model::WhenBusy::kEnqueue);
  }
  REPRISE_CHECK(body.done());
  submit.by = caller(exchange);
  return submit;
}

rt::Task<Result<Reply>> submit(const InputRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.inputs.sessions(), exchange));
  REPRISE_CO_TRY(auto terms, write_terms(exchange, "inputs"));
  REPRISE_CO_TRY(auto submission, read_submission(exchange));
  REPRISE_CO_TRY(const InputId id,
                 co_await routes.inputs.submit(ref, std::move(submission), std::move(terms)));
  REPRISE_CO_TRY(const InputView view, co_await routes.inputs.get(std::move(ref), id));
  Reply reply = Reply::json(201, input_json(view));
  reply.headers.add("Location", fmt::format("{}/{}", exchange.target.path, id.to_string()));
  co_return reply;
}

// The refusal as it is, with the input as it is; 404 if there is none.
rt::Task<Error> refusal(const InputRoutes& routes, SessionRef ref, InputId id, Error error) {
  auto view = co_await routes.inputs.get(std::move(ref), id);
  if (!view) co_return std::move(view).error();
  error.detail = fmt::format("the input is {}", model::word(view->record.state));
  error.members = "\"input\":" + input_json(*view);
  co_return error;
}

Result<model::FinishInput> read_outcome(const Exchange& exchange, InputId id) {
  REPRISE_TRY(Body body, Body::parse(exchange));
  model::FinishInput finish{.id = id};
  const std::string status = body.text("status", model::kMaxIdentifierBytes).value_or("");
  if (status != "success" && status != "failure")
    body.wrong("status", "status is success or failure");
  finish.is_success = status == "success";
  finish.error = body.text("error", model::kMaxReasonBytes).value_or("");
  REPRISE_CHECK(body.done());
  finish.by = caller(exchange);
  return finish;
}

rt::Task<Result<Reply>> finish(const InputRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.inputs.sessions(), exchange));
  REPRISE_CO_TRY(const InputId id, input_id(exchange));
  REPRISE_CO_TRY(auto terms, write_terms(exchange, "inputs/finish/" + id.to_string()));
  REPRISE_CO_TRY(auto outcome, read_outcome(exchange, id));
  auto finished = co_await routes.inputs.finish(ref, std::move(outcome), std::move(terms));
  if (!finished && finished.error().code == Code::kInputNotActive)
    co_return fail(co_await refusal(routes, std::move(ref), id, std::move(finished).error()));
  if (!finished) co_return fail(std::move(finished).error());
  REPRISE_CO_TRY(const InputView view, co_await routes.inputs.get(std::move(ref), id));
  co_return Reply::json(200, input_json(view));
}

rt::Task<Result<Reply>> cancel(const InputRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.inputs.sessions(), exchange));
  REPRISE_CO_TRY(const InputId id, input_id(exchange));
  REPRISE_CO_TRY(const auto lease, lease_of(exchange));
  auto cancelled = co_await routes.inputs.cancel(ref, {.id = id, .by = caller(exchange)},
                                                 {.claim = {}, .lease = lease});
  if (!cancelled && cancelled.error().code == Code::kConflict)
    co_return fail(co_await refusal(routes, std::move(ref), id, std::move(cancelled).error()));
  if (!cancelled) co_return fail(std::move(cancelled).error());
  co_return Reply::empty(204);
}

// Holds a request until `look` has something to say, the time is over or the server stops.
template <typename Look>
rt::Task<Result<Reply>> hold(const InputRoutes& routes, Exchange& exchange, SessionRef ref,
                             std::uint64_t wait_ms, Look look) {
  session::SessionService& sessions = routes.inputs.sessions();
  REPRISE_CO_TRY(const auto session, co_await sessions.get(ref));
  stream::Hub& hub = sessions.hub_here();
  const auto deadline = rt::Deadline::after(hub.loop(), Millis(wait_ms));
  StreamWatch watch(hub, session.stream, sessions.home_index(session.state.id));
  if (wait_ms > 0 && !co_await watch.subscribe())
    co_return fail(Code::kOverloaded, "the session's loop is busy");
  for (;;) {
    watch.has_news = false;
    const bool is_last = deadline.has_passed(hub.loop()) || routes.is_draining;
    REPRISE_CO_TRY(auto reply, co_await look(routes, ref, is_last));
    if (reply) co_return std::move(*reply);
    co_await watch.wait(exchange, deadline, routes.is_draining);
  }
}

// What a look says: nothing, unless it is the last one.
using Said = rt::Task<Result<std::optional<Reply>>>;

struct LookForActive {
  Said operator()(const InputRoutes& routes, SessionRef ref, bool is_last) const {
    REPRISE_CO_TRY(const auto view, co_await routes.inputs.active(std::move(ref)));
    if (view) co_return Reply::json(200, input_json(*view));
    if (is_last) co_return Reply::empty(204);
    co_return std::nullopt;
  }
};

struct LookForEnd {
  InputId id;
  Said operator()(const InputRoutes& routes, SessionRef ref, bool is_last) const {
    REPRISE_CO_TRY(const auto view, co_await routes.inputs.get(std::move(ref), id));
    if (is_last || model::is_over(view.record.state)) co_return Reply::json(200, input_json(view));
    co_return std::nullopt;
  }
};

rt::Task<Result<Reply>> next(const InputRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"waitMs"}));
  REPRISE_CO_TRY(const auto wait_ms, number_parameter(exchange, "waitMs", 0, kMaxWaitMs));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.inputs.sessions(), exchange));
  co_return co_await hold(routes, exchange, std::move(ref), wait_ms.value_or(0), LookForActive{});
}

rt::Task<Result<Reply>> get(const InputRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"waitMs"}));
  REPRISE_CO_TRY(const auto wait_ms, number_parameter(exchange, "waitMs", 0, kMaxWaitMs));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.inputs.sessions(), exchange));
  REPRISE_CO_TRY(const InputId id, input_id(exchange));
  co_return co_await hold(routes, exchange, std::move(ref), wait_ms.value_or(0), LookForEnd{id});
}

rt::Task<Result<Reply>> list(const InputRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"state", "limit", "cursor"}));
  REPRISE_CO_TRY(const auto word, exchange.query("state"));
  const auto state = word ? model::parse_input_state(*word) : std::nullopt;
  if (word && !state)
    co_return fail(Code::kBadParameter,
                   "state is queued, active, finished, interrupted, rolledBack or cancelled");
  REPRISE_CO_TRY(const auto cursor, exchange.query("cursor"));
  const auto after = cursor ? InputId::parse(*cursor) : std::nullopt;
  if (cursor && !after) co_return fail(Code::kBadCursor, "the cursor is not one of this list");
  REPRISE_CO_TRY(const auto limit,
                 number_parameter(exchange, "limit", 1, session::kMaxInputPageLimit));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.inputs.sessions(), exchange));
  REPRISE_CO_TRY(const auto page,
                 co_await routes.inputs.list(std::move(ref), state, after,
                                             limit.value_or(session::kDefaultInputPageLimit)));
  std::string json = "{\"inputs\":[";
  for (const InputView& view : page.inputs) {
    if (json.back() != '[') json += ',';
    json += input_json(view);
  }
  json += "],\"nextCursor\":" + (page.next ? json_string(page.next->to_string()) : "null") + '}';
  co_return Reply::json(200, std::move(json));
}

}  // namespace

void add_input_routes(http::Router& router, const InputRoutes& routes) {
  using enum wire::Method;
  using http::Scope;
  using Handler = rt::Task<Result<Reply>> (*)(const InputRoutes&, Exchange&);
  const auto add = [&](wire::Method method, std::string path, Scope scope, Handler handler) {
    router.add(method, "/v1/sessions/{s}/inputs" + std::move(path), scope,
               [&routes, handler](Exchange& exchange) { return handler(routes, exchange); });
  };
  add(kPost, "", Scope::kWrite, submit);
  add(kGet, "", Scope::kRead, list);
  add(kGet, "/next", Scope::kRead, next);
  add(kGet, "/{id}", Scope::kRead, get);
  add(kDelete, "/{id}", Scope::kWrite, cancel);
  add(kPost, "/{id}/finish", Scope::kWrite, finish);
}

}  // namespace reprise::api
