// Pools: our own as the configuration has them, and those of other processes, which register.
#pragma once

#include <string>

#include "api/browsers.h"
#include "browser/pool_report.h"

namespace reprise::api {

// `routes` outlives the router.
void add_pool_routes(http::Router& router, const BrowserRoutes& routes);

std::string pool_json(const browser::PoolReport& pool);

}  // namespace reprise::api
