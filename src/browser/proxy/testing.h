// What the proxy's tests share: a proxy, servers for it to reach, and a resolver that knows the
// names it is told, all on one loop of their own; the client is rt::RawClient, on the test's
// thread.
//
// Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "browser/forbidden_ports.h"
#include "browser/proxy/context_proxy.h"
#include "rt/gate.h"
#include "rt/test_client.h"
#include "rt/test_loop.h"
#include "rt/tls.h"
#include "wire/http.h"

namespace reprise::browser::testing {

// A server of whatever is spoken on the connections it gets.
class TestServer {
 public:
  using Serve = std::function<rt::Task<>(TestServer& server, rt::Socket& socket)>;
  TestServer(rt::RealLoop& loop, Serve serve, std::shared_ptr<rt::TlsContext> tls = nullptr)
      : loop_(loop), serve_(std::move(serve)), tls_(std::move(tls)) {
    rt::call_on(loop_, [&] {
      auto bound = rt::Listener::bind(loop_, {"127.0.0.1", 0});
      REPRISE_ASSERT(bound.has_value());
      listener_ = std::move(*bound);
      port_ = listener_->local().port;
      listener_->start({&loop_}, [this](rt::RealLoop&, std::unique_ptr<rt::Socket> socket) {
        ++connections;
        rt::spawn(gate_, run(std::move(socket)));
      });
    });
  }
  ~TestServer() {
    rt::run_on(loop_, stop());
    rt::call_on(loop_, [&] { listener_.reset(); });
  }
  std::uint16_t port() const { return port_; }

  std::atomic<int> connections{0};
  std::atomic<int> ended{0};  // connections
  std::atomic<int> requests{0};
  std::atomic<std::uint64_t> sent{0};
  std::string last_head;  // of a request, as it came; read when its answer has come

