// Texts that clients send back as positions: monitor ids and cursors of lists. Either refused with
// kBadCursor, or, for a monitor id, exactly the text that encode_monitor_id would give.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "session/list.h"
#include "session/monitor_id.h"
#include "store/committer.h"
#include "store/memory/memory_engine.h"
#include "store/store.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto id = session::decode_monitor_id(text);
  if (id)
    REPRISE_ASSERT(session::encode_monitor_id(*id) == text);
  else
    REPRISE_ASSERT(id.error().code == Code::kBadCursor);

  static store::MemoryEngine engine;
  static store::Committer committer(engine, [] { return std::chrono::nanoseconds{0}; });
  static const store::Store store(engine, committer);
  for (const bool waiting_first : {false, true}) {
    const auto page = session::list_sessions(
        store,
        {.filter = {}, .waiting_first = waiting_first, .limit = 1, .cursor = std::string(text)});
    REPRISE_ASSERT(page || page.error().code == Code::kBadCursor);
  }
  return 0;
}
