// ForbiddenPorts: the ports of this machine that no page may reach, whatever its app's policy says:
// this server's own listeners, the browsers' DevTools ports, and the proxies' ports themselves.
//
// A page must not reach the server that drives it, and a DevTools port obeys whoever connects. A
// port is forbidden at every address that leads to this machine (127.0.0.0/8, ::1, 0.0.0.0, ::,
// mapped and translated forms, and the addresses of its interfaces), whichever of them its listener
// is bound to: another program's port of the same number at another of the machine's addresses is
// refused with it, which is rare and harms nobody.
//
//     const auto hold = ports.forbid(listener->local().port);   // for as long as `hold` lives
//     REPRISE_CHECK(check_url(policy, ports, url));             // before a navigation
//
// What leads back here by way of another machine (a port that is forwarded to us) is not seen.
//
// Threads: any. It outlives its holds.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/ip_range.h"
#include "base/tally.h"
#include "browser/url_policy.h"

namespace reprise::browser {

class ForbiddenPorts {
 public:
  class Hold {
   public:
    Hold() = default;
    Hold(Hold&& other) noexcept
        : ports_(std::exchange(other.ports_, nullptr)), port_(other.port_) {}
    Hold& operator=(Hold&& other) noexcept;
    ~Hold() { release(); }
    void release();

   private:
    friend class ForbiddenPorts;
    Hold(ForbiddenPorts& ports, std::uint16_t port) : ports_(&ports), port_(port) {}
    ForbiddenPorts* ports_ = nullptr;
    std::uint16_t port_ = 0;
  };

  // Asked for the addresses of this machine's interfaces when a forbidden port is about to be
  // reached by another address than loopback.
  using OwnAddresses = std::function<std::vector<IpAddress>()>;

  ForbiddenPorts();  // the system's answer
  explicit ForbiddenPorts(OwnAddresses own_addresses);

  [[nodiscard]] Hold forbid(std::uint16_t port);
  bool has(std::uint16_t port) const { return holds_.at(port) > 0; }
  // kOwnPort if the address leads to this machine and the port is one of ours.
  Verdict judge(const IpAddress& address, std::uint16_t port) const;

 private:
  bool is_this_machine(const IpAddress& address) const;

  OwnAddresses own_addresses_;
  Tally<std::uint16_t> holds_;
};

// Whether a page may be sent there, as far as can be said before a name is resolved. kUrlRefused.
Result<> check_url(const UrlPolicy& policy, const ForbiddenPorts& ports, std::string_view url);

}  // namespace reprise::browser
