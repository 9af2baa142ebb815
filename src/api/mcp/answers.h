// What the MCP endpoint answers with: results as JSON.
//
// Since 2026-07-28 a result says that it is complete, who answers, and how long a list may be
// believed; to clients of older revisions none of that is said.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/mcp/revision.h"
#include "api/mcp/tool_host.h"

namespace reprise::api {

class McpAnswers {
 public:
  explicit McpAnswers(std::string_view server_version);

  std::string initialize(McpRevision revision) const;
  std::string discover() const;
  std::string tools_list(McpRevision revision) const;
  std::string tool_result(const ToolHost::Outcome& outcome, McpRevision revision) const;
  // A call that has failed, as the model reads it, with the code for programs.
  std::string tool_error(const Error& error, McpRevision revision) const;
  std::string empty(McpRevision revision) const;
  // The two messages of a subscription to nothing: that it is one, and that it has ended.
  std::string subscription_begun(std::string_view request_id) const;
  std::string subscription_ended(std::string_view request_id) const;

 private:
  // What every result of a revision ends with, after a comma where there is something before it.
  std::string ending(McpRevision revision, std::string_view meta = {}) const;
  std::string server_info_;
  std::string tools_;  // the list, as JSON
};

}  // namespace reprise::api
