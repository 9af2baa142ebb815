// McpWorld: the MCP endpoint over a host that does as it is told, on loops that move when they are
// told; for tests and fuzzers.
//
//     McpWorld world;
//     Asking& asking = world.post(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
//     asking.reply().body ...
//
// A request runs as far as it can; asking.is_answered() says whether that was far enough. A reply
// that streams runs on by itself, and asking.socket.taken has what it has sent.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/mcp/endpoint.h"
#include "base/assert.h"
#include "http/fake_socket.h"
#include "rt/manual_loop.h"

namespace reprise::api::testing {

using McpHeaders = std::vector<std::pair<std::string, std::string>>;

// Answers with what it was asked; or, told to hold, when it is released.
class FakeHost final : public ToolHost {
 public:
  explicit FakeHost(rt::Loop& loop) : released(loop) {}
  struct Seen {
    Caller caller;
    std::string tool;
    std::string arguments;
  };
  rt::Task<Result<Outcome>> call(Caller caller, std::string tool, std::string arguments,
                                 rt::CancelScope& scope) override {
    seen.push_back({std::move(caller), std::move(tool), std::move(arguments)});
    if (holds) {
      const auto waited = co_await released.wait(scope);
      if (!waited) {
        ++cancelled;
        co_return fail(waited.error());
      }
    }
    if (error) co_return fail(*error);
    co_return answer;
  }
  std::vector<Seen> seen;
  int cancelled = 0;
  bool holds = false;
  std::optional<Error> error;
  Outcome answer{.text = "### Result\ndone"};
  rt::Signal released;
};

struct Asking {
  explicit Asking(rt::Loop& loop) : socket(loop) { socket.room = 1 << 30; }
  http::testing::FakeSocket socket;
  http::Exchange exchange;
  std::optional<Result<http::Reply>> outcome;
  rt::CancelScope scope;
  bool has_streamed = false;  // and is done with it

  bool is_answered() const { return outcome.has_value(); }
  http::Reply& reply() {
    REPRISE_ASSERT(outcome && *outcome);
    return **outcome;
  }
  int status() { return reply().status; }
  // What came, whichever way it came.
  std::string text() { return reply().body + socket.taken; }
};

class McpWorld {
 public:
  explicit McpWorld(McpOptions options = {.server_version = "test"}) {
    endpoint_.emplace(std::vector<rt::Loop*>{&home_, &loop_}, host, time_, random_,
                      std::move(options));
    add_mcp_routes(router_, *endpoint_);
  }
  ~McpWorld() {
    host.holds = false;
    loop_.post([this] { host.released.notify(); });
    run();
    loop_.post([this] { rt::spawn(gate_, endpoint_->close()); });
    run();
    loop_.post([this] { askings_.clear(); });
    run();
  }

  Asking& call(wire::Method method, std::string target, std::string body,
               const McpHeaders& headers = {}, std::string_view by = "anonymous") {
    Asking& asking = askings_.emplace_back(loop_);
    http::Exchange& exchange = asking.exchange;
    exchange.request.method = method;
    exchange.request.body = std::move(body);
    for (const auto& [name, value] : headers) exchange.request.headers.add(name, value);
    exchange.principal = {.name = std::string(by), .scope = http::Scope::kWrite, .apps = {}};
    exchange.request_id = "test";
    exchange.socket = &asking.socket;
    exchange.flusher = &flusher_;
    auto parsed = wire::parse_target(target);
    REPRISE_ASSERT(parsed.has_value(), target);
    exchange.target = std::move(*parsed);
    http::Match match = router_.find(method, exchange.target.segments);
    REPRISE_ASSERT(match.route != nullptr, target);
    loop_.post([this, &asking, route = match.route] { rt::spawn(gate_, answer(*route, asking)); });
    run();
    return asking;
  }
  Asking& post(std::string body, const McpHeaders& headers = {},
               std::string_view by = "anonymous") {
    return call(wire::Method::kPost, "/mcp", std::move(body), headers, by);
  }
  // The session of a client that has said initialize.
  std::string initialize(std::string_view version = "2025-11-25",
                         std::string_view by = "anonymous") {
    Asking& asking =
        post(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
                 std::string(version) +
                 R"(","capabilities":{},"clientInfo":{"name":"tester","version":"7"}}})",
             {}, by);
    return std::string(asking.reply().headers.get("mcp-session-id").value_or(""));
  }
  // The client closes its connection.
  void vanish(Asking& asking) {
    loop_.post([&] { asking.scope.cancel(Error{Code::kClosed, "the reader is gone"}); });
    run();
  }
  void stop_server(Asking& asking) {
    loop_.post([&] { asking.scope.cancel(Error{Code::kShuttingDown, "stopping"}); });
    run();
  }
  void release() {
    loop_.post([this] { host.released.notify(); });
    run();
  }
  void run() {
    while (home_.run_ready() + loop_.run_ready() > 0) {
    }
  }
  void advance(Millis by) {
    loop_.advance(by);
    run();
  }
  const McpEndpoint& endpoint() const { return *endpoint_; }
  const http::Router& router() const { return router_; }

 private:
  rt::ManualTime time_;
  rt::ManualLoop home_{time_};  // of the transport's sessions
  rt::ManualLoop loop_{time_};  // of every connection

 public:
  FakeHost host{loop_};

 private:
  static rt::Task<> answer(const http::Route& route, Asking& asking) {
    asking.outcome = co_await route.handler(asking.exchange);
    if (!*asking.outcome)
      asking.outcome = http::problem(asking.outcome->error(), asking.exchange.target.path);
    // As a connection does.
    if (!asking.reply().stream) co_return;
    co_await asking.reply().stream(asking.scope);
    asking.has_streamed = true;
    asking.reply().stream = {};
  }

  SeededRandom random_{7};
  http::Router router_;
  http::Flusher flusher_{loop_};
  std::optional<McpEndpoint> endpoint_;
  std::deque<Asking> askings_;
  rt::Gate gate_;
};

}  // namespace reprise::api::testing
