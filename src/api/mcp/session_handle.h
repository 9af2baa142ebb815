// Which session of ours a call over MCP is about.
//
// A handle is a UUID, which must exist, or a key, which is made on first use; where none is given,
// the transport's session stands for one, under a key of its own. Whoever has a token for some apps
// finds sessions of those only.
#pragma once

#include <cstdint>
#include <optional>

#include "api/mcp/tool_host.h"
#include "session/service.h"

namespace reprise::api {

// kSessionNotFound, also for one that is none of the caller's business; kForbidden for a key of an
// app that the caller may not use. Makes nothing.
rt::Task<Result<session::SessionView>> find_mcp_session(session::SessionService& sessions,
                                                        const ToolHost::Caller& caller);

struct McpSession {
  session::SessionView view;
  bool is_new = false;
};
// The same; a key whose session has ended, or never was, gets a new one, which is ACTIVE. Without
// any handle it is one without a key. The time to live is that of a new one.
rt::Task<Result<McpSession>> get_or_make_mcp_session(
    session::SessionService& sessions, const ToolHost::Caller& caller,
    std::optional<std::uint64_t> ttl_seconds = std::nullopt);

}  // namespace reprise::api
