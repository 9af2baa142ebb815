// Any URL, against the default policy and lists made of the same bytes: what passes has a scheme of
// the web, leads to no link-local address, and passes again when it is written out.
#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "browser/forbidden_ports.h"
#include "browser/url_policy.h"

namespace {

using namespace reprise;
using namespace reprise::browser;

void check_default(std::string_view text) {
  static const UrlPolicy policy;
  if (!policy.check_url(text)) return;
  const auto url = wire::parse_url(text);
  REPRISE_ASSERT(url.has_value());
  if (!wire::is_web_scheme(url->scheme)) {
    REPRISE_ASSERT(url->scheme == "data" || url->scheme == "blob" || url->scheme == "about",
                   url->scheme);
    return;
  }
  const auto& address = url->at.address;
  REPRISE_ASSERT(!address || !address->destination().is_link_local());
  if (!url->at.is_ascii()) return;
  const std::string again = fmt::format("{}://{}/", url->scheme, url->at.to_string());
  REPRISE_ASSERT(policy.check_url(again).has_value(), again);
}

// Whatever is on a deny list and on an allow list is refused; what is on an allow list alone is
// not refused for not being on it.
void check_lists(std::string_view pattern, std::string_view url) {
  const auto denied = UrlPolicy::make({.deny = {std::string(pattern)}});
  const auto allowed = UrlPolicy::make({.allow = {std::string(pattern)}});
  const auto both =
      UrlPolicy::make({.allow = {std::string(pattern)}, .deny = {std::string(pattern)}});
  REPRISE_ASSERT(denied.has_value() == allowed.has_value());
  if (!denied) return;
  const auto parsed = wire::parse_url(url);
  if (!parsed || !wire::is_web_scheme(parsed->scheme) || !UrlPolicy().check_url(url)) return;
  const bool is_denied = !denied->check_url(url);
  const bool is_allowed = allowed->check_url(url).has_value();
  const bool is_pending = !parsed->at.address && UrlPattern::parse(pattern)->is_range();
  if (parsed->at.is_ascii() && !is_pending) REPRISE_ASSERT(is_denied == is_allowed, pattern, url);
  if (is_denied) REPRISE_ASSERT(!both->check_url(url), pattern, url);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(bytes.find('\n'), size);
  check_default(bytes);
  check_lists(bytes.substr(0, line), bytes.substr(std::min(line + 1, size)));
  ForbiddenPorts ports([] { return std::vector<IpAddress>{}; });
  const auto hold = ports.forbid(80);
  const auto parsed = wire::parse_url(bytes);
  if (check_url(UrlPolicy(), ports, bytes) && wire::is_web_scheme(parsed->scheme) &&
      parsed->at.port == 80)
    REPRISE_ASSERT(!parsed->at.address || !parsed->at.address->is_loopback(), bytes);
  return 0;
}
