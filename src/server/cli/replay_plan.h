// What `reprise replay` calls for a recorded command. Pure.
//
// A recorded command names its elements by refs, which are of a page that is gone. What the record
// also holds of an element (role, name, its number among those, a selector, the frames it is in)
// names it again: by role and name first, since they outlive a redesign, then by the selector.
// Selectors that the agent wrote itself stay.
//
// What a person did by hand is recorded by points and without targets. A click on a button is done
// again as one on that button; where the point itself matters, or nothing is known of what was
// there, at the point. What programs did over the DevTools protocol is in replay_protocol.h.
//
// What was redacted is a secret of a name: that of the field, cookie or item, or the command's
// number.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "server/cli/recorded_command.h"

namespace reprise::server::cli {

// By name.
using Secrets = std::map<std::string, std::string>;
// From "NAME=value"; kBadParameter.
Result<Secrets> parse_secrets(const std::vector<std::string>& given);

struct ToolCall {
  std::string tool;
  std::string arguments;  // JSON
  friend bool operator==(const ToolCall&, const ToolCall&) = default;
};
// Calls that make up a command, in order.
using Attempt = std::vector<ToolCall>;

struct Plan {
  // The best first; the next are for when an element is not found.
  std::vector<Attempt> attempts = {};
  // The name of a secret that was not given; then there are no attempts.
  std::optional<std::string> missing = {};
  // Why nothing is done for it; then there are no attempts.
  std::string skipped = {};
  // The command that it is done again with; then there are no attempts.
  std::optional<std::uint64_t> merged_into = {};
};

// For each command its plan.
std::vector<Plan> plan_commands(const std::vector<RecordedCommand>& commands,
                                const Secrets& secrets);
// One that is a tool's.
Plan plan_tool(const RecordedCommand& command, const Secrets& secrets);

// The secret of a name, or else of the command's number.
const std::string* find_secret(const Secrets& secrets, const std::string& name, std::uint64_t seq);

}  // namespace reprise::server::cli
