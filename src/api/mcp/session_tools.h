// The tools about sessions, for clients that look after several: start, end, list, inspect, and
// their tabs. What they find is told in lines for the model, and as JSON for programs.
#pragma once

#include <string>
#include <string_view>

#include "api/mcp/tool_host.h"
#include "browser/service.h"
#include "wire/json.h"

namespace reprise::api {

struct SessionToolCall {
  browser::BrowserService& browsers;
  const ToolHost::Caller& caller;
  wire::JsonValue arguments;  // they have passed the catalogue
  rt::CancelScope& scope;
};

using SessionTool = rt::Task<Result<ToolHost::Outcome>> (*)(SessionToolCall&);
// nullptr: it is a tool of a page.
SessionTool mcp_session_tool(std::string_view name);

// A command as MCP records it.
browser::CommandCall mcp_command(const ToolHost::Caller& caller, std::string tool,
                                 std::string arguments);
// Runs it, and tells what came of it; kCancelled for one that the client has given up.
rt::Task<Result<ToolHost::Outcome>> run_mcp_command(browser::BrowserService& browsers,
                                                    SessionId session, browser::CommandCall call,
                                                    rt::CancelScope& scope);

}  // namespace reprise::api