 private:
  rt::Task<> run(std::unique_ptr<rt::Socket> socket) {
    if (tls_) {
      auto secured = co_await rt::accept_tls(tls_, std::move(socket), stopping_,
                                             rt::Deadline::after(loop_, rt::kPatience));
      if (!secured) co_return;
      socket = std::move(*secured);
    }
    sockets_.push_back(socket.get());
    co_await serve_(*this, *socket);
    std::erase(sockets_, socket.get());
    ++ended;
  }
  rt::Task<> stop() {
    listener_->stop();
    gate_.close();
    stopping_.cancel();
    for (rt::Socket* socket : std::vector(sockets_)) socket->close();
    co_await gate_.empty();
  }
  rt::RealLoop& loop_;
  Serve serve_;
  std::shared_ptr<rt::TlsContext> tls_;
  rt::CancelScope stopping_;
  std::unique_ptr<rt::Listener> listener_;
  std::uint16_t port_ = 0;
  std::vector<rt::Socket*> sockets_;
  rt::Gate gate_;
};

// Sends back what it gets, and ends when its client does.
inline rt::Task<> echo(TestServer&, rt::Socket& socket) {
  const auto buffer = std::make_unique<std::array<char, 64 * 1024>>();
  for (;;) {
    const auto count = co_await socket.read_some(*buffer);
    if (!count || *count == 0) break;
    if (!co_await socket.write({buffer->data(), *count})) co_return;
  }
  socket.shutdown_write();
}

inline constexpr std::size_t kBigBytes = 64 * 1024 * 1024;

// Says "HTTP/1.1 200 OK", with these headers and this body.
inline std::string ok(std::string_view body, std::string_view headers = "") {
  return fmt::format("HTTP/1.1 200 OK\r\n{}Content-Length: {}\r\n\r\n{}", headers, body.size(),
                     body);
}

inline rt::Task<bool> send_big(TestServer& server, rt::Socket& socket) {
  const std::string piece(64 * 1024, 'x');
  if (!co_await socket.write(
          fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", kBigBytes)))
    co_return false;
  for (std::size_t left = kBigBytes; left > 0; left -= piece.size()) {
    if (!co_await socket.write(piece)) co_return false;
    server.sent += piece.size();
  }
  co_return true;
}

// Waits until the client has gone.
inline rt::Task<> until_gone(rt::Socket& socket) {
  std::array<char, 256> rest;
  for (auto count = co_await socket.read_some(rest); count.value_or(0) > 0;)
    count = co_await socket.read_some(rest);
}

// False: the connection is done.
inline rt::Task<bool> answer(TestServer& server, rt::Socket& socket, const wire::Request& request,
                             int nth) {
  const std::string_view target = request.target;
  const auto is = [&](std::string_view path) { return target.ends_with(path); };
  if (request.method_name == "CONNECT") {
    (void)co_await socket.write("HTTP/1.1 200 Fine\r\n\r\n");
    co_await echo(server, socket);
    co_return false;
  }
  if (is("/big")) co_return co_await send_big(server, socket);
  if (is("/hold") || (is("/once") && nth > 1)) {
    if (is("/hold")) co_await until_gone(socket);
    co_return false;
  }
  if (is("/ws")) {
    (void)co_await socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Accept: x\r\n\r\nwelcome");
    co_await echo(server, socket);
    co_return false;
  }
  std::string reply;
  bool goes_on = true;
  if (is("/echo")) reply = ok(request.body);
  if (is("/count")) reply = ok(fmt::format("{}", request.body.size()));
  if (is("/chunked"))
    reply =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n"
        "Trailer: t\r\n\r\n";
  if (is("/until-end")) {
    reply = "HTTP/1.1 200 OK\r\n\r\nuntil the end";
    goes_on = false;
  }
  if (is("/cut")) {
    reply = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
    goes_on = false;
  }
  if (is("/nothing")) goes_on = false;
  if (is("/garbage")) reply = "SSH-2.0-OpenSSH\r\n";
  if (is("/hints")) reply = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" + ok("hinted");
  if (is("/407")) reply = "HTTP/1.1 407 Hand it over\r\nContent-Length: 9999\r\n\r\n";
  if (is("/204")) reply = "HTTP/1.1 204 Nothing To Say\r\n\r\n";
  if (is("/early")) reply = "HTTP/1.1 413 Too Much\r\nContent-Length: 3\r\n\r\nno!";
  if (reply.empty() && goes_on)
    reply = ok(request.method == wire::Method::kHead ? "" : "hello",
               "X-Reply: yes\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n"
               "Reprise-Refused: lie\r\n");
  if (!co_await socket.write(reply)) co_return false;
  co_return goes_on;
}

using Answer = std::function<rt::Task<bool>(TestServer& server, rt::Socket& socket,
                                            const wire::Request& request, int nth)>;

// A web server that answers each request so, and keeps its connections.
inline rt::Task<> serve_http(TestServer& server, rt::Socket& socket, Answer with) {
  wire::RequestParser parser({.max_target_bytes = kMaxProxyTargetBytes,
                              .max_header_bytes = kMaxProxyHeadBytes,
                              .max_headers = kMaxProxyHeaders,
                              .max_body_bytes = kBigBytes,
                              .takes_connect = true});
  const auto buffer = std::make_unique<std::array<char, 64 * 1024>>();
  std::string input;
  for (int nth = 1;; ++nth) {
    std::string seen;
    while (!parser.is_complete()) {
      if (input.empty()) {
        const auto count = co_await socket.read_some(*buffer);
        if (!count || *count == 0) co_return;
        input.assign(buffer->data(), *count);
      }
      const bool had_head = parser.is_header_complete();
      const auto used = parser.feed(input);
      if (!used) co_return;
      if (!had_head) seen.append(input, 0, *used);
      input.erase(0, *used);
      if (parser.is_header_complete() && parser.partial().target.ends_with("/early")) {
        if (!co_await with(server, socket, parser.partial(), nth)) co_return;
        co_await until_gone(socket);
        co_return;
      }
      if (parser.wants_continue() && !co_await socket.write("HTTP/1.1 100 Continue\r\n\r\n"))
        co_return;
    }
    const wire::Request request = parser.take();
    server.last_head = seen.substr(0, seen.find("\r\n\r\n") + 2);
    ++server.requests;
    if (!co_await with(server, socket, request, nth)) co_return;
  }
}

// The one whose paths are in answer() above.
inline rt::Task<> web(TestServer& server, rt::Socket& socket) {
  return serve_http(server, socket, answer);
}

// Knows the names it is told, and no others.
class TestResolver final : public rt::Resolver {
 public:
  void set(const std::string& name, std::vector<const char*> addresses) {
    auto& known = names_[name];
    known.clear();
    for (const char* address : addresses) known.push_back(*IpAddress::parse(address));
  }
  rt::Task<Result<std::vector<IpAddress>>> resolve(rt::Loop& home, std::string host,
                                                   rt::CancelScope& scope,
                                                   rt::Deadline deadline) override {
    ++asked;
    last_patience = deadline.at() - home.now();
    if (const auto known = names_.find(host); known != names_.end()) co_return known->second;
    rt::InlinePool nobody;
    if (!IpAddress::parse(host) && !host.ends_with("localhost"))
      co_return fail(Code::kIo, fmt::format("'{}' has no address", host));
    co_return co_await rt::SystemResolver(nobody).resolve(home, host, scope, deadline);
  }
  std::atomic<int> asked{0};
  rt::Nanos last_patience{0};  // of who asked last; read when the answer has come

 private:
  std::map<std::string, std::vector<IpAddress>> names_;
};

// A proxy on a loop of its own.
class TestProxy {
 public:
  explicit TestProxy(ProxyOptions options = {}) {
    options.on_refused = [this](const std::string& url, const Refusal& refusal) {
      last_trouble = word(refusal.rule);
      refusals.push_back(fmt::format("{} {}", url, last_trouble));
    };
    options.on_failed = [this](const std::string& url, const Error& error) {
      last_trouble = error_row(error.code).name;
      failures.push_back(fmt::format("{} {}", url, last_trouble));
    };
    rt::call_on(loop(), [&] {
      auto started = ContextProxy::start(loop(), resolver, ports, probe, std::move(options));
      REPRISE_ASSERT(started.has_value());
      proxy_ = std::move(*started);
      port_ = proxy_->local().port;
    });
  }
  ~TestProxy() {
    rt::run_on(loop(), proxy_->close());
    EXPECT_EQ(probe.connections, 0U);
    rt::call_on(loop(), [&] { proxy_.reset(); });
  }
  rt::RealLoop& loop() { return thread_.loop(); }
  std::uint16_t port() const { return port_; }
  ContextProxy& operator*() { return *proxy_; }

  // What a client that sends this gets.
  rt::RawResponse ask(std::string_view request) const {
    rt::RawClient client(port_);
    EXPECT_TRUE(client.send(request));
    return client.response();
  }
  // Of a GET through the proxy.
  rt::RawResponse get(std::string_view url) const { return ask(get_text(url)); }
  // Whatever the loop has written is seen by this thread: an answer does that, an end does not.
  void catch_up() {
    rt::call_on(loop(), [] {});
  }
  // What comes of a plain request: the status of its answer, or, if the connection ended without
  // one, the rule or the code that was reported.
  std::string outcome(rt::RawClient& client, std::string_view request) {
    EXPECT_TRUE(client.send(request));
    const auto reply = client.response();
    EXPECT_TRUE(reply.status != 0 || reply.head.empty()) << reply.head;
    if (reply.status != 0) return std::to_string(reply.status);
    catch_up();
    return last_trouble;
  }
  std::string outcome(std::string_view url) {
    rt::RawClient client(port_);
    return outcome(client, get_text(url));
  }
  static std::string get_text(std::string_view url, std::string_view headers = "") {
    return fmt::format("GET {} HTTP/1.1\r\nHost: ignored\r\n{}\r\n", url, headers);
  }
  static std::string connect_text(std::string_view to) {
    return fmt::format("CONNECT {} HTTP/1.1\r\nHost: {}\r\nProxy-Connection: keep-alive\r\n\r\n",
                       to, to);
  }
  // Waits, turn by turn of the loop, until it holds.
  [[nodiscard]] bool eventually(const std::function<bool()>& holds) {
    const auto until = std::chrono::steady_clock::now() + rt::kPatience;
    for (bool is_so = false;;) {
      rt::call_on(loop(), [&] { is_so = holds(); });
      if (is_so || std::chrono::steady_clock::now() > until) return is_so;
    }
  }

 private:
  rt::LoopThread thread_;

 public:
  TestResolver resolver;
  ForbiddenPorts ports{[] { return std::vector{*IpAddress::parse("192.0.2.7")}; }};
  ProxyProbe probe;
  std::vector<std::string> refusals;  // "url rule"; read when the answer has come
  std::vector<std::string> failures;
  std::string last_trouble;  // the rule or the code, likewise

 private:
  std::unique_ptr<ContextProxy> proxy_;
  std::uint16_t port_ = 0;
};

inline ProxyOptions with_policy(UrlPolicyOptions options) {
  auto policy = UrlPolicy::make(std::move(options));
  EXPECT_TRUE(policy.has_value());
  return {.policy = std::make_shared<const UrlPolicy>(std::move(*policy))};
}

}  // namespace reprise::browser::testing
