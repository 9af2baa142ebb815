#include "api/mcp/browser_host.h"

#include <utility>

#include "api/mcp/session_handle.h"
#include "api/mcp/session_tools.h"

namespace reprise::api {

rt::Task<Result<ToolHost::Outcome>> BrowserToolHost::call(Caller caller, std::string tool,
                                                          std::string arguments,
                                                          rt::CancelScope& scope) {
  if (const SessionTool session_tool = mcp_session_tool(tool)) {
    REPRISE_CO_TRY(const auto document, wire::parse_json(std::move(arguments)));
    SessionToolCall call{browsers_, caller, document.root(), scope};
    co_return co_await session_tool(call);
  }
  REPRISE_CO_TRY(const McpSession session,
                 co_await get_or_make_mcp_session(browsers_.sessions(), caller));
  co_return co_await run_mcp_command(browsers_, session.view.state.id,
                                     mcp_command(caller, std::move(tool), std::move(arguments)),
                                     scope);
}

}  // namespace reprise::api
