#include "api/subscriptions.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/access.h"
#include "api/limits.h"
#include "base/bytes.h"
#include "base/json_text.h"
#include "stream/limits.h"
#include "stream/log/offset.h"
#include "stream/subscription/messages.h"
#include "wire/json.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using stream::SubscriptionType;

constexpr std::uint64_t kLeastLeaseMs = 1'000;
constexpr std::uint64_t kMostLeaseMs = 600'000;

// Errors here have a form of their own.
Reply refuse(int status, std::string_view code, std::string_view message,
             std::string_view more = "") {
  return Reply::json(status, fmt::format(R"({{"error":{{"code":"{}","message":{}{}}}}})", code,
                                         json_string(message), more));
}

Reply refuse(const Error& error) {
  switch (error.code) {
    case Code::kNotFound: return refuse(404, "SUBSCRIPTION_NOT_FOUND", error.detail);
    case Code::kFenced: return refuse(409, "FENCED", error.detail);
    case Code::kUnauthorized: return refuse(401, "TOKEN_INVALID", error.detail);
    case Code::kForbidden: return refuse(401, "TOKEN_EXPIRED", error.detail);
    case Code::kBadParameter: return refuse(409, "INVALID_OFFSET", error.detail);
    case Code::kConflict: return refuse(409, "SUBSCRIPTION_ALREADY_EXISTS", error.detail);
    case Code::kInvalid: return refuse(400, "INVALID_REQUEST", error.detail);
    default:
      return refuse(error_row(error.code).http_status, error_row(error.code).name, error.detail);
  }
}

Reply bad_request(std::string_view why) { return refuse(400, "INVALID_REQUEST", why); }

std::string base_url(const SubscriptionRoutes& routes, const Exchange& exchange) {
  return fmt::format("{}://{}", routes.is_tls ? "https" : "http",
                     exchange.request.headers.get("host").value_or("localhost"));
}

std::string jwks_url(const SubscriptionRoutes& routes, const Exchange& exchange) {
  return base_url(routes, exchange) + "/v1/stream/__ds/jwks.json";
}

std::string record_json(const SubscriptionRoutes& routes, const Exchange& exchange,
                        const stream::SubscriptionView& view) {
  const stream::Subscription& one = view.subscription;
  const auto& config = one.config;
  std::string json = fmt::format(
      R"({{"id":{0},"subscription_id":{0},"type":"{1}","pattern":{2},"streams":[)",
      json_string(one.id), config.type == SubscriptionType::kWebhook ? "webhook" : "pull-wake",
      config.pattern ? json_string(*config.pattern) : "null");
  for (const auto& [path, link] : view.links) {
    if (json.back() != '[') json += ',';
    json += fmt::format(R"({{"path":{},"link_type":"{}","acked_offset":"{}"}})", json_string(path),
                        stream::link_type(link), stream::acked_offset(link));
  }
  json += ']';
  if (config.type == SubscriptionType::kWebhook)
    json += fmt::format(
        R"(,"webhook":{{"url":{},"signing":{{"alg":"ed25519","kid":"{}","jwks_url":{}}}}})",
        json_string(config.webhook_url), routes.subscriptions.keys().key_id(),
        json_string(jwks_url(routes, exchange)));
  else
    json += fmt::format(R"(,"wake_stream":{})", json_string(config.wake_stream));
  json += fmt::format(R"(,"lease_ttl_ms":{},"created_at":"{}","status":"{}","description":{}}})",
                      config.lease_ttl_ms, format_time(one.created_at),
                      one.failures > 0 ? "failed" : "active",
                      config.description ? json_string(*config.description) : "null");
  return json;
}

// nullopt where the member is missing; an error where it is something else.
Result<std::optional<std::string>> text_member(const wire::JsonValue& body, std::string_view name) {
  const auto value = body.find(name);
  if (!value || value->is_null()) return std::nullopt;
  const auto text = value->as_string();
  if (!text) return fail(Code::kInvalid, fmt::format("{} must be a text", name));
  if (text->size() > kMaxSubscriptionTextBytes)
    return fail(Code::kInvalid,
                fmt::format("{} is longer than {} bytes", name, kMaxSubscriptionTextBytes));
  return *text;
}

// Streams that are not logs have no news.
Result<> check_path(std::string_view path) {
  if (path.empty() || path.size() > stream::kMaxLogPathBytes)
    return fail(Code::kInvalid, "a stream is named by its path");
  if (path.starts_with("sessions/") || path.starts_with("__ds/"))
    return fail(Code::kInvalid, fmt::format("'{}' is reserved: it cannot be subscribed to", path));
  return {};
}

