#include "server/webhooks.h"

#include <gtest/gtest.h>

#include "rt/test_certificate.h"
#include "rt/test_loop.h"

namespace reprise::server {
namespace {

using std::chrono_literals::operator""ms;

// Answers one connection after the other with what it was given, and keeps what it was sent.
class Receiver {
 public:
  Receiver(rt::RealLoop& loop, std::string answer, std::shared_ptr<rt::TlsContext> tls = nullptr)
      : loop_(loop), answer_(std::move(answer)), tls_(std::move(tls)) {
    auto bound = rt::Listener::bind(loop, {"127.0.0.1", 0});
    REPRISE_ASSERT(bound.has_value());
    listener_ = std::move(*bound);
    listener_->start({&loop}, [this](rt::RealLoop&, std::unique_ptr<rt::Socket> socket) {
      ++connections;
      rt::spawn(gate_, serve(std::move(socket)));
    });
  }
  std::string url(std::string_view scheme, std::string_view host, std::string_view path) const {
    return fmt::format("{}://{}:{}{}", scheme, host, listener_->local().port, path);
  }
  rt::Task<> close() {
    listener_->stop();
    scope_.cancel();
    co_await gate_.empty();
  }
  int connections = 0;
  std::string request;

 private:
  rt::Task<> serve(std::unique_ptr<rt::Socket> socket) {
    if (tls_) {
      auto secured = co_await rt::accept_tls(tls_, std::move(socket), scope_,
                                             rt::Deadline::after(loop_, rt::kPatience));
      if (!secured) co_return;
      socket = std::move(*secured);
    }
    const rt::CancelScope::Listener end(scope_, [&socket] { socket->close(); });
    std::array<char, 4096> buffer;
    while (!request.ends_with("}")) {
      const auto count = co_await socket->read_some(buffer);
      if (!count || *count == 0) co_return;
      request.append(buffer.data(), *count);
    }
    if (!answer_.empty()) (void)co_await socket->write(answer_);
    // Until the caller has gone.
    for (auto count = co_await socket->read_some(buffer); count && *count > 0;)
      count = co_await socket->read_some(buffer);
  }

