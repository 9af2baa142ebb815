// What a tools/call comes down to: which tool, in which session, with which arguments.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "browser/tools/catalogue.h"
#include "wire/json.h"

namespace reprise::api {

// The member that every tool that works in a session has besides its own.
inline constexpr std::string_view kMcpSessionArgument = "session";

struct AskedCall {
  std::string tool;  // of the catalogue
  std::optional<wire::JsonValue> arguments;
  std::optional<std::string> default_session;  // where the arguments name none
  bool has_transport_session = false;          // which stands for one of ours
};

struct PlannedCall {
  std::string tool;
  std::string arguments;               // as the tool reads them, without the session
  std::optional<std::string> session;  // a UUID or a key, well-formed
};

// kInvalid, in words that help to set the call right. playwright_session_call becomes the call that
// it stands for.
Result<PlannedCall> plan_tool_call(const AskedCall& asked);

// The arguments of a tool as MCP has them: its own, and the session.
std::vector<browser::Parameter> mcp_parameters(const browser::Tool& tool);

}  // namespace reprise::api
