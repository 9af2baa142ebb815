#include "api/logs.h"

#include "api/logs_internal.h"

namespace reprise::api {

void add_log_routes(http::Router& router, const LogRoutes& routes) {
  using Handler = rt::Task<Result<http::Reply>> (*)(const LogRoutes&, http::Exchange&);
  const auto add = [&](wire::Method method, http::Scope scope, Handler handler) {
    router.add(method, "/v1/stream/{path...}", scope,
               [&routes, handler](http::Exchange& exchange) { return handler(routes, exchange); },
               {});
  };
  add(wire::Method::kPut, http::Scope::kWrite, put_log);
  add(wire::Method::kPost, http::Scope::kWrite, post_log);
  add(wire::Method::kDelete, http::Scope::kWrite, delete_log);
  add(wire::Method::kGet, http::Scope::kRead, get_log);
}

}  // namespace reprise::api
