// decode_agent on arbitrary bytes: refused with kCorrupt, or exactly what encode_agent would write.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "model/agent.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto agent = model::decode_agent(bytes);
  if (!agent) {
    REPRISE_ASSERT(agent.error().code == Code::kCorrupt);
    return 0;
  }
  REPRISE_ASSERT(model::encode_agent(*agent) == bytes);
  return 0;
}
