#include "api/interactions.h"

#include <fmt/format.h>

#include "api/access.h"
#include "api/body.h"
#include "api/limits.h"
#include "api/parameters.h"
#include "api/stream_watch.h"
#include "base/json_text.h"
#include "model/limits.h"
#include "stream/idempotency.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using model::InteractionId;
using session::InteractionView;

std::string caller(const Exchange& exchange) {
  return exchange.principal.name == "anonymous" ? std::string() : exchange.principal.name;
}

// What was asked, and what became of it, as one object.
std::string interaction_json(const InteractionView& view) {
  std::string json = view.question;
  json.pop_back();
  json += fmt::format(R"(,"state":"{}","seq":{},"askedAt":"{}")", model::word(view.record.state),
                      view.record.asked_seq.value, format_time(view.asked_at));
  if (!view.asked_by.empty()) json += ",\"askedBy\":" + json_string(view.asked_by);
  json += ",\"response\":" + (view.response.empty() ? "null" : view.response);
  if (view.resolved_at)
    json += fmt::format(R"(,"resolvedAt":"{}","resolvedSeq":{})", format_time(*view.resolved_at),
                        view.record.resolved_seq.value);
  if (!view.resolved_by.empty()) json += ",\"resolvedBy\":" + json_string(view.resolved_by);
  return json + '}';
}

std::string json_member(Body& body, std::string_view name) {
  const auto value = body.value(name);
  return value && !value->is_null() ? value->minified() : std::string();
}

// "cancelSession", "failSession" or {"default": ...}.
void read_on_deadline(Body& body, model::Ask& ask) {
  const auto policy = body.value("onDeadline");
  if (!policy || policy->is_null()) return;
  if (const auto word = policy->as_string()) {
    ask.on_deadline = *word;
    if (word->empty()) body.wrong("onDeadline", "onDeadline is cancelSession or failSession");
    return;
  }
  const auto fallback = policy->find("default");
  if (!fallback || policy->members().size() != 1)
    body.wrong("onDeadline", "onDeadline is cancelSession, failSession or {\"default\": ...}");
  else
    ask.default_answer = fallback->minified();
}

Result<model::Ask> read_question(const Exchange& exchange, InteractionId id) {
  REPRISE_TRY(Body body, Body::parse(exchange));
  model::Ask ask{.id = id};
  const auto text = [&](std::string_view name, std::size_t most) {
    return body.text(name, most).value_or("");
  };
  const std::string kind = text("kind", model::kMaxIdentifierBytes);
  if (const auto known = model::parse_interaction_kind(kind))
    ask.kind = *known;
  else
    body.wrong("kind", "kind is inputNode, waitForInput, waitForChoice or confirm");
  ask.prompt = text("prompt", model::kMaxReasonBytes);
  ask.schema = json_member(body, "schema");
  ask.choices = json_member(body, "choices");
  ask.selection_mode = text("selectionMode", model::kMaxIdentifierBytes);
  ask.layout = text("layout", model::kMaxIdentifierBytes);
  ask.skip_label = text("skipLabel", model::kMaxIdentifierBytes);
  ask.none_label = text("noneOfTheAboveLabel", model::kMaxIdentifierBytes);
  ask.node_id = text("nodeId", model::kMaxIdentifierBytes);
  ask.deadline_ms = body.number("deadlineMs", 1, model::kMaxDeadlineMs);
  read_on_deadline(body, ask);
  REPRISE_CHECK(body.done());
  ask.by = caller(exchange);
  return ask;
}

Result<InteractionId> interaction_id(const Exchange& exchange) {
  const auto id = InteractionId::parse(exchange.captured[1]);
  if (id) return *id;
  return fail(Code::kInteractionNotFound,
              fmt::format("'{}' is not an interaction's id", exchange.captured[1]));
}

