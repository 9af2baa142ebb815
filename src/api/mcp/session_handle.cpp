#include "api/mcp/session_handle.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <variant>

#include "api/parameters.h"
#include "model/session_state.h"

namespace reprise::api {
namespace {

using session::SessionRef;
using session::SessionService;
using session::SessionView;

// Where sessions go that nobody gave a key: the default app, or the first that the caller may use.
Result<std::string> home_app(const http::Principal& principal) {
  if (principal.may_use(model::kDefaultApp)) return std::string(model::kDefaultApp);
  if (principal.apps && !principal.apps->empty()) return principal.apps->front();
  return fail(Code::kForbidden, fmt::format("the token '{}' is for no app", principal.name));
}

Result<> check_may_use(const http::Principal& principal, std::string_view app) {
  if (principal.may_use(app)) return {};
  return fail(Code::kForbidden,
              fmt::format("the token '{}' is not for the app '{}'", principal.name, app));
}

// The handle, or what stands for it; nothing where the call has neither.
Result<std::optional<SessionRef>> ref_of(const ToolHost::Caller& caller) {
  if (caller.session) {
    REPRISE_TRY(SessionRef ref, parse_session_ref(*caller.session));
    if (const auto* key = std::get_if<model::SessionKey>(&ref))
      REPRISE_CHECK(check_may_use(caller.principal, key->app));
    return std::optional(std::move(ref));
  }
  if (caller.transport_session.empty()) return std::nullopt;
  REPRISE_TRY(std::string app, home_app(caller.principal));
  return SessionRef(
      model::SessionKey{.app = std::move(app), .name = "mcp-" + caller.transport_session});
}

rt::Task<Result<SessionView>> look_up(SessionService& sessions, const ToolHost::Caller& caller,
                                      SessionRef ref) {
  const bool is_id = std::holds_alternative<SessionId>(ref);
  auto view = co_await sessions.get(std::move(ref));
  if (view && is_id && !caller.principal.may_use(view->state.app))
    co_return fail(Code::kSessionNotFound,
                   fmt::format("there is no session {}", caller.session.value_or("")));
  co_return view;
}

}  // namespace

rt::Task<Result<SessionView>> find_mcp_session(SessionService& sessions,
                                               const ToolHost::Caller& caller) {
  REPRISE_CO_TRY(auto ref, ref_of(caller));
  if (!ref) co_return fail(Code::kSessionNotFound, "no session is named");
  co_return co_await look_up(sessions, caller, std::move(*ref));
}

rt::Task<Result<McpSession>> get_or_make_mcp_session(SessionService& sessions,
                                                     const ToolHost::Caller& caller,
                                                     std::optional<std::uint64_t> ttl_seconds) {
  REPRISE_CO_TRY(auto ref, ref_of(caller));
  model::Create create;
  create.status = model::Status::kActive;
  create.ttl_seconds = ttl_seconds;
  if (!ref) {
    REPRISE_CO_TRY(create.app, home_app(caller.principal));
    create.graph_id = create.app;
    REPRISE_CO_TRY(auto created, co_await sessions.create(std::move(create)));
    co_return McpSession{.view = created->view, .is_new = true};
  }
  const auto* key = std::get_if<model::SessionKey>(&*ref);
  auto view = co_await look_up(sessions, caller, *ref);
  const bool is_absent = !view && view.error().code == Code::kSessionNotFound;
  const bool has_ended = view && model::is_terminal(view->state.status);
  if (key == nullptr || (!is_absent && !has_ended)) {
    if (!view) co_return fail(std::move(view).error());
    co_return McpSession{.view = std::move(*view)};
  }
  create.app = key->app;
  create.name = key->name;
  create.graph_id = create.app;
  REPRISE_CO_TRY(auto made, co_await sessions.get_or_create(std::move(create)));
  co_return McpSession{.view = std::move(made.view), .is_new = made.is_created};
}

}  // namespace reprise::api
