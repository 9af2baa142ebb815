#include "browser/chromium/devtools_address.h"

#include <algorithm>
#include <charconv>

namespace reprise::browser::chromium {

std::optional<DevToolsAddress> parse_devtools_line(std::string_view line) {
  constexpr std::string_view kStart = "DevTools listening on ws://127.0.0.1:";
  constexpr std::string_view kPath = "/devtools/browser/";
  constexpr std::size_t kMaxPathBytes = 256;
  if (!line.starts_with(kStart)) return std::nullopt;
  line.remove_prefix(kStart.size());
  DevToolsAddress address;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), address.port);
  if (error != std::errc{} || address.port == 0) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  const bool is_visible = std::ranges::all_of(line, [](char c) { return c > ' ' && c < '\x7F'; });
  if (!line.starts_with(kPath) || line.size() == kPath.size() || line.size() > kMaxPathBytes ||
      !is_visible)
    return std::nullopt;
  address.path = line;
  return address;
}

}  // namespace reprise::browser::chromium
