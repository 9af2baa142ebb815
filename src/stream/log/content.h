// What a client appends, turned into an entry.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace reprise::stream {

// For a JSON log an array is its elements, one message each, and any other value is one message;
// otherwise the body is kept byte for byte. nullopt where there is nothing to append: an empty
// body, or an empty array. kMalformedJson where a JSON log gets something else.
Result<std::optional<std::string>> encode_content(bool is_json, std::string_view body);

}  // namespace reprise::stream
