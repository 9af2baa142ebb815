// Tunnels by CONNECT, and WebSockets by either way.
#include "browser/proxy/testing.h"

namespace reprise::browser {
namespace {

using testing::echo;
using testing::TestProxy;
using testing::TestServer;
using testing::web;

constexpr std::string_view kGranted = "HTTP/1.1 200 Connection established\r\n\r\n";

std::string place(const TestServer& server) { return fmt::format("127.0.0.1:{}", server.port()); }

// A client whose tunnel has been granted.
void open(rt::RawClient& client, const TestServer& server) {
  ASSERT_TRUE(client.send(TestProxy::connect_text(place(server))));
  ASSERT_TRUE(client.read_until(kGranted));
  client.forget();
}

TEST(ProxyTunnels, CarryBytesBothWays) {
  TestProxy proxy;
  TestServer server(proxy.loop(), echo);
  rt::RawClient client(proxy.port());
  open(client, server);
  ASSERT_TRUE(client.send("\x16\x03 anything at all"));
  EXPECT_TRUE(client.read_until("anything at all"));
  EXPECT_EQ(proxy.probe.tunnels, 1U);
  EXPECT_EQ(proxy.probe.bytes_up, 18U);
}

TEST(ProxyTunnels, CarryWhatCameWithTheRequest) {
  TestProxy proxy;
  TestServer server(proxy.loop(), echo);
  rt::RawClient client(proxy.port());
  ASSERT_TRUE(client.send(TestProxy::connect_text(place(server)) + "too early"));
  EXPECT_TRUE(client.read_until(std::string(kGranted) + "too early"));
}

TEST(ProxyTunnels, LoseNothingOfALot) {
  TestProxy proxy;
  TestServer server(proxy.loop(), echo);
  rt::RawClient client(proxy.port());
  open(client, server);
  const std::string bytes = rt::numbered_bytes(4 * 1024 * 1024);
  // As much as is sure to be somewhere on its way, then what comes back.
  for (std::size_t at = 0; at < bytes.size(); at += 64 * 1024) {
    ASSERT_TRUE(client.send(std::string_view(bytes).substr(at, 64 * 1024)));
    while (client.unread().size() < at) ASSERT_TRUE(client.read_some());
  }
  client.finish_sending();
  EXPECT_TRUE(client.ends());
  EXPECT_TRUE(client.unread() == bytes);
}

rt::Task<> speaks_after_the_end(TestServer&, rt::Socket& socket) {
  co_await testing::until_gone(socket);
  (void)co_await socket.write("the last word");
}

TEST(ProxyTunnels, TheEndOfOneSideIsNotTheEndOfTheOther) {
  TestProxy proxy;
  TestServer server(proxy.loop(), speaks_after_the_end);
  rt::RawClient client(proxy.port());
  open(client, server);
  client.finish_sending();
  EXPECT_TRUE(client.ends());
  EXPECT_EQ(client.unread(), "the last word");
  EXPECT_TRUE(proxy.eventually([&] { return (*proxy).connections() == 0; }));
}

rt::Task<> ends_first(TestServer& server, rt::Socket& socket) {
  socket.shutdown_write();
  std::array<char, 16> buffer;
  const auto count = co_await socket.read_some(buffer);
  server.last_head.assign(buffer.data(), count.value_or(0));
}

TEST(ProxyTunnels, TheServersEndIsPassedOnToo) {
  TestProxy proxy;
  TestServer server(proxy.loop(), ends_first);
  rt::RawClient client(proxy.port());
  open(client, server);
  EXPECT_TRUE(client.ends());
  ASSERT_TRUE(client.send("still here"));
  EXPECT_TRUE(proxy.eventually([&] { return server.last_head == "still here"; }));
}

TEST(ProxyTunnels, AClientThatLeavesTakesItsServersConnectionAlong) {
  TestProxy proxy;
  TestServer server(proxy.loop(), echo);
  {
    rt::RawClient client(proxy.port());
    open(client, server);
  }
  EXPECT_TRUE(proxy.eventually([&] { return server.ended == 1; }));
  EXPECT_TRUE(proxy.eventually([&] { return (*proxy).connections() == 0; }));
}

TEST(ProxyTunnels, EndWithTheirProxy) {
  std::optional<rt::RawClient> client;
  {
    TestProxy proxy;
    TestServer server(proxy.loop(), echo);
    client.emplace(proxy.port());
    open(*client, server);
  }
  EXPECT_FALSE(client->read_some());
}

TEST(ProxyTunnels, ThatCannotBeOpenedAreToldSo) {
  TestProxy proxy;
  const auto reply = proxy.ask(TestProxy::connect_text("nowhere.example:443"));
  EXPECT_EQ(reply.status, 502);
  EXPECT_TRUE(reply.has("connection: close\r\n"));
  EXPECT_EQ(proxy.failures, std::vector<std::string>{"nowhere.example:443 io"});
}

std::string upgrade_text(const TestServer& server) {
  return TestProxy::get_text(fmt::format("http://{}/ws", place(server)),
                             "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"
                             "Sec-WebSocket-Key: abc\r\n");
}

TEST(ProxyWebSockets, ComeByAbsoluteForm) {
  TestProxy proxy;
  TestServer server(proxy.loop(), web);
  rt::RawClient client(proxy.port());
  ASSERT_TRUE(client.send(upgrade_text(server)));
  const auto reply = client.response();
  EXPECT_EQ(reply.status, 101);
  EXPECT_TRUE(reply.has("connection: upgrade\r\nupgrade: websocket\r\n"));
  EXPECT_TRUE(reply.has("sec-websocket-accept: x\r\n"));
  EXPECT_FALSE(reply.has("transfer-encoding"));
  EXPECT_TRUE(client.read_until("welcome"));
  EXPECT_NE(server.last_head.find("connection: upgrade\r\nupgrade: websocket\r\n"),
            std::string::npos);
  ASSERT_TRUE(client.send("\x81\x85 frame"));
  EXPECT_TRUE(client.read_until("frame"));
}

TEST(ProxyWebSockets, ComeByTunnel) {
  TestProxy proxy;
  TestServer server(proxy.loop(), web);
  rt::RawClient client(proxy.port());
  open(client, server);
  ASSERT_TRUE(
      client.send("GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n"
                  "Upgrade: websocket\r\n\r\n"));
  EXPECT_TRUE(client.read_until("welcome"));
  ASSERT_TRUE(client.send("\x81\x85 frame"));
  EXPECT_TRUE(client.read_until("frame"));
}

TEST(ProxyWebSockets, AServerThatSwitchesUnaskedIsNotBelieved) {
  TestProxy proxy;
  TestServer server(proxy.loop(), web);
  EXPECT_EQ(proxy.outcome(fmt::format("http://{}/ws", place(server))), "io");
}

}  // namespace
}  // namespace reprise::browser
