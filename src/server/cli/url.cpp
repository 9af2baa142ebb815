#include "server/cli/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace reprise::server::cli {
namespace {

// Only the scheme and host are repeated in messages: what stands before an '@' may be a secret.
std::unexpected<Error> bad(std::string detail) {
  return fail(Code::kBadParameter,
              fmt::format("the server's URL {}; write it like http://127.0.0.1:7450", detail));
}

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

bool is_ipv6_character(char c) {
  return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9') || c == ':' ||
         c == '.';
}

bool is_path_character(char c) {
  return c > ' ' && c < 0x7f && c != '?' && c != '#' && c != '"' && c != '<' && c != '>';
}

Result<std::uint16_t> parse_port(std::string_view digits) {
  std::uint16_t port = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, port);
  if (error != std::errc{} || stop != end || port == 0)
    return bad(fmt::format("has the port '{}', which is not between 1 and 65535", digits));
  return port;
}

}  // namespace

std::string Url::authority() const {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  std::string text = is_ipv6 ? "[" + host + "]" : host;
  if (port != (is_tls ? 443 : 80)) text += fmt::format(":{}", port);
  return text;
}

std::string Url::to_string() const {
  return fmt::format("{}://{}{}", is_tls ? "https" : "http", authority(), path);
}

Result<Url> parse_url(std::string_view text) {
  Url url;
  if (text.starts_with("http://")) {
    text.remove_prefix(7);
  } else if (text.starts_with("https://")) {
    text.remove_prefix(8);
    url.is_tls = true;
    url.port = 443;
  } else {
    return bad("must begin with http:// or https://");
  }
  if (text.find('@') != std::string_view::npos)
    return bad("must not hold a user name or a password (use --token)");

  const std::size_t slash = text.find_first_of("/?#");
  std::string_view authority = text.substr(0, slash);
  std::string_view path = slash == std::string_view::npos ? std::string_view{} : text.substr(slash);
  if (!std::ranges::all_of(path, is_path_character)) return bad("must not hold a query or spaces");
  while (path.ends_with('/')) path.remove_suffix(1);
  url.path = path;

  std::string_view rest;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return bad("has a '[' without its ']'");
    url.host = authority.substr(1, close - 1);
    rest = authority.substr(close + 1);
    if (url.host.find(':') == std::string::npos ||
        !std::ranges::all_of(url.host, is_ipv6_character))
      return bad("has no IPv6 address between its brackets");
  } else {
    const std::size_t colon = authority.find(':');
    url.host = authority.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view{} : authority.substr(colon);
    if (url.host.empty()) return bad("names no host");
    if (!std::ranges::all_of(url.host, is_host_character)) return bad("has a malformed host");
  }
  if (rest.empty()) return url;
  if (rest.front() != ':') return bad("has something other than a port after its host");
  REPRISE_TRY(url.port, parse_port(rest.substr(1)));
  return url;
}

}  // namespace reprise::server::cli
