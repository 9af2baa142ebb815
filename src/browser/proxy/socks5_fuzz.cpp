// Any answers of a SOCKS5 proxy: whole or byte by byte, the dialogue takes the same turn; and any
// text for the user's own proxy, which is read the same when it is written out.
#include <fmt/format.h>

#include "base/assert.h"
#include "browser/proxy/limits.h"
#include "browser/proxy/socks5.h"
#include "browser/proxy/upstream_proxy.h"

namespace {

using namespace reprise;
using namespace reprise::browser;

std::string outcome(std::string_view bytes, std::size_t piece_bytes) {
  Socks5Dialogue dialogue(*wire::parse_authority("a.example:443"), "user", "password");
  std::string text = dialogue.take_output();
  std::size_t total = 0;
  while (!bytes.empty() && !dialogue.is_done()) {
    const std::string_view piece = bytes.substr(0, piece_bytes);
    const auto used = dialogue.feed(piece);
    if (!used) return used.error().detail;
    REPRISE_ASSERT(*used <= piece.size());
    REPRISE_ASSERT(*used == piece.size() || dialogue.is_done());
    total += *used;
    bytes.remove_prefix(*used);
    text += dialogue.take_output();
  }
  return fmt::format("{}{}{}", text, total, dialogue.is_done());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = outcome(bytes, size);
  const std::string pieces = outcome(bytes, 1);
  REPRISE_ASSERT(whole == pieces, whole, pieces);
  const auto proxy = parse_upstream_proxy({.server = std::string(bytes)});
  if (!proxy) return 0;
  REPRISE_ASSERT(proxy->at.port != 0 && !proxy->at.host.empty());
  REPRISE_ASSERT(proxy->user.size() <= kMaxUpstreamNameBytes);
  const bool is_http = proxy->kind == UpstreamProxy::Kind::kHttp;
  const auto again = parse_upstream_proxy(
      {.server = fmt::format("{}://{}", is_http ? "http" : "socks5", proxy->at.to_string()),
       .user = proxy->user,
       .password = proxy->password});
  REPRISE_ASSERT(again && again->at.host == proxy->at.host && again->kind == proxy->kind);
  return 0;
}
