// The DevTools endpoint of a session, for programs that speak that protocol: Playwright's
// connectOverCDP, Puppeteer's connect, and others.
//
//     WS  /v1/sessions/{s}/cdp                 the protocol, for this session's context alone
//     GET /v1/sessions/{s}/cdp/json/version    how programs find it
//
// A client's connection moves to the browsers' loop, where its own connection to the browser lives
// too: a message goes from one to the other without waiting for another thread (decision 018).
#pragma once

#include "browser/service.h"
#include "http/router.h"

namespace reprise::api {

struct CdpRoutes {
  browser::BrowserService& browsers;
  Random& random;
  bool is_tls = false;
};

// `routes` outlives the router.
void add_cdp_routes(http::Router& router, const CdpRoutes& routes);

}  // namespace reprise::api
