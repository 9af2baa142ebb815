#include "browser/proxy/server_route.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/host_name.h"
#include "browser/proxy/limits.h"
#include "browser/proxy/proxy_request.h"
#include "browser/proxy/socks5.h"
#include "wire/http.h"

namespace reprise::browser {

ServerRoute::ServerRoute(rt::RealLoop& loop, rt::Resolver& resolver, const ForbiddenPorts& ports,
                         std::shared_ptr<const UrlPolicy> policy,
                         std::optional<UpstreamProxy> upstream)
    : loop_(loop),
      resolver_(resolver),
      ports_(ports),
      policy_(std::move(policy)),
      upstream_(std::move(upstream)) {
  if (upstream_ && !upstream_->user.empty())
    authorization_ = basic_authorization(upstream_->user, upstream_->password);
}

Verdict ServerRoute::judge_name(const wire::Authority& at, std::string_view scheme) const {
  auto address = at.address;
  if (is_loopback_name(at.host)) address = IpAddress::parse("127.0.0.1");
  if (address)
    if (auto verdict = ports_.judge(*address, at.port); !verdict) return verdict;
  return policy_->judge_name(at, scheme);
}

Verdict ServerRoute::judge_address(const IpAddress& address, const wire::Authority& at,
                                   std::string_view scheme, Target target) const {
  if (auto verdict = ports_.judge(address, at.port); !verdict) return verdict;
  return target == Target::kProxy ? policy_->judge_proxy(address, at)
                                  : policy_->judge_address(address, at, scheme);
}

void ServerRoute::set_policy(std::shared_ptr<const UrlPolicy> policy) {
  policy_ = std::move(policy);
  judged_.clear();
}

rt::Task<bool> ServerRoute::may_reuse(const Reached& reached, wire::Authority at,
                                      rt::CancelScope& scope, rt::Deadline deadline) {
  if (!judge_name(at, "http")) co_return false;
  // The other proxy takes requests for every server, but not by name for a port of ours.
  if (reached.is_proxy) {
    if (ports_.has(at.port) || is_bypassed(*upstream_, at.host)) co_return false;
    co_return (co_await judged_for_upstream(std::move(at), "http", scope, deadline)).has_value();
  }
  const bool is_same = reached.at.host == at.host && reached.at.port == at.port;
  co_return is_same &&
      (!reached.address || judge_address(*reached.address, at, "http", Target::kServer));
}

rt::Task<std::expected<Reached, Trouble>> ServerRoute::open(wire::Authority at, std::string scheme,
                                                            rt::CancelScope& scope,
                                                            rt::Deadline deadline) {
  // Before it is looked up: whoever answers for a denied name need not hear of us.
  REPRISE_CO_CHECK(judge_name(at, scheme));
  if (upstream_ && !is_bypassed(*upstream_, at.host))
    co_return co_await connect_by_upstream(std::move(at), std::move(scheme), scope, deadline);
  co_return co_await connect(std::move(at), std::move(scheme), Target::kServer, scope, deadline);
}

rt::Task<std::expected<std::vector<IpAddress>, Trouble>> ServerRoute::judged_addresses(
    const wire::Authority& at, std::string_view scheme, Target target, rt::CancelScope& scope,
    rt::Deadline deadline) {
  const auto found = co_await resolver_.resolve(loop_, at.host, scope, deadline);
  if (!found && found.error().code == Code::kIo)
    co_return fail(Code::kIo, fmt::format("name not resolved: {}", found.error().detail));
  if (!found) co_return fail(found.error());
  std::vector<IpAddress> passed;
  std::optional<Refusal> refusal;
  for (const IpAddress& address : *found) {
    const auto verdict = judge_address(address, at, scheme, target);
    if (verdict && passed.size() < kMaxProxyAddresses) passed.push_back(address);
    if (!verdict && !refusal) refusal = verdict.error();
  }
  if (!passed.empty()) co_return passed;
  if (refusal) co_return std::unexpected(Trouble(*refusal));
  co_return fail(Code::kIo, fmt::format("'{}' has no address", at.host));
}

rt::Task<ServerRoute::Connected> ServerRoute::connect(wire::Authority at, std::string scheme,
                                                      Target target, rt::CancelScope& scope,
                                                      rt::Deadline deadline) {
  REPRISE_CO_TRY(const std::vector<IpAddress> addresses,
                 co_await judged_addresses(at, scheme, target, scope, deadline));
  for (std::size_t i = 0;; ++i) {
    // Each gets its share of what is left, so that one that is silent does not use up all of it.
    const auto left = (deadline.at() - loop_.now()) / static_cast<int>(addresses.size() - i);
    auto socket = co_await rt::connect(loop_, {addresses[i].to_string(), at.port}, scope,
                                       rt::Deadline::after(loop_, left));
    if (socket)
      co_return Reached{
          .socket = std::move(*socket), .at = std::move(at), .address = addresses[i], .early = {}};
    if (i + 1 == addresses.size() || scope.is_cancelled())
      co_return fail(std::move(socket).error());
  }
}

rt::Task<std::expected<wire::Authority, Trouble>> ServerRoute::judged_for_upstream(
    wire::Authority at, std::string scheme, rt::CancelScope& scope, rt::Deadline deadline) {
  const bool is_own_port = ports_.has(at.port);
  auto rule = policy_->rule_by_address(at, scheme);
  if (is_own_port) rule = UrlRule::kOwnPort;
  if (at.address || !rule) co_return at;
  const std::string place = fmt::format("{}://{}", scheme, at.to_string());
  if (!is_own_port && judged_.has(place, loop_.now())) co_return at;
  const bool is_secondary = *rule == UrlRule::kLinkLocal;
  if (is_secondary)
    deadline = rt::Deadline(std::min(deadline.at(), loop_.now() + rt::Nanos(kMaxSecondaryLookup)));
  const auto policy = policy_;
  const auto found = co_await resolver_.resolve(loop_, at.host, scope, deadline);
  if (scope.is_cancelled()) co_return std::unexpected(Trouble(scope.reason()));
  if (!found && !is_secondary)
    co_return std::unexpected(
        Trouble(Refusal{*rule, fmt::format("where '{}' leads is not known here, and a rule is by "
                                           "address: {}",
                                           at.host, found.error().detail)}));
  if (found)
    for (const IpAddress& address : *found)
      REPRISE_CO_CHECK(judge_address(address, at, scheme, Target::kServer));
  if (is_own_port) {
    at.address = found->front();
    at.host = at.address->to_string();
  } else if (policy == policy_) {
    judged_.add(place, loop_.now());
  }
  co_return at;
}

rt::Task<ServerRoute::Connected> ServerRoute::connect_by_upstream(wire::Authority at,
                                                                  std::string scheme,
                                                                  rt::CancelScope& scope,
                                                                  rt::Deadline deadline) {
  REPRISE_CO_TRY(const wire::Authority to,
                 co_await judged_for_upstream(at, scheme, scope, deadline));
  REPRISE_CO_TRY(Reached reached,
                 co_await connect(upstream_->at, {}, Target::kProxy, scope, deadline));
  reached.at = to;
  reached.address.reset();
  const bool is_http = upstream_->kind == UpstreamProxy::Kind::kHttp;
  if (is_http && scheme == "http") {
    reached.is_proxy = true;
    co_return reached;
  }
  rt::Timer timer(loop_.timers());
  timer.arm(deadline.at(), [socket = reached.socket.get()] { socket->close(); });
  const rt::CancelScope::Listener given_up(scope,
                                           [socket = reached.socket.get()] { socket->close(); });
  // A conditional with co_await in it is what some compilers get wrong.
  Result<> asked;
  if (is_http)
    asked = co_await ask_http(reached, to);
  else
    asked = co_await ask_socks(reached, to);
  if (!asked && deadline.has_passed(loop_))
    co_return fail(Code::kDeadline, "the context's own proxy did not connect in time");
  REPRISE_CO_CHECK(asked);
  reached.at = std::move(at);
  co_return reached;
}

rt::Task<Result<>> ServerRoute::ask_http(Reached& reached, const wire::Authority& to) {
  const std::string place = to.to_string();
  std::string head = fmt::format("CONNECT {} HTTP/1.1\r\nhost: {}\r\n", place, place);
  if (!authorization_.empty()) head += fmt::format("proxy-authorization: {}\r\n", authorization_);
  REPRISE_CO_CHECK(co_await reached.socket->write(head + "\r\n"));
  wire::ResponseParser parser(
      wire::ResponseOptions{.is_connect_request = true, .max_body_bytes = kProxyBufferBytes});
  std::array<char, 4096> buffer;
  while (!parser.is_header_complete()) {
    REPRISE_CO_TRY(const std::size_t count, co_await reached.socket->read_some(buffer));
    if (count == 0) co_return fail(Code::kIo, "the context's own proxy closed the connection");
    REPRISE_CO_CHECK(parser.feed({buffer.data(), count}));
  }
  if (parser.status() / 100 != 2)
    co_return fail(Code::kIo, fmt::format("the context's own proxy answered {}", parser.status()));
  reached.early = std::move(parser.body());
  co_return Result<>{};
}

rt::Task<Result<>> ServerRoute::ask_socks(Reached& reached, const wire::Authority& to) {
  Socks5Dialogue dialogue(to, upstream_->user, upstream_->password);
  std::array<char, 512> buffer;
  while (!dialogue.is_done()) {
    const std::string output = dialogue.take_output();
    REPRISE_CO_CHECK(co_await reached.socket->write(output));
    REPRISE_CO_TRY(const std::size_t count, co_await reached.socket->read_some(buffer));
    if (count == 0) co_return fail(Code::kIo, "the context's own proxy closed the connection");
    REPRISE_CO_TRY(const std::size_t used, dialogue.feed({buffer.data(), count}));
    reached.early.assign(buffer.data() + used, count - used);
  }
  co_return Result<>{};
}

}  // namespace reprise::browser
