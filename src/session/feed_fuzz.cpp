// decode_feed_entry on arbitrary bytes: refused with kCorrupt, or exactly what encode_feed_entry
// would write.
#include "session/feed.h"

#include <cstddef>
#include <cstdint>

#include "base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto entry = session::decode_feed_entry(bytes);
  if (!entry) {
    REPRISE_ASSERT(entry.error().code == Code::kCorrupt);
    return 0;
  }
  REPRISE_ASSERT(session::encode_feed_entry(*entry) == bytes);
  return 0;
}
