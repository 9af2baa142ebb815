// decode_state on arbitrary bytes: refused with kCorrupt, or exactly what encode_state would write.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "model/session_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto state = model::decode_state(bytes);
  if (!state) {
    REPRISE_ASSERT(state.error().code == Code::kCorrupt);
    return 0;
  }
  REPRISE_ASSERT(model::encode_state(*state) == bytes);
  (void)state->is_due(TimePoint{0});
  return 0;
}
