// The client's side of a WebSocket, against our own server and against peers that are none.
#include "http/websocket_client.h"

#include <gtest/gtest.h>

#include "http/websocket_testing.h"
#include "rt/test_certificate.h"
#include "rt/test_loop.h"

namespace reprise::http {
namespace {

using testing::WebSocketServer;
using Opened = Result<std::unique_ptr<WebSocket>>;

// What a test does with a socket that is open.
using Talk = rt::Task<> (*)(WebSocket&, rt::CancelScope&);

rt::Task<> connect_and_talk(rt::RealLoop& loop, std::uint16_t port, std::string path, Talk talk,
                            WebSocketOptions options) {
  SystemRandom random;
  rt::CancelScope scope;
  auto socket =
      co_await connect_websocket(loop, {"127.0.0.1", port}, std::move(path), random, scope,
                                 rt::Deadline::after(loop, rt::kPatience), std::move(options));
  EXPECT_TRUE(socket) << socket.error().detail;
  if (socket) co_await talk(**socket, scope);
}

void talk_to(WebSocketServer& server, const char* path, Talk talk,
             WebSocketOptions options = trusting()) {
  rt::LoopThread client;
  rt::run_on(client.loop(),
             connect_and_talk(client.loop(), server.port(), path, talk, std::move(options)));
}

rt::Task<> exchange_messages(WebSocket& socket, rt::CancelScope& scope) {
  for (const std::size_t size : {0UL, 5UL, 125UL, 126UL, 5'000UL, 70'000UL, 9'000'000UL}) {
    const std::string bytes = rt::numbered_bytes(size);
    EXPECT_TRUE(co_await socket.send({.is_text = false, .data = bytes}, scope));
    auto answer = co_await socket.read(scope);
    const bool is_same = answer && *answer && (*answer)->data == bytes && !(*answer)->is_text;
    EXPECT_TRUE(is_same) << size;
  }
}

TEST(WebSocketClient, ExchangesMessagesOfAllSizes) {
  WebSocketServer server;
  talk_to(server, "/ws", exchange_messages);
}

rt::Task<> send_many(WebSocket& socket, rt::CancelScope& scope) {
  for (int i = 0; i < 10'000; ++i)
    EXPECT_TRUE(socket.push({.is_text = true, .data = std::to_string(i)}) ||
                co_await socket.send({.is_text = true, .data = std::to_string(i)}, scope));
  for (int i = 0; i < 10'000; ++i) {
    auto answer = co_await socket.read(scope);
    if (!answer || !*answer || (*answer)->data != std::to_string(i)) {
      ADD_FAILURE() << i;
      co_return;
    }
  }
}

TEST(WebSocketClient, ManyMessagesArriveInOrder) {
  WebSocketServer server;
  talk_to(server, "/ws", send_many);
}

rt::Task<> close_first(WebSocket& socket, rt::CancelScope& scope) {
  EXPECT_EQ(socket.subprotocol(), "chat.v2");
  co_await socket.close(4000, "done");
  EXPECT_TRUE(socket.peer_close());
  EXPECT_EQ(socket.peer_close()->code, 4000);
  const auto after = co_await socket.read(scope);
  EXPECT_TRUE(after && !*after);
}

TEST(WebSocketClient, ClosesInGoodOrder) {
  WebSocketServer server;
  WebSocketOptions options = trusting();
  options.subprotocols = {"chat.v0", "chat.v2"};
  const auto began = server.server.loop().now();
  talk_to(server, "/ws", close_first, std::move(options));
  // Both saw the other's end: no timeout was waited for.
  EXPECT_LT(server.server.loop().now() - began, kLingerTimeout);
  EXPECT_TRUE(server.server.eventually([&] { return server.server.probe.websockets_open == 0; }));
}

rt::Task<> see_the_close(WebSocket& socket, rt::CancelScope& scope) {
  const auto message = co_await socket.read(scope);
  EXPECT_TRUE(message && !*message);
  EXPECT_EQ(socket.peer_close()->code, 4001);
  EXPECT_EQ(socket.peer_close()->reason, "not today");
  co_await socket.close(1000, "");
}

TEST(WebSocketClient, SeesTheServersClose) {
  WebSocketServer server;
  talk_to(server, "/ws/close", see_the_close);
}

rt::Task<> read_too_much(WebSocket& socket, rt::CancelScope& scope) {
  EXPECT_TRUE(co_await socket.send({.is_text = true, .data = std::string(101, 'x')}, scope));
  const auto message = co_await socket.read(scope);
  EXPECT_EQ(message.error().code, Code::kBodyTooLarge);
}

TEST(WebSocketClient, HasLimitsIfItWantsThem) {
  WebSocketServer server;
  talk_to(server, "/ws", read_too_much, {.max_message_bytes = 100});
}

rt::Task<> leave(WebSocket&, rt::CancelScope&) { co_return; }

TEST(WebSocketClient, OneThatIsDestroyedIsGone) {
  WebSocketServer server;
  talk_to(server, "/ws/idle", leave);
  EXPECT_TRUE(server.server.eventually([&] { return server.routes.ended_by == Code::kClosed; }));
}

rt::Task<> try_to_connect(rt::RealLoop& loop, std::uint16_t port, std::string path,
                          rt::CancelScope& scope, Millis patience, std::optional<Opened>& outcome) {
  SystemRandom random;
  outcome.emplace(co_await connect_websocket(loop, {"127.0.0.1", port}, std::move(path), random,
                                             scope, rt::Deadline::after(loop, patience)));
}

Code refusal(std::uint16_t port, std::string path, Millis patience = Millis{60'000}) {
  rt::LoopThread client;
  rt::CancelScope scope;
  std::optional<Opened> outcome;
  rt::run_on(client.loop(),
             try_to_connect(client.loop(), port, std::move(path), scope, patience, outcome));
  EXPECT_FALSE(*outcome);
  return outcome->error().code;
}

TEST(WebSocketClient, ToldSomethingElseThanAWebSocket) {
  WebSocketServer server;
  EXPECT_EQ(refusal(server.port(), "/source"), Code::kMalformedHttp);
  EXPECT_EQ(refusal(server.port(), "/nothing/there"), Code::kMalformedHttp);
  EXPECT_EQ(refusal(server.port(), "no path"), Code::kBadParameter);
}

rt::Task<> bind_silent(rt::RealLoop& loop, std::unique_ptr<rt::Listener>& listener,
                       std::vector<std::unique_ptr<rt::Socket>>& taken) {
  listener = rt::Listener::bind(loop, {"127.0.0.1", 0}).value();
  listener->start({&loop}, [&taken](rt::RealLoop&, std::unique_ptr<rt::Socket> socket) {
    taken.push_back(std::move(socket));
  });
  co_return;
}

TEST(WebSocketClient, AServerThatSaysNothingIsNotWaitedForForever) {
  rt::LoopThread thread;
  std::unique_ptr<rt::Listener> listener;
  std::vector<std::unique_ptr<rt::Socket>> taken;
  rt::run_on(thread.loop(), bind_silent(thread.loop(), listener, taken));
  const std::uint16_t port = listener->local().port;
  EXPECT_EQ(refusal(port, "/", Millis{50}), Code::kDeadline);
  // Nor after a cancel.
  rt::LoopThread client;
  rt::CancelScope scope;
  std::optional<Opened> outcome;
  rt::Gate gate;
  rt::call_on(client.loop(), [&] {
    rt::spawn(gate, try_to_connect(client.loop(), port, "/", scope, Millis{60'000}, outcome));
  });
  rt::call_on(client.loop(), [&] { scope.cancel({Code::kShuttingDown, "stop"}); });
  const auto until = std::chrono::steady_clock::now() + rt::kPatience;
  bool is_over = false;
  while (!is_over && std::chrono::steady_clock::now() < until)
    rt::call_on(client.loop(), [&] { is_over = gate.inside() == 0; });
  ASSERT_TRUE(is_over);
  EXPECT_EQ(outcome->error().code, Code::kShuttingDown);
  rt::call_on(thread.loop(), [&] {
    listener->stop();
    listener.reset();
    taken.clear();
  });
}

rt::Task<> talk_over_tls(rt::RealLoop& loop, std::uint16_t port) {
  SystemRandom random;
  rt::CancelScope scope;
  auto plain = co_await rt::connect(loop, {"127.0.0.1", port});
  REPRISE_ASSERT(plain.has_value());
  auto secure =
      co_await rt::connect_tls(rt::TlsContext::client(rt::certificate().certificate_file()).value(),
                               std::move(*plain), "127.0.0.1");
  REPRISE_ASSERT(secure.has_value());
  auto socket = co_await open_websocket(loop, std::move(*secure), "localhost", "/ws", random, scope,
                                        rt::Deadline::after(loop, rt::kPatience));
  EXPECT_TRUE(socket);
  if (!socket) co_return;
  co_await exchange_messages(**socket, scope);
  co_await (*socket)->close(1000, "");
  EXPECT_TRUE((*socket)->peer_close());
}

TEST(WebSocketClient, TalksOverTls) {
  ServerOptions options;
  options.tls =
      rt::TlsContext::server(rt::certificate().certificate_file(), rt::certificate().key_file())
          .value();
  WebSocketServer server(options);
  rt::LoopThread client;
  rt::run_on(client.loop(), talk_over_tls(client.loop(), server.port()));
}

}  // namespace
}  // namespace reprise::http
