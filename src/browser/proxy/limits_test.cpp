// The limits of a context's proxy: what reaches them, and what passes them.
#include "browser/proxy/testing.h"

namespace reprise::browser {
namespace {

using std::chrono_literals::operator""ms;
using testing::TestProxy;
using testing::TestServer;
using testing::web;

TEST(ProxyLimits, SoManyConnectionsAndNoMore) {
  TestProxy proxy({.limits = {.connections = 2}});
  rt::RawClient first(proxy.port());
  std::optional<rt::RawClient> second;
  second.emplace(proxy.port());
  ASSERT_TRUE(proxy.eventually([&] { return (*proxy).connections() == 2; }));
  rt::RawClient third(proxy.port());
  EXPECT_EQ(third.response().status, 503);
  EXPECT_EQ(proxy.probe.turned_away, 1U);
  second.reset();
  ASSERT_TRUE(proxy.eventually([&] { return (*proxy).connections() == 1; }));
  TestServer server(proxy.loop(), web);
  EXPECT_EQ(proxy.get(fmt::format("http://127.0.0.1:{}/", server.port())).status, 200);
  EXPECT_EQ(ProxyLimits{}.connections, kMaxProxyConnections);
}

// What becomes of a client that sends this and then waits, by the limit it reaches; a busy machine
// reaches no other. It says "ORIGIN" for a server that never answers.
void waits_in_vain(ProxyLimits limits, std::string_view sends) {
  TestProxy proxy({.limits = limits});
  TestServer server(proxy.loop(), web);
  rt::RawClient client(proxy.port());
  std::string text(sends);
  if (const std::size_t at = text.find("ORIGIN"); at != std::string::npos)
    text.replace(at, 6, fmt::format("127.0.0.1:{}", server.port()));
  ASSERT_TRUE(client.send(text));
  EXPECT_TRUE(client.ends()) << sends;
  EXPECT_TRUE(proxy.eventually([&] { return server.ended == server.connections; })) << sends;
  EXPECT_EQ(proxy.probe.timed_out, 1U) << sends;
}

TEST(ProxyLimits, SilentConnectionsEnd) {
  waits_in_vain({.idle_timeout = 20ms}, "");
  waits_in_vain({.head_timeout = 20ms}, "GET http://ORIGIN/ HTTP/1.1\r\n");
  waits_in_vain({.exchange_timeout = 20ms}, TestProxy::get_text("http://ORIGIN/hold"));
  waits_in_vain({.tunnel_timeout = 20ms}, "CONNECT ORIGIN HTTP/1.1\r\nHost: a\r\n\r\n");
}

TEST(ProxyLimits, AreThoseOfTheFolderUnlessOthersAreGiven) {
  const ProxyLimits limits;
  EXPECT_EQ(limits.connect_timeout, kProxyConnectTimeout);
  EXPECT_EQ(limits.head_timeout, kProxyHeadTimeout);
  EXPECT_EQ(limits.idle_timeout, kProxyIdleTimeout);
  EXPECT_EQ(limits.exchange_timeout, kProxyExchangeTimeout);
  EXPECT_EQ(limits.tunnel_timeout, kProxyTunnelTimeout);
  EXPECT_EQ(limits.half_closed_timeout, kHalfClosedTunnelTimeout);
  EXPECT_EQ(limits.linger_timeout, kProxyLingerTimeout);
}

// Whoever still sends is not cut off by a reset that overtakes the end, but not for ever.
TEST(ProxyLimits, WhatFollowsARefusedHeadIsReadForAWhile) {
  TestProxy proxy({.limits = {.linger_timeout = 20ms}});
  const std::string request =
      "POST http://169.254.169.254/ HTTP/1.1\r\nHost: a\r\n"
      "Content-Length: 99999999\r\n\r\n";
  rt::RawClient silent(proxy.port());
  EXPECT_EQ(proxy.outcome(silent, request), "link_local");
  ASSERT_TRUE(proxy.eventually([&] { return (*proxy).connections() == 0; }));
  EXPECT_EQ(proxy.probe.timed_out, 1U);
}

TEST(ProxyLimits, AndOnlySoMuchOfIt) {
  TestProxy proxy;
  rt::RawClient client(proxy.port());
  ASSERT_TRUE(
      client.send("POST http://169.254.169.254/ HTTP/1.1\r\nHost: a\r\n"
                  "Content-Length: 99999999\r\n\r\n"));
  ASSERT_TRUE(client.send(std::string(kMaxProxyLingerBytes / 2, 'x')));
  EXPECT_TRUE(client.ends());
  // Until the proxy has closed.
  while (client.send(std::string(kProxyBufferBytes, 'x'))) {
  }
  ASSERT_TRUE(proxy.eventually([&] { return (*proxy).connections() == 0; }));
  EXPECT_EQ(proxy.probe.timed_out, 0U);
}

rt::Task<> never_ends(TestServer& server, rt::Socket& socket) {
  co_await testing::until_gone(socket);
  ++server.requests;
  // Until the test is over, or the proxy closes.
  const std::string piece(1024, 'x');
  while (co_await socket.write(piece)) {
  }
}

TEST(ProxyLimits, ATunnelThatEndedOnOneSideDoesNotWaitForLong) {
  TestProxy proxy({.limits = {.half_closed_timeout = 20ms}});
  TestServer server(proxy.loop(), never_ends);
  rt::RawClient client(proxy.port(), 4096);
  ASSERT_TRUE(client.send(TestProxy::connect_text(fmt::format("127.0.0.1:{}", server.port()))));
  ASSERT_TRUE(client.read_until("\r\n\r\n"));
  client.finish_sending();
  // It sends, but nobody reads: nothing moves.
  EXPECT_TRUE(proxy.eventually([&] { return server.ended == 1; }));
  EXPECT_EQ(proxy.probe.timed_out, 1U);
}

// Connections to a listener whose queue is full are not answered.
class SilentListener {
 public:
  SilentListener() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof where;
    auto* address = reinterpret_cast<sockaddr*>(&where);
    EXPECT_EQ(::bind(listener_, address, length), 0);
    EXPECT_EQ(::listen(listener_, 0), 0);
    EXPECT_EQ(::getsockname(listener_, address, &length), 0);
    port_ = ntohs(where.sin_port);
    filler_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(filler_, address, length), 0);
  }
  ~SilentListener() {
    ::close(filler_);
    ::close(listener_);
  }
  std::uint16_t port() const { return port_; }

