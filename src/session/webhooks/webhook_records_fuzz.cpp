// The records of webhooks on arbitrary bytes: refused with kCorrupt, or exactly what would be
// written.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "session/webhooks/letter.h"
#include "session/webhooks/outbox.h"
#include "session/webhooks/webhook.h"

namespace {

using namespace reprise;

template <typename Decode, typename Encode>
void check(std::string_view bytes, Decode decode, Encode encode) {
  const auto decoded = decode(bytes);
  if (decoded)
    REPRISE_ASSERT(encode(*decoded) == bytes);
  else
    REPRISE_ASSERT(decoded.error().code == Code::kCorrupt);
}

}  // namespace

// The first byte chooses the record.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: check(bytes, session::decode_webhook, session::encode_webhook); break;
    case 1: check(bytes, session::decode_position, session::encode_position); break;
    case 2: check(bytes, session::decode_outbox_entry, session::encode_outbox_entry); break;
    default: {
      check(bytes, session::decode_letter, session::encode_letter);
      if (const auto letter = session::decode_letter(bytes))
        (void)session::message_body("app", *letter);
    }
  }
  return 0;
}
