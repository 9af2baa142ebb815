// A schema and a value from strangers, separated by a line's end: neither crashes nor hangs, and a
// refusal says where.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "wire/json_schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t middle = std::min(bytes.find('\n'), bytes.size());
  const auto schema = wire::JsonSchema::compile(std::string(bytes.substr(0, middle)));
  if (!schema) {
    REPRISE_ASSERT(schema.error().code != Code::kInvalid || !schema.error().fields.empty());
    return 0;
  }
  const auto value =
      wire::parse_json(std::string(bytes.substr(std::min(middle + 1, bytes.size()))));
  if (!value) return 0;
  const auto valid = schema->validate(value->root());
  if (!valid) REPRISE_ASSERT(!valid.error().fields.empty());
  return 0;
}
