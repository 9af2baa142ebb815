// decode_stored on arbitrary bytes: refused with kCorrupt, or exactly what encode_stored would
// write; and nothing that decodes upsets what is computed from it.
#include "session/stored_session.h"

#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "session/keys.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto stored = session::decode_stored(bytes, 1);
  if (!stored) {
    REPRISE_ASSERT(stored.error().code == Code::kCorrupt);
    return 0;
  }
  REPRISE_ASSERT(session::encode_stored(*stored) == bytes);
  (void)session::bring_up_to(*stored, std::nullopt);
  session::grant_unwritten_activity(*stored, TimePoint{1'700'000'000'000});
  (void)stored->state.is_expired(TimePoint{1'700'000'000'000});
  (void)session::index_keys(stored->state);
  return 0;
}
