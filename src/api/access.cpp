#include "api/access.h"

#include <fmt/format.h>

#include <limits>

#include "api/parameters.h"
#include "base/assert.h"

namespace reprise::api {

rt::Task<Result<session::SessionRef>> session_of(session::SessionService& service,
                                                 const http::Exchange& exchange) {
  REPRISE_ASSERT(!exchange.captured.empty());
  REPRISE_CO_TRY(session::SessionRef ref, parse_session_ref(exchange.captured.front()));
  if (!exchange.principal.apps) co_return ref;
  if (const auto* key = std::get_if<model::SessionKey>(&ref)) {
    REPRISE_CO_CHECK(check_app_access(exchange, key->app));
    co_return ref;
  }
  REPRISE_CO_TRY(const auto view, co_await service.get(ref));
  if (!exchange.principal.may_use(view.state.app))
    co_return fail(Code::kSessionNotFound,
                   fmt::format("there is no session {}", exchange.captured.front()));
  co_return ref;
}

Result<> check_app_access(const http::Exchange& exchange, std::string_view app) {
  if (exchange.principal.may_use(app)) return {};
  return fail(Code::kForbidden,
              fmt::format("the token '{}' is not for the app '{}'", exchange.principal.name, app));
}

Result<> check_lease(const http::Exchange& exchange) {
  const auto lease = exchange.request.headers.get("reprise-lease");
  if (!lease) return {};
  REPRISE_CHECK(
      parse_number("Reprise-Lease", *lease, 0, std::numeric_limits<std::uint64_t>::max()));
  return fail(Code::kFenced, fmt::format("the lease {} is not the session's present one", *lease));
}

}  // namespace reprise::api