 private:
  int listener_;
  int filler_;
  std::uint16_t port_ = 0;
};

TEST(ProxyLimits, AServerThatIsSilentIsGivenUp) {
  TestProxy proxy({.limits = {.connect_timeout = 30ms}});
  SilentListener silent;
  const std::string at = fmt::format("127.0.0.1:{}", silent.port());
  EXPECT_EQ(proxy.outcome(fmt::format("http://{}/", at)), "deadline");
  EXPECT_EQ(proxy.ask(TestProxy::connect_text(at)).status, 504);
  EXPECT_EQ(proxy.failures,
            (std::vector<std::string>{fmt::format("http://{}/ deadline", at), at + " deadline"}));
}

TEST(ProxyLimits, OnlySoManyAddressesOfANameAreTried) {
  TestProxy proxy;
  TestServer server(proxy.loop(), web);
  std::vector<std::string> texts;
  for (std::size_t i = 1; i <= kMaxProxyAddresses; ++i)
    texts.push_back(fmt::format("127.0.9.{}", i));
  std::vector<const char*> addresses;
  for (const std::string& text : texts) addresses.push_back(text.c_str());
  addresses.back() = "127.0.0.1";
  rt::call_on(proxy.loop(), [&] { proxy.resolver.set("last.example", addresses); });
  EXPECT_EQ(proxy.get(fmt::format("http://last.example:{}/", server.port())).status, 200);
  addresses.insert(addresses.begin(), "127.0.8.1");
  rt::call_on(proxy.loop(), [&] { proxy.resolver.set("beyond.example", addresses); });
  EXPECT_EQ(proxy.outcome(fmt::format("http://beyond.example:{}/", server.port())), "io");
}

TEST(ProxyLimits, AClientThatLeavesWhileItsServerIsSoughtEndsTheSearch) {
  TestProxy proxy;
  SilentListener silent;
  {
    rt::RawClient client(proxy.port());
    ASSERT_TRUE(client.send(TestProxy::connect_text(fmt::format("127.0.0.1:{}", silent.port()))));
    ASSERT_TRUE(proxy.eventually([&] { return proxy.resolver.asked == 1; }));
  }
  EXPECT_TRUE(proxy.eventually([&] { return (*proxy).connections() == 0; }));
  EXPECT_TRUE(proxy.failures.empty());
}

}  // namespace
}  // namespace reprise::browser
