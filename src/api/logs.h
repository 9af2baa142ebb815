// /v1/stream/{path}: Durable Streams over HTTP (docs/durable-streams.md).
#pragma once

#include <atomic>

#include "base/time.h"
#include "http/router.h"
#include "session/service.h"
#include "stream/log/service.h"

namespace reprise::api {

struct LogRoutes {
  stream::LogService& logs;
  session::SessionService& sessions;
  Millis long_poll_timeout;
  Millis heartbeat;
  bool is_tls = false;
  const std::atomic<bool>& is_draining;
};

// `routes` must outlive the router.
void add_log_routes(http::Router& router, const LogRoutes& routes);

}  // namespace reprise::api
