// The endpoint in a real server with two loops: connections of one client land on both, and what
// one of them says must reach what another one waits for.
#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <functional>

#include "api/mcp/endpoint.h"
#include "http/server.h"
#include "http/testing.h"

namespace reprise::api {
namespace {

using http::testing::RawClient;
using http::testing::RawResponse;

// browser_wait_for waits until it is cancelled; anything else is answered at once.
class WaitingHost final : public ToolHost {
 public:
  rt::Task<Result<Outcome>> call(Caller, std::string tool, std::string,
                                 rt::CancelScope& scope) override {
    if (tool != "browser_wait_for") co_return Outcome{.text = tool};
    ++waiting;
    rt::Signal never(*rt::Loop::current());
    const auto waited = co_await never.wait(scope);
    --waiting;
    ++cancelled;
    co_return fail(waited.error());
  }
  std::atomic<int> waiting{0};
  std::atomic<int> cancelled{0};
};

class McpServer {
 public:
  McpServer() {
    add_mcp_routes(router_, endpoint_);
    rt::call_on(first_.loop(), [this] {
      server_ = std::make_unique<http::Server>(std::vector{&first_.loop(), &second_.loop()},
                                               router_, gatekeeper_, http::ServerOptions{}, probe_);
      const auto bound = server_->listen({"127.0.0.1", 0});
      REPRISE_ASSERT(bound.has_value());
      port = bound->port;
      server_->start();
    });
  }
  ~McpServer() {
    rt::run_on(first_.loop(), server_->drain(Millis{10'000}));
    rt::run_on(first_.loop(), endpoint_.close());
    rt::call_on(first_.loop(), [this] { server_.reset(); });
  }
  WaitingHost host;
  std::uint16_t port = 0;

 private:
  rt::LoopThread first_;
  rt::LoopThread second_;
  SystemRandom random_;
  SystemClock clock_;
  http::Router router_;
  http::Probe probe_;
  http::Gatekeeper gatekeeper_{{.listen_host = "127.0.0.1",
                                .allowed_hosts = {},
                                .cors_origins = {},
                                .tokens = std::make_shared<const http::Tokens>()}};
  McpEndpoint endpoint_{
      {&first_.loop(), &second_.loop()}, host, clock_, random_, {.server_version = "test"}};
  std::unique_ptr<http::Server> server_;
};

// Waits until it holds; false if it never does.
bool eventually(const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + rt::kPatience;
  while (!holds() && std::chrono::steady_clock::now() < until) sched_yield();
  return holds();
}

std::string post(std::string_view session, std::string_view body) {
  std::string headers =
      "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
  if (!session.empty()) headers += fmt::format("Mcp-Session-Id: {}\r\n", session);
  return http::testing::request_text("POST", "/mcp", headers, body);
}

std::string call(int id, std::string_view tool, std::string_view arguments = "{}") {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"tools/call",)"
                     R"("params":{{"name":"{}","arguments":{}}}}})",
                     id, tool, arguments);
}

std::string open_session(RawClient& client) {
  client.send(post("", R"({"jsonrpc":"2.0","id":0,"method":"initialize",)"
                       R"("params":{"protocolVersion":"2025-11-25"}})"));
  const RawResponse answer = client.response();
  const std::size_t at = answer.head.find("mcp-session-id: ");
  EXPECT_NE(at, std::string::npos) << answer.head;
  return answer.head.substr(at + 16, 43);
}

TEST(McpServer, OneConnectionCancelsWhatAnotherWaitsFor) {
  McpServer server;
  // Connections are dealt out to the loops in turn.
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(std::make_unique<RawClient>(server.port));
  const std::string session = open_session(*clients[0]);
  for (int round = 0; round < 8; ++round) {
    RawClient& waiting = *clients[static_cast<std::size_t>(round % 4)];
    RawClient& other = *clients[static_cast<std::size_t>((round + round / 4 + 1) % 4)];
    ASSERT_TRUE(waiting.send(post(session, call(round, "browser_wait_for"))));
    ASSERT_TRUE(eventually([&] { return server.host.waiting == 1; }));
    ASSERT_TRUE(other.send(post(session, call(100 + round, "browser_close"))));
    EXPECT_EQ(other.response().status, 200);
    ASSERT_TRUE(other.send(
        post(session, fmt::format(R"({{"jsonrpc":"2.0","method":"notifications/cancelled",)"
                                  R"("params":{{"requestId":{}}}}})",
                                  round))));
    EXPECT_EQ(other.response().status, 202);
    const RawResponse answer = waiting.response();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "");
    EXPECT_TRUE(answer.has("text/event-stream")) << answer.head;
    EXPECT_EQ(server.host.cancelled, round + 1);
  }
}

TEST(McpServer, WhoHangsUpCancelsAndAServerThatStopsDoesToo) {
  McpServer server;
  auto leaving = std::make_unique<RawClient>(server.port);
  RawClient staying(server.port);
  const std::string wait = call(1, "browser_wait_for", R"({"session":"a"})");
  leaving->send(post("", wait));
  staying.send(post("", wait));
  ASSERT_TRUE(leaving->read_until(": working"));
  ASSERT_TRUE(staying.read_until(": working"));
  leaving.reset();
  EXPECT_TRUE(eventually([&] { return server.host.cancelled == 1; }));
  EXPECT_EQ(server.host.waiting, 1);
}

}  // namespace
}  // namespace reprise::api
