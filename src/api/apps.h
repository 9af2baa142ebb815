// /v1/apps: namespaces of sessions and their settings.
#pragma once

#include "http/router.h"
#include "session/service.h"

namespace reprise::api {

void add_app_routes(http::Router& router, session::SessionService& service);

}  // namespace reprise::api