  rt::RealLoop& loop_;
  const std::string answer_;
  const std::shared_ptr<rt::TlsContext> tls_;
  std::unique_ptr<rt::Listener> listener_;
  rt::CancelScope scope_;
  rt::Gate gate_;
};

WebhookOptions own_machine() { return {.rules = {.allows_loopback = true}}; }

stream::WebhookCall call_to(std::string url) {
  return {.url = std::move(url),
          .headers = {{"Webhook-Signature", "t=1,kid=ds_1,ed25519=abc"}},
          .body = "{\"n\":1}"};
}

rt::Task<Result<stream::WebhookReply>> call(Webhooks& webhooks, stream::WebhookCall call) {
  rt::CancelScope scope;
  co_return co_await webhooks.call(std::move(call), scope);
}

std::string reply_of(std::string_view status, std::string_view headers, std::size_t bytes) {
  return fmt::format("HTTP/1.1 {}\r\n{}Content-Length: {}\r\n\r\n{}", status, headers, bytes,
                     std::string(bytes, 'x'));
}

rt::Task<> posts(rt::RealLoop& loop) {
  Receiver receiver(loop, "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{\"done\":true}");
  Webhooks webhooks(loop, own_machine());
  const auto reply =
      co_await call(webhooks, call_to(receiver.url("http", "127.0.0.1", "/wake?x=1#part")));
  EXPECT_TRUE(reply.has_value());
  if (!reply) co_return;
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "{\"done\":true}");
  EXPECT_TRUE(receiver.request.starts_with("POST /wake?x=1 HTTP/1.1\r\nHost: 127.0.0.1:"));
  EXPECT_NE(receiver.request.find("\r\nWebhook-Signature: t=1,kid=ds_1,ed25519=abc\r\n"),
            std::string::npos);
  EXPECT_TRUE(receiver.request.ends_with("\r\n\r\n{\"n\":1}"));
  co_await receiver.close();
}

TEST(Webhooks, PostsTheSignedBodyAndGivesTheReply) { rt::run_on_a_loop(posts); }

rt::Task<> finds_a_name(rt::RealLoop& loop) {
  Receiver receiver(loop, reply_of("204 No Content", "", 0));
  Webhooks webhooks(loop, own_machine());
  // Where localhost is ::1 first, nobody listens there, and the next address is tried.
  const auto reply = co_await call(webhooks, call_to(receiver.url("http", "localhost", "/")));
  EXPECT_TRUE(reply && reply->status == 204);
  const auto nowhere = co_await call(webhooks, call_to("http://nothing.localhost.:1/"));
  EXPECT_FALSE(nowhere.has_value());
  co_await receiver.close();
}

TEST(Webhooks, FindsTheAddressesOfAName) { rt::run_on_a_loop(finds_a_name); }

rt::Task<> largest_reply(rt::RealLoop& loop) {
  Webhooks webhooks(loop, own_machine());
  Receiver largest(loop, reply_of("200 OK", "", kMaxWebhookReplyBytes));
  const auto taken = co_await call(webhooks, call_to(largest.url("http", "127.0.0.1", "/")));
  EXPECT_TRUE(taken && taken->body.size() == kMaxWebhookReplyBytes);
  co_await largest.close();
  Receiver larger(loop, reply_of("200 OK", "", kMaxWebhookReplyBytes + 1));
  const auto refused = co_await call(webhooks, call_to(larger.url("http", "127.0.0.1", "/")));
  EXPECT_EQ(refused ? Code::kInternal : refused.error().code, Code::kBodyTooLarge);
  co_await larger.close();
}

TEST(Webhooks, TakesTheLargestReplyAndNoLargerOne) { rt::run_on_a_loop(largest_reply); }

rt::Task<> waits_no_longer(rt::RealLoop& loop) {
  EXPECT_EQ(WebhookOptions{}.call_timeout, kWebhookCallTimeout);
  WebhookOptions options = own_machine();
  options.call_timeout = 50ms;
  Webhooks webhooks(loop, std::move(options));
  for (const char* answer : {"", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"}) {
    Receiver receiver(loop, answer);
    const auto late = co_await call(webhooks, call_to(receiver.url("http", "127.0.0.1", "/")));
    EXPECT_EQ(late ? Code::kInternal : late.error().code, Code::kDeadline) << answer;
    co_await receiver.close();
  }
}

TEST(Webhooks, WaitsForAReplyNoLongerThanItMay) { rt::run_on_a_loop(waits_no_longer); }

// The server that stops gives its calls up, wherever they are.
rt::Task<> is_given_up(rt::RealLoop& loop) {
  Receiver receiver(loop, "");
  Webhooks webhooks(loop, own_machine());
  rt::CancelScope scope;
  rt::Gate gate;
  std::optional<Result<stream::WebhookReply>> reply;
  auto calling = [](Webhooks& by, std::string url, rt::CancelScope& until,
                    std::optional<Result<stream::WebhookReply>>& into) -> rt::Task<> {
    into = co_await by.call(call_to(std::move(url)), until);
  };
  rt::spawn(gate, calling(webhooks, receiver.url("http", "127.0.0.1", "/"), scope, reply));
  while (!receiver.request.ends_with("}")) co_await rt::yield(loop);
  scope.cancel();
  co_await gate.empty();
  EXPECT_FALSE(reply->has_value());
  // And begins none.
  receiver.connections = 0;
  EXPECT_FALSE(co_await webhooks.call(call_to(receiver.url("http", "127.0.0.1", "/")), scope));
  EXPECT_EQ(receiver.connections, 0);
  co_await receiver.close();
}

TEST(Webhooks, GivesACallUpWhenTold) { rt::run_on_a_loop(is_given_up); }

rt::Task<> follows_nothing(rt::RealLoop& loop) {
  Receiver target(loop, reply_of("200 OK", "", 0));
  const std::string location = "Location: " + target.url("http", "127.0.0.1", "/") + "\r\n";
  Receiver receiver(loop, reply_of("307 Temporary Redirect", location, 2));
  Webhooks webhooks(loop, own_machine());
  const auto reply = co_await call(webhooks, call_to(receiver.url("http", "127.0.0.1", "/")));
  EXPECT_TRUE(reply && reply->status == 307);
  EXPECT_EQ(target.connections, 0);
  co_await receiver.close();
  co_await target.close();
}

TEST(Webhooks, ARedirectIsAReplyAndIsNotFollowed) { rt::run_on_a_loop(follows_nothing); }

rt::Task<> calls_nobody(rt::RealLoop& loop) {
  Receiver receiver(loop, reply_of("200 OK", "", 0));
  Webhooks webhooks(loop, {});
  for (const std::string& url :
       {receiver.url("http", "127.0.0.1", "/"), receiver.url("https", "127.0.0.1", "/"),
        receiver.url("http", "localhost", "/"), receiver.url("https", "[::ffff:127.0.0.1]", "/")}) {
    EXPECT_FALSE(webhooks.check(url)) << url;
    const auto refused = co_await call(webhooks, call_to(url));
    EXPECT_EQ(refused ? Code::kInternal : refused.error().code, Code::kInvalid) << url;
  }
  // A name passes at first, and is refused for what it leads to.
  WebhookOptions other;
  other.rules.allowed.push_back(*parse_ip_range("10.0.0.0/8"));
  Webhooks elsewhere(loop, std::move(other));
  const std::string named = receiver.url("https", "localhost", "/");
  EXPECT_TRUE(elsewhere.check(named));
  const auto refused = co_await call(elsewhere, call_to(named));
  EXPECT_EQ(refused ? Code::kInternal : refused.error().code, Code::kInvalid);
  EXPECT_EQ(receiver.connections, 0);
  co_await receiver.close();
}

TEST(Webhooks, ConnectsToNoAddressThatMayNotBeCalled) { rt::run_on_a_loop(calls_nobody); }

rt::Task<> speaks_tls(rt::RealLoop& loop) {
  const rt::Certificate& made = rt::certificate();
  Receiver receiver(loop, reply_of("200 OK", "", 2),
                    *rt::TlsContext::server(made.certificate_file(), made.key_file()));
  WebhookOptions options;
  options.rules.allowed.push_back(*parse_ip_range("127.0.0.1"));
  options.authority_file = made.certificate_file();
  Webhooks trusting(loop, options);
  const auto reply = co_await call(trusting, call_to(receiver.url("https", "127.0.0.1", "/")));
  EXPECT_TRUE(reply && reply->status == 200);
  // Somebody whose certificate nobody vouches for is not told anything.
  receiver.request.clear();
  options.authority_file.clear();
  Webhooks wary(loop, std::move(options));
  EXPECT_FALSE(co_await call(wary, call_to(receiver.url("https", "127.0.0.1", "/"))));
  EXPECT_EQ(receiver.request, "");
  co_await receiver.close();
}

TEST(Webhooks, AListedAddressIsCalledByHttpsAndItsCertificateIsChecked) {
  rt::run_on_a_loop(speaks_tls);
}

TEST(WebhookOptions, AreThoseOfTheConfiguration) {
  Config config;
  EXPECT_FALSE(webhook_options(config).rules.allows_loopback);
  config.allow_loopback_webhooks = true;
  config.webhook_allows = {"10.0.0.0/8", "fd00::1"};
  const WebhookOptions options = webhook_options(config);
  EXPECT_TRUE(options.rules.allows_loopback);
  EXPECT_EQ(options.rules.allowed.size(), 2U);
}

}  // namespace
}  // namespace reprise::server
