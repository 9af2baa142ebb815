// Arbitrary bytes as the id and the types a listener of the devtools feed sends: taken or refused,
// and what was taken is written the same way again.
#include <cstddef>
#include <cstdint>

#include "api/devtools_ring.h"
#include "base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string_view id = input.substr(0, line);
  if (const auto parsed = api::parse_devtools_id(id)) {
    const auto again = api::parse_devtools_id(api::encode_devtools_id(parsed->start, parsed->n));
    REPRISE_ASSERT(again && again->start == parsed->start && again->n == parsed->n, id);
  }
  api::DevtoolsRing ring("00000000000000aa", 2);
  for (int i = 0; i < 5; ++i) ring.add({});
  const auto start = ring.start(id);
  if (start) REPRISE_ASSERT(!ring.read(start->after, {}, 10).is_too_late, id);
  (void)api::parse_devtools_types(input.substr(std::min(line + 1, input.size())));
  return 0;
}
