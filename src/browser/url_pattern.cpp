#include "browser/url_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/host_name.h"
#include "browser/proxy/limits.h"
#include "wire/url.h"

namespace reprise::browser {
namespace {

std::unexpected<Error> not_a_pattern(std::string_view text) {
  return fail(Code::kInvalid,
              fmt::format("'{}' is no place to go to; write it like example.com, *.example.com, "
                          "https://example.com:8443 or 10.0.0.0/8",
                          text.substr(0, kMaxUrlPatternBytes)));
}

Result<std::uint16_t> read_port(std::string_view digits) {
  std::uint16_t port = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, port);
  if (error != std::errc() || stop != end || port == 0) return not_a_pattern(digits);
  return port;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  return lower;
}

// Takes ":8080" off the end. What has no brackets and several colons is an IPv6 address or a range
// of them, and has no port.
Result<std::optional<std::uint16_t>> take_port(std::string_view& rest) {
  const std::size_t colon = rest.rfind(':');
  const bool has_port = colon != std::string_view::npos &&
                        (rest.starts_with('[') ? rest[colon - 1] == ']' : rest.find(':') == colon);
  if (!has_port) return std::nullopt;
  REPRISE_TRY(const std::uint16_t port, read_port(rest.substr(colon + 1)));
  rest = rest.substr(0, colon);
  return port;
}

// By the address itself or by where it leads: 0.0.0.0 and :: lead to this machine.
bool is_within(const IpRange& range, const IpAddress& address) {
  static const IpAddress v4 = *IpAddress::parse("127.0.0.1");
  static const IpAddress v6 = *IpAddress::parse("::1");
  const IpAddress end = address.destination();
  if (range.contains(address) || range.contains(end)) return true;
  return end.is_unspecified() && range.contains(end.is_v4() ? v4 : v6);
}

}  // namespace

Result<UrlPattern> UrlPattern::parse(std::string_view text) {
  if (text.empty() || text.size() > kMaxUrlPatternBytes) return not_a_pattern(text);
  UrlPattern pattern;
  pattern.text_ = std::string(text);
  std::string_view rest = text;
  if (const std::size_t at = rest.find("://"); at != std::string_view::npos) {
    pattern.scheme_ = lower_case(rest.substr(0, at));
    if (!wire::is_web_scheme(pattern.scheme_)) return not_a_pattern(text);
    rest.remove_prefix(at + 3);
    if (rest.ends_with('/')) rest.remove_suffix(1);
  }
  const auto port = take_port(rest);
  if (!port || !pattern.read_host(rest)) return not_a_pattern(text);
  pattern.port_ = *port;
  if (!pattern.port_ && !pattern.scheme_.empty())
    pattern.port_ = wire::default_port(pattern.scheme_);
  return pattern;
}

Result<> UrlPattern::read_host(std::string_view host) {
  if (host == "*") return {};
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (auto range = parse_ip_range(host)) {
    range_ = *range;
    return {};
  }
  if (host.starts_with("*.")) {
    is_below_ = true;
    host.remove_prefix(2);
  }
  if (!is_host_name(host)) return not_a_pattern(host);
  host_ = lower_case(host);
  if (host_.ends_with('.')) host_.pop_back();
  return {};
}

bool UrlPattern::names(const UrlPlace& place) const {
  if (port_ && *port_ != place.port) return false;
  if (range_) return place.address && is_within(*range_, *place.address);
  if (host_.empty()) return true;
  if (!is_below_) return place.host == host_;
  return place.host.size() > host_.size() && place.host.ends_with(host_) &&
         place.host[place.host.size() - host_.size() - 1] == '.';
}

bool UrlPattern::is_denied_scheme(const UrlPlace& place) const {
  return scheme_.empty() || place.scheme.empty() || scheme_ == place.scheme;
}

bool UrlPattern::denies(const UrlPlace& place) const {
  return names(place) && is_denied_scheme(place);
}

bool UrlPattern::may_deny(const UrlPlace& place) const {
  return range_ && !place.address && (!port_ || *port_ == place.port) && is_denied_scheme(place);
}

bool UrlPattern::allows(const UrlPlace& place) const {
  const bool is_spoken = place.scheme.empty() ? scheme_ != "http" : scheme_ == place.scheme;
  return names(place) && (scheme_.empty() || is_spoken);
}

}  // namespace reprise::browser
