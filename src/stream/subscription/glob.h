// Patterns of paths: `*` is one part, `**` any number of them, anything else itself.
#pragma once

#include <string_view>

namespace reprise::stream {

// What every path that matches begins with.
std::string_view literal_prefix(std::string_view pattern);

bool matches_glob(std::string_view pattern, std::string_view path);

}  // namespace reprise::stream
