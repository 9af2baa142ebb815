// Any bytes as a target: an answer or a refusal; and any bytes survive being encoded into one.
#include "base/assert.h"
#include "wire/json.h"
#include "wire/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  using namespace reprise::wire;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto target = parse_target(bytes)) {
    REPRISE_ASSERT(target->path.starts_with('/') && !target->segments.empty(), target->path);
    // Encoding what was decoded leads to the same segments.
    std::string again;
    for (const std::string& segment : target->segments) {
      REPRISE_ASSERT(is_utf8(segment) && segment.find('\0') == std::string::npos);
      again += "/" + percent_encode(segment);
    }
    char mark = '?';
    for (const auto& [name, value] : target->query) {
      again += mark + percent_encode(name) + "=" + percent_encode(value);
      mark = '&';
    }
    const auto second = parse_target(again);
    REPRISE_ASSERT(second.has_value(), again);
    REPRISE_ASSERT(second->segments == target->segments && second->query == target->query, again);
  } else {
    REPRISE_ASSERT(target.error().code == Code::kBadRequest);
  }
  const auto encoded = parse_target("/" + percent_encode(bytes));
  const bool is_fine = is_utf8(bytes) && bytes.find('\0') == std::string_view::npos;
  REPRISE_ASSERT(encoded.has_value() == is_fine);
  if (encoded) REPRISE_ASSERT(encoded->segments.size() == 1 && encoded->segments[0] == bytes);
  return 0;
}
