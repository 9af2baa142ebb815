// Browsers of sessions: …/browser, …/tabs, …/tools, …/commands, and the pools they come from.
#pragma once

#include "browser/reading.h"
#include "browser/service.h"
#include "http/router.h"

namespace reprise::api {

struct BrowserRoutes {
  browser::BrowserService& browsers;
};

// `routes` outlives the router.
void add_browser_routes(http::Router& router, const BrowserRoutes& routes);
// Cookies and local storage (api/browser_state.cpp).
void add_browser_state_routes(http::Router& router, const BrowserRoutes& routes);
// Reading only: contexts, tabs and commands as the graph has them (api/graph.cpp).
void add_graph_routes(http::Router& router, const BrowserRoutes& routes);
// Ready-made questions to it (api/graph_queries.cpp).
void add_graph_query_routes(http::Router& router, const BrowserRoutes& routes);

// As everywhere a tab is shown; `active` is the session's active tab.
std::string tab_json(const model::TabFacts& tab, std::optional<model::TabId> active);
std::string context_json(const model::ContextFacts& context);
std::string command_json(const browser::StoredCommand& command);

}  // namespace reprise::api
