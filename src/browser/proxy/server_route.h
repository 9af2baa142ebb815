// ServerRoute: how a context's proxy reaches servers. A name is resolved, every address it has is
// judged, and one of those that passed is connected to, not the name: who looked it up again could
// be told another address (DNS rebinding). One that does not answer is followed by the next.
//
// With the user's own proxy in between, names are that proxy's to resolve. Where an address could
// decide (a range of a list, private addresses, link-local ones), the name is resolved here too,
// and handed on only if all its addresses pass. A name that cannot be resolved here is refused
// where a rule of the app's own decides, and handed on where only the rule against link-local ones
// could: on many machines no name can be resolved but by the proxy (docs/decisions/024). The other
// proxy looks it up again, and what it is told is beyond us; but where the port is one of ours, the
// name must not lead to this machine, and the other proxy is given the address.
//
// Threads: belongs to its loop.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "browser/forbidden_ports.h"
#include "browser/proxy/judged_names.h"
#include "browser/proxy/upstream_proxy.h"
#include "browser/url_policy.h"
#include "rt/cancel.h"
#include "rt/real_loop.h"
#include "rt/resolver.h"
#include "rt/socket.h"
#include "rt/task.h"

namespace reprise::browser {

// What stands in the way.
struct Trouble {
  Trouble(Error what) : error(std::move(what)) {}
  Trouble(Refusal why) : error(why.error()), refusal(std::move(why)) {}
  Error error;
  std::optional<Refusal> refusal;
};

// A connection on which a server can be spoken to.
struct Reached {
  std::unique_ptr<rt::Socket> socket;
  wire::Authority at;                // what was asked for
  std::optional<IpAddress> address;  // connected to, if not by way of another proxy
  bool is_proxy = false;             // requests go on in absolute form
  std::string early;                 // what the server has said already
};

class ServerRoute {
 public:
  ServerRoute(rt::RealLoop& loop, rt::Resolver& resolver, const ForbiddenPorts& ports,
              std::shared_ptr<const UrlPolicy> policy, std::optional<UpstreamProxy> upstream);

  // `scheme` is "http" for a request that we pass on, and empty for a tunnel.
  rt::Task<std::expected<Reached, Trouble>> open(wire::Authority at, std::string scheme,
                                                 rt::CancelScope& scope, rt::Deadline deadline);
  // Whether a connection made earlier leads where the next request goes, and may still.
  rt::Task<bool> may_reuse(const Reached& reached, wire::Authority at, rt::CancelScope& scope,
                           rt::Deadline deadline);

  void set_policy(std::shared_ptr<const UrlPolicy> policy);
  // What the other proxy is to be told with each request; empty if nothing.
  const std::string& upstream_authorization() const { return authorization_; }

 private:
  enum class Target : std::uint8_t { kServer, kProxy };
  using Connected = std::expected<Reached, Trouble>;

  Verdict judge_name(const wire::Authority& at, std::string_view scheme) const;
  Verdict judge_address(const IpAddress& address, const wire::Authority& at,
                        std::string_view scheme, Target target) const;
  // Resolved, judged, connected to.
  rt::Task<Connected> connect(wire::Authority at, std::string scheme, Target target,
                              rt::CancelScope& scope, rt::Deadline deadline);
  rt::Task<std::expected<std::vector<IpAddress>, Trouble>> judged_addresses(
      const wire::Authority& at, std::string_view scheme, Target target, rt::CancelScope& scope,
      rt::Deadline deadline);
  // What the other proxy is to be asked for: judged by its addresses where they could decide.
  rt::Task<std::expected<wire::Authority, Trouble>> judged_for_upstream(wire::Authority at,
                                                                        std::string scheme,
                                                                        rt::CancelScope& scope,
                                                                        rt::Deadline deadline);
  rt::Task<Connected> connect_by_upstream(wire::Authority at, std::string scheme,
                                          rt::CancelScope& scope, rt::Deadline deadline);
  // The dialogues with the other proxy; they fill in what the server has said already.
  rt::Task<Result<>> ask_http(Reached& reached, const wire::Authority& to);
  rt::Task<Result<>> ask_socks(Reached& reached, const wire::Authority& to);

  rt::RealLoop& loop_;
  rt::Resolver& resolver_;
  const ForbiddenPorts& ports_;
  std::shared_ptr<const UrlPolicy> policy_;
  const std::optional<UpstreamProxy> upstream_;
  std::string authorization_;
  JudgedNames judged_;
};

}  // namespace reprise::browser
