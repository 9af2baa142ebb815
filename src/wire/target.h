// Request targets: path segments and query parameters, decoded.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace reprise::wire {

struct Target {
  std::string path;                   // as sent, up to '?'
  std::vector<std::string> segments;  // percent-decoded; "/v1/a%2Fb" is {"v1", "a/b"}
  std::vector<std::pair<std::string, std::string>> query;  // percent-decoded, '+' is a space
};

// Origin form ("/v1/sessions?limit=2"), or absolute form whose authority is dropped. kBadRequest
// for anything else, for bad percent-escapes, for an encoded NUL and for decoded bytes that are not
// UTF-8. Empty segments stay, as do "." and "..": routes do not match them. "/" is one empty
// segment. Parameters without '=' have an empty value.
Result<Target> parse_target(std::string_view text);

std::string percent_encode(std::string_view text);  // everything but unreserved characters

}  // namespace reprise::wire
