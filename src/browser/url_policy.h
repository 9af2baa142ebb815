// UrlPolicy: what the pages of an app's browsers may reach. Pure.
//
// Asked twice. check_url() before a tool or a client's command navigates: it knows schemes, which
// nothing later sees. check_address() by the proxy that every byte of a context goes through
// (browser/proxy/context_proxy.h), for the address it is about to connect to: redirects,
// subresources, workers and WebSockets pass there, and so does a name that changed its address.
//
// The rules, in their order:
//   scheme      http, https, ws and wss, and about:blank, data: and blob:; others (file:, chrome:,
//               javascript:, …) where the app allows them
//   link_local  169.254.0.0/16, fe80::/10, and the addresses at which clouds tell a machine its own
//               secrets, these also by the names that clouds gave them: refused unless
//               allow_link_local
//   loopback    this machine: allowed, since agents test what runs beside them; allow_loopback
//   private     whatever else is not the public internet: allowed; allow_private
//   deny_list   what a line of it names; it wins over the allow list
//   allow_list  if there is one: nothing but what its lines name
// A refusal is kUrlRefused with the rule among its members. Our own ports are no matter of an app's
// policy and refused before it is asked (browser/forbidden_ports.h: rule own_port).
//
//     REPRISE_TRY(const UrlPolicy policy, UrlPolicy::make({.deny = {"*.example.com"}}));
//     REPRISE_CHECK(policy.check_url("https://www.example.com/"));   // url_refused: deny_list
//
// Threads: immutable.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ip_range.h"
#include "browser/url_pattern.h"
#include "wire/url.h"

namespace reprise::browser {

enum class UrlRule : std::uint8_t {
  kMalformed,
  kScheme,
  kOwnPort,
  kLinkLocal,
  kLoopback,
  kPrivate,
  kDenyList,
  kAllowList
};
// "malformed", "scheme", "own_port", …: stable, for programs.
std::string_view word(UrlRule rule);

// Why somebody may not go somewhere.
struct Refusal {
  UrlRule rule = UrlRule::kMalformed;
  std::string detail;
  // kUrlRefused with the rule's word as the member "rule".
  Error error() const;
};
using Verdict = std::expected<void, Refusal>;

struct UrlPolicyOptions {
  std::vector<std::string> schemes;  // allowed besides those that always are: "file", "chrome"
  bool allow_loopback = true;
  bool allow_private = true;
  bool allow_link_local = false;
  std::vector<std::string> allow;  // patterns (browser/url_pattern.h); empty: everything
  std::vector<std::string> deny;
};

class UrlPolicy {
 public:
  UrlPolicy() = default;  // the default options
  // kInvalid for what is no scheme or pattern, and for too many of them.
  static Result<UrlPolicy> make(UrlPolicyOptions options);

  // Before a navigation. Of a name it says what can be said before it is resolved.
  Verdict judge_url(std::string_view url) const;
  // The same of a URL that was taken apart, or of a tunnel (no scheme).
  Verdict judge_name(const wire::Authority& at, std::string_view scheme) const;
  // For a proxy that leaves names to another one: the rule that judge_address() may yet refuse this
  // name by, if there is one. kLinkLocal only where no rule of the app's own decides.
  std::optional<UrlRule> rule_by_address(const wire::Authority& at, std::string_view scheme) const;
  // Before a connection to the address, one of those the host has.
  Verdict judge_address(const IpAddress& address, const wire::Authority& at,
                        std::string_view scheme) const;
  // Of the user's own proxy. It sees all traffic and answers it, so where there is a list of what
  // may be reached, it must name the proxy too.
  Verdict judge_proxy(const IpAddress& address, const wire::Authority& at) const;

  Result<> check_url(std::string_view url) const;
  Result<> check_address(const IpAddress& address, std::uint16_t port, std::string_view host) const;

 private:
  Verdict judge_scheme(const wire::Url& url) const;
  Verdict judge_kind(const IpAddress& address) const;
  Verdict judge_denied(const UrlPlace& place) const;
  Verdict judge_allowed(const UrlPlace& place) const;
  Verdict judge(const UrlPlace& place) const;

  std::vector<std::string> schemes_;
  bool allow_loopback_ = true;
  bool allow_private_ = true;
  bool allow_link_local_ = false;
  std::vector<UrlPattern> allow_;
  std::vector<UrlPattern> deny_;
};

}  // namespace reprise::browser
