// parse_session_key on arbitrary text: refused with kBadKey, or a key that reads back from its own
// text.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "model/limits.h"
#include "model/session_state.h"
#include "wire/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto key = model::parse_session_key(text);
  if (!key) {
    REPRISE_ASSERT(key.error().code == Code::kBadKey);
    return 0;
  }
  REPRISE_ASSERT(!key->app.empty() && key->app.size() <= model::kMaxAppBytes);
  REPRISE_ASSERT(!key->name.empty() && key->name.size() <= model::kMaxNameBytes);
  REPRISE_ASSERT(wire::is_utf8(key->to_string()));
  const auto again = model::parse_session_key(key->to_string());
  REPRISE_ASSERT(again.has_value() && *again == *key);
  return 0;
}
