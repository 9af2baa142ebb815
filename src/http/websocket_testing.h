// What the tests of WebSockets share: routes that speak it, and a client that sends frames as they
// are and reads what comes back.
//
// Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/testing.h"
#include "http/websocket_upgrade.h"
#include "wire/websocket.h"

namespace reprise::http::testing {

inline constexpr std::string_view kSomeKey = "dGhlIHNhbXBsZSBub25jZQ==";

inline std::string upgrade_text(std::string_view target, std::string_view headers = "") {
  return request_text("GET", target,
                      fmt::format("Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {}\r\n{}",
                                  kSomeKey, headers));
}

// A frame as a client sends it.
inline std::string masked(wire::WebSocketOpcode opcode, std::string_view payload,
                          bool is_final = true) {
  std::string frame;
  wire::append_frame(frame, opcode, payload, wire::WebSocketMask{1, 2, 3, 4}, is_final);
  return frame;
}

// A blocking client of one WebSocket; every wait has a deadline.
class RawWebSocket {
 public:
  explicit RawWebSocket(std::uint16_t port, std::string_view target = "/ws", int receive_buffer = 0)
      : client(port, receive_buffer) {
    EXPECT_TRUE(client.send(upgrade_text(target)));
    EXPECT_EQ(client.response().status, 101);
  }
  bool send(wire::WebSocketOpcode opcode, std::string_view payload, bool is_final = true) {
    return client.send(masked(opcode, payload, is_final));
  }
  // The next event as words, "text hello" or "close 1000 why"; "end" or "reset" if there is none.
  std::string next() {
    for (;;) {
      if (auto event = decoder_.take()) return described(*event);
      if (input_.empty() && !refill()) return client.ends() ? "end" : "reset";
      const auto used = decoder_.feed(input_);
      if (!used) return used.error().detail;
      input_.remove_prefix(*used);
    }
  }

  RawClient client;

 private:
  static std::string described(const wire::WebSocketEvent& event) {
    using enum wire::WebSocketOpcode;
    switch (event.opcode) {
      case kText: return "text " + event.payload;
      case kBinary: return "binary " + event.payload;
      case kPing: return "ping " + event.payload;
      case kPong: return "pong " + event.payload;
      case kClose: return fmt::format("close {} {}", event.close_code, event.payload);
      case kContinuation: break;
    }
    return "impossible";
  }
  bool refill() {
    if (client.unread().empty() && !client.read_some()) return false;
    buffer_ = client.take_unread();
    input_ = buffer_;
    return true;
  }
  wire::WebSocketDecoder decoder_{{.role = wire::WebSocketRole::kClient}};
  std::string buffer_;
  std::string_view input_;
};

// GET /ws echoes; /ws/small takes messages of at most 1,000 bytes; /ws/idle never reads, and waits
// for its scope; /ws/close closes with 4001; /ws/leave ends at once; /ws/flood pushes until it is
// refused, waits for room, and closes with 4002.
struct WebSocketRoutes {
  std::atomic<int> running{0};
  std::atomic<Code> ended_by{Code::kInternal};  // how the last one's reading or waiting ended
  std::atomic<std::size_t> pushed{0};           // messages, before one was refused
  std::atomic<bool> is_refused{false};
  static constexpr std::size_t kFloodPartBytes = 256 * 1024;

  static rt::Task<> echo(WebSocketRoutes& routes, WebSocket& socket, rt::CancelScope& scope) {
    ++routes.running;
    for (;;) {
      auto message = co_await socket.read(scope);
      if (!message) routes.ended_by = message.error().code;
      if (!message || !*message) break;
      if (!co_await socket.send(std::move(**message), scope)) break;
    }
    --routes.running;
  }
  static rt::Task<> idle(WebSocketRoutes& routes, WebSocket& socket, rt::CancelScope& scope,
                         rt::Loop& loop) {
    (void)socket.push({.is_text = true, .data = "hello"});
    rt::Signal never(loop);
    ++routes.running;
    const auto waited = co_await never.wait(scope);
    routes.ended_by = waited.error().code;
    --routes.running;
  }
  static rt::Task<> leave(WebSocketRoutes&, WebSocket& socket, rt::CancelScope&) {
    (void)socket.push({.is_text = true, .data = "last words"});
    co_return;
  }
  static rt::Task<> close(WebSocketRoutes&, WebSocket& socket, rt::CancelScope& scope) {
    co_await socket.close(4001, "not today");
    EXPECT_FALSE(socket.push({.is_text = true, .data = "too late"}));
    EXPECT_FALSE(co_await socket.send({.is_text = true, .data = "too late"}, scope));
    const auto message = co_await socket.read(scope);
    EXPECT_TRUE(message && !*message);
  }
  static rt::Task<> flood(WebSocketRoutes& routes, WebSocket& socket, rt::CancelScope& scope) {
    const auto part = std::make_shared<const std::string>(kFloodPartBytes, 'f');
    for (;;) {
      // The loop has turns to send in; a reader that takes everything is never too slow.
      for (int i = 0; i < 64 && !routes.is_refused; ++i) {
        if (socket.push(false, part))
          ++routes.pushed;
        else
          routes.is_refused = true;
      }
      if (routes.is_refused || !co_await socket.wait_for_room(scope)) break;
    }
    if (!co_await socket.wait_for_room(scope)) co_return;
    EXPECT_TRUE(socket.push({.is_text = true, .data = "there is room"}));
    co_await socket.close(4002, "enough");
  }

  using Run = rt::Task<> (*)(WebSocketRoutes&, WebSocket&, rt::CancelScope&);
  static rt::Task<Result<Reply>> accept(Exchange& exchange, WebSocketRoutes& routes, Run run,
                                        WebSocketOptions options) {
    co_return accept_websocket(
        exchange,
        [run, &routes](WebSocket& socket, rt::CancelScope& scope) {
          return run(routes, socket, scope);
        },
        std::move(options));
  }
  static rt::Task<Result<Reply>> accept_idle(Exchange& exchange, WebSocketRoutes& routes) {
    co_return accept_websocket(exchange, [&routes, loop = &exchange.flusher->loop()](
                                             WebSocket& socket, rt::CancelScope& scope) {
      return idle(routes, socket, scope, *loop);
    });
  }
  void add(Router& router) {
    using enum wire::Method;
    const auto route = [&](const char* pattern, Run run, const WebSocketOptions& options) {
      router.add(kGet, pattern, Scope::kRead, [this, run, options](Exchange& exchange) {
        return accept(exchange, *this, run, options);
      });
    };
    WebSocketOptions chat;
    chat.subprotocols = {"chat.v1", "chat.v2"};
    WebSocketOptions small;
    small.max_message_bytes = 1'000;
    route("/ws", echo, chat);
    route("/ws/small", echo, small);
    route("/ws/close", close, {});
    route("/ws/leave", leave, {});
    route("/ws/flood", flood, {});
    router.add(kGet, "/ws/idle", Scope::kRead,
               [this](Exchange& exchange) { return accept_idle(exchange, *this); });
  }
};

// The server of http/testing.h with these routes.
struct WebSocketServer {
  explicit WebSocketServer(ServerOptions options = {}, GatekeeperOptions gate = {})
      : server(std::move(options), std::move(gate),
               [this](Router& router) { routes.add(router); }) {}
  std::uint16_t port() const { return server.port(); }
  WebSocketRoutes routes;
  TestServer server;
};

}  // namespace reprise::http::testing
