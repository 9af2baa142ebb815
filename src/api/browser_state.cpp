// …/browser/storage-state: cookies and local storage of a session's context, for those who ask.
#include "api/access.h"
#include "api/browsers.h"
#include "browser/storage_state.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;

rt::Task<Result<Reply>> get_state(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  REPRISE_CO_TRY(const browser::StorageState state,
                 co_await routes.browsers.storage_state(std::move(ref)));
  Reply reply = Reply::json(200, browser::storage_state_json(state));
  reply.headers.add("Cache-Control", "no-store");
  co_return reply;
}

}  // namespace

void add_browser_state_routes(http::Router& router, const BrowserRoutes& routes) {
  // Whoever may read a session may not therefore log in as it.
  router.add(wire::Method::kGet, "/v1/sessions/{s}/browser/storage-state", http::Scope::kWrite,
             [&routes](Exchange& exchange) { return get_state(routes, exchange); },
             {"application/json"});
}

}  // namespace reprise::api
