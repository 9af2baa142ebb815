#include "wire/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/host_name.h"

namespace reprise::wire {
namespace {

std::unexpected<Error> malformed(std::string_view why) {
  return fail(Code::kInvalid, fmt::format("the URL {}", why));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

// What the standard's parser drops before it begins: spaces and control characters around the URL,
// tabs and line ends anywhere.
std::string cleaned(std::string_view text) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  std::string clean(text);
  std::erase_if(clean, [](char c) { return c == '\t' || c == '\n' || c == '\r'; });
  return clean;
}

// Takes "scheme:" off the front.
Result<std::string> take_scheme(std::string_view& rest) {
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return malformed("has no scheme such as https:");
  std::string scheme(rest.substr(0, colon));
  std::ranges::transform(scheme, scheme.begin(), lower);
  const bool is_scheme =
      !scheme.empty() && is_letter(scheme.front()) && std::ranges::all_of(scheme, [](char c) {
        return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
      });
  if (!is_scheme) return malformed("has no scheme such as https:");
  rest.remove_prefix(colon + 1);
  return scheme;
}

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  const char low = lower(c);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

// One part of an IPv4 address: decimal, octal behind a 0, hexadecimal behind 0x ("0x" is 0).
std::optional<std::uint64_t> ipv4_part(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  } else if (text.size() > 1 && text.starts_with('0')) {
    text.remove_prefix(1);
    base = 8;
  }
  if (text.empty()) return base == 16 ? std::optional<std::uint64_t>(0) : std::nullopt;
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  // Too large for this is too large for an address.
  if (error == std::errc::result_out_of_range) return std::numeric_limits<std::uint64_t>::max();
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// The standard's IPv4 parser: one to four parts, the last one filling what the others leave.
std::optional<IpAddress> ipv4_in_parts(std::string_view host) {
  std::uint64_t address = 0;
  for (int index = 0; index < 4; ++index) {
    const std::size_t dot = host.find('.');
    const auto part = ipv4_part(host.substr(0, dot));
    if (!part) return std::nullopt;
    const bool is_last = dot == std::string_view::npos;
    const std::uint64_t most = is_last ? (std::uint64_t{1} << (8 * (4 - index))) - 1 : 255;
    if (*part > most) return std::nullopt;
    if (is_last) {
      address |= *part;
      return IpAddress::parse(fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255,
                                          address >> 8 & 255, address & 255));
    }
    address |= *part << (8 * (3 - index));
    host.remove_prefix(dot + 1);
  }
  return std::nullopt;
}

bool ends_in_number(std::string_view host) {
  const std::size_t dot = host.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? host : host.substr(dot + 1);
  return !last.empty() && is_number_label(last);
}

void set_address(Authority& at, const IpAddress& address) {
  at.address = address;
  at.host = address.to_string();
}

Result<> read_bracketed(std::string_view inside, Authority& at) {
  const auto address = IpAddress::parse(inside);
  if (!address || inside.find(':') == std::string_view::npos)
    return malformed("has no IPv6 address between its brackets");
  set_address(at, *address);
  return {};
}

Result<> read_host(std::string_view text, Authority& at) {
  at.host = percent_decode(text);
  std::ranges::transform(at.host, at.host.begin(), lower);
  if (at.host.ends_with('.')) at.host.pop_back();
  if (at.host.empty()) return malformed("names no host");
  if (at.host.ends_with('.')) return malformed("has a malformed host");
  if (ends_in_number(at.host)) {
    const auto address = ipv4_in_parts(at.host);
    if (!address) return malformed("has a host that is no IPv4 address, but ends like one");
    set_address(at, *address);
    return {};
  }
  if (is_host_name(at.host)) return {};
  // Left to those who can read it, unless it is malformed even so.
  std::string masked = at.host;
  std::ranges::replace_if(masked, is_beyond_ascii, 'u');
  if (at.is_ascii() || !is_host_name(masked)) return malformed("has a malformed host");
  return {};
}

Result<> read_port(std::string_view digits, Authority& at) {
  // Any number of zeros may stand in front; a URL's port may also be left out behind its colon.
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, at.port);
  if (error != std::errc() || stop != end || at.port == 0)
    return malformed("has a port that is not between 1 and 65535");
  return {};
}

// host or [address], with or without a port.
Result<> read_authority(std::string_view text, Authority& at) {
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return malformed("has a '[' without its ']'");
    REPRISE_CHECK(read_bracketed(text.substr(1, close - 1), at));
    rest = text.substr(close + 1);
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    REPRISE_CHECK(read_host(text.substr(0, colon), at));
    rest = text.substr(colon);
  }
  if (rest.empty() || rest == ":") return {};
  if (rest.front() != ':') return malformed("has something other than a port behind its host");
  return read_port(rest.substr(1), at);
}

}  // namespace

std::string percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
    if (low < 0) {
      decoded.push_back(text[i]);
    } else {
      decoded.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return decoded;
}

bool Authority::is_ascii() const { return std::ranges::none_of(host, is_beyond_ascii); }

std::string Authority::to_string() const {
  const bool is_v6 = address && !address->is_v4();
  return is_v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

bool is_web_scheme(std::string_view scheme) { return default_port(scheme) != 0; }

std::uint16_t default_port(std::string_view scheme) {
  if (scheme == "http" || scheme == "ws") return 80;
  if (scheme == "https" || scheme == "wss") return 443;
  return 0;
}

Result<Url> parse_url(std::string_view text) {
  const std::string clean = cleaned(text);
  std::string_view rest = clean;
  Url url;
  REPRISE_TRY(url.scheme, take_scheme(rest));
  if (!is_web_scheme(url.scheme)) {
    url.target = std::string(rest);
    return url;
  }
  url.at.port = default_port(url.scheme);
  // Any number of slashes, either way round, and none as well.
  while (rest.starts_with('/') || rest.starts_with('\\')) rest.remove_prefix(1);
  const std::size_t end = std::min(rest.find_first_of("/\\?#"), rest.size());
  std::string_view authority = rest.substr(0, end);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    url.has_user = true;
    authority.remove_prefix(at + 1);
  }
  REPRISE_CHECK(read_authority(authority, url.at));
  const std::string_view target = rest.substr(end);
  url.target = std::string(target.substr(0, target.find('#')));
  if (url.target.starts_with('\\')) url.target.front() = '/';
  if (!url.target.starts_with('/')) url.target.insert(0, 1, '/');
  return url;
}

Result<Authority> parse_authority(std::string_view text) {
  Authority at;
  if (!std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f && c != '@'; }))
    return malformed("is no host and port");
  REPRISE_CHECK(read_authority(text, at));
  if (at.port == 0) return malformed("names no port");
  if (!at.is_ascii()) return malformed("has a host beyond ASCII");
  return at;
}

}  // namespace reprise::wire
