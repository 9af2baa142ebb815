// The user's own proxy, through which a context's connections go: HTTP or SOCKS5, with or without a
// name and a password. Names are then resolved by that proxy, so that only they and literal
// addresses can be judged here.
//
//     parse_upstream_proxy({.server = "socks5://proxy.example:1080", .user = "a", .password = "b"})
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "wire/url.h"

namespace reprise::browser {

struct UpstreamProxy {
  enum class Kind : std::uint8_t { kHttp, kSocks5 };
  Kind kind = Kind::kHttp;
  wire::Authority at;
  std::string user;  // empty: no credentials
  std::string password;
  std::vector<std::string> bypass;  // hosts that it is not asked for

  // Without credentials: "http://proxy.example:3128"
  std::string to_string() const;
};

// As clients give it.
struct UpstreamProxyText {
  // "http://host:port", "socks5://host:port" or "host:port"; http's port is 80 and socks5's 1080
  // where none is given. "http://user:password@host" is taken too.
  std::string server;
  std::string user;
  std::string password;
  // "example.com, .internal, 10.0.0.1": names with all below them, and addresses.
  std::string bypass = {};
};

// Whether a host is one of those that the proxy is not asked for.
bool is_bypassed(const UpstreamProxy& proxy, std::string_view host);

// kInvalid: another kind of proxy (https:// and socks4:// are not spoken), or credentials that
// cannot be sent. No message repeats a password.
Result<UpstreamProxy> parse_upstream_proxy(const UpstreamProxyText& text);

}  // namespace reprise::browser
