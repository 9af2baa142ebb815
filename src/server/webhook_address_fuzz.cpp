// Webhook URLs on arbitrary bytes: what is accepted can stand in a request's head,
// names a host that is read one way only, and is judged the same when it is parsed again.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "server/limits.h"
#include "server/webhook_address.h"

namespace {

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto url = server::parse_webhook_url(bytes)) {
    REPRISE_ASSERT(size <= server::kMaxWebhookUrlBytes);
    REPRISE_ASSERT(is_plain(url->authority) && is_plain(url->target) && !url->host.empty());
    REPRISE_ASSERT(url->target.starts_with('/') && !url->target.contains('#'));
    REPRISE_ASSERT(!url->authority.contains('@') && !url->authority.contains('/'));
    REPRISE_ASSERT(url->port != 0);
    const server::WebhookRules strict;
    const auto address = IpAddress::parse(url->host);
    if (address && (!address->is_public() || !url->is_tls)) REPRISE_ASSERT(!strict.check(*url));
  }
  return 0;
}
