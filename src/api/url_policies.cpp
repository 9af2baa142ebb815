#include "api/url_policies.h"

#include <string>
#include <utility>

#include "api/access.h"
#include "browser/app_policies.h"
#include "model/session_state.h"
#include "wire/json.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using session::SessionService;

Result<std::string> app_of(const Exchange& exchange) {
  const std::string& id = exchange.captured.front();
  REPRISE_CHECK(exchange.check_query({}));
  REPRISE_CHECK(model::check_app(id));
  REPRISE_CHECK(check_app_access(exchange, id));
  return id;
}

rt::Task<Result<Reply>> get(SessionService& service, Exchange& exchange) {
  REPRISE_CO_TRY(std::string app, app_of(exchange));
  REPRISE_CO_TRY(const auto options,
                 co_await browser::read_app_policy(service.store_here(), std::move(app)));
  // One that has none has what every app has without one.
  co_return Reply::json(200,
                        browser::url_policy_json(options.value_or(browser::UrlPolicyOptions{})));
}

rt::Task<Result<Reply>> put(SessionService& service, Exchange& exchange) {
  REPRISE_CO_TRY(std::string app, app_of(exchange));
  browser::UrlPolicyOptions options;
  {
    REPRISE_CO_TRY(const auto body, wire::parse_json(exchange.request.body));
    REPRISE_CO_TRY(options, browser::parse_url_policy(body.root()));
  }
  const std::string json = browser::url_policy_json(options);
  REPRISE_CO_CHECK(
      co_await browser::write_app_policy(service.store_here(), std::move(app), std::move(options)));
  co_return Reply::json(200, json);
}

rt::Task<Result<Reply>> remove(SessionService& service, Exchange& exchange) {
  REPRISE_CO_TRY(const std::string app, app_of(exchange));
  store::Commit commit;
  browser::erase_app_policy(commit, app);
  REPRISE_CO_CHECK(co_await service.store_here().commit(std::move(commit)));
  co_return Reply::empty(204);
}

}  // namespace

void add_url_policy_routes(http::Router& router, SessionService& service) {
  using enum wire::Method;
  using http::Scope;
  const auto bind = [&service](rt::Task<Result<Reply>> (*handler)(SessionService&, Exchange&)) {
    return [&service, handler](Exchange& exchange) { return handler(service, exchange); };
  };
  // Whoever runs agents with a token to write must not be able to widen what their pages may reach.
  router.add(kGet, "/v1/apps/{id}/url-policy", Scope::kRead, bind(get));
  router.add(kPut, "/v1/apps/{id}/url-policy", Scope::kAdmin, bind(put));
  router.add(kDelete, "/v1/apps/{id}/url-policy", Scope::kAdmin, bind(remove));
}

}  // namespace reprise::api
