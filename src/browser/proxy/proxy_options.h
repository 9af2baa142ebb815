// How a context's proxy is to be: whose rules it follows, which way it goes, what it reports.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "browser/proxy/limits.h"
#include "browser/proxy/upstream_proxy.h"
#include "browser/url_policy.h"

namespace reprise::browser {

struct ProxyLimits {
  std::size_t connections = kMaxProxyConnections;
  std::chrono::milliseconds connect_timeout = kProxyConnectTimeout;
  std::chrono::milliseconds head_timeout = kProxyHeadTimeout;
  std::chrono::milliseconds idle_timeout = kProxyIdleTimeout;
  std::chrono::milliseconds exchange_timeout = kProxyExchangeTimeout;
  std::chrono::milliseconds tunnel_timeout = kProxyTunnelTimeout;
  std::chrono::milliseconds half_closed_timeout = kHalfClosedTunnelTimeout;
  std::chrono::milliseconds linger_timeout = kProxyLingerTimeout;
};

struct ProxyOptions {
  std::shared_ptr<const UrlPolicy> policy = std::make_shared<const UrlPolicy>();
  std::optional<UpstreamProxy> upstream;
  ProxyLimits limits;
  // Called on the proxy's loop for every refusal and every server that could not be reached or
  // broke off; a page can cause thousands. `url` is "http://host/path" without its query, or
  // "host:port" of a tunnel. They must not destroy the proxy.
  std::function<void(const std::string& url, const Refusal& refusal)> on_refused;
  std::function<void(const std::string& url, const Error& error)> on_failed;
};

}  // namespace reprise::browser
