#include "browser/url_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/host_name.h"
#include "browser/proxy/limits.h"

namespace reprise::browser {
namespace {

std::unexpected<Refusal> refuse(UrlRule rule, std::string detail) {
  return std::unexpected(Refusal{rule, std::move(detail)});
}

// Where clouds answer a machine's questions about itself, its credentials among them, besides the
// link-local 169.254.169.254 that most use: Amazon's services over IPv6, Google's, Alibaba's,
// Oracle's older ones and Azure's.
bool is_metadata(const IpAddress& address) {
  static const std::array ranges = {
      *parse_ip_range("fd00:ec2::/32"), *parse_ip_range("fd20:ce::254"),
      *parse_ip_range("100.100.100.200"), *parse_ip_range("192.0.0.192"),
      *parse_ip_range("168.63.129.16")};
  return std::ranges::any_of(ranges, [&](const IpRange& range) { return range.contains(address); });
}

// And by the names that clouds have given them, for where a name is not resolved here.
bool is_metadata_name(std::string_view host) {
  static constexpr std::array<std::string_view, 4> names = {
      "metadata.google.internal", "metadata.goog", "instance-data.ec2.internal",
      "metadata.tencentyun.com"};
  return std::ranges::find(names, host) != names.end();
}

bool is_scheme(std::string_view text) {
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  return !text.empty() && text.size() <= kMaxUrlSchemeBytes && is_small(text.front()) &&
         std::ranges::all_of(text, [&](char c) {
           return is_small(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
         });
}

Result<std::vector<UrlPattern>> parse_list(const std::vector<std::string>& lines) {
  if (lines.size() > kMaxUrlPatterns)
    return fail(Code::kInvalid, fmt::format("a list of places has {} lines, the most is {}",
                                            lines.size(), kMaxUrlPatterns));
  std::vector<UrlPattern> patterns;
  for (const std::string& line : lines) {
    REPRISE_TRY(UrlPattern pattern, UrlPattern::parse(line));
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

Result<> as_result(const Verdict& verdict) {
  if (verdict) return {};
  return fail(verdict.error().error());
}

UrlPlace place_of(const wire::Authority& at, std::string_view scheme,
                  const std::optional<IpAddress>& address) {
  return {.scheme = std::string(scheme), .host = at.host, .port = at.port, .address = address};
}

}  // namespace

std::string_view word(UrlRule rule) {
  switch (rule) {
    case UrlRule::kMalformed: return "malformed";
    case UrlRule::kScheme: return "scheme";
    case UrlRule::kOwnPort: return "own_port";
    case UrlRule::kLinkLocal: return "link_local";
    case UrlRule::kLoopback: return "loopback";
    case UrlRule::kPrivate: return "private";
    case UrlRule::kDenyList: return "deny_list";
    case UrlRule::kAllowList: return "allow_list";
  }
  return "malformed";
}

Error Refusal::error() const {
  Error error(Code::kUrlRefused, fmt::format("{} (rule {})", detail, word(rule)));
  error.members = fmt::format("\"rule\":\"{}\"", word(rule));
  return error;
}

Result<UrlPolicy> UrlPolicy::make(UrlPolicyOptions options) {
  UrlPolicy policy;
  if (options.schemes.size() > kMaxUrlSchemes)
    return fail(Code::kInvalid,
                fmt::format("{} schemes, the most is {}", options.schemes.size(), kMaxUrlSchemes));
  for (const std::string& scheme : options.schemes)
    if (!is_scheme(scheme))
      return fail(Code::kInvalid,
                  fmt::format("'{}' is no scheme; write it in lower case, like file",
                              std::string_view(scheme).substr(0, kMaxUrlSchemeBytes)));
  REPRISE_TRY(policy.allow_, parse_list(options.allow));
  REPRISE_TRY(policy.deny_, parse_list(options.deny));
  policy.schemes_ = std::move(options.schemes);
  policy.allow_loopback_ = options.allow_loopback;
  policy.allow_private_ = options.allow_private;
  policy.allow_link_local_ = options.allow_link_local;
  return policy;
}

Verdict UrlPolicy::judge_scheme(const wire::Url& url) const {
  if (wire::is_web_scheme(url.scheme) || url.scheme == "data" || url.scheme == "blob") return {};
  if (std::ranges::find(schemes_, url.scheme) != schemes_.end()) return {};
  const std::string_view page =
      std::string_view(url.target).substr(0, url.target.find_first_of("?#"));
  if (url.scheme == "about" && page == "blank") return {};
  return refuse(UrlRule::kScheme,
                fmt::format("{}: is not a scheme that this app's browsers may use",
                            std::string_view(url.scheme).substr(0, kMaxUrlSchemeBytes)));
}

Verdict UrlPolicy::judge_url(std::string_view text) const {
  const auto url = wire::parse_url(text);
  if (!url) return refuse(UrlRule::kMalformed, url.error().detail);
  if (auto verdict = judge_scheme(*url); !verdict || !wire::is_web_scheme(url->scheme))
    return verdict;
  return judge_name(url->at, url->scheme);
}

Verdict UrlPolicy::judge_name(const wire::Authority& at, std::string_view scheme) const {
  // The browser turns it into ASCII, and the proxy sees that; here it could pass by a list.
  if (!at.is_ascii() && !(allow_.empty() && deny_.empty()))
    return refuse(UrlRule::kMalformed, "this app has lists of hosts: write the name as xn--…");
  if (!allow_link_local_ && is_metadata_name(at.host))
    return refuse(UrlRule::kLinkLocal, fmt::format("{} is a cloud's own service", at.host));
  UrlPlace place = place_of(at, scheme, at.address);
  if (is_loopback_name(at.host)) place.address = IpAddress::parse("127.0.0.1");
  return judge(place);
}

Verdict UrlPolicy::judge_address(const IpAddress& address, const wire::Authority& at,
                                 std::string_view scheme) const {
  return judge(place_of(at, scheme, address));
}

std::optional<UrlRule> UrlPolicy::rule_by_address(const wire::Authority& at,
                                                  std::string_view scheme) const {
  const UrlPlace place = place_of(at, scheme, at.address);
  if (place.address) return std::nullopt;
  if (std::ranges::any_of(deny_, [&](const UrlPattern& line) { return line.may_deny(place); }))
    return UrlRule::kDenyList;
  if (!allow_.empty() &&
      std::ranges::none_of(allow_, [&](const UrlPattern& line) { return line.allows(place); }))
    return UrlRule::kAllowList;
  if (!allow_private_) return UrlRule::kPrivate;
  if (!allow_loopback_) return UrlRule::kLoopback;
  if (!allow_link_local_) return UrlRule::kLinkLocal;
  return std::nullopt;
}

Verdict UrlPolicy::judge_proxy(const IpAddress& address, const wire::Authority& at) const {
  if (auto verdict = judge_kind(address); !verdict) return verdict;
  const UrlPlace place = place_of(at, {}, address);
  if (auto verdict = judge_denied(place); !verdict) return verdict;
  return judge_allowed(place);
}

Verdict UrlPolicy::judge(const UrlPlace& place) const {
  if (place.address)
    if (auto verdict = judge_kind(*place.address); !verdict) return verdict;
  if (auto verdict = judge_denied(place); !verdict) return verdict;
  return judge_allowed(place);
}

Verdict UrlPolicy::judge_kind(const IpAddress& given) const {
  const IpAddress address = given.destination();
  const auto refused = [&](UrlRule rule, std::string_view what) {
    return refuse(rule, fmt::format("{} is {}", given.to_string(), what));
  };
  if (address.is_link_local() || is_metadata(address)) {
    if (allow_link_local_) return {};
    return refused(UrlRule::kLinkLocal, "a link-local address or one of a cloud's own services");
  }
  if (address.is_loopback() || address.is_unspecified()) {
    if (allow_loopback_) return {};
    return refused(UrlRule::kLoopback, "this machine");
  }
  if (allow_private_ || address.is_public()) return {};
  return refused(UrlRule::kPrivate, "private or special");
}

Verdict UrlPolicy::judge_denied(const UrlPlace& place) const {
  const auto line =
      std::ranges::find_if(deny_, [&](const UrlPattern& one) { return one.denies(place); });
  if (line == deny_.end()) return {};
  return refuse(UrlRule::kDenyList, fmt::format("{}:{} is on the deny list as {}", place.host,
                                                place.port, line->text()));
}

Verdict UrlPolicy::judge_allowed(const UrlPlace& place) const {
  if (allow_.empty()) return {};
  const bool is_named = std::ranges::any_of(allow_, [&](const UrlPattern& line) {
    // A name's address may yet turn out to be in a range.
    return line.allows(place) || (!place.address && line.is_range());
  });
  if (is_named) return {};
  return refuse(UrlRule::kAllowList,
                fmt::format("{}:{} is not on the allow list", place.host, place.port));
}

Result<> UrlPolicy::check_url(std::string_view url) const { return as_result(judge_url(url)); }

Result<> UrlPolicy::check_address(const IpAddress& address, std::uint16_t port,
                                  std::string_view host) const {
  const wire::Authority at{.host = std::string(host), .address = {}, .port = port};
  return as_result(judge_address(address, at, {}));
}

}  // namespace reprise::browser
