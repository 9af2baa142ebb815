// /v1/sessions/{s}/tool-calls and /v1/sessions/{s}/audit: start and finish tool calls, list them,
// verify and export the audit.
#pragma once

#include "http/router.h"
#include "model/redact.h"
#include "session/tool_calls.h"

namespace reprise::api {

// What the routes need; must outlive them.
struct ToolCallRoutes {
  session::ToolCalls& calls;
  const model::Redactor& redactor;
};

void add_tool_call_routes(http::Router& router, const ToolCallRoutes& routes);
void add_audit_routes(http::Router& router, const ToolCallRoutes& routes);

}  // namespace reprise::api
