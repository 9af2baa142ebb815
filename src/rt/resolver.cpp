#include "rt/resolver.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>

#include "base/host_name.h"

namespace reprise::rt {
namespace {

// Blocks.
Result<std::vector<IpAddress>> look_up(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0 || found == nullptr)
    return fail(Code::kIo, fmt::format("'{}' has no address", host));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  std::vector<IpAddress> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* raw = nullptr;
    if (one->ai_family == AF_INET)
      raw = &reinterpret_cast<const sockaddr_in*>(one->ai_addr)->sin_addr;
    else if (one->ai_family == AF_INET6)
      raw = &reinterpret_cast<const sockaddr_in6*>(one->ai_addr)->sin6_addr;
    if (raw == nullptr || inet_ntop(one->ai_family, raw, text.data(), text.size()) == nullptr)
      continue;
    const auto address = IpAddress::parse(text.data());
    if (address && std::ranges::find(addresses, *address) == addresses.end())
      addresses.push_back(*address);
  }
  if (addresses.empty()) return fail(Code::kIo, fmt::format("'{}' has no address", host));
  return addresses;
}

// What a look-up and who waits for it share: who waits may give up first.
struct LookUp {
  explicit LookUp(Loop& loop) : finished(loop) {}
  Signal finished;
  std::atomic<bool> is_wanted{true};  // until whoever asked has given up
  std::optional<Result<std::vector<IpAddress>>> outcome;
};

}  // namespace

Task<Result<std::vector<IpAddress>>> SystemResolver::resolve(Loop& home, std::string host,
                                                             CancelScope& scope,
                                                             Deadline deadline) {
  if (const auto address = IpAddress::parse(host)) co_return std::vector{*address};
  if (is_loopback_name(host))
    co_return std::vector{*IpAddress::parse("127.0.0.1"), *IpAddress::parse("::1")};
  auto shared = std::make_shared<LookUp>(home);
  const bool is_accepted = pool_.submit([shared, host, &home] {
    if (!shared->is_wanted) return;
    auto found = look_up(host);
    home.post([shared, found = std::move(found)]() mutable {
      shared->outcome = std::move(found);
      shared->finished.notify();
    });
  });
  if (!is_accepted) co_return fail(Code::kOverloaded, "too many names wait to be looked up");
  if (shared->outcome) co_return std::move(*shared->outcome);
  const auto waited = co_await shared->finished.wait(scope, deadline);
  // Found in the same turn in which the time ran out: found.
  if (shared->outcome) co_return std::move(*shared->outcome);
  shared->is_wanted = false;
  if (scope.is_cancelled()) co_return fail(scope.reason());
  co_return fail(waited.error().code, fmt::format("'{}' was not found in time", host));
}

}  // namespace reprise::rt
