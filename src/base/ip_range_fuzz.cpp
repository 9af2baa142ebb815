// IP ranges on arbitrary bytes: what is accepted holds its first address and reads the same again.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/ip_range.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto range = parse_ip_range(bytes)) {
    REPRISE_ASSERT(range->contains(range->first));
    const auto again = IpAddress::parse(range->first.to_string());
    REPRISE_ASSERT(again && *again == range->first);
    REPRISE_ASSERT(!range->first.is_public() || !range->first.is_loopback());
  }
  return 0;
}
