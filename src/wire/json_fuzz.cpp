// Any bytes: parse_json() answers or refuses; what it accepts has handles that lie within the text,
// and its minified form is accepted again and minifies to itself.
#include "base/assert.h"
#include "wire/json.h"

namespace {

using namespace reprise;
using namespace reprise::wire;

void walk(const JsonValue& value, std::string_view text) {
  const std::string_view raw = value.raw();
  REPRISE_ASSERT(!raw.empty());
  REPRISE_ASSERT(raw.data() >= text.data() && raw.data() + raw.size() <= text.data() + text.size());
  for (const JsonValue& element : value.elements()) walk(element, raw);
  for (const JsonMember& member : value.members()) {
    REPRISE_ASSERT(is_utf8(member.name));
    REPRISE_ASSERT(value.find(member.name)->raw().data() == member.value.raw().data(), member.name);
    walk(member.value, raw);
  }
  if (value.type() == JsonType::kString) REPRISE_ASSERT(is_utf8(*value.as_string()));
  if (value.type() == JsonType::kNumber) {
    REPRISE_ASSERT(value.as_double().has_value(), raw);
    const bool is_integer = raw.find_first_of(".eE") == std::string_view::npos;
    REPRISE_ASSERT(is_integer == (value.as_int() || value.as_uint()), raw);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  minify_json(bytes);  // must stay within its text whatever it is given
  const auto document = parse_json(std::string(bytes));
  if (!document) {
    const Code code = document.error().code;
    REPRISE_ASSERT(code == Code::kMalformedJson || code == Code::kDuplicateMember);
    return 0;
  }
  walk(document->root(), document->root().raw());
  const std::string minified = document->root().minified();
  const auto again = parse_json(minified);
  REPRISE_ASSERT(again.has_value(), minified);
  REPRISE_ASSERT(again->root().raw() == minified, minified);
  REPRISE_ASSERT(again->root().minified() == minified, minified);
  REPRISE_ASSERT(minify_json(bytes) == minified, minified);
  return 0;
}
