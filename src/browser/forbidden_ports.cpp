#include "browser/forbidden_ports.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/host_name.h"

namespace reprise::browser {
namespace {

std::vector<IpAddress> addresses_of_interfaces() {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(found, &freeifaddrs);
  std::vector<IpAddress> addresses;
  for (const ifaddrs* one = found; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* raw = nullptr;
    if (one->ifa_addr->sa_family == AF_INET)
      raw = &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr;
    else if (one->ifa_addr->sa_family == AF_INET6)
      raw = &reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
    if (raw == nullptr ||
        inet_ntop(one->ifa_addr->sa_family, raw, text.data(), text.size()) == nullptr)
      continue;
    if (const auto address = IpAddress::parse(text.data())) addresses.push_back(*address);
  }
  return addresses;
}

}  // namespace

ForbiddenPorts::Hold& ForbiddenPorts::Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  release();
  ports_ = std::exchange(other.ports_, nullptr);
  port_ = other.port_;
  return *this;
}

void ForbiddenPorts::Hold::release() {
  if (ports_ != nullptr) std::exchange(ports_, nullptr)->holds_.remove(port_, 1);
}

ForbiddenPorts::ForbiddenPorts() : ForbiddenPorts(addresses_of_interfaces) {}
ForbiddenPorts::ForbiddenPorts(OwnAddresses own_addresses)
    : own_addresses_(std::move(own_addresses)) {}

ForbiddenPorts::Hold ForbiddenPorts::forbid(std::uint16_t port) {
  holds_.add(port, 1);
  return {*this, port};
}

bool ForbiddenPorts::is_this_machine(const IpAddress& given) const {
  const IpAddress address = given.destination();
  if (address.is_loopback() || address.is_unspecified()) return true;
  const std::vector<IpAddress> own = own_addresses_();
  return std::ranges::any_of(own,
                             [&](const IpAddress& one) { return one == address || one == given; });
}

Verdict ForbiddenPorts::judge(const IpAddress& address, std::uint16_t port) const {
  if (!has(port) || !is_this_machine(address)) return {};
  return std::unexpected(Refusal{
      UrlRule::kOwnPort,
      fmt::format("port {} of this machine belongs to the server that drives the browser", port)});
}

Result<> check_url(const UrlPolicy& policy, const ForbiddenPorts& ports, std::string_view url) {
  const auto parsed = wire::parse_url(url);
  if (parsed && wire::is_web_scheme(parsed->scheme)) {
    auto address = parsed->at.address;
    if (is_loopback_name(parsed->at.host)) address = IpAddress::parse("127.0.0.1");
    if (address)
      if (const auto verdict = ports.judge(*address, parsed->at.port); !verdict)
        return fail(verdict.error().error());
  }
  return policy.check_url(url);
}

}  // namespace reprise::browser
