// Where a browser says that its DevTools listen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::browser::chromium {

// A port on loopback, and the path of the browser's own WebSocket there.
struct DevToolsAddress {
  std::uint16_t port = 0;
  std::string path;
  bool operator==(const DevToolsAddress&) const = default;
};

// From a line of its standard error: "DevTools listening on
// ws://127.0.0.1:40001/devtools/browser/ID". Any other line is none.
std::optional<DevToolsAddress> parse_devtools_line(std::string_view line);

}  // namespace reprise::browser::chromium
