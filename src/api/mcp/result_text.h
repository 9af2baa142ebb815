// What a model reads of a command: sections, in the order and under the headings that agents know
// from other browser servers.
//
//     ### Error            what went wrong
//     ### Result           what the tool found
//     ### Open tabs        where there is more than one
//     ### Page             its address, its title, whether it crashed, errors on its console
//     ### Modal state      a dialog or a file chooser that waits for an answer
//     ### Snapshot         of browser_snapshot, as YAML
#pragma once

#include <string>

#include "api/mcp/tool_host.h"
#include "browser/command.h"

namespace reprise::api {

ToolHost::Outcome mcp_outcome(const browser::CommandAnswer& answer);

// "- 0: (current) [Title](address)", a line for each.
std::string mcp_tab_lines(const std::vector<browser::TabGlance>& tabs);

}  // namespace reprise::api
