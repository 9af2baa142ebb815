// A URL as a browser reads it, as far as it says where it leads: scheme, host and port.
//
// Programs disagree about what a URL means, and whoever judges one must read it as the browser will
// that then follows it. So this follows the WHATWG's URL standard, where "http:\\0x7f.1", with a
// tab in it or without slashes, is http://127.0.0.1/: tabs and line ends vanish, a backslash is a
// slash, the host begins behind the last '@' and is percent-decoded, and a host that ends with a
// number is an IPv4 address in decimal, octal or hexadecimal parts, or nothing.
//
// It is stricter where that harms nobody: a host's name is made of letters, digits, '-', '_' and
// dots. A name beyond ASCII is not converted (that takes Unicode's tables): is_ascii() tells.
//
//     const auto url = parse_url("HTTP://user@EXAMPLE.com:8080/a?b#c");
//     url->scheme, url->host, url->port, url->target   // http, example.com, 8080, /a?b
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ip_range.h"

namespace reprise::wire {

// A host and the port at it.
struct Authority {
  // A name in lower case, without its final dot, or an address as IpAddress spells it.
  std::string host;
  std::optional<IpAddress> address;  // if the host is one
  std::uint16_t port = 0;            // the scheme's own where none is given

  // False for a name that only Unicode's tables could turn into ASCII.
  bool is_ascii() const;
  // "example.com:8080", "[::1]:80"
  std::string to_string() const;
};

// Of schemes that name a host (is_web_scheme); of others only the scheme is read.
struct Url {
  std::string scheme;  // in lower case, without its colon
  Authority at;
  bool has_user = false;
  std::string
      target;  // path and query, at least "/", as given; of other schemes all but the scheme
};

// http, https, ws, wss.
bool is_web_scheme(std::string_view scheme);
// 80 or 443; 0 for other schemes.
std::uint16_t default_port(std::string_view scheme);

// kInvalid, with what is wrong: no scheme, no host, a host or a port that is none.
Result<Url> parse_url(std::string_view text);

// "host:port" as CONNECT names it, the port given, all in ASCII: the host is read as in a URL,
// nothing else is forgiven. kInvalid.
Result<Authority> parse_authority(std::string_view text);

// As hosts are decoded: a '%' without two digits behind it stays.
std::string percent_decode(std::string_view text);

}  // namespace reprise::wire
