// The browsers of a server, as its configuration wants them.
#pragma once

#include <memory>
#include <vector>

#include "base/time.h"
#include "browser/forbidden_ports.h"
#include "browser/pool.h"
#include "browser/service.h"
#include "rt/pool.h"
#include "rt/real_loop.h"
#include "server/config.h"

namespace reprise::server {

browser::BrowserServiceOptions browser_options(const Config& config);
// The default one, and those that are named. Starts nothing: the first browser of a pool is started
// when it is needed. Pages are kept from the browsers' ports by `ports`, which outlives the pools.
std::vector<std::unique_ptr<browser::Pool>> make_pools(rt::RealLoop& loop, rt::Pool& pool,
                                                       const Clock& clock,
                                                       browser::ForbiddenPorts& ports,
                                                       const Config& config);

}  // namespace reprise::server
