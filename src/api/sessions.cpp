#include "api/sessions.h"

#include <fmt/format.h>

#include "api/access.h"
#include "api/body.h"
#include "api/moves.h"
#include "api/parameters.h"
#include "api/session_json.h"
#include "base/json_text.h"
#include "model/limits.h"
#include "session/limits.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using session::SessionService;

Reply record(int status, const session::SessionView& view, model::Vocabulary vocabulary) {
  Reply reply = Reply::json(status, session_json(view, vocabulary));
  reply.headers.add("ETag", etag_of(view.revision));
  return reply;
}

// The members that POST and PUT share.
void read_common(Body& body, model::Create& create) {
  create.graph_id = body.text("graphId", model::kMaxIdentifierBytes).value_or("");
  create.owner_agent = body.text("ownerAgent", model::kMaxIdentifierBytes).value_or("");
  if (const auto word = body.text("status", model::kMaxIdentifierBytes)) {
    const auto status = model::parse_status(*word);
    if (!status)
      body.wrong("status", fmt::format("'{}' is not a status", *word));
    else if (*status != model::Status::kInitializing && *status != model::Status::kActive)
      body.wrong("status", "a new session is INITIALIZING or ACTIVE");
    else
      create.status = *status;
  }
  create.ttl_seconds = body.number("ttlSeconds", 1, model::kMaxTtlSeconds);
  create.max_lifetime_seconds = body.number("maxLifetimeSeconds", 1, model::kMaxTtlSeconds);
  create.metadata = body.object("metadata", model::kMaxMetadataBytes).value_or("{}");
  create.steps = body.array("steps", model::kMaxStepsBytes).value_or("");
  if (const auto word = body.text("onWorkerLost", model::kMaxIdentifierBytes)) {
    const auto policy = model::parse_on_worker_lost(*word);
    if (!policy)
      body.wrong("onWorkerLost", "onWorkerLost is one of pause, fail, keep");
    else
      create.on_worker_lost = *policy;
  }
}

rt::Task<Result<Reply>> create(SessionService& service, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"vocabulary"}));
  REPRISE_CO_TRY(const auto vocabulary, vocabulary_parameter(exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  model::Create create;
  create.app = body.text("app", model::kMaxAppBytes).value_or(std::string(model::kDefaultApp));
  const auto name = body.text("name", model::kMaxNameBytes);
  create.name = name.value_or("");
  read_common(body, create);
  REPRISE_CO_CHECK(body.done());
  REPRISE_CO_CHECK(model::check_app(create.app));
  if (name) REPRISE_CO_CHECK(model::check_name(*name));
  if (create.graph_id.empty()) create.graph_id = create.app;
  REPRISE_CO_CHECK(check_app_access(exchange, create.app));
  REPRISE_CO_TRY(const auto lease, lease_of(exchange));
  REPRISE_CO_TRY(const auto created, co_await service.create(std::move(create), lease));
  note_subject(exchange, created->view.state);
  Reply reply = record(201, created->view, vocabulary);
  reply.headers.add("Location", "/v1/sessions/" + created->view.state.id.to_string());
  co_return reply;
}

rt::Task<Result<Reply>> get_or_create(SessionService& service, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"vocabulary"}));
  REPRISE_CO_TRY(const auto vocabulary, vocabulary_parameter(exchange));
  REPRISE_CO_TRY(auto ref, parse_session_ref(exchange.captured.front()));
  const auto* key = std::get_if<model::SessionKey>(&ref);
  if (key == nullptr)
    co_return fail(Code::kBadKey, "PUT takes a key such as app:name; the server makes the UUIDs");
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  model::Create create;
  create.app = key->app;
  create.name = key->name;
  read_common(body, create);
  REPRISE_CO_CHECK(body.done());
  if (create.graph_id.empty()) create.graph_id = create.app;
  REPRISE_CO_CHECK(check_app_access(exchange, create.app));
  REPRISE_CO_TRY(const auto lease, lease_of(exchange));
  REPRISE_CO_TRY(const auto result, co_await service.get_or_create(std::move(create), lease));
  note_subject(exchange, result.view.state);
  Reply reply = record(result.is_created ? 201 : 200, result.view, vocabulary);
  reply.headers.add("Location", "/v1/sessions/" + result.view.state.id.to_string());
  co_return reply;
}

rt::Task<Result<Reply>> get(SessionService& service, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"vocabulary"}));
  REPRISE_CO_TRY(const auto vocabulary, vocabulary_parameter(exchange));
  REPRISE_CO_TRY(auto ref, co_await session_of(service, exchange));
  REPRISE_CO_TRY(const auto view, co_await service.get(std::move(ref)));
  co_return record(200, view, vocabulary);
}

