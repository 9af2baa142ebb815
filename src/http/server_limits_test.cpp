// What the server does at its limits: too many, too slow, too late; and how it stops.
#include <gtest/gtest.h>

#include <deque>

#include "http/limits.h"
#include "http/server.h"
#include "http/testing.h"
#include "wire/json.h"

namespace reprise::http {
namespace {

using testing::RawClient;
using testing::RawResponse;
using testing::request_text;
using testing::TestServer;

ServerOptions impatient() {
  ServerOptions options;
  options.idle_timeout = Millis{150};
  options.request_timeout = Millis{150};
  return options;
}

TEST(ServerLimits, RefusesConnectionsBeyondTheMost) {
  ServerOptions options;
  options.max_connections = 2;
  TestServer server(options);
  RawClient first(server.port());
  auto second = std::make_unique<RawClient>(server.port());
  ASSERT_TRUE(server.eventually([&] { return server.probe.connections_open == 2; }));
  {
    // It may send before it reads that there is no room.
    RawClient third(server.port());
    ASSERT_TRUE(third.send(request_text("POST", "/echo", "", std::string(10'000, 'x'))));
    const RawResponse answer = third.response();
    EXPECT_EQ(answer.status, 503);
    EXPECT_TRUE(answer.has("retry-after: "));
    EXPECT_TRUE(third.ends());
  }
  EXPECT_EQ(server.probe.connections_refused, 1U);
  second.reset();
  ASSERT_TRUE(server.eventually([&] { return server.probe.connections_open == 1; }));
  RawClient fourth(server.port());
  ASSERT_TRUE(fourth.send(request_text("POST", "/echo", "", "x")));
  EXPECT_EQ(fourth.response().status, 200);
}

TEST(ServerLimits, TellsOnlySoManyAtOnceThatThereIsNoRoom) {
  ServerOptions options;
  options.max_connections = 0;
  TestServer server(options);
  // Each stays until it is closed or its time has passed.
  std::deque<RawClient> clients;
  for (std::size_t i = 0; i < kMaxRefusing; ++i) {
    clients.emplace_back(server.port());
    ASSERT_EQ(clients.back().response().status, 503) << i;
  }
  RawClient further(server.port());
  EXPECT_EQ(further.response().status, 0);
}

TEST(ServerLimits, AnIdleConnectionIsClosedWithoutAWord) {
  ServerOptions options = impatient();
  options.request_timeout = Millis{60'000};
  TestServer server(options);
  RawClient client(server.port());
  ASSERT_TRUE(client.send(request_text("POST", "/echo", "", "x")));
  EXPECT_EQ(client.response().status, 200);
  EXPECT_TRUE(client.ends());
  EXPECT_EQ(client.unread(), "");
  EXPECT_EQ(server.probe.timed_out, 0U);
}

TEST(ServerLimits, ARequestThatDoesNotArriveInTimeIsTold408) {
  ServerOptions options = impatient();
  options.idle_timeout = Millis{60'000};
  TestServer server(options);
  for (const std::string& begun :
       {std::string("GET / HT"), request_text("GET", "/big").substr(0, 30),
        request_text("POST", "/echo", "Content-Length: 5\r\n") + "abc"}) {
    RawClient client(server.port());
    ASSERT_TRUE(client.send(begun));
    EXPECT_EQ(client.response().status, 408) << begun;
    EXPECT_TRUE(client.ends());
  }
  EXPECT_EQ(server.probe.timed_out, 3U);
}

TEST(ServerLimits, ALongAnswerIsNotALateRequest) {
  TestServer server(impatient());
  RawClient client(server.port());
  ASSERT_TRUE(client.send(request_text("GET", "/hold")));
  ASSERT_TRUE(server.eventually([&] { return server.holding == 1; }));
  const auto until = server.loop().now() + Millis{500};
  ASSERT_TRUE(server.eventually([&] { return server.loop().now() > until; }));
  server.release();
  EXPECT_EQ(client.response().status, 200);
}

TEST(ServerLimits, AStreamOutlastsEveryTimeout) {
  TestServer server(impatient());
  RawClient client(server.port());
  ASSERT_TRUE(client.send(request_text("GET", "/stream")));
  ASSERT_TRUE(client.read_until("hello"));
  const auto until = server.loop().now() + Millis{500};
  ASSERT_TRUE(server.eventually([&] { return server.loop().now() > until; }));
  EXPECT_EQ(server.probe.streams_open, 1U);
}

TEST(ServerLimits, ASlowReaderOfALargeAnswerGetsAllOfIt) {
  ServerOptions options = impatient();
  options.request_timeout = Millis{400};
  TestServer server(options);
  RawClient client(server.port(), 16 * 1024);
  ASSERT_TRUE(client.send(request_text("GET", "/big")));
  // Longer in all than a request may take, never a whole timeout without a byte.
  const auto until = server.loop().now() + Millis{1'000};
  std::size_t wanted = 0;
  while (server.loop().now() < until) {
    const auto next = server.loop().now() + Millis{20};
    ASSERT_TRUE(server.eventually([&] { return server.loop().now() > next; }));
    wanted += 50'000;
    while (client.unread().size() < wanted) ASSERT_TRUE(client.read_some());
  }
  const RawResponse answer = client.response();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body.size(), TestServer::kBigBytes);
}

TEST(ServerLimits, AReaderThatStopsIsClosed) {
  TestServer server(impatient());
  RawClient client(server.port(), 16 * 1024);
  ASSERT_TRUE(client.send(request_text("GET", "/big")));
  EXPECT_TRUE(server.eventually([&] { return server.probe.connections_open == 1; }));
  EXPECT_TRUE(server.eventually([&] { return server.probe.connections_open == 0; }));
}

TEST(ServerLimits, AClientThatStaysAfterARefusalIsLeftAfterAWhile) {
  TestServer server(impatient());
  RawClient client(server.port());
  ASSERT_TRUE(client.send("nonsense\r\n\r\n"));
  EXPECT_EQ(client.response().status, 400);
  const auto told = server.loop().now();
  EXPECT_TRUE(server.eventually([&] { return server.probe.connections_open == 0; }));
  EXPECT_GT(server.loop().now() - told, kLingerTimeout / 2);
}

TEST(ServerLimits, ShedsRequestsBeyondThoseItMayHaveInFlight) {
  EXPECT_EQ(ServerOptions{}.max_in_flight_per_loop, kMaxInFlightPerLoop);
  ServerOptions options;
  options.max_in_flight_per_loop = 3;
  TestServer server(options);
  std::deque<RawClient> holders;
  for (int i = 0; i < 3; ++i) {
    holders.emplace_back(server.port());
    ASSERT_TRUE(holders.back().send(request_text("GET", "/hold")));
  }
  ASSERT_TRUE(server.eventually([&] { return server.holding == 3; }));
  RawClient further(server.port());
  ASSERT_TRUE(further.send(request_text("POST", "/echo", "", "x")));
  const RawResponse shed = further.response();
  EXPECT_EQ(shed.status, 503);
  EXPECT_TRUE(shed.has("retry-after: "));
  EXPECT_EQ(server.probe.shed, 1U);
  server.release();
  for (RawClient& holder : holders) EXPECT_EQ(holder.response().status, 200);
  ASSERT_TRUE(further.send(request_text("POST", "/echo", "", "x")));
  EXPECT_EQ(further.response().status, 200);
}

TEST(Drain, AnswersWhatIsInFlightClosesWhatIsIdleAndTellsStreams) {
  TestServer server;
  RawClient idle(server.port());
  RawClient half(server.port());
  RawClient holder(server.port());
  RawClient reader(server.port());
  ASSERT_TRUE(half.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nha"));
  ASSERT_TRUE(holder.send(request_text("GET", "/hold")));
  ASSERT_TRUE(reader.send(request_text("GET", "/stream")));
  ASSERT_TRUE(reader.read_until("hello"));
  ASSERT_TRUE(
      server.eventually([&] { return server.holding == 1 && server.probe.connections_open == 4; }));
  server.begin_drain(Millis{30'000});
  EXPECT_TRUE(idle.ends());
  EXPECT_TRUE(reader.read_until(": bye\n\n"));
  EXPECT_TRUE(reader.ends());
  EXPECT_FALSE(server.is_drained());
  ASSERT_TRUE(half.send("lf"));
  const RawResponse rest = half.response();
  EXPECT_EQ(rest.body, "half");
  EXPECT_TRUE(rest.has("connection: close"));
  server.release();
  const RawResponse held = holder.response();
  EXPECT_EQ(held.status, 200);
  EXPECT_TRUE(held.has("connection: close"));
  EXPECT_TRUE(server.eventually([&] { return server.is_drained(); }));
  EXPECT_EQ(server.probe.connections_open, 0U);
}

TEST(Drain, CutsOffWhatIsLeftAfterItsTime) {
  TestServer server;
  RawClient half(server.port());
  RawClient slow(server.port(), 16 * 1024);
  ASSERT_TRUE(half.send("POST /echo HTTP/1.1\r\nHost: local"));
  ASSERT_TRUE(slow.send(request_text("GET", "/big")));
  ASSERT_TRUE(slow.read_until("HTTP/1.1 200"));
  ASSERT_TRUE(server.eventually([&] { return server.probe.connections_open == 2; }));
  server.drain(Millis{100});
  EXPECT_EQ(server.probe.connections_open, 0U);
}

TEST(Drain, TakesNoNewConnections) {
  TestServer server;
  server.drain(Millis{1'000});
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server.port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_NE(::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(descriptor);
}

}  // namespace
}  // namespace reprise::http
