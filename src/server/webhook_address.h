// Where webhooks may point: their URLs, and the addresses behind them. Pure: the caller resolves
// names (server/webhooks.h) and has every address it gets judged before it connects to one.
//
// A subscription's creator chooses the URL, and this server, which may stand inside a network that
// the creator cannot reach, calls it. So only public addresses are called, by https; others only
// where the operator says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ip_range.h"

namespace reprise::server {

struct WebhookUrl {
  bool is_tls = false;
  std::string host;  // an address, without brackets, or a name
  std::uint16_t port = 0;
  std::string target;     // path and query; what follows a '#' is not sent
  std::string authority;  // as written, for the Host header
};

// kInvalid for what is no http or https URL, names a user, or spells its host in a way that
// programs read differently: https://2130706433/ and https://0x7f.1/ are 127.0.0.1 to some.
Result<WebhookUrl> parse_webhook_url(std::string_view url);

struct WebhookRules {
  bool allows_loopback = false;  // this machine's own addresses, by http too
  std::vector<IpRange> allowed;  // by https, though not public

  // What can be said before a name is resolved.
  Result<> check(const WebhookUrl& url) const;
  // Whether the URL may be called at this address, one of those its host has.
  bool may_call(const WebhookUrl& url, const IpAddress& address) const;
  // Those of a host's addresses that may be called, in their order; kMaxWebhookAddresses at most.
  std::vector<IpAddress> callable(const WebhookUrl& url, std::vector<IpAddress> addresses) const;
};

}  // namespace reprise::server
