#include "browser/proxy/upstream_proxy.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "browser/proxy/limits.h"

namespace reprise::browser {
namespace {

std::unexpected<Error> bad(std::string_view why) {
  return fail(Code::kInvalid,
              fmt::format("the proxy's server {}; write it like http://proxy.example:3128 or "
                          "socks5://proxy.example:1080",
                          why));
}

// Takes "scheme://" off the front.
Result<UpstreamProxy::Kind> take_kind(std::string_view& rest) {
  const std::size_t end = rest.find("://");
  if (end == std::string_view::npos) return UpstreamProxy::Kind::kHttp;
  const std::string_view scheme = rest.substr(0, end);
  rest.remove_prefix(end + 3);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (scheme == "http") return UpstreamProxy::Kind::kHttp;
  // With socks5h a proxy resolves names; here it always does.
  if (scheme == "socks5" || scheme == "socks5h") return UpstreamProxy::Kind::kSocks5;
  return bad("is neither http nor socks5");
}

void take_credentials(std::string_view& rest, UpstreamProxy& proxy) {
  const std::size_t at = rest.rfind('@');
  if (at == std::string_view::npos) return;
  const std::string_view both = rest.substr(0, at);
  const std::size_t colon = std::min(both.find(':'), both.size());
  proxy.user = wire::percent_decode(both.substr(0, colon));
  if (colon < both.size()) proxy.password = wire::percent_decode(both.substr(colon + 1));
  rest.remove_prefix(at + 1);
}

Result<> check_credentials(const UpstreamProxy& proxy) {
  if (proxy.user.size() > kMaxUpstreamNameBytes || proxy.password.size() > kMaxUpstreamNameBytes)
    return fail(Code::kInvalid, fmt::format("the proxy's user name or password is over {} bytes",
                                            kMaxUpstreamNameBytes));
  if (proxy.user.empty() && !proxy.password.empty())
    return fail(Code::kInvalid, "the proxy has a password, but no user name");
  const bool has_colon = proxy.user.find(':') != std::string::npos;
  // RFC 7617, section 2.
  if (has_colon && proxy.kind == UpstreamProxy::Kind::kHttp)
    return fail(Code::kInvalid, "the proxy's user name holds a colon");
  return {};
}

Result<std::vector<std::string>> take_bypass(std::string_view text) {
  std::vector<std::string> hosts;
  if (text.size() > kMaxUpstreamTextBytes)
    return fail(Code::kInvalid,
                fmt::format("the proxy's bypass is longer than {} bytes", kMaxUpstreamTextBytes));
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view host = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (host.starts_with(' ')) host.remove_prefix(1);
    while (host.ends_with(' ')) host.remove_suffix(1);
    if (host.starts_with("*.")) host.remove_prefix(1);
    if (host.starts_with('.')) host.remove_prefix(1);
    if (host.empty()) continue;
    const auto at = wire::parse_authority(fmt::format("{}:80", host));
    if (!at) return fail(Code::kInvalid, fmt::format("the proxy's bypass: '{}' is no host", host));
    hosts.push_back(at->host);
  }
  return hosts;
}

}  // namespace

std::string UpstreamProxy::to_string() const {
  return (kind == Kind::kHttp ? "http://" : "socks5://") + at.to_string();
}

bool is_bypassed(const UpstreamProxy& proxy, std::string_view host) {
  return std::ranges::any_of(proxy.bypass, [&](const std::string& one) {
    return host == one || (host.ends_with(one) && host.size() > one.size() &&
                           host[host.size() - one.size() - 1] == '.');
  });
}

Result<UpstreamProxy> parse_upstream_proxy(const UpstreamProxyText& text) {
  if (text.server.size() > kMaxUpstreamTextBytes)
    return bad(fmt::format("is longer than {} bytes", kMaxUpstreamTextBytes));
  std::string_view rest = text.server;
  UpstreamProxy proxy;
  REPRISE_TRY(proxy.kind, take_kind(rest));
  take_credentials(rest, proxy);
  if (!text.user.empty() || !text.password.empty()) {
    proxy.user = text.user;
    proxy.password = text.password;
  }
  REPRISE_CHECK(check_credentials(proxy));
  auto at = wire::parse_authority(rest);
  if (!at) {
    const int port = proxy.kind == UpstreamProxy::Kind::kHttp ? 80 : 1080;
    at = wire::parse_authority(fmt::format("{}:{}", rest, port));
  }
  if (!at) return bad("has no host, or a malformed one");
  proxy.at = std::move(*at);
  REPRISE_TRY(proxy.bypass, take_bypass(text.bypass));
  return proxy;
}

}  // namespace reprise::browser