rt::Task<Result<Reply>> patch(SessionService& service, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"vocabulary"}));
  REPRISE_CO_TRY(const auto vocabulary, vocabulary_parameter(exchange));
  REPRISE_CO_TRY(auto ref, co_await session_of(service, exchange));
  REPRISE_CO_TRY(const auto lease, lease_of(exchange));
  REPRISE_CO_TRY(const auto expected, if_match(exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  session::MergePatch patch;
  patch.metadata = body.object("metadata", model::kMaxMetadataBytes);
  // Null takes a value away; a member that is not there leaves it alone.
  if (body.is_null("ttlSeconds"))
    patch.ttl_seconds.emplace(std::nullopt);
  else if (const auto ttl = body.number("ttlSeconds", 1, model::kMaxTtlSeconds))
    patch.ttl_seconds.emplace(ttl);
  if (body.is_null("ownerAgent"))
    patch.owner_agent = "";
  else if (auto owner = body.text("ownerAgent", model::kMaxIdentifierBytes))
    patch.owner_agent = std::move(*owner);
  REPRISE_CO_CHECK(body.done());
  REPRISE_CO_TRY(
      const auto answer,
      co_await service.call(std::move(ref),
                            {.action = std::move(patch), .if_match = expected, .lease = lease}));
  co_return record(200, *answer->view, vocabulary);
}

rt::Task<Result<Reply>> remove(SessionService& service, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(service, exchange));
  REPRISE_CO_TRY(const auto lease, lease_of(exchange));
  REPRISE_CO_CHECK(co_await service.remove(std::move(ref), {}, lease));
  co_return Reply::empty(204);
}

rt::Task<Result<Reply>> move(SessionService& service, Exchange& exchange, MoveDecoder decode) {
  REPRISE_CO_CHECK(exchange.check_query({"vocabulary"}));
  REPRISE_CO_TRY(const auto vocabulary, vocabulary_parameter(exchange));
  REPRISE_CO_TRY(auto ref, co_await session_of(service, exchange));
  REPRISE_CO_TRY(const auto lease, lease_of(exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  REPRISE_CO_TRY(auto action, decode(body));
  REPRISE_CO_TRY(
      const auto answer,
      co_await service.call(std::move(ref), {.action = std::move(action), .lease = lease}));
  co_return record(200, *answer->view, vocabulary);
}

rt::Task<Result<Reply>> reset(SessionService& service, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"vocabulary"}));
  REPRISE_CO_TRY(const auto vocabulary, vocabulary_parameter(exchange));
  REPRISE_CO_TRY(auto ref, co_await session_of(service, exchange));
  REPRISE_CO_TRY(const auto lease, lease_of(exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  std::string reason = body.text("reason", model::kMaxReasonBytes).value_or("");
  REPRISE_CO_CHECK(body.done());
  REPRISE_CO_TRY(const auto answer,
                 co_await service.reset(std::move(ref), std::move(reason), lease));
  co_return record(200, *answer->view, vocabulary);
}

rt::Task<Result<Reply>> subscribers(SessionService& service, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(service, exchange));
  REPRISE_CO_TRY(const auto list, co_await service.subscribers(std::move(ref)));
  std::string json = "{\"subscribers\":[";
  for (const auto& subscriber : list) {
    if (json.back() != '[') json += ',';
    json += "{\"clientId\":";
    append_json_string(json, subscriber.client_id);
    json += ",\"connections\":";
    append_number(json, subscriber.connections);
    json += ",\"firstSeenAt\":\"" + format_time(subscriber.first_seen_at) + "\",\"lastSeenAt\":\"" +
            format_time(subscriber.last_seen_at) + "\"}";
  }
  json += "]}";
  co_return Reply::json(200, std::move(json));
}

}  // namespace

void add_session_routes(http::Router& router, SessionService& service) {
  using enum wire::Method;
  using http::Scope;
  const auto bind = [&service](rt::Task<Result<Reply>> (*handler)(SessionService&, Exchange&)) {
    return [&service, handler](Exchange& exchange) { return handler(service, exchange); };
  };
  router.add(kPost, "/v1/sessions", Scope::kWrite, bind(create));
  router.add(kPut, "/v1/sessions/{s}", Scope::kWrite, bind(get_or_create));
  router.add(kGet, "/v1/sessions/{s}", Scope::kRead, bind(get));
  router.add(kPatch, "/v1/sessions/{s}", Scope::kWrite, bind(patch));
  router.add(kDelete, "/v1/sessions/{s}", Scope::kWrite, bind(remove));
  router.add(kPost, "/v1/sessions/{s}/reset", Scope::kWrite, bind(reset));
  router.add(kGet, "/v1/sessions/{s}/subscribers", Scope::kRead, bind(subscribers));
  for (const NamedMove& named : named_moves())
    router.add(kPost, fmt::format("/v1/sessions/{{s}}/{}", named.name), Scope::kWrite,
               [&service, decode = named.decode](Exchange& exchange) {
                 return move(service, exchange, decode);
               });
}

}  // namespace reprise::api
