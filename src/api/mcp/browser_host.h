// BrowserToolHost: the tools of the catalogue over the browsers and sessions of this server.
//
// A tool of a page is a command of its session, as over REST: in its turn, recorded with `source:
// "mcp"` and the client's name, durable before it is answered. The tools about sessions are in
// session_tools.h.
#pragma once

#include "api/mcp/tool_host.h"
#include "browser/service.h"

namespace reprise::api {

class BrowserToolHost final : public ToolHost {
 public:
  // The service outlives it.
  explicit BrowserToolHost(browser::BrowserService& browsers) : browsers_(browsers) {}

  rt::Task<Result<Outcome>> call(Caller caller, std::string tool, std::string arguments,
                                 rt::CancelScope& scope) override;

 private:
  browser::BrowserService& browsers_;
};

}  // namespace reprise::api
