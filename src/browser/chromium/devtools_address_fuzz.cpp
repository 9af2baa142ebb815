// Any bytes as a line: what is read is an address, and the line it is read from says just that.
#include <fmt/format.h>

#include "base/assert.h"
#include "browser/chromium/devtools_address.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace reprise::browser::chromium;
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  if (const auto address = parse_devtools_line(line)) {
    const std::string same =
        fmt::format("DevTools listening on ws://127.0.0.1:{}{}", address->port, address->path);
    REPRISE_ASSERT(parse_devtools_line(same) == address);
    REPRISE_ASSERT(address->port != 0 && address->path.find('\n') == std::string::npos);
  }
  return 0;
}
