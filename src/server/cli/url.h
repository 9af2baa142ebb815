// The address of a server as a user writes it: http://127.0.0.1:7450, https://[::1]:8443/prefix.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace reprise::server::cli {

struct Url {
  bool is_tls = false;
  std::string host;  // an IPv6 address without its brackets
  std::uint16_t port = 80;
  std::string
      path;  // what stands before every request's path: empty, or "/prefix" without a final slash

  // The value of a Host header: the port only if it is not the scheme's own.
  std::string authority() const;
  std::string to_string() const;
};

// kBadParameter for anything but http and https, for a user name (which would put a secret where it
// is shown), a query or a fragment.
Result<Url> parse_url(std::string_view text);

}  // namespace reprise::server::cli
