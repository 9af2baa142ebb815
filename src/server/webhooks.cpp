#include "server/webhooks.h"

#include <fmt/format.h>

#include <array>

#include "server/version.h"
#include "wire/http.h"

namespace reprise::server {
namespace {

// Threads that look up names: their own, so that a slow name server holds up no read of the store.
constexpr std::size_t kResolvers = 2;

std::string request_text(const WebhookUrl& url, const stream::WebhookCall& call) {
  std::string text = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: reprise/{}\r\nContent-Type: "
      "application/json\r\n",
      url.target, url.authority, kVersion);
  for (const auto& [name, value] : call.headers) text += fmt::format("{}: {}\r\n", name, value);
  text += fmt::format("Content-Length: {}\r\nConnection: close\r\n\r\n", call.body.size());
  return text + call.body;
}

}  // namespace

WebhookOptions webhook_options(const Config& config) {
  WebhookOptions options;
  options.rules.allows_loopback = config.allow_loopback_webhooks;
  for (const std::string& text : config.webhook_allows)
    if (auto range = parse_ip_range(text)) options.rules.allowed.push_back(*range);
  return options;
}

Webhooks::Webhooks(rt::RealLoop& loop, WebhookOptions options)
    : loop_(loop), options_(std::move(options)), resolvers_(kResolvers), resolver_(resolvers_) {
  if (auto context = rt::TlsContext::client(options_.authority_file)) tls_ = std::move(*context);
}

Result<> Webhooks::check(std::string_view url) const {
  REPRISE_TRY(const WebhookUrl parsed, parse_webhook_url(url));
  return options_.rules.check(parsed);
}

rt::Task<Result<std::unique_ptr<rt::Socket>>> Webhooks::open(const WebhookUrl& url,
                                                             rt::CancelScope& scope,
                                                             rt::Deadline deadline) {
  REPRISE_CO_TRY(std::vector<IpAddress> addresses,
                 co_await resolver_.resolve(loop_, url.host, scope, deadline));
  addresses = options_.rules.callable(url, std::move(addresses));
  if (addresses.empty())
    co_return fail(Code::kInvalid, fmt::format("'{}' has no address that may be called", url.host));
  for (std::size_t i = 0;; ++i) {
    // Each gets its share of what is left, so that one that is silent does not use up all of it.
    const auto left = (deadline.at() - loop_.now()) / static_cast<int>(addresses.size() - i);
    auto opened = co_await open_at(url, addresses[i], scope, rt::Deadline::after(loop_, left));
    if (opened || i + 1 == addresses.size() || scope.is_cancelled()) co_return opened;
  }
}

rt::Task<Result<std::unique_ptr<rt::Socket>>> Webhooks::open_at(const WebhookUrl& url,
                                                                IpAddress address,
                                                                rt::CancelScope& scope,
                                                                rt::Deadline deadline) {
  REPRISE_CO_TRY(auto plain,
                 co_await rt::connect(loop_, {address.to_string(), url.port}, scope, deadline));
  if (!url.is_tls) co_return std::move(plain);
  if (!tls_) co_return fail(Code::kInternal, "TLS is not set up");
  co_return co_await rt::connect_tls(tls_, std::move(plain), url.host, scope, deadline);
}

rt::Task<Result<stream::WebhookReply>> Webhooks::call(stream::WebhookCall call,
                                                      rt::CancelScope& scope) {
  REPRISE_CO_TRY(const WebhookUrl url, parse_webhook_url(call.url));
  REPRISE_CO_CHECK(options_.rules.check(url));
  const auto deadline = rt::Deadline::after(loop_, options_.call_timeout);
  REPRISE_CO_TRY(const auto socket, co_await open(url, scope, deadline));
  auto reply = co_await exchange(*socket, request_text(url, call), scope, deadline);
  if (!reply && deadline.has_passed(loop_))
    co_return fail(Code::kDeadline,
                   fmt::format("no whole reply within {} ms", options_.call_timeout.count()));
  co_return reply;
}

rt::Task<Result<stream::WebhookReply>> Webhooks::exchange(rt::Socket& socket, std::string request,
                                                          rt::CancelScope& scope,
                                                          rt::Deadline deadline) {
  if (scope.is_cancelled()) co_return fail(scope.reason());
  rt::Timer timer(loop_.timers());
  timer.arm(deadline.at(), [&socket] { socket.close(); });
  const rt::CancelScope::Listener given_up(scope, [&socket] { socket.close(); });
  REPRISE_CO_CHECK(co_await socket.write(request));
  wire::ResponseParser parser(false, options_.max_reply_bytes);
  std::array<char, 4096> buffer;
  while (!parser.is_complete()) {
    REPRISE_CO_TRY(const std::size_t count, co_await socket.read_some(buffer));
    if (count == 0) {
      REPRISE_CO_CHECK(parser.finish());
      break;
    }
    REPRISE_CO_CHECK(parser.feed({buffer.data(), count}));
  }
  co_return stream::WebhookReply{parser.status(), std::move(parser.body())};
}

}  // namespace reprise::server
