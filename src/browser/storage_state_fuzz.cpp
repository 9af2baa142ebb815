// Any JSON as a storage state: what is accepted is within the limits, and is the same again when it
// is written out and read back.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "browser/limits.h"
#include "browser/storage_state.h"

using namespace reprise;
using namespace reprise::browser;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto document = wire::parse_json(std::string(reinterpret_cast<const char*>(data), size));
  if (!document) return 0;
  auto state = parse_storage_state(document->root(), "/s");
  if (!state) {
    REPRISE_ASSERT(state.error().fields.size() <= kMaxStateErrors);
    return 0;
  }
  for (const Cookie& cookie : state->cookies) {
    REPRISE_ASSERT(!cookie.domain.empty() && cookie.path.starts_with('/'));
    REPRISE_ASSERT(cookie.value.find(';') == std::string::npos);
  }
  // Origins without items are not written; and a cookie of which nobody said it is Lax.
  std::erase_if(state->origins, [](const OriginStorage& one) { return one.items.empty(); });
  for (Cookie& cookie : state->cookies) {
    if (cookie.same_site.empty()) cookie.same_site = "Lax";
    if (cookie.partition_site.empty()) cookie.has_cross_site_ancestor = false;
  }
  const auto again = wire::parse_json(storage_state_json(*state));
  REPRISE_ASSERT(again.has_value());
  REPRISE_ASSERT(parse_storage_state(again->root()) == *state);
  return 0;
}
