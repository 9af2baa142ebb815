// Any bytes as a history of clients and pages: nobody reaches beyond his session, and nothing is
// left behind (browser/chromium/cdp_chaos.h).
#include "browser/chromium/cdp_chaos.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  reprise::browser::testing::Chaos(std::string_view(reinterpret_cast<const char*>(data), size))
      .run();
  return 0;
}