Result<std::vector<std::string>> paths_member(const wire::JsonValue& body) {
  std::vector<std::string> paths;
  const auto list = body.find("streams");
  if (!list || list->is_null()) return paths;
  if (list->type() != wire::JsonType::kArray)
    return fail(Code::kInvalid, "streams must be a list of paths");
  for (const auto& element : list->elements()) {
    auto path = element.as_string();
    if (!path) return fail(Code::kInvalid, "a stream is named by its path");
    REPRISE_CHECK(check_path(*path));
    paths.push_back(std::move(*path));
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

Result<stream::SubscriptionConfig> read_config(const wire::JsonValue& body) {
  stream::SubscriptionConfig config;
  REPRISE_TRY(const auto type, text_member(body, "type"));
  if (type != "webhook" && type != "pull-wake")
    return fail(Code::kInvalid, "type is webhook or pull-wake");
  config.type = *type == "webhook" ? SubscriptionType::kWebhook : SubscriptionType::kPullWake;
  REPRISE_TRY(config.pattern, text_member(body, "pattern"));
  REPRISE_TRY(config.streams, paths_member(body));
  if (!config.pattern && config.streams.empty())
    return fail(Code::kInvalid, "a subscription needs a pattern or streams");
  REPRISE_TRY(config.description, text_member(body, "description"));
  if (const auto lease = body.find("lease_ttl_ms"); lease && !lease->is_null()) {
    const auto value = lease->as_uint();
    if (!value || *value < kLeastLeaseMs || *value > kMostLeaseMs)
      return fail(Code::kInvalid,
                  fmt::format("lease_ttl_ms is {} to {}", kLeastLeaseMs, kMostLeaseMs));
    config.lease_ttl_ms = *value;
  }
  if (config.type == SubscriptionType::kWebhook) {
    const auto webhook = body.find("webhook");
    if (!webhook) return fail(Code::kInvalid, "a webhook subscription needs webhook.url");
    REPRISE_TRY(const auto url, text_member(*webhook, "url"));
    if (!url) return fail(Code::kInvalid, "a webhook subscription needs webhook.url");
    config.webhook_url = *url;
  } else {
    REPRISE_TRY(const auto wake_stream, text_member(body, "wake_stream"));
    if (!wake_stream) return fail(Code::kInvalid, "a pull-wake subscription needs wake_stream");
    REPRISE_CHECK(check_path(*wake_stream));
    if (std::binary_search(config.streams.begin(), config.streams.end(), *wake_stream))
      return fail(Code::kInvalid, "the wake stream would wake its own subscription");
    config.wake_stream = *wake_stream;
  }
  return config;
}

Result<wire::JsonDocument> parse_object(const Exchange& exchange) {
  REPRISE_TRY(
      auto document,
      wire::parse_json(exchange.request.body.empty() ? std::string("{}") : exchange.request.body));
  if (document.root().type() != wire::JsonType::kObject)
    return fail(Code::kInvalid, "the body must be a JSON object");
  return document;
}

Reply forbidden(const Error& error) { return refuse(403, "FORBIDDEN", error.detail); }

// Tokens may be limited to some apps: every stream a subscription can be about must be one's own.
Result<> check_access(const http::Principal& principal, const stream::SubscriptionConfig& config) {
  for (const std::string& path : config.streams) REPRISE_CHECK(check_log_access(principal, path));
  if (config.pattern) REPRISE_CHECK(check_log_access(principal, *config.pattern));
  if (config.type == SubscriptionType::kPullWake)
    REPRISE_CHECK(check_log_access(principal, config.wake_stream));
  return {};
}

// A subscription of another app is not found: that it exists is none of the caller's business.
rt::Task<Result<stream::SubscriptionView>> find_subscription(const SubscriptionRoutes& routes,
                                                             const Exchange& exchange) {
  REPRISE_CO_TRY(auto view, co_await routes.subscriptions.get(exchange.captured[0]));
  bool is_own = check_access(exchange.principal, view.subscription.config).has_value();
  for (const auto& [path, link] : view.links)
    is_own = is_own && check_log_access(exchange.principal, path).has_value();
  if (!is_own)
    co_return fail(Code::kNotFound,
                   fmt::format("there is no subscription '{}'", exchange.captured[0]));
  co_return view;
}

rt::Task<Result<Reply>> put_subscription(const SubscriptionRoutes& routes, Exchange& exchange) {
  const std::string id = exchange.captured[0];
  if (id.size() > stream::kMaxSubscriptionIdBytes) co_return bad_request("the id is too long");
  const auto body = parse_object(exchange);
  if (!body) co_return bad_request(body.error().detail);
  auto config = read_config(body->root());
  if (!config) co_return bad_request(config.error().detail);
  if (auto allowed = check_access(exchange.principal, *config); !allowed)
    co_return forbidden(allowed.error());
  if (config->type == SubscriptionType::kWebhook)
    if (auto allowed = routes.subscriptions.sender().check(config->webhook_url); !allowed)
      co_return refuse(400, "WEBHOOK_URL_REJECTED", allowed.error().detail);
  const auto view =
      co_await routes.subscriptions.put(id, std::move(*config), base_url(routes, exchange));
  if (!view) co_return refuse(view.error());
  co_return Reply::json(view->is_new ? 201 : 200, record_json(routes, exchange, *view));
}

rt::Task<Result<Reply>> get_subscription(const SubscriptionRoutes& routes, Exchange& exchange) {
  const auto view = co_await find_subscription(routes, exchange);
  if (!view) co_return refuse(view.error());
  co_return Reply::json(200, record_json(routes, exchange, *view));
}

rt::Task<Result<Reply>> delete_subscription(const SubscriptionRoutes& routes, Exchange& exchange) {
  if (const auto found = co_await find_subscription(routes, exchange); !found)
    co_return refuse(found.error());
  const auto removed = co_await routes.subscriptions.remove(exchange.captured[0]);
  if (!removed) co_return refuse(removed.error());
  co_return Reply::empty(204);
}

rt::Task<Result<Reply>> add_streams(const SubscriptionRoutes& routes, Exchange& exchange) {
  const auto body = parse_object(exchange);
  if (!body) co_return bad_request(body.error().detail);
  auto paths = paths_member(body->root());
  if (!paths) co_return bad_request(paths.error().detail);
  for (const std::string& path : *paths)
    if (auto allowed = check_log_access(exchange.principal, path); !allowed)
      co_return forbidden(allowed.error());
  if (const auto found = co_await find_subscription(routes, exchange); !found)
    co_return refuse(found.error());
  const auto added =
      co_await routes.subscriptions.add_streams(exchange.captured[0], std::move(*paths));
  if (!added) co_return refuse(added.error());
  co_return Reply::empty(204);
}

rt::Task<Result<Reply>> remove_stream(const SubscriptionRoutes& routes, Exchange& exchange) {
  if (const auto found = co_await find_subscription(routes, exchange); !found)
    co_return refuse(found.error());
  const auto removed =
      co_await routes.subscriptions.remove_stream(exchange.captured[0], exchange.captured[1]);
  if (!removed) co_return refuse(removed.error());
  co_return Reply::empty(204);
}

std::string bearer(const Exchange& exchange) {
  const auto header = exchange.request.headers.get("authorization").value_or("");
  constexpr std::string_view kScheme = "Bearer ";
  return std::string(header.starts_with(kScheme) ? header.substr(kScheme.size()) : "");
}

Result<stream::WakeClaim> read_claim(const Exchange& exchange, const wire::JsonValue& body) {
  stream::WakeClaim claim{.token = bearer(exchange)};
  const auto generation = body.find("generation");
  const auto wake_id = body.find("wake_id");
  const auto number = generation ? generation->as_uint() : std::nullopt;
  const auto text = wake_id ? wake_id->as_string() : std::nullopt;
  if (!number || !text) return fail(Code::kInvalid, "wake_id and generation are needed");
  claim.generation = *number;
  claim.wake_id = *text;
  return claim;
}

rt::Task<Result<Reply>> claim(const SubscriptionRoutes& routes, Exchange& exchange) {
  const auto body = parse_object(exchange);
  if (!body) co_return bad_request(body.error().detail);
  const auto worker = text_member(body->root(), "worker");
  if (!worker || !*worker || (*worker)->empty()) co_return bad_request("worker is needed");
  if (const auto found = co_await find_subscription(routes, exchange); !found)
    co_return refuse(found.error());
  const auto claimed = co_await routes.subscriptions.claim(exchange.captured[0], **worker);
  if (!claimed) co_return refuse(claimed.error());
  using Kind = stream::SubscriptionService::Claimed::Kind;
  if (claimed->kind == Kind::kHeldByAnother)
    co_return refuse(409, "ALREADY_CLAIMED", "another worker holds the lease",
                     fmt::format(R"(,"current_holder":{},"generation":{})",
                                 json_string(claimed->holder), claimed->generation));
  if (claimed->kind == Kind::kNothingPending)
    co_return refuse(409, "NO_PENDING_WORK", "nothing is pending");
  co_return Reply::json(
      200,
      fmt::format(R"({{"wake_id":{},"generation":{},"token":"{}","streams":{},"lease_ttl_ms":{}}})",
                  json_string(claimed->wake_id), claimed->generation, claimed->token,
                  claimed->streams, claimed->lease_ttl_ms));
}

rt::Task<Result<Reply>> acknowledge(const SubscriptionRoutes& routes, Exchange& exchange) {
  const auto body = parse_object(exchange);
  if (!body) co_return bad_request(body.error().detail);
  auto presented = read_claim(exchange, body->root());
  if (!presented) co_return bad_request(presented.error().detail);
  std::vector<stream::Ack> acks;
  if (const auto list = body->root().find("acks"); list && !list->is_null()) {
    for (const auto& element : list->elements()) {
      const auto path = element.find("stream");
      const auto offset = element.find("offset");
      const auto path_text = path ? path->as_string() : std::nullopt;
      const auto offset_text = offset ? offset->as_string() : std::nullopt;
      if (!path_text || !offset_text)
        co_return bad_request("an acknowledgement has a stream and an offset");
      const auto seq = stream::parse_offset(*offset_text);
      if (!seq) co_return refuse(409, "INVALID_OFFSET", seq.error().detail);
      acks.push_back({*path_text, *seq});
    }
  }
  const auto done = body->root().find("done");
  const bool is_done = done && done->as_bool().value_or(false);
  const auto next_wake = co_await routes.subscriptions.acknowledge(
      exchange.captured[0], std::move(*presented), std::move(acks), is_done);
  if (!next_wake) co_return refuse(next_wake.error());
  co_return Reply::json(200, fmt::format(R"({{"ok":true,"next_wake":{}}})", *next_wake));
}

rt::Task<Result<Reply>> release(const SubscriptionRoutes& routes, Exchange& exchange) {
  const auto body = parse_object(exchange);
  if (!body) co_return bad_request(body.error().detail);
  auto presented = read_claim(exchange, body->root());
  if (!presented) co_return bad_request(presented.error().detail);
  const auto released =
      co_await routes.subscriptions.release(exchange.captured[0], std::move(*presented));
  if (!released) co_return refuse(released.error());
  co_return Reply::empty(204);
}

rt::Task<Result<Reply>> jwks(const SubscriptionRoutes& routes, Exchange&) {
  Reply reply;
  reply.headers.add("Content-Type", "application/jwk-set+json");
  reply.headers.add("Cache-Control", "public, max-age=300");
  reply.body = fmt::format(
      R"({{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"{}","use":"sig","alg":"EdDSA",)"
      R"("x":"{}"}}]}})",
      routes.subscriptions.keys().key_id(), to_base64url(routes.subscriptions.keys().public_key()));
  co_return reply;
}

}  // namespace

void add_subscription_routes(http::Router& router, const SubscriptionRoutes& routes) {
  using Handler = rt::Task<Result<Reply>> (*)(const SubscriptionRoutes&, Exchange&);
  using enum wire::Method;
  const auto add = [&](wire::Method method, std::string path, http::Scope scope, Handler handler) {
    router.add(method, "/v1/stream/__ds/" + std::move(path), scope,
               [&routes, handler](Exchange& exchange) { return handler(routes, exchange); }, {});
  };
  add(kPut, "subscriptions/{id}", http::Scope::kWrite, put_subscription);
  add(kGet, "subscriptions/{id}", http::Scope::kRead, get_subscription);
  add(kDelete, "subscriptions/{id}", http::Scope::kWrite, delete_subscription);
  add(kPost, "subscriptions/{id}/streams", http::Scope::kWrite, add_streams);
  add(kDelete, "subscriptions/{id}/streams/{path}", http::Scope::kWrite, remove_stream);
  // Whoever calls these shows the token of a wake, which says more than one of the server's own.
  add(kPost, "subscriptions/{id}/callback", http::Scope::kNone, acknowledge);
  add(kPost, "subscriptions/{id}/ack", http::Scope::kNone, acknowledge);
  add(kPost, "subscriptions/{id}/release", http::Scope::kNone, release);
  add(kPost, "subscriptions/{id}/claim", http::Scope::kWrite, claim);
  add(kGet, "jwks.json", http::Scope::kNone, jwks);
}

}  // namespace reprise::api
