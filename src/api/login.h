// /v1/login, /v1/logout: a page exchanges its token for a cookie, and gives it back.
#pragma once

#include "base/time.h"
#include "http/logins.h"
#include "http/router.h"

namespace reprise::api {

struct LoginRoutes {
  http::Logins* logins = nullptr;  // none: there are no tokens, and nobody needs to log in
  const Clock& clock;
  bool is_tls = false;
};

// The routes keep the reference.
void add_login_routes(http::Router& router, const LoginRoutes& routes);

}  // namespace reprise::api