// The question that was asked by the event with this number.
rt::Task<Result<InteractionView>> asked_by_event(session::SessionService& sessions,
                                                 session::SessionRef ref, Seq seq) {
  REPRISE_CO_TRY(const auto page, co_await sessions.events(ref, Seq{seq.value - 1}, 1));
  // A reset may have hidden it meanwhile.
  if (page.entries.empty() || page.entries.front().seq != seq)
    co_return fail(Code::kInteractionNotFound, "the question was asked before the last reset");
  REPRISE_CO_TRY(const auto entry, model::decode_entry(page.entries.front().bytes));
  REPRISE_CO_TRY(const auto data, wire::parse_json(std::string(entry.data)));
  const auto text = data.root().find("id");
  const auto id = InteractionId::parse(text ? text->as_string().value_or("") : "");
  if (!id) co_return fail(Code::kInternal, "the question has no id");
  co_return co_await sessions.interaction(std::move(ref), *id);
}

rt::Task<Result<Reply>> ask(const InteractionRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  session::SessionService& sessions = routes.sessions;
  REPRISE_CO_TRY(auto ref, co_await session_of(sessions, exchange));
  REPRISE_CO_TRY(const auto lease, lease_of(exchange));
  const auto id = InteractionId::make(sessions.clock().now(), sessions.random());
  REPRISE_CO_TRY(model::Ask question, read_question(exchange, id));
  std::optional<stream::IdempotencyClaim> claim;
  if (const auto key = exchange.request.headers.get("idempotency-key")) {
    REPRISE_CO_TRY(claim, stream::make_claim("interactions", *key, exchange.request.body));
  }
  REPRISE_CO_TRY(const auto answer,
                 co_await sessions.call(ref, {.action = model::Command(std::move(question)),
                                              .claim = std::move(claim),
                                              .lease = lease,
                                              .wants_view = false}));
  // Of a repetition it is the first call's.
  REPRISE_CO_TRY(const auto view, co_await asked_by_event(sessions, std::move(ref), answer->first));
  Reply reply = Reply::json(201, interaction_json(view));
  reply.headers.add("Location",
                    fmt::format("{}/{}", exchange.target.path, view.record.id.to_string()));
  co_return reply;
}

Result<model::Respond> read_answer(const Exchange& exchange, InteractionId id) {
  REPRISE_TRY(Body body, Body::parse(exchange));
  model::Respond respond{.id = id};
  if (const auto input = body.value("input")) respond.input = input->minified();
  if (const auto selected = body.value("selected"); selected && !selected->is_null())
    respond.selected = selected->minified();
  respond.confirmed = body.boolean("confirmed");
  respond.is_skipped = body.boolean("skipped").value_or(false);
  REPRISE_CHECK(body.done());
  if (respond.input && respond.input->size() > model::kMaxAnswerBytes)
    return invalid("/input", fmt::format("an answer has at most {} bytes", model::kMaxAnswerBytes));
  respond.by = caller(exchange);
  return respond;
}

rt::Task<Result<Reply>> respond(const InteractionRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  session::SessionService& sessions = routes.sessions;
  REPRISE_CO_TRY(auto ref, co_await session_of(sessions, exchange));
  REPRISE_CO_TRY(const InteractionId id, interaction_id(exchange));
  REPRISE_CO_TRY(model::Respond answer, read_answer(exchange, id));
  REPRISE_CO_TRY(const auto lease, lease_of(exchange));
  const auto answered = co_await sessions.call(
      ref, {.action = model::Command(std::move(answer)), .lease = lease, .wants_view = false});
  if (!answered && answered.error().code != Code::kNotFound) co_return fail(answered.error());
  REPRISE_CO_TRY(const auto view, co_await sessions.interaction(std::move(ref), id));
  if (answered) co_return Reply::json(200, interaction_json(view));
  Error error{Code::kAlreadyAnswered,
              fmt::format("the interaction is {} already", model::word(view.record.state))};
  error.members = "\"interaction\":" + interaction_json(view);
  co_return fail(std::move(error));
}

