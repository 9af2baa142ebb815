// decode_log and decode_producer on arbitrary bytes: refused with kCorrupt, or exactly what was
// encoded.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "stream/log/record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto record = stream::decode_log(bytes)) {
    // A number has several spellings; what was decoded has one.
    const std::string again = stream::encode_log(*record);
    REPRISE_ASSERT(stream::encode_log(*stream::decode_log(again)) == again);
    (void)record->is_expired(TimePoint{1'700'000'000'000});
    (void)record->is_json();
  } else {
    REPRISE_ASSERT(record.error().code == Code::kCorrupt);
  }
  if (const auto producer = stream::decode_producer(bytes)) {
    const std::string again = stream::encode_producer(*producer);
    REPRISE_ASSERT(*stream::decode_producer(again) == *producer);
  }
  return 0;
}
