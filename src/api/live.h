// Live views and take-overs: WS …/live, POST and DELETE …/browser/takeover (docs/live.md).
#pragma once

#include "api/browsers.h"
#include "http/router.h"

namespace reprise::api {

// `routes` outlives the router.
void add_live_routes(http::Router& router, const BrowserRoutes& routes);

}  // namespace reprise::api