rt::Task<Result<Reply>> get(const InteractionRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"waitMs"}));
  REPRISE_CO_TRY(const auto wait_ms, number_parameter(exchange, "waitMs", 0, kMaxWaitMs));
  session::SessionService& sessions = routes.sessions;
  REPRISE_CO_TRY(auto ref, co_await session_of(sessions, exchange));
  REPRISE_CO_TRY(const InteractionId id, interaction_id(exchange));
  REPRISE_CO_TRY(InteractionView view, co_await sessions.interaction(ref, id));
  const bool must_wait = wait_ms.value_or(0) > 0;
  if (!must_wait || view.record.state != model::InteractionState::kPending)
    co_return Reply::json(200, interaction_json(view));
  REPRISE_CO_TRY(const auto session, co_await sessions.get(ref));
  stream::Hub& hub = sessions.hub_here();
  const auto deadline = rt::Deadline::after(hub.loop(), Millis(*wait_ms));
  StreamWatch watch(hub, session.stream, sessions.home_index(session.state.id));
  if (!co_await watch.subscribe()) co_return fail(Code::kOverloaded, "the session's loop is busy");
  for (;;) {
    watch.has_news = false;
    REPRISE_CO_TRY(view, co_await sessions.interaction(ref, id));
    const bool is_over = deadline.has_passed(hub.loop()) || routes.is_draining;
    if (is_over || view.record.state != model::InteractionState::kPending)
      co_return Reply::json(200, interaction_json(view));
    co_await watch.wait(exchange, deadline, routes.is_draining);
  }
}

rt::Task<Result<Reply>> list(const InteractionRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"state", "limit", "cursor"}));
  REPRISE_CO_TRY(const auto word, exchange.query("state"));
  const auto state = word ? model::parse_interaction_state(*word) : std::nullopt;
  if (word && !state)
    co_return fail(Code::kBadParameter, "state is pending, answered, expired or cancelled");
  REPRISE_CO_TRY(const auto cursor, exchange.query("cursor"));
  const auto after = cursor ? InteractionId::parse(*cursor) : std::nullopt;
  if (cursor && !after) co_return fail(Code::kBadCursor, "the cursor is not one of this list");
  REPRISE_CO_TRY(const auto limit,
                 number_parameter(exchange, "limit", 1, kMaxInteractionPageLimit));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.sessions, exchange));
  REPRISE_CO_TRY(const auto page,
                 co_await routes.sessions.interactions(
                     std::move(ref), state, after, limit.value_or(kDefaultInteractionPageLimit)));
  std::string json = "{\"interactions\":[";
  for (const InteractionView& view : page.interactions) {
    if (json.back() != '[') json += ',';
    json += interaction_json(view);
  }
  json += "],\"nextCursor\":" + (page.next ? json_string(page.next->to_string()) : "null") + '}';
  co_return Reply::json(200, std::move(json));
}

}  // namespace

std::string open_interactions_json(const model::SessionState& state) {
  std::string json = "[";
  for (const model::OpenInteraction& open : state.interactions) {
    if (json.size() > 1) json += ',';
    json += fmt::format(R"({{"id":"{}","askedAt":"{}","deadlineAt":{})", open.id.to_string(),
                        format_time(open.asked_at),
                        open.deadline_at ? '"' + format_time(*open.deadline_at) + '"' : "null");
    // What a list of sessions shows; the whole question is a call away.
    if (const auto question = wire::parse_json(open.question))
      for (const std::string_view name : {"kind", "prompt", "nodeId"})
        if (const auto member = question->root().find(name))
          json += fmt::format(R"(,"{}":{})", name, member->minified());
    json += '}';
  }
  return json + ']';
}

void add_interaction_routes(http::Router& router, const InteractionRoutes& routes) {
  using enum wire::Method;
  using http::Scope;
  using Handler = rt::Task<Result<Reply>> (*)(const InteractionRoutes&, Exchange&);
  const auto add = [&](wire::Method method, std::string path, Scope scope, Handler handler) {
    router.add(method, "/v1/sessions/{s}/interactions" + std::move(path), scope,
               [&routes, handler](Exchange& exchange) { return handler(routes, exchange); });
  };
  add(kPost, "", Scope::kWrite, ask);
  add(kGet, "", Scope::kRead, list);
  add(kGet, "/{id}", Scope::kRead, get);
  add(kPost, "/{id}/response", Scope::kWrite, respond);
}

}  // namespace reprise::api
