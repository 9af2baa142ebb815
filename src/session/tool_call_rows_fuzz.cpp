// decode_row on arbitrary bytes: refused with kCorrupt, or exactly what encode_row would write.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "session/tool_call_rows.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto row = session::decode_row(bytes);
  if (!row) {
    REPRISE_ASSERT(row.error().code == Code::kCorrupt);
    return 0;
  }
  REPRISE_ASSERT(session::encode_row(*row) == bytes);
  return 0;
}
