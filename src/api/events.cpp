#include "api/events.h"

#include <fmt/format.h>

#include <limits>

#include "api/access.h"
#include "api/body.h"
#include "api/limits.h"
#include "api/parameters.h"
#include "base/json_text.h"
#include "model/event.h"
#include "model/limits.h"
#include "session/limits.h"
#include "stream/idempotency.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using session::SessionService;

struct AppendRequest {
  std::vector<model::Event> events;
  std::optional<Seq> expected_seq;
  bool is_ephemeral = false;
  bool is_single = false;
};

// One event of a body; `type` and `data` are all a client may say.
void read_event(Body& body, std::vector<model::Event>& events, const Exchange& exchange) {
  model::Event event;
  if (!body.value("type") || body.is_null("type")) {
    body.wrong("type", "type is needed");
  } else if (auto type = body.text("type", model::kMaxIdentifierBytes)) {
    if (!model::is_well_formed_type(*type))
      body.wrong("type",
                 fmt::format("'{}' is not a type: they match [a-z][a-z0-9_.]{{0,63}}", *type));
    event.type = std::move(*type);
  }
  if (const auto data = body.value("data")) event.data = data->minified();
  if (exchange.principal.name != "anonymous") event.by = exchange.principal.name;
  events.push_back(std::move(event));
}

Result<AppendRequest> read_append(const Exchange& exchange) {
  REPRISE_TRY(Body body, Body::parse(exchange));
  AppendRequest request;
  if (const auto expected = body.number("expectedSeq", 0, std::numeric_limits<std::int64_t>::max()))
    request.expected_seq = Seq{*expected};
  request.is_ephemeral = body.boolean("ephemeral").value_or(false);
  if (const auto list = body.value("events")) {
    if (list->type() != wire::JsonType::kArray) {
      body.wrong("events", "events must be an array");
      REPRISE_CHECK(body.done());
    }
    const auto elements = list->elements();
    if (elements.empty() || elements.size() > model::kMaxEventsPerAppend) {
      body.wrong("events", fmt::format("a call takes 1 to {} events, not {}",
                                       model::kMaxEventsPerAppend, elements.size()));
      REPRISE_CHECK(body.done());
    }
    REPRISE_CHECK(body.done());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const std::string pointer = fmt::format("/events/{}", i);
      if (elements[i].type() != wire::JsonType::kObject)
        return invalid(pointer, "an event must be an object");
      Body event = Body::of(elements[i], pointer);
      read_event(event, request.events, exchange);
      REPRISE_CHECK(event.done());
    }
  } else {
    request.is_single = true;
    read_event(body, request.events, exchange);
    REPRISE_CHECK(body.done());
  }
  if (request.is_ephemeral && request.expected_seq)
    return invalid("/expectedSeq", "an ephemeral event has no place in the sequence");
  std::size_t bytes = 0;
  for (const model::Event& event : request.events) bytes += event.data.size();
  if (bytes > kMaxAppendBytes)
    return fail(Code::kBodyTooLarge,
                fmt::format("the events have {} bytes; {} are allowed in one call", bytes,
                            kMaxAppendBytes));
  for (std::size_t i = 0; i < request.events.size(); ++i) {
    if (!model::is_reserved_type(request.events[i].type)) continue;
    Error error{Code::kReservedType,
                fmt::format("only the server writes events of type '{}'", request.events[i].type)};
    error.fields.push_back(
        {request.is_single ? "/type" : fmt::format("/events/{}/type", i), error.detail});
    return fail(std::move(error));
  }
  return request;
}

rt::Task<Result<Reply>> append(SessionService& service, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(service, exchange));
  REPRISE_CO_TRY(AppendRequest request, read_append(exchange));
  std::optional<stream::IdempotencyClaim> claim;
  if (const auto key = exchange.request.headers.get("idempotency-key")) {
    REPRISE_CO_TRY(claim, stream::make_claim("events", *key, exchange.request.body));
  }
  REPRISE_CO_TRY(const auto lease, lease_of(exchange));
  if (request.is_ephemeral) {
    const TimePoint now = service.clock().now();
    for (model::Event& event : request.events) event.at = now;
    REPRISE_CO_CHECK(
        co_await service.publish_ephemeral(std::move(ref), std::move(request.events), lease));
    co_return Reply::json(202, "{}");
  }
  auto answer = co_await service.call(
      std::move(ref),
      {.action = model::Command(model::Append{std::move(request.events), request.expected_seq}),
       .claim = std::move(claim),
       .lease = lease,
       .wants_view = false});
  if (!answer) {
    Error error = std::move(answer).error();
    if (request.is_single)
      for (FieldError& field : error.fields)
        if (field.pointer.starts_with("/events/0"))
          field.pointer.erase(0, std::string_view("/events/0").size());
    co_return fail(std::move(error));
  }
  std::string json = "{\"firstSeq\":";
  append_number(json, (*answer)->first.value);
  json += ",\"lastSeq\":";
  append_number(json, (*answer)->last.value);
  json += '}';
  co_return Reply::json(201, std::move(json));
}

Result<std::vector<std::string>> types_parameter(const Exchange& exchange) {
  std::vector<std::string> types;
  REPRISE_TRY(const auto text, exchange.query("types"));
  if (!text) return types;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view type = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (!model::is_well_formed_type(type))
      return fail(Code::kBadParameter,
                  fmt::format("types names '{}', which is no event type", type));
    types.emplace_back(type);
  }
  if (types.empty() || types.size() > kMaxTypesFilter)
    return fail(Code::kBadParameter, fmt::format("types names {} types; 1 to {} are allowed",
                                                 types.size(), kMaxTypesFilter));
  return types;
}

rt::Task<Result<Reply>> page(SessionService& service, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"after", "limit", "types"}));
  REPRISE_CO_TRY(auto ref, co_await session_of(service, exchange));
  REPRISE_CO_TRY(const auto after,
                 number_parameter(exchange, "after", 0, std::numeric_limits<std::int64_t>::max()));
  REPRISE_CO_TRY(const auto limit,
                 number_parameter(exchange, "limit", 1, session::kMaxEventPageLimit));
  REPRISE_CO_TRY(auto types, types_parameter(exchange));
  REPRISE_CO_TRY(
      const auto page,
      co_await service.events(std::move(ref), Seq{after.value_or(0)},
                              limit.value_or(session::kDefaultEventPageLimit), std::move(types)));
  std::string json = "{\"events\":[";
  for (const auto& entry : page.entries) {
    REPRISE_CO_TRY(const auto event, model::decode_entry(entry.bytes));
    if (json.back() != '[') json += ',';
    model::append_event_json(json, entry.seq, event);
  }
  json += "],\"nextAfter\":";
  append_number(json, page.next_after.value);
  json += ",\"lastSeq\":";
  append_number(json, page.head.value);
  json += page.has_more ? ",\"hasMore\":true}" : ",\"hasMore\":false}";
  co_return Reply::json(200, std::move(json));
}

}  // namespace

void add_event_routes(http::Router& router, SessionService& service) {
  router.add(wire::Method::kPost, "/v1/sessions/{s}/events", http::Scope::kWrite,
             [&service](Exchange& exchange) { return append(service, exchange); });
  router.add(wire::Method::kGet, "/v1/sessions/{s}/events", http::Scope::kRead,
             [&service](Exchange& exchange) { return page(service, exchange); });
}

}  // namespace reprise::api
