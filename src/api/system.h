// What operators ask: /healthz, /readyz, /v1/health, /metrics, /openapi.json.
#pragma once

#include <atomic>
#include <string>

#include "base/time.h"
#include "http/probe.h"
#include "http/router.h"
#include "session/janitor.h"
#include "session/service.h"

namespace reprise::api {

struct SystemContext {
  session::SessionService& service;
  const session::Janitor& janitor;
  const http::Probe& probe;
  std::string version;
  TimePoint started_at;
  const std::atomic<bool>& is_draining;
};

void add_system_routes(http::Router& router, const SystemContext& context);

// The OpenAPI document, embedded at build time.
std::string_view openapi_document();

}  // namespace reprise::api
