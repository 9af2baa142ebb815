// WebSockets of the real server, spoken to in frames.
#include <gtest/gtest.h>

#include <deque>

#include "base/bytes.h"
#include "base/hash.h"
#include "http/limits.h"
#include "http/websocket_testing.h"
#include "wire/websocket_handshake.h"

namespace reprise::http {
namespace {

using testing::masked;
using testing::RawClient;
using testing::RawResponse;
using testing::RawWebSocket;
using testing::request_text;
using testing::upgrade_text;
using testing::WebSocketServer;
using enum wire::WebSocketOpcode;

TEST(WebSocketServer, EchoesTextAndBinary) {
  WebSocketServer server;
  RawWebSocket client(server.port());
  ASSERT_TRUE(client.send(kText, "h\xc3\xa9llo"));
  EXPECT_EQ(client.next(), "text h\xc3\xa9llo");
  ASSERT_TRUE(client.send(kBinary, std::string_view("\xff\0\x01", 3)));
  EXPECT_EQ(client.next(), "binary " + std::string("\xff\0\x01", 3));
  ASSERT_TRUE(client.send(kText, ""));
  EXPECT_EQ(client.next(), "text ");
  EXPECT_EQ(server.server.probe.websockets_open, 1U);
  EXPECT_EQ(server.server.probe.by_class[1], 1U);
}

TEST(WebSocketServer, TheHandshakeIsWhatTheRfcShows) {
  WebSocketServer server;
  RawClient client(server.port());
  ASSERT_TRUE(client.send(upgrade_text("/ws",
                                       "Sec-WebSocket-Protocol: chat.v9, chat.v2\r\n"
                                       "Sec-WebSocket-Extensions: permessage-deflate\r\n")));
  const RawResponse answer = client.response();
  EXPECT_EQ(answer.status, 101);
  EXPECT_TRUE(answer.has("HTTP/1.1 101 Switching Protocols\r\n"));
  EXPECT_TRUE(answer.has("upgrade: websocket\r\n"));
  EXPECT_TRUE(answer.has("connection: Upgrade\r\n"));
  EXPECT_TRUE(answer.has("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
  EXPECT_TRUE(answer.has("sec-websocket-protocol: chat.v2\r\n"));
  EXPECT_FALSE(answer.has("extensions"));
  EXPECT_FALSE(answer.has("content-length"));
}

TEST(WebSocketServer, WhatComesBehindTheHandshakeIsNotLost) {
  WebSocketServer server;
  RawClient client(server.port());
  // More than fits one small read, and the close at once: what was asked before is still answered.
  const std::string long_text(10'000, 'x');
  ASSERT_TRUE(client.send(upgrade_text("/ws") + masked(kText, "first") + masked(kText, long_text) +
                          masked(kClose, wire::close_payload(1000, "done"))));
  EXPECT_EQ(client.response().status, 101);
  ASSERT_TRUE(client.ends());
  std::string expected;
  wire::append_frame(expected, kText, "first");
  wire::append_frame(expected, kText, long_text);
  wire::append_frame(expected, kClose, wire::close_payload(1000, ""));
  EXPECT_TRUE(client.unread() == expected);
}

TEST(WebSocketServer, PutsFragmentsTogetherAndAnswersPingsBetweenThem) {
  WebSocketServer server;
  RawWebSocket client(server.port());
  ASSERT_TRUE(client.send(kText, "one ", false));
  ASSERT_TRUE(client.send(kPing, "are you there?"));
  EXPECT_EQ(client.next(), "pong are you there?");
  ASSERT_TRUE(client.send(kContinuation, "two ", false));
  ASSERT_TRUE(client.send(kPong, "unasked"));
  ASSERT_TRUE(client.send(kContinuation, "three"));
  EXPECT_EQ(client.next(), "text one two three");
}

TEST(WebSocketServer, AnswersAPingWhileNobodyReads) {
  WebSocketServer server;
  RawWebSocket client(server.port(), "/ws/idle");
  EXPECT_EQ(client.next(), "text hello");
  ASSERT_TRUE(client.send(kPing, "p"));
  EXPECT_EQ(client.next(), "pong p");
}

TEST(WebSocketServer, AnswersACloseWithItsCode) {
  WebSocketServer server;
  RawWebSocket client(server.port());
  ASSERT_TRUE(client.send(kClose, wire::close_payload(4000, "that is all")));
  EXPECT_EQ(client.next(), "close 4000 ");
  EXPECT_EQ(client.next(), "end");
  RawWebSocket wordless(server.port());
  ASSERT_TRUE(wordless.send(kClose, ""));
  EXPECT_EQ(wordless.next(), "close 1005 ");
  EXPECT_EQ(wordless.next(), "end");
}

TEST(WebSocketServer, AnswersACloseThatIsFollowedByTheEnd) {
  WebSocketServer server;
  RawWebSocket client(server.port());
  ASSERT_TRUE(client.client.send(masked(kText, "last") + masked(kClose, "")));
  client.client.finish_sending();
  EXPECT_EQ(client.next(), "text last");
  EXPECT_EQ(client.next(), "close 1005 ");
  EXPECT_EQ(client.next(), "end");
}

TEST(WebSocketServer, ACloseIsNoticedWhileNobodyReads) {
  WebSocketServer server;
  RawWebSocket client(server.port(), "/ws/idle");
  EXPECT_EQ(client.next(), "text hello");
  ASSERT_TRUE(client.send(kClose, wire::close_payload(1000, "")));
  EXPECT_EQ(client.next(), "close 1000 ");
  EXPECT_EQ(client.next(), "end");
  EXPECT_EQ(server.routes.ended_by, Code::kClosed);
}

TEST(WebSocketServer, AClientThatIsGoneWithoutAWordIsNoticed) {
  WebSocketServer server;
  {
    RawWebSocket idle(server.port(), "/ws/idle");
    EXPECT_EQ(idle.next(), "text hello");
    ASSERT_TRUE(server.server.eventually([&] { return server.routes.running == 1; }));
  }
  EXPECT_TRUE(server.server.eventually([&] { return server.routes.running == 0; }));
  {
    RawWebSocket reading(server.port());
    ASSERT_TRUE(server.server.eventually([&] { return server.routes.running == 1; }));
  }
  EXPECT_TRUE(server.server.eventually([&] { return server.routes.running == 0; }));
  EXPECT_EQ(server.routes.ended_by, Code::kClosed);
  EXPECT_TRUE(server.server.eventually([&] { return server.server.probe.websockets_open == 0; }));
}

TEST(WebSocketServer, ClosesFirst) {
  WebSocketServer server;
  RawWebSocket client(server.port(), "/ws/close");
  EXPECT_EQ(client.next(), "close 4001 not today");
  // What the client sent before it saw the close is dropped.
  ASSERT_TRUE(client.send(kText, "too late"));
  ASSERT_TRUE(client.send(kClose, wire::close_payload(4001, "")));
  EXPECT_EQ(client.next(), "end");
  RawWebSocket left(server.port(), "/ws/leave");
  EXPECT_EQ(left.next(), "text last words");
  EXPECT_EQ(left.next(), "close 1000 ");
}

TEST(WebSocketServer, BadFramesAreToldWhy) {
  WebSocketServer server;
  std::string unmasked;
  wire::append_frame(unmasked, kText, "x");
  const std::vector<std::pair<std::string, std::string>> all = {
      {unmasked, "close 1002 "},
      {masked(kContinuation, "x"), "close 1002 "},
      {"\xff\xff", "close 1002 "},
      {masked(kClose, "\x03"), "close 1002 "},
      {masked(kText, "\xff"), "close 1007 "},
      {masked(kText, "\xe2\x82", false) + masked(kContinuation, "x"), "close 1007 "},
      {masked(kText, std::string(100'000, 'x') + "\xff"), "close 1007 "},
      {masked(kText, std::string(1'001, 'x')), "close 1009 "},
      {masked(kText, std::string(600, 'x'), false) + masked(kContinuation, std::string(600, 'x')),
       "close 1009 "},
  };
  for (const auto& [bytes, expected] : all) {
    const bool is_size = expected == "close 1009 ";
    RawWebSocket client(server.port(), is_size ? "/ws/small" : "/ws");
    ASSERT_TRUE(client.send(kText, "fine"));
    EXPECT_EQ(client.next(), "text fine");
    ASSERT_TRUE(client.client.send(bytes));
    // It may go on sending before it sees the answer: no reset overtakes that.
    ASSERT_TRUE(client.client.send(std::string(50'000, 'x')));
    EXPECT_TRUE(client.next().starts_with(expected)) << expected;
    client.client.finish_sending();
    EXPECT_EQ(client.next(), "end") << expected;
  }
}

TEST(WebSocketServer, AClientThatSendsOnAfterTheEndIsCutOff) {
  WebSocketServer server;
  RawWebSocket client(server.port());
  ASSERT_TRUE(client.send(kContinuation, "x"));
  const std::string megabyte(1024 * 1024, 'x');
  std::size_t sent = 0;
  while (sent < 4 * kMaxLingerBytes && client.client.send(megabyte)) sent += megabyte.size();
  EXPECT_LT(sent, 4 * kMaxLingerBytes);
  EXPECT_TRUE(server.server.eventually([&] { return server.server.probe.websockets_open == 0; }));
}

TEST(WebSocketServer, LongMessagesBothWays) {
  WebSocketServer server;
  RawWebSocket client(server.port());
  const std::string text(kMaxWebSocketMessageBytes, 'x');
  ASSERT_TRUE(client.send(kText, text));
  EXPECT_TRUE(client.next() == "text " + text);
  ASSERT_TRUE(client.send(kText, text + "x"));
  EXPECT_TRUE(client.next().starts_with("close 1009 "));
}

TEST(WebSocketServer, ASlowReaderIsWaitedForAndGetsEverything) {
  WebSocketServer server;
  RawWebSocket client(server.port(), "/ws/flood", 16 * 1024);
  ASSERT_TRUE(server.server.eventually([&] { return server.routes.is_refused.load(); }));
  const std::size_t pushed = server.routes.pushed;
  EXPECT_GE(pushed * server.routes.kFloodPartBytes, kMaxBacklogBytes);
  const std::string part = "binary " + std::string(server.routes.kFloodPartBytes, 'f');
  for (std::size_t i = 0; i < pushed; ++i) ASSERT_TRUE(client.next() == part) << i;
  EXPECT_EQ(client.next(), "text there is room");
  EXPECT_EQ(client.next(), "close 4002 enough");
}

TEST(WebSocketServer, ADrainSaysGoingAway) {
  WebSocketServer server;
  RawWebSocket reading(server.port());
  RawWebSocket idle(server.port(), "/ws/idle");
  EXPECT_EQ(idle.next(), "text hello");
  ASSERT_TRUE(server.server.eventually([&] { return server.routes.running == 2; }));
  server.server.begin_drain(Millis{30'000});
  for (RawWebSocket* client : {&reading, &idle}) {
    EXPECT_EQ(client->next(), "close 1001 the server is stopping");
    ASSERT_TRUE(client->send(kClose, wire::close_payload(1001, "")));
    EXPECT_EQ(client->next(), "end");
  }
  EXPECT_EQ(server.routes.ended_by, Code::kShuttingDown);
  reading.client.finish_sending();
  idle.client.finish_sending();
  EXPECT_TRUE(server.server.eventually([&] { return server.server.is_drained(); }));
  EXPECT_EQ(server.server.probe.websockets_open, 0U);
}

TEST(WebSocketServer, ADrainCutsOffWhoDoesNotListen) {
  WebSocketServer server;
  RawWebSocket deaf(server.port(), "/ws/flood", 16 * 1024);
  RawWebSocket silent(server.port());
  ASSERT_TRUE(server.server.eventually([&] { return server.routes.is_refused.load(); }));
  server.server.drain(Millis{100});
  EXPECT_EQ(server.server.probe.connections_open, 0U);
}

TEST(WebSocketServer, APlainRequestIsToldToUpgrade) {
  WebSocketServer server;
  RawClient client(server.port());
  ASSERT_TRUE(client.send(request_text("GET", "/ws")));
  RawResponse answer = client.response();
  EXPECT_EQ(answer.status, 426);
  EXPECT_TRUE(answer.has("upgrade: websocket\r\n"));
  EXPECT_TRUE(answer.has("connection: upgrade, keep-alive\r\n"));
  EXPECT_NE(answer.body.find("\"upgrade_required\""), std::string::npos);
  // HEAD too, and the connection goes on.
  ASSERT_TRUE(client.send(request_text("HEAD", "/ws")));
  EXPECT_EQ(client.response(true).status, 426);
  ASSERT_TRUE(client.send(request_text(
      "GET", "/ws", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\n")));
  answer = client.response();
  EXPECT_EQ(answer.status, 426);
  EXPECT_TRUE(answer.has("sec-websocket-version: 13\r\n"));
  ASSERT_TRUE(client.send(
      request_text("GET", "/ws",
                   "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: short\r\n")));
  EXPECT_EQ(client.response().status, 400);
  ASSERT_TRUE(client.send(upgrade_text("/ws")));
  EXPECT_EQ(client.response().status, 101);
}

TEST(WebSocketServer, AnUpgradeOfAnotherRouteIsAnOrdinaryRequest) {
  WebSocketServer server;
  RawClient client(server.port());
  ASSERT_TRUE(client.send(upgrade_text("/source")));
  EXPECT_EQ(client.response().status, 200);
}

TEST(WebSocketServer, TheGatekeeperDecidesBeforeTheUpgrade) {
  auto tokens = Tokens::parse(fmt::format(
      R"({{"tokens":[{{"name":"reader","sha256":"{}","scopes":["read"],"apps":["*"]}}]}})",
      to_hex(sha256("secret"))));
  ASSERT_TRUE(tokens);
  WebSocketServer server({}, {.tokens = std::make_shared<const Tokens>(std::move(*tokens))});
  RawClient client(server.port());
  const std::string allowed = "Authorization: Bearer secret\r\n";
  ASSERT_TRUE(client.send(upgrade_text("/ws")));
  EXPECT_EQ(client.response().status, 401);
  ASSERT_TRUE(client.send(upgrade_text("/ws", allowed + "Origin: http://evil.example\r\n")));
  EXPECT_EQ(client.response().status, 403);
  std::string other_host = upgrade_text("/ws", allowed);
  other_host.replace(other_host.find("localhost"), 9, "rebound.example");
  ASSERT_TRUE(client.send(other_host));
  EXPECT_EQ(client.response().status, 400);
  ASSERT_TRUE(client.send(upgrade_text("/ws", allowed + "Origin: http://localhost\r\n")));
  EXPECT_EQ(client.response().status, 101);
}

TEST(WebSocketServer, CountsAsAConnectionAndNotAsARequest) {
  ServerOptions options;
  options.max_connections = 3;
  options.max_in_flight_per_loop = 1;
  options.idle_timeout = Millis{100};
  options.request_timeout = Millis{100};
  WebSocketServer server(options);
  RawWebSocket first(server.port());
  RawWebSocket second(server.port());
  RawClient third(server.port());
  ASSERT_TRUE(third.send(request_text("POST", "/echo", "", "x")));
  EXPECT_EQ(third.response().status, 200);
  RawClient fourth(server.port());
  EXPECT_EQ(fourth.response().status, 503);
  // And it outlasts the timeouts of requests.
  const auto until = server.server.loop().now() + Millis{400};
  ASSERT_TRUE(server.server.eventually([&] { return server.server.loop().now() > until; }));
  ASSERT_TRUE(first.send(kText, "still here"));
  EXPECT_EQ(first.next(), "text still here");
}

}  // namespace
}  // namespace reprise::http
