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
  if (!exchange.principal.apps && !exchange.subject) co_return ref;
  const auto* key = std::get_if<model::SessionKey>(&ref);
  if (key != nullptr) {
    REPRISE_CO_CHECK(check_app_access(exchange, key->app));
    if (!exchange.subject) co_return ref;
  }
  const auto view = co_await service.get(ref);
  if (view) note_subject(exchange, view->state);
  // Whoever observes changes nothing about what the caller is told.
  if (!exchange.principal.apps || key != nullptr) co_return ref;
  if (!view) co_return fail(view.error());
  if (!exchange.principal.may_use(view->state.app))
    co_return fail(Code::kSessionNotFound,
                   fmt::format("there is no session {}", exchange.captured.front()));
  co_return ref;
}

void note_subject(const http::Exchange& exchange, const model::SessionState& session) {
  if (!exchange.subject) return;
  exchange.subject->session = session.id.to_string();
  exchange.subject->app = session.app;
  if (session.has_key()) exchange.subject->key = session.key().to_string();
}

Result<> check_app_access(const http::Exchange& exchange, std::string_view app) {
  if (exchange.principal.may_use(app)) return {};
  return fail(Code::kForbidden,
              fmt::format("the token '{}' is not for the app '{}'", exchange.principal.name, app));
}

Result<> check_log_access(const http::Principal& principal, std::string_view path) {
  const std::string_view app = path.substr(0, path.find('/'));
  if (principal.may_use(app)) return {};
  return fail(Code::kForbidden, fmt::format("the token is not for streams below '{}/'", app));
}

Result<std::optional<Generation>> lease_of(const http::Exchange& exchange) {
  const auto lease = exchange.request.headers.get("reprise-lease");
  if (!lease) return std::nullopt;
  REPRISE_TRY(const std::uint64_t generation,
              parse_number("Reprise-Lease", *lease, 0, std::numeric_limits<std::uint64_t>::max()));
  return Generation{generation};
}

}  // namespace reprise::api
