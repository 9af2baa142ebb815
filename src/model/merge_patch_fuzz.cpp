// merge_patch on arbitrary text: target and patch are split at the first newline. What is merged is
// a JSON object, merging the same patch again changes nothing, and an empty patch gives the target
// minified.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "model/decide.h"
#include "wire/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t newline = text.find('\n');
  const std::string_view target = text.substr(0, newline);
  const std::string_view patch =
      newline == std::string_view::npos ? "{}" : text.substr(newline + 1);
  const auto merged = model::merge_patch(target, patch);
  if (!merged) {
    const Code code = merged.error().code;
    REPRISE_ASSERT(
        code == Code::kInvalid || code == Code::kMalformedJson || code == Code::kDuplicateMember,
        static_cast<int>(code));
    return 0;
  }
  const auto document = wire::parse_json(*merged);
  REPRISE_ASSERT(document.has_value(), *merged);
  REPRISE_ASSERT(document->root().type() == wire::JsonType::kObject);
  REPRISE_ASSERT(document->root().minified() == *merged, *merged);
  const auto again = model::merge_patch(*merged, patch);
  REPRISE_ASSERT(again.has_value() && *again == *merged, *merged);
  return 0;
}
