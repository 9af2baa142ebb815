// A command as GET …/commands tells of it, as far as a replay needs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/json.h"

namespace reprise::server::cli {

struct RecordedCommand {
  std::uint64_t seq = 0;
  std::string tool;            // or a method of the DevTools protocol, of a program's command
  std::string source = {};     // rest, mcp, cdp, operator, replay
  std::string args = "{}";     // JSON
  std::string target = "{}";   // JSON: the element, as the page script describes it
  std::string targets = "{}";  // JSON: the same by argument, where there is more than one
  bool is_ok = false;
  std::string error_code = {};
  std::string error = {};
  std::string tab = {};
  std::optional<std::string> url = {};  // of the page afterwards; none: it was not recorded
  std::optional<std::string> title = {};
  std::string snapshot = {};  // the artifact that shows the page afterwards; empty: there is none
};

// One element of GET …/commands.
RecordedCommand read_command(wire::JsonValue command);

// A string member; empty if it is none.
std::string text_member(wire::JsonValue object, std::string_view name);

}  // namespace reprise::server::cli
