// Which sessions a caller may touch: tokens may be limited to some apps.
#pragma once

#include "base/error.h"
#include "http/exchange.h"
#include "rt/task.h"
#include "session/service.h"

namespace reprise::api {

// The session a path names, if the caller may use its app. A session of another app is not found:
// that it exists is none of the caller's business.
rt::Task<Result<session::SessionRef>> session_of(session::SessionService& service,
                                                 const http::Exchange& exchange);

// Tells who observes requests which session this one is about.
void note_subject(const http::Exchange& exchange, const model::SessionState& session);

// For requests that name the app themselves: kForbidden.
Result<> check_app_access(const http::Exchange& exchange, std::string_view app);

// The first part of a stream's path is its app; for tokens that are limited to some: kForbidden.
Result<> check_log_access(const http::Principal& principal, std::string_view path);

// Reprise-Lease, if there is one: the generation a worker shows. It goes with the call, and is
// checked inside its commit (session/lease.h).
Result<std::optional<Generation>> lease_of(const http::Exchange& exchange);

}  // namespace reprise::api
