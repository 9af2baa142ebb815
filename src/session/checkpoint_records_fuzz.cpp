// Any bytes as the records of checkpoints and inputs: what decodes encodes to the same bytes.
#include "base/assert.h"
#include "session/checkpoint_records.h"
#include "session/input_records.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  using namespace reprise::session;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const StreamId stream{{1}};
  if (const auto row = decode_checkpoint(checkpoint_key(stream, "state"), bytes)) {
    REPRISE_ASSERT(row->name == "state");
    REPRISE_ASSERT(encode_checkpoint(*row) == bytes);
  }
  const model::InputId id{{7}};
  if (const auto record = decode_input(input_key(stream, id), bytes)) {
    REPRISE_ASSERT(record->id == id);
    REPRISE_ASSERT(encode_input(*record) == bytes);
  }
  if (const auto from = decode_void(bytes)) REPRISE_ASSERT(encode_void(*from) == bytes);
  // The bytes as keys.
  (void)decode_checkpoint(bytes, bytes);
  (void)decode_input(bytes, bytes);
  return 0;
}
