// decode_app on arbitrary bytes: refused with kCorrupt, or exactly what encode_app would write.
// What an older format says is written in the present one.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "session/apps.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto app = session::decode_app(session::app_key("app"), bytes);
  REPRISE_ASSERT(app || app.error().code == Code::kCorrupt);
  if (!app) return 0;
  const std::string written = session::encode_app(*app);
  REPRISE_ASSERT(written == bytes || written.front() != bytes.front());
  const auto again = session::decode_app(session::app_key("app"), written);
  REPRISE_ASSERT(again && *again == *app);
  return 0;
}
