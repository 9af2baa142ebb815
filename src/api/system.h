// What operators ask: /healthz, /readyz, /v1/health, /metrics, /openapi.json.
#pragma once

#include <atomic>
#include <string>

#include "api/devtools_feed.h"
#include "base/time.h"
#include "http/probe.h"
#include "http/router.h"
#include "session/agents.h"
#include "session/archives.h"
#include "session/artifacts.h"
#include "session/checkpoints.h"
#include "session/inputs.h"
#include "session/janitor.h"
#include "session/service.h"
#include "session/tool_calls.h"
#include "session/webhooks/service.h"
#include "stream/subscription/service.h"

namespace reprise::browser {
class BrowserService;
struct ProxyProbe;
}  // namespace reprise::browser

namespace reprise::api {

class McpEndpoint;

struct SystemContext {
  session::SessionService& service;
  const session::Janitor& janitor;
  const stream::LogService& logs;
  const stream::SubscriptionService& subscriptions;
  const session::WebhookService& webhooks;
  const session::AgentService& agents;
  const session::ToolCalls& tool_calls;
  const session::ArtifactService& artifacts;
  const session::Checkpoints& checkpoints;
  const session::Inputs& inputs;
  const session::ArchiveService& archives;
  const DevtoolsFeed& devtools;
  const http::Probe& probe;
  std::string version;
  TimePoint started_at;
  const std::atomic<bool>& is_draining;
  // nullptr: there are none.
  const McpEndpoint* mcp = nullptr;
  browser::BrowserService* browsers = nullptr;
  const browser::ProxyProbe* proxies = nullptr;
};

void add_system_routes(http::Router& router, const SystemContext& context);

// The OpenAPI document, embedded at build time.
std::string_view openapi_document();

}  // namespace reprise::api
