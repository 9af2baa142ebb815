// What a context's proxy refuses, and that it judges the address it connects to.
#include "browser/proxy/testing.h"

namespace reprise::browser {
namespace {

using testing::TestProxy;
using testing::TestServer;
using testing::web;
using testing::with_policy;

std::string rule_of(const rt::RawResponse& reply) {
  constexpr std::string_view kMark = "reprise-refused: ";
  const std::size_t at = reply.head.find(kMark);
  if (at == std::string::npos) return fmt::format("{}", reply.status);
  EXPECT_EQ(reply.status, 403);
  const std::size_t start = at + kMark.size();
  return reply.head.substr(start, reply.head.find('\r', start) - start);
}

// Asked for plainly and by tunnel.
std::pair<std::string, std::string> rules(TestProxy& proxy, std::string_view host,
                                          std::uint16_t port) {
  const std::string at = fmt::format("{}:{}", host, port);
  return {proxy.outcome(fmt::format("http://{}/", at)),
          rule_of(proxy.ask(TestProxy::connect_text(at)))};
}

std::pair<std::string, std::string> both(const char* rule) { return {rule, rule}; }

TEST(ProxyRules, HoldForHostsAsTheyAreWritten) {
  TestProxy proxy(with_policy({.deny = {"*.denied.example", "10.0.0.0/8"}}));
  EXPECT_EQ(rules(proxy, "www.denied.example", 80), both("deny_list"));
  EXPECT_EQ(rules(proxy, "WWW.denied.example.", 80), both("deny_list"));
  EXPECT_EQ(rules(proxy, "10.1.2.3", 80), both("deny_list"));
  EXPECT_EQ(rules(proxy, "0x0a010203", 80), both("deny_list"));
  EXPECT_EQ(rules(proxy, "169.254.169.254", 80), both("link_local"));
  EXPECT_EQ(rules(proxy, "[::ffff:a9fe:a9fe]", 80), both("link_local"));
  EXPECT_EQ(proxy.resolver.asked, 0);
  EXPECT_EQ(proxy.probe.refused, 12U);
}

TEST(ProxyRules, AreReported) {
  TestProxy proxy(with_policy({.deny = {"denied.example"}}));
  EXPECT_EQ(proxy.outcome("http://denied.example/path?token=secret"), "deny_list");
  const auto reply = proxy.ask(TestProxy::connect_text("denied.example:443"));
  EXPECT_EQ(reply.status, 403);
  EXPECT_NE(reply.body.find("denied.example:443 is on the deny list"), std::string::npos);
  EXPECT_EQ(proxy.refusals, (std::vector<std::string>{"http://denied.example/path deny_list",
                                                      "denied.example:443 deny_list"}));
}

// A name may lead anywhere, and somewhere else the next time.
TEST(ProxyRules, HoldForTheAddressesOfANameEachTime) {
  TestProxy proxy;
  TestServer server(proxy.loop(), web);
  rt::call_on(proxy.loop(), [&] { proxy.resolver.set("rebinding.example", {"127.0.0.1"}); });
  EXPECT_EQ(rules(proxy, "rebinding.example", server.port()), both("200"));
  for (const char* address : {"169.254.169.254", "fe80::1", "64:ff9b::169.254.169.254"}) {
    rt::call_on(proxy.loop(), [&] { proxy.resolver.set("rebinding.example", {address}); });
    EXPECT_EQ(rules(proxy, "rebinding.example", server.port()), both("link_local")) << address;
  }
  const auto hold = proxy.ports.forbid(server.port());
  rt::call_on(proxy.loop(), [&] { proxy.resolver.set("rebinding.example", {"127.0.0.1"}); });
  EXPECT_EQ(rules(proxy, "rebinding.example", server.port()), both("own_port"));
}

TEST(ProxyRules, OfSeveralAddressesThoseThatPassAreTried) {
  TestProxy proxy;
  TestServer server(proxy.loop(), web);
  // The first is refused, at the second nobody listens.
  rt::call_on(proxy.loop(), [&] {
    proxy.resolver.set("many.example", {"169.254.169.254", "127.0.0.9", "127.0.0.1"});
  });
  EXPECT_EQ(rules(proxy, "many.example", server.port()), both("200"));
  EXPECT_TRUE(proxy.refusals.empty());
}

TEST(ProxyRules, OwnPortsAreRefusedByEveryName) {
  TestProxy proxy;
  TestServer server(proxy.loop(), web);
  const auto hold = proxy.ports.forbid(server.port());
  rt::call_on(proxy.loop(), [&] { proxy.resolver.set("this-machine.example", {"192.0.2.7"}); });
  for (const char* host :
       {"127.0.0.1", "127.0.0.2", "localhost", "a.localhost", "[::1]", "0.0.0.0", "[::]",
        "2130706433", "[::ffff:127.0.0.1]", "192.0.2.7", "this-machine.example"})
    EXPECT_EQ(rules(proxy, host, server.port()), both("own_port")) << host;
  EXPECT_EQ(server.connections, 0);
}

TEST(ProxyRules, NoProxyReachesAProxy) {
  TestProxy proxy;
  EXPECT_EQ(rules(proxy, "localhost", proxy.port()), both("own_port"));
}

TEST(ProxyRules, ARedirectIsJustAnotherRequest) {
  TestProxy proxy(with_policy({.allow = {"127.0.0.1"}}));
  TestServer server(proxy.loop(), web);
  rt::call_on(proxy.loop(), [&] { proxy.resolver.set("elsewhere.example", {"192.0.2.1"}); });
  rt::RawClient client(proxy.port());
  ASSERT_TRUE(client.send(TestProxy::get_text(fmt::format("http://127.0.0.1:{}/", server.port()))));
  EXPECT_EQ(client.response().status, 200);
  EXPECT_EQ(proxy.outcome(client, TestProxy::get_text("http://elsewhere.example/")), "allow_list");
}

TEST(ProxyRules, ANewPolicyHoldsForKeptConnections) {
  TestProxy proxy;
  TestServer server(proxy.loop(), web);
  const std::string request =
      TestProxy::get_text(fmt::format("http://127.0.0.1:{}/", server.port()));
  rt::RawClient client(proxy.port());
  ASSERT_TRUE(client.send(request));
  EXPECT_EQ(client.response().status, 200);
  rt::call_on(proxy.loop(),
              [&] { (*proxy).set_policy(with_policy({.allow_loopback = false}).policy); });
  EXPECT_EQ(proxy.outcome(client, request), "loopback");
}

TEST(ProxyRules, ARefusedBodyIsNotWaitedFor) {
  TestProxy proxy(with_policy({.deny = {"denied.example"}}));
  rt::RawClient client(proxy.port());
  EXPECT_EQ(proxy.outcome(client,
                          "POST http://denied.example/ HTTP/1.1\r\nHost: a\r\n"
                          "Content-Length: 1000000\r\n\r\nhalf"),
            "deny_list");
}

}  // namespace
}  // namespace reprise::browser
