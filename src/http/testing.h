// What the tests of this layer share: a server on a loop of its own.
//
// Included by tests only.
#pragma once

#include <gtest/gtest.h>

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
#include "rt/test_client.h"
#include "rt/test_loop.h"

namespace reprise::http::testing {

using rt::RawClient;
using rt::RawResponse;

inline std::string request_text(std::string_view method, std::string_view target,
                                std::string_view headers = "", std::string_view body = "") {
  std::string text =
      fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n{}", method, target, headers);
  if (!body.empty()) text += fmt::format("Content-Length: {}\r\n", body.size());
  return text + "\r\n" + std::string(body);
}

// A server on one loop of its own. Routes: POST /echo, GET /hold (answered after release()),
// GET /big (a megabyte eight times), GET /stream (frames until it is told to stop), PUT /upload (a
// streamed body, counted; ?refuse=true refuses it by its head), GET /source (a body from a source,
// ?cut=true breaks off in its middle); and what a test adds.
class TestServer {
 public:
  static constexpr std::size_t kBigBytes = 8 * 1024 * 1024;

  explicit TestServer(ServerOptions options = {}, GatekeeperOptions gate = {},
                      const std::function<void(Router&)>& add_more_routes = {}) {
    if (!gate.tokens) gate.tokens = std::make_shared<const Tokens>();
    gatekeeper_.emplace(std::move(gate));
    released_ = std::make_unique<rt::Signal>(loop());
    add_routes();
    if (add_more_routes) add_more_routes(router_);
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
    rt::run_on(loop(), drains_over());
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
  // Starts to drain and returns.
  void begin_drain(Millis timeout) {
    rt::call_on(loop(), [&] { rt::spawn(drains_, note_drain(timeout)); });
  }
  bool is_drained() const { return is_drained_; }
  // Waits, turn by turn of the loop, until it holds.
  [[nodiscard]] bool eventually(const std::function<bool()>& holds) {
    const auto until = std::chrono::steady_clock::now() + rt::kPatience;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > until) return false;
      rt::call_on(loop(), [] {});
    }
    return true;
  }

  static constexpr std::uint64_t kMaxUpload = 4 * 1024 * 1024;
  Probe probe;
  std::atomic<int> holding{0};
  std::atomic<std::uint64_t> uploaded{0};  // bytes of streamed bodies, as they come
  std::atomic<int> failed_uploads{0};
  std::atomic<std::uint64_t> sourced{0};  // bytes read from sources

 private:
  rt::Task<> note_drain(Millis timeout) {
    co_await server_->drain(timeout);
    is_drained_ = true;
  }
  rt::Task<> drains_over() { co_await drains_.empty(); }
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
  rt::Task<Result<Reply>> upload(Exchange& exchange) {
    if (exchange.target.query.size() == 1) co_return fail(Code::kConflict, "not wanted");
    std::uint64_t total = 0;
    for (;;) {
      auto piece = co_await exchange.read_body();
      if (!piece) {
        ++failed_uploads;
        co_return fail(std::move(piece).error());
      }
      if (piece->empty()) break;
      total += piece->size();
      uploaded += piece->size();
    }
    co_return Reply::json(200, fmt::format("{}", total));
  }
  class Letters final : public BodySource {
   public:
    Letters(std::atomic<std::uint64_t>& read_bytes, bool is_cut)
        : read_bytes_(read_bytes), is_cut_(is_cut) {}
    rt::Task<Result<std::size_t>> read(std::span<char> buffer) override {
      if (is_cut_ && read_bytes_ > 0) co_return fail(Code::kCorrupt, "cut");
      std::fill(buffer.begin(), buffer.end(), 'x');
      read_bytes_ += buffer.size();
      co_return buffer.size();
    }

   private:
    std::atomic<std::uint64_t>& read_bytes_;
    bool is_cut_;
  };
  rt::Task<Result<Reply>> source(Exchange& exchange) {
    Reply reply;
    reply.headers.add("Content-Type", "application/octet-stream");
    reply.source = std::make_unique<Letters>(sourced, exchange.target.query.size() == 1);
    reply.source_bytes = kBigBytes;
    co_return reply;
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
    router_.add(kPut, "/upload", Scope::kWrite, [this](Exchange& one) { return upload(one); })
        .max_streamed_bytes = kMaxUpload;
    router_.add(kGet, "/source", Scope::kRead, [this](Exchange& one) { return source(one); },
                {"application/octet-stream"});
  }

  rt::LoopThread thread_;
  Router router_;
  std::optional<Gatekeeper> gatekeeper_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<rt::Signal> released_;
  bool is_released_ = false;
  rt::Gate drains_;  // used on the loop only, as is_released_ is
  std::atomic<bool> is_drained_{false};
  std::uint16_t port_ = 0;
};

}  // namespace reprise::http::testing
