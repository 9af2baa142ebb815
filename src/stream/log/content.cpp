#include "stream/log/content.h"

#include <vector>

#include "stream/log/append_entry.h"
#include "wire/json.h"

namespace reprise::stream {

Result<std::optional<std::string>> encode_content(bool is_json, std::string_view body) {
  if (body.empty()) return std::nullopt;
  if (!is_json) return encode_bytes(body);
  REPRISE_TRY(const wire::JsonDocument document, wire::parse_json(std::string(body)));
  const wire::JsonValue root = document.root();
  std::vector<std::string> minified;
  if (root.type() == wire::JsonType::kArray) {
    for (const wire::JsonValue& element : root.elements()) minified.push_back(element.minified());
    if (minified.empty()) return std::nullopt;
  } else {
    minified.push_back(root.minified());
  }
  return encode_messages(std::vector<std::string_view>(minified.begin(), minified.end()));
}

}  // namespace reprise::stream
