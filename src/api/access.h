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

// For requests that name the app themselves: kForbidden.
Result<> check_app_access(const http::Exchange& exchange, std::string_view app);

// Reprise-Lease: kFenced for a generation that is not the session's present one. Before agents are
// there, nobody holds a lease: any that is shown is stale.
Result<> check_lease(const http::Exchange& exchange);

}  // namespace reprise::api
