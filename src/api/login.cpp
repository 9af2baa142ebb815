#include "api/login.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/body.h"
#include "api/limits.h"
#include "base/json_text.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;

std::string_view scope_word(http::Scope scope) {
  switch (scope) {
    case http::Scope::kNone: return "none";
    case http::Scope::kRead: return "read";
    case http::Scope::kWrite: return "write";
    case http::Scope::kAdmin: return "admin";
  }
  return "none";
}

std::string principal_json(const http::Principal& principal, bool is_login_needed,
                           std::optional<TimePoint> expires_at) {
  std::string json = "{\"name\":" + json_string(principal.name);
  json += ",\"scope\":" + json_string(scope_word(principal.scope)) + ",\"apps\":";
  if (principal.apps) {
    json += '[';
    for (const std::string& app : *principal.apps) {
      if (json.back() != '[') json += ',';
      append_json_string(json, app);
    }
    json += ']';
  } else {
    json += "null";
  }
  json += ",\"isLoginNeeded\":";
  json += is_login_needed ? "true" : "false";
  if (expires_at) json += ",\"expiresAt\":" + json_string(format_time(*expires_at));
  return json + '}';
}

Reply secret(Reply reply) {
  reply.headers.add("Cache-Control", "no-store");
  return reply;
}

rt::Task<Result<Reply>> look(const LoginRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  const bool is_needed = routes.logins != nullptr;
  co_return secret(Reply::json(200, principal_json(exchange.principal, is_needed, std::nullopt)));
}

rt::Task<Result<Reply>> log_in(const LoginRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  const auto token = body.text("token", kMaxLoginTokenBytes);
  if (!token) body.wrong("token", "token is needed");
  REPRISE_CO_CHECK(body.done());
  if (routes.logins == nullptr) {
    const http::Principal everybody{.name = "anonymous", .scope = http::Scope::kAdmin, .apps = {}};
    co_return secret(Reply::json(200, principal_json(everybody, false, std::nullopt)));
  }
  REPRISE_CO_TRY(const http::Login login, routes.logins->begin(*token));
  Reply reply = secret(Reply::json(200, principal_json(login.principal, true, login.expires_at)));
  reply.headers.add("Set-Cookie", http::set_login_cookie(login, routes.clock.now(), routes.is_tls));
  co_return reply;
}

rt::Task<Result<Reply>> log_out(const LoginRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  const auto cookie = http::login_cookie(exchange.request);
  if (cookie && routes.logins != nullptr) routes.logins->end(*cookie);
  Reply reply = secret(Reply::empty(204));
  if (cookie) reply.headers.add("Set-Cookie", http::clear_login_cookie(routes.is_tls));
  co_return reply;
}

}  // namespace

void add_login_routes(http::Router& router, const LoginRoutes& routes) {
  using enum wire::Method;
  using http::Scope;
  const auto bind = [&routes](rt::Task<Result<Reply>> (*handler)(const LoginRoutes&, Exchange&)) {
    return [&routes, handler](Exchange& exchange) { return handler(routes, exchange); };
  };
  router.add(kGet, "/v1/login", Scope::kRead, bind(look));
  // Whoever logs in or out need not be anybody yet, or any more.
  router.add(kPost, "/v1/login", Scope::kNone, bind(log_in));
  router.add(kPost, "/v1/logout", Scope::kNone, bind(log_out));
}

}  // namespace reprise::api
