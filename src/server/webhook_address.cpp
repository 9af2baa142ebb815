#include "server/webhook_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/host_name.h"
#include "server/limits.h"

namespace reprise::server {
namespace {

std::unexpected<Error> rejected(std::string_view why) {
  return fail(Code::kInvalid, fmt::format("the webhook's address {}", why));
}

Result<std::uint16_t> parse_port(std::string_view digits) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0)
    return rejected("has a malformed port");
  return port;
}

// host, host:port or [address]:port
Result<> parse_authority(std::string_view text, WebhookUrl& url) {
  if (text.find('@') != std::string_view::npos) return rejected("holds a user's name");
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return rejected("has a malformed host");
    url.host = std::string(text.substr(1, close - 1));
    rest = text.substr(close + 1);
    if (url.host.find(':') == std::string::npos || !IpAddress::parse(url.host))
      return rejected("has a malformed IPv6 address");
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    url.host = std::string(text.substr(0, colon));
    rest = text.substr(colon);
    if (!IpAddress::parse(url.host) && !is_host_name(url.host))
      return rejected("has a malformed host");
  }
  if (rest.empty()) return {};
  if (!rest.starts_with(':')) return rejected("has a malformed host");
  REPRISE_TRY(url.port, parse_port(rest.substr(1)));
  return {};
}

}  // namespace

Result<WebhookUrl> parse_webhook_url(std::string_view text) {
  if (text.size() > kMaxWebhookUrlBytes)
    return rejected(fmt::format("is longer than {} bytes", kMaxWebhookUrlBytes));
  // Before anything else: nothing of it can end a line of the request it becomes part of.
  const bool is_plain = std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!is_plain) return rejected("holds a space or a byte beyond ASCII");
  WebhookUrl url;
  if (text.starts_with("https://"))
    url.is_tls = true;
  else if (!text.starts_with("http://"))
    return rejected("is neither an http nor an https URL");
  url.port = url.is_tls ? 443 : 80;
  text.remove_prefix(text.find("://") + 3);
  const std::size_t path = std::min(text.find_first_of("/?#"), text.size());
  url.authority = std::string(text.substr(0, path));
  REPRISE_CHECK(parse_authority(url.authority, url));
  const std::string_view target = text.substr(path);
  url.target = std::string(target.substr(0, target.find('#')));
  if (!url.target.starts_with('/')) url.target.insert(0, 1, '/');
  return url;
}

Result<> WebhookRules::check(const WebhookUrl& url) const {
  const auto address = IpAddress::parse(url.host);
  const bool is_own = address ? address->is_loopback() : is_loopback_name(url.host);
  if (is_own && allows_loopback) return {};
  if (!url.is_tls) return rejected("must be https");
  if (address && may_call(url, *address)) return {};
  // A listed address of this machine may be meant by name too: that is seen once it is resolved.
  if (is_own && (address || allowed.empty()))
    return rejected(
        "is this machine's own; --allow-loopback-webhooks or --webhook-allow allows that");
  if (address) return rejected("is private or special; --webhook-allow allows that");
  return {};
}

bool WebhookRules::may_call(const WebhookUrl& url, const IpAddress& address) const {
  if (allows_loopback && address.is_loopback()) return true;
  if (!url.is_tls) return false;
  return address.is_public() || std::ranges::any_of(allowed, [&](const IpRange& range) {
           return range.contains(address);
         });
}

std::vector<IpAddress> WebhookRules::callable(const WebhookUrl& url,
                                              std::vector<IpAddress> addresses) const {
  std::erase_if(addresses, [&](const IpAddress& address) { return !may_call(url, address); });
  if (addresses.size() > kMaxWebhookAddresses)
    addresses.erase(addresses.begin() + kMaxWebhookAddresses, addresses.end());
  return addresses;
}

}  // namespace reprise::server
