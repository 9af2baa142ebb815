// Any bytes: what is accepted names a host in one spelling only, and leads to the same place when
// it is written out and read again.
#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/host_name.h"
#include "wire/url.h"

namespace {

using namespace reprise;
using namespace reprise::wire;

void check(const Authority& at) {
  REPRISE_ASSERT(!at.host.empty() && at.port != 0);
  REPRISE_ASSERT(at.host.find_first_of("/\\@?# %:") == std::string::npos || at.address, at.host);
  const auto address = IpAddress::parse(at.host);
  REPRISE_ASSERT(address == at.address, at.host);
  if (address || !at.is_ascii()) return;
  REPRISE_ASSERT(is_host_name(at.host), at.host);
  REPRISE_ASSERT(std::ranges::none_of(at.host, [](char c) { return c >= 'A' && c <= 'Z'; }));
  const auto again = parse_authority(at.to_string());
  REPRISE_ASSERT(again && again->host == at.host && again->port == at.port, at.host);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto at = parse_authority(bytes)) {
    REPRISE_ASSERT(at->is_ascii());
    check(*at);
  }
  const auto url = parse_url(bytes);
  if (!url) return 0;
  REPRISE_ASSERT(url->scheme.find_first_of(":/ \t\n") == std::string::npos);
  if (!is_web_scheme(url->scheme)) return 0;
  check(url->at);
  REPRISE_ASSERT(url->target.starts_with('/') && !url->target.contains('#'));
  const std::string written =
      fmt::format("{}://{}{}", url->scheme, url->at.to_string(), url->target);
  const auto again = parse_url(written);
  REPRISE_ASSERT(again && again->at.host == url->at.host && again->at.port == url->at.port,
                 written);
  return 0;
}
