// What the tests of this layer share: a server on a loop of its own, and a client that sends bytes
// as they are and reads what comes back.
//
// Included by tests only.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/gatekeeper.h"
#include "http/probe.h"
#include "http/router.h"
#include "http/server.h"
#include "rt/test_loop.h"

namespace reprise::http::testing {

struct RawResponse {
  int status = 0;
  std::string head;  // with its last empty line, names in lower case as the server sends them
  std::string body;
  bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
};

// A blocking client of one connection; every wait has a deadline.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, int receive_buffer = 0) {
    descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer > 0)
      ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int outcome =
        ::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    EXPECT_EQ(outcome, 0);
  }
  ~RawClient() { ::close(descriptor_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // False if the server has closed meanwhile.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      if (!wait(POLLOUT)) return false;
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void finish_sending() { ::shutdown(descriptor_, SHUT_WR); }

  // The next response; status 0 if the connection ended before it was whole. An answer without a
  // length has its body read only if `until_end`.
  RawResponse response(bool is_head = false, bool until_end = false) {
    RawResponse answer;
    std::size_t end = 0;
    while ((end = input_.find("\r\n\r\n")) == std::string::npos)
      if (!receive()) return answer;
    answer.head = input_.substr(0, end + 4);
    input_.erase(0, end + 4);
    const int status = std::atoi(answer.head.substr(9, 3).c_str());
    std::size_t length = 0;
    if (const std::size_t at = answer.head.find("content-length: "); at != std::string::npos)
      length = std::strtoul(answer.head.c_str() + at + 16, nullptr, 10);
    if (!is_head && status >= 200)
      while (input_.size() < length)
        if (!receive()) return answer;
    if (until_end)
      while (receive()) length = input_.size();
    if (is_head || status < 200) length = 0;
    answer.body = input_.substr(0, length);
    input_.erase(0, length);
    answer.status = status;
    return answer;
  }
  // Reads until `text` has come; false if the connection ended first.
  bool read_until(std::string_view text) {
    while (input_.find(text) == std::string::npos)
      if (!receive()) return false;
    return true;
  }
  // Whether the server has ended the connection, and in good order: not by a reset.
  bool ends() {
    while (receive()) {
    }
    return is_ended_;
  }
  bool read_some() { return receive(); }
  const std::string& unread() const { return input_; }

 private:
  bool wait(short events) {
    pollfd waiting{descriptor_, events, 0};
    return ::poll(&waiting, 1, 30'000) == 1;
  }
  bool receive() {
    if (!wait(POLLIN)) return false;
    char piece[16 * 1024];
    const ssize_t count = ::recv(descriptor_, piece, sizeof piece, 0);
    is_ended_ = count == 0;
    if (count <= 0) return false;
    input_.append(piece, static_cast<std::size_t>(count));
    return true;
  }
  int descriptor_;
  std::string input_;
  bool is_ended_ = false;
};

inline std::string request_text(std::string_view method, std::string_view target,
                                std::string_view headers = "", std::string_view body = "") {
  std::string text =
      fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n{}", method, target, headers);
  if (!body.empty()) text += fmt::format("Content-Length: {}\r\n", body.size());
  return text + "\r\n" + std::string(body);
}

// A server on one loop of its own. Routes: POST /echo, GET /hold (answered after release()),
// GET /big (a megabyte eight times), GET /stream (frames until it is told to stop).
class TestServer {
 public:
  static constexpr std::size_t kBigBytes = 8 * 1024 * 1024;

  explicit TestServer(ServerOptions options = {}, GatekeeperOptions gate = {}) {
    if (!gate.tokens) gate.tokens = std::make_shared<const Tokens>();
    gatekeeper_.emplace(std::move(gate));
    released_ = std::make_unique<rt::Signal>(loop());
    add_routes();
    rt::call_on(loop(), [&] {
      server_ = std::make_unique<Server>(std::vector{&loop()}, router_, *gatekeeper_,
                                         std::move(options), probe);
      const auto bound = server_->listen({"127.0.0.1", 0});
      REPRISE_ASSERT(bound.has_value());
      port_ = bound->port;
      server_->start();
    });
  }
  ~TestServer() {
    release();
    drain(Millis{5'000});
    rt::call_on(loop(), [&] {
      server_.reset();
      released_.reset();
    });
  }

  rt::RealLoop& loop() { return thread_.loop(); }
  std::uint16_t port() const { return port_; }
  void release() {
    rt::call_on(loop(), [&] {
      is_released_ = true;
      released_->notify();
    });
  }
  void drain(Millis timeout) { rt::run_on(loop(), server_->drain(timeout)); }
  // Starts to drain and returns; the gate must outlive it.
  void begin_drain(rt::Gate& gate, Millis timeout, std::atomic<bool>& is_done) {
    rt::call_on(loop(), [&] { rt::spawn(gate, note_drain(timeout, is_done)); });
  }
  // Waits, turn by turn of the loop, until it holds.
  [[nodiscard]] bool eventually(const std::function<bool()>& holds) {
    const auto until = std::chrono::steady_clock::now() + rt::kPatience;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > until) return false;
      rt::call_on(loop(), [] {});
    }
    return true;
  }

  Probe probe;
  std::atomic<int> holding{0};

 private:
  rt::Task<> note_drain(Millis timeout, std::atomic<bool>& is_done) {
    co_await server_->drain(timeout);
    is_done = true;
  }
  static rt::Task<Result<Reply>> echo(Exchange& exchange) {
    Reply reply;
    reply.headers.add("Content-Type", "application/octet-stream");
    reply.body = exchange.request.body;
    co_return reply;
  }
  static rt::Task<Result<Reply>> big(Exchange&) {
    co_return Reply::json(200, std::string(kBigBytes, 'x'));
  }
  rt::Task<Result<Reply>> hold(Exchange&) {
    ++holding;
    rt::CancelScope scope;
    while (!is_released_) (void)co_await released_->wait(scope);
    --holding;
    co_return Reply::json(200, "{\"held\":true}");
  }
  struct Frames {
    explicit Frames(Exchange& exchange) : writer(*exchange.socket, *exchange.flusher) {}
    StreamWriter writer;
  };
  static rt::Task<> run_stream(std::shared_ptr<Frames> frames, rt::Loop& loop,
                               rt::CancelScope& scope) {
    frames->writer.push(std::make_shared<const std::string>("data: hello\n\n"));
    rt::Signal never(loop);
    const auto ended = co_await never.wait(scope);
    if (ended.error().code == Code::kShuttingDown)
      frames->writer.push(std::make_shared<const std::string>(": bye\n\n"));
    rt::CancelScope last_words;
    (void)co_await frames->writer.drain(last_words);
  }
  static rt::Task<Result<Reply>> stream(Exchange& exchange) {
    auto frames = std::make_shared<Frames>(exchange);
    Reply reply;
    reply.headers.add("Content-Type", "text/event-stream");
    reply.stream = [frames, loop = &exchange.flusher->loop()](rt::CancelScope& scope) {
      return run_stream(frames, *loop, scope);
    };
    co_return reply;
  }
  void add_routes() {
    using enum wire::Method;
    router_.add(kPost, "/echo", Scope::kWrite, echo, {"application/octet-stream"});
    router_.add(kGet, "/big", Scope::kRead, big);
    router_.add(kGet, "/hold", Scope::kRead, [this](Exchange& exchange) { return hold(exchange); });
    router_.add(kGet, "/stream", Scope::kRead, stream, {"text/event-stream"});
  }

  rt::LoopThread thread_;
  Router router_;
  std::optional<Gatekeeper> gatekeeper_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<rt::Signal> released_;
  bool is_released_ = false;
  std::uint16_t port_ = 0;
};

}  // namespace reprise::http::testing
