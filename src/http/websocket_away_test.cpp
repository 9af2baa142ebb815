// WebSockets that move to another loop than the one that accepted them.
#include <gtest/gtest.h>

#include "http/websocket_client.h"
#include "http/websocket_testing.h"
#include "rt/test_certificate.h"
#include "rt/test_loop.h"

namespace reprise::http {
namespace {

using testing::RawWebSocket;
using testing::TestServer;
using testing::WebSocketRoutes;
using enum wire::WebSocketOpcode;

// /away echoes on a loop of its own; /away/idle waits there for its scope.
struct AwayServer {
  explicit AwayServer(ServerOptions options = {})
      : server(std::move(options), {}, [this](Router& router) { add(router); }) {}

  rt::Task<> echo(WebSocket& socket, rt::CancelScope& scope) {
    is_at_home = rt::Loop::current() == &home.loop();
    co_await WebSocketRoutes::echo(routes, socket, scope);
    is_at_home = is_at_home && rt::Loop::current() == &home.loop();
  }
  rt::Task<> idle(WebSocket& socket, rt::CancelScope& scope) {
    co_await WebSocketRoutes::idle(routes, socket, scope, home.loop());
  }
  rt::Task<Result<Reply>> open(Exchange& exchange) {
    co_return accept_websocket_at(
        home.loop(), exchange,
        [this](WebSocket& socket, rt::CancelScope& scope) { return echo(socket, scope); });
  }
  rt::Task<Result<Reply>> open_idle(Exchange& exchange) {
    co_return accept_websocket_at(
        home.loop(), exchange,
        [this](WebSocket& socket, rt::CancelScope& scope) { return idle(socket, scope); });
  }
  void add(Router& router) {
    using enum wire::Method;
    router.add(kGet, "/away", Scope::kRead, [this](Exchange& one) { return open(one); });
    router.add(kGet, "/away/idle", Scope::kRead, [this](Exchange& one) { return open_idle(one); });
  }

  rt::LoopThread home;  // outlives the server's connections
  WebSocketRoutes routes;
  std::atomic<bool> is_at_home{false};
  TestServer server;
};

TEST(WebSocketAway, TalksOnTheOtherLoopWhateverCameBehindTheHandshake) {
  AwayServer away;
  testing::RawClient client(away.server.port());
  const std::string long_text(100'000, 'x');
  ASSERT_TRUE(client.send(testing::upgrade_text("/away") + testing::masked(kText, "first") +
                          testing::masked(kText, long_text)));
  EXPECT_EQ(client.response().status, 101);
  RawWebSocket other(away.server.port(), "/away");
  ASSERT_TRUE(other.send(kText, "second"));
  EXPECT_EQ(other.next(), "text second");
  ASSERT_TRUE(other.send(kClose, wire::close_payload(1000, "done")));
  EXPECT_EQ(other.next(), "close 1000 ");
  EXPECT_EQ(other.next(), "end");
  EXPECT_TRUE(away.server.eventually([&] { return away.routes.running == 1; }));
  EXPECT_TRUE(away.is_at_home);
}

TEST(WebSocketAway, IsToldWhenTheServerStops) {
  AwayServer away;
  RawWebSocket client(away.server.port(), "/away/idle");
  EXPECT_EQ(client.next(), "text hello");
  away.server.begin_drain(Millis{5'000});
  EXPECT_EQ(client.next(), "close 1001 the server is stopping");
  EXPECT_EQ(away.routes.ended_by, Code::kShuttingDown);
}

TEST(WebSocketAway, IsCutOffThereWhenItTakesTooLongToLeave) {
  AwayServer away;
  RawWebSocket client(away.server.port(), "/away/idle");
  EXPECT_EQ(client.next(), "text hello");
  // The client does not answer the close: at the end of the drain its socket is closed.
  away.server.drain(Millis{50});
  EXPECT_TRUE(away.server.eventually([&] { return away.server.probe.websockets_open == 0; }));
}

TEST(WebSocketAway, HearsThatItsPeerIsGone) {
  AwayServer away;
  {
    RawWebSocket client(away.server.port(), "/away/idle");
    EXPECT_EQ(client.next(), "text hello");
    EXPECT_EQ(away.server.probe.websockets_open, 1U);
  }
  EXPECT_TRUE(away.server.eventually([&] { return away.server.probe.websockets_open == 0; }));
  EXPECT_NE(away.routes.ended_by, Code::kInternal);
}

rt::Task<> talk_over_tls(rt::RealLoop& loop, std::uint16_t port) {
  SystemRandom random;
  rt::CancelScope scope;
  const rt::Deadline deadline = rt::Deadline::after(loop, rt::kPatience);
  auto plain = co_await rt::connect(loop, {"127.0.0.1", port}, scope, deadline);
  EXPECT_TRUE(plain);
  if (!plain) co_return;
  auto encrypted =
      co_await rt::connect_tls(rt::TlsContext::client(rt::certificate().certificate_file()).value(),
                               std::move(*plain), "localhost", scope, deadline);
  EXPECT_TRUE(encrypted);
  if (!encrypted) co_return;
  auto socket = co_await open_websocket(loop, std::move(*encrypted), "localhost", "/away", random,
                                        scope, deadline);
  EXPECT_TRUE(socket);
  if (!socket) co_return;
  const std::string text(3'000'000, 't');
  EXPECT_TRUE(co_await (*socket)->send({.is_text = true, .data = text}, scope));
  const auto answer = co_await (*socket)->read(scope);
  EXPECT_TRUE(answer && *answer && (*answer)->data == text);
  co_await (*socket)->close(1000, "");
}

TEST(WebSocketAway, TakesItsEncryptionAlong) {
  ServerOptions options;
  options.tls =
      rt::TlsContext::server(rt::certificate().certificate_file(), rt::certificate().key_file())
          .value();
  AwayServer away(std::move(options));
  rt::LoopThread client;
  rt::run_on(client.loop(), talk_over_tls(client.loop(), away.server.port()));
  EXPECT_TRUE(away.is_at_home);
}

}  // namespace
}  // namespace reprise::http
