#include "http/connection.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "base/log.h"
#include "http/limits.h"
#include "http/request_id.h"
#include "http/websocket.h"
#include "http/websocket_upgrade.h"

namespace reprise::http {
namespace {

constexpr int kNotModified = 304;

// Whether a browser might run it.
bool may_be_active(const wire::Headers& headers) {
  const auto type = headers.get("content-type");
  return type && *type != "application/json" && !type->starts_with("text/event-stream") &&
         *type != "application/problem+json";
}

// Reads and drops what a peer sends while it should only listen, and tells when it is gone. Kept
// alive by its own read, which completes when the socket is closed.
class PeerWatch : public std::enable_shared_from_this<PeerWatch> {
 public:
  PeerWatch(rt::Socket& socket, rt::CancelScope& scope) : socket_(&socket), scope_(&scope) {}
  void watch() {
    socket_->start_read(buffer_, [self = shared_from_this()](Result<std::size_t> count) {
      if (self->scope_ == nullptr) return;
      // Some bytes are forgiven (a pipelined request that will not be answered), a flood is not.
      if (count && *count > 0 && ++self->reads_ < kMaxReads) return self->watch();
      self->scope_->cancel(Error{Code::kClosed, "the reader is gone"});
    });
  }
  void stop() { scope_ = nullptr; }

 private:
  static constexpr int kMaxReads = 1024;
  rt::Socket* socket_;
  rt::CancelScope* scope_;
  int reads_ = 0;
  std::array<char, 64> buffer_;
};

// The only answer on a connection that has not got as far as a request, or is of no use after it.
std::string last_answer(const Error& error) {
  Reply reply = problem(error, "");
  reply.headers.add("X-Request-Id", request_id(std::nullopt));
  std::string bytes;
  wire::append_response_head(bytes, reply.status, reply.headers, reply.body.size(), false);
  return bytes + reply.body;
}

// What a client sends that is of no interest any more, until it ends or becomes too much.
REPRISE_OWN_FRAME rt::Task<> read_and_drop(rt::Socket& socket) {
  std::array<char, 4096> rest;
  for (std::size_t total = 0; total < kMaxLingerBytes;) {
    const auto count = co_await socket.read_some(rest);
    if (!count || *count == 0) co_return;
    total += *count;
  }
}

rt::Nanos watchdog_tick(const ServerOptions& options) {
  // Fine enough for the shorter of the two timeouts, coarse enough to cost nothing with thousands
  // of connections.
  const Millis shorter = std::min(options.idle_timeout, options.request_timeout);
  return std::clamp<Millis>(shorter / 4, Millis{25}, Millis{2'000});
}

}  // namespace

ConnectionSet::ConnectionSet(rt::RealLoop& loop, const Router& router, const Gatekeeper& gatekeeper,
                             const ServerOptions& options, Probe& probe)
    : loop_(loop),
      router_(router),
      gatekeeper_(gatekeeper),
      options_(options),
      probe_(probe),
      flusher_(loop),
      changed_(loop) {}

ConnectionSet::~ConnectionSet() = default;

void ConnectionSet::accept(std::unique_ptr<rt::Socket> socket) {
  if (is_draining_) return;
  probe_.connections_accepted.fetch_add(1, std::memory_order_relaxed);
  if (probe_.connections_open.load(std::memory_order_relaxed) >= options_.max_connections) {
    probe_.connections_refused.fetch_add(1, std::memory_order_relaxed);
    rt::spawn(gate_, refuse(std::move(socket)));
    return;
  }
  rt::spawn(gate_, serve(std::move(socket)));
}

rt::Task<> ConnectionSet::refuse(std::unique_ptr<rt::Socket> socket) {
  // Over TLS this would need a handshake, which is what there is no room for.
  if (options_.tls || refusing_ >= kMaxRefusing) co_return;
  ++refusing_;
  const std::string bytes =
      last_answer(Error{Code::kOverloaded, "the server has all the connections it may have"});
  const iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  (void)socket->try_write({&part, 1});
  socket->shutdown_write();
  rt::Timer timer(loop_.timers());
  timer.arm(loop_.now() + kLingerTimeout, [&socket] { socket->close(); });
  co_await read_and_drop(*socket);
  --refusing_;
  changed_.notify();
}

rt::Task<std::unique_ptr<rt::Socket>> ConnectionSet::secure(std::unique_ptr<rt::Socket> plain) {
  rt::CancelScope scope(handshakes_);
  auto encrypted = co_await rt::accept_tls(options_.tls, std::move(plain), scope,
                                           rt::Deadline::after(loop_, options_.request_timeout));
  if (!encrypted || is_draining_) co_return nullptr;
  co_return std::move(*encrypted);
}

rt::Task<> ConnectionSet::serve(std::unique_ptr<rt::Socket> socket) {
  probe_.connections_open.fetch_add(1, std::memory_order_relaxed);
  if (options_.tls) socket = co_await secure(std::move(socket));
  if (socket) {
    Connection connection(*this, std::move(socket));
    Connection::Sequel sequel = co_await connection.serve();
    if (sequel.stream) co_await connection.stream(std::move(sequel.stream));
    if (sequel.websocket) co_await connection.converse(std::move(sequel.websocket));
    connection.close();
  }
  probe_.connections_open.fetch_sub(1, std::memory_order_relaxed);
  changed_.notify();
}

void ConnectionSet::begin_drain() {
  is_draining_ = true;
  handshakes_.cancel(Error{Code::kShuttingDown, "the server is stopping"});
  // Each may leave the list while it is told.
  for (Connection* connection : std::vector(connections_.begin(), connections_.end()))
    connection->begin_drain();
}

void ConnectionSet::cut_off() {
  for (Connection* connection : std::vector(connections_.begin(), connections_.end()))
    connection->cut_off();
}

rt::Task<bool> ConnectionSet::wait_empty(rt::Deadline deadline) {
  rt::CancelScope scope;
  while (gate_.inside() > 0)
    if (!co_await changed_.wait(scope, deadline)) co_return gate_.inside() == 0;
  co_return true;
}

// A connection whose socket, and with it its coroutine, has gone to another loop. The scope, and
// its place among the connections, stay: whoever ends it here is heard there.
struct Connection::Away {
  explicit Away(rt::RealLoop& to, rt::Socket& moved) : home(to), socket(&moved) {}
  rt::RealLoop& home;
  rt::CancelScope scope;  // of the other loop, as is the socket
  rt::Socket* socket;     // nullptr: it is over
};

Connection::Connection(ConnectionSet& set, std::unique_ptr<rt::Socket> socket)
    : set_(set),
      socket_(std::move(socket)),
      place_(set.connections_.insert(set.connections_.end(), this)),
      parser_(std::make_unique<wire::RequestParser>(set.options_.parser)),
      watchdog_(set.loop_.timers()) {}

Connection::~Connection() { set_.connections_.erase(place_); }

void Connection::enter(Phase phase) {
  phase_ = phase;
  switch (phase) {
    case Phase::kIdle: deadline_ = set_.loop_.now() + set_.options_.idle_timeout; break;
    case Phase::kReading: deadline_ = set_.loop_.now() + set_.options_.request_timeout; break;
    case Phase::kAnswering: deadline_ = rt::Nanos::max(); break;
    // A slow client may take its time, as long as it takes something.
    case Phase::kSending:
      deadline_ = set_.loop_.now() + set_.options_.request_timeout;
      unsent_ = socket_->unsent_bytes();
      break;
    case Phase::kLingering:
      deadline_ = set_.loop_.now() + kLingerTimeout;
      watchdog_.arm(deadline_, [this] { check_time(); });
      return;
    case Phase::kStreaming:
      deadline_ = rt::Nanos::max();
      watchdog_.cancel();
      return;
  }
  if (!watchdog_.is_armed())
    watchdog_.arm(set_.loop_.now() + watchdog_tick(set_.options_), [this] { check_time(); });
}

void Connection::check_time() {
  if (set_.loop_.now() >= deadline_) {
    if (phase_ == Phase::kSending && socket_->unsent_bytes() < unsent_) return enter(phase_);
    if (phase_ == Phase::kReading) say_too_late();
    scope_.cancel(Error{Code::kRequestTimeout, "the client took too long"});
    // Wakes whatever waits.
    socket_->close();
    return;
  }
  watchdog_.arm(set_.loop_.now() + watchdog_tick(set_.options_), [this] { check_time(); });
}

void Connection::say_too_late() {
  set_.probe_.timed_out.fetch_add(1, std::memory_order_relaxed);
  const Error error{Code::kRequestTimeout, "the request did not arrive in time"};
  set_.probe_.count_request(error_row(error.code).http_status, 0);
  const std::string bytes = last_answer(error);
  const iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  (void)socket_->try_write({&part, 1});
  socket_->shutdown_write();
}

void Connection::begin_drain() {
  if (phase_ == Phase::kStreaming)
    scope_.cancel(Error{Code::kShuttingDown, "the server is stopping"});
  else if (phase_ == Phase::kIdle)
    socket_->close();
}

void Connection::close() {
  watchdog_.cancel();
  socket_->close();
}

void Connection::cut_off() {
  scope_.cancel(Error{Code::kShuttingDown, "the server is stopping"});
  if (!away_) return socket_->close();
  away_->home.post([away = away_] {
    if (away->socket != nullptr) away->socket->close();
  });
}

rt::Task<Result<std::optional<wire::Request>>> Connection::read_request() {
  std::size_t read_size = kSmallReadBytes;
  bool is_head_checked = false;
  for (;;) {
    if (!input_.empty()) {
      REPRISE_CO_TRY(const std::size_t used, parser_->feed(input_.unread()));
      input_.skip(used);
      if (parser_->is_complete()) co_return parser_->take();
      if (parser_->is_header_complete() && !std::exchange(is_head_checked, true)) {
        const Route* route = nullptr;
        if (co_await refuse_by_head(route)) co_return std::nullopt;
        REPRISE_CO_CHECK(choose_body(*route));
        if (is_body_streamed_) {
          wire::Request head = parser_->partial();
          head.body = {};
          co_return head;
        }
      }
      if (parser_->wants_continue()) {
        enter(Phase::kSending);
        REPRISE_CO_CHECK(co_await socket_->write("HTTP/1.1 100 Continue\r\n\r\n"));
        enter(Phase::kAnswering);
        enter(Phase::kReading);
      }
      if (!input_.empty()) continue;
    }
    if (parser_->has_started() && phase_ == Phase::kIdle) enter(Phase::kReading);
    if (parser_->is_header_complete()) read_size = kLargeReadBytes;
    auto count = co_await socket_->read_some(input_.room(read_size));
    input_.fill(count.value_or(0));
    if (!count) co_return fail(std::move(count).error());
    if (*count == 0) co_return fail(Code::kClosed, "the client closed the connection");
  }
}

// A request whose body is still to come is refused before it: a stranger's megabytes are not kept,
// and a client that sent Expect need not send them.
rt::Task<bool> Connection::refuse_by_head(const Route*& route) {
  auto exchange = std::make_unique<Exchange>();
  exchange->request = parser_->partial();
  exchange->request_id = request_id(exchange->request.headers.get("x-request-id"));
  Result<Reply> outcome = refuse_early(*exchange, route);
  exchange->route = route;
  if (outcome && route != nullptr) co_return false;
  is_head_request_ = exchange->request.method == wire::Method::kHead;
  Reply reply = finish(*exchange, std::move(outcome));
  note(*exchange, reply.status, 0);
  if (co_await send(reply, false)) co_await linger();
  co_return true;
}

Result<> Connection::choose_body(const Route& route) {
  if (!route.max_streamed_bytes) return parser_->buffer_body();
  is_body_streamed_ = true;
  return parser_->stream_body(*route.max_streamed_bytes);
}

rt::Task<Result<std::string>> Connection::read() {
  // Only now: a handler that refuses by the head alone spares the client the body.
  if (parser_->wants_continue()) {
    enter(Phase::kSending);
    REPRISE_CO_CHECK(co_await socket_->write("HTTP/1.1 100 Continue\r\n\r\n"));
  }
  for (;;) {
    if (!input_.empty() && !parser_->is_complete()) {
      REPRISE_CO_TRY(const std::size_t used, parser_->feed(input_.unread()));
      input_.skip(used);
    }
    std::string piece = parser_->take_body();
    if (!piece.empty() || parser_->is_complete()) co_return piece;
    // A client may be slow for as long as it sends something; our own disk's time is not its.
    enter(Phase::kReading);
    auto count = co_await socket_->read_some(input_.room(kLargeReadBytes));
    input_.fill(count.value_or(0));
    if (scope_.is_cancelled()) co_return fail(scope_.reason());
    if (!count || *count == 0)
      co_return fail(Code::kMalformedHttp, "the connection ended before the body");
    enter(Phase::kAnswering);
  }
}

bool Connection::end_streamed_body() {
  if (!std::exchange(is_body_streamed_, false)) return true;
  if (!parser_->is_complete()) return false;
  (void)parser_->take();
  if (input_.empty()) input_ = {};
  return true;
}

rt::Task<> Connection::linger() {
  socket_->shutdown_write();
  enter(Phase::kLingering);
  co_await read_and_drop(*socket_);
}

bool Connection::is_observed() const {
  return set_.options_.observer != nullptr && set_.options_.observer->is_watching();
}

void Connection::note(const Exchange& exchange, int status, std::uint64_t micros) {
  set_.probe_.count_request(status, micros);
  if (is_observed()) set_.options_.observer->on_request(exchange, status, micros);
  if (!log::is_enabled(log::Level::kDebug) && status < 500) return;
  log::write(status >= 500 ? log::Level::kWarning : log::Level::kDebug, "request",
             {{"id", exchange.request_id},
              {"method", wire::word(exchange.request.method)},
              {"path", exchange.target.path},
              {"status", status},
              {"micros", micros},
              {"by", exchange.principal.name}});
}

rt::Task<Connection::Sequel> Connection::serve() {
  for (std::size_t served = 0;; ++served) {
    enter(Phase::kIdle);
    auto request = co_await read_request();
    if (!request) co_await send_error(request.error());
    if (!request || !*request) break;
    enter(Phase::kAnswering);
    if (input_.empty() && input_.capacity() > kSmallReadBytes) input_ = {};
    const rt::Nanos started = set_.loop_.now();
    auto exchange = std::make_unique<Exchange>();
    exchange->request = std::move(**request);
    if (is_body_streamed_) exchange->body = this;
    is_head_request_ = exchange->request.method == wire::Method::kHead;
    Reply reply = co_await answer(*exchange);
    const bool is_websocket = reply.websocket != nullptr;
    const bool is_stream = reply.stream && !is_head_request_;
    const bool is_body_read = end_streamed_body();
    const bool wants_more = exchange->request.keep_alive || !is_body_read || !input_.empty();
    const bool keep_alive = exchange->request.keep_alive && !set_.is_draining_ && !is_stream &&
                            !is_websocket && is_body_read &&
                            served + 1 < set_.options_.max_requests_per_connection;
    note(*exchange, reply.status,
         static_cast<std::uint64_t>((set_.loop_.now() - started).count() / 1000));
    if (!co_await send(reply, keep_alive)) break;
    if (is_stream) {
      // A stream may last for days: what was needed to start it is given back.
      parser_.reset();
      input_ = {};
      co_return Sequel{std::move(reply.stream), nullptr};
    }
    if (is_websocket) {
      // What came behind the request are frames already.
      parser_.reset();
      co_return Sequel{nullptr, std::move(reply.websocket)};
    }
    if (!keep_alive) {
      // Whoever asked for the close sends no more; others may be about to.
      if (wants_more)
        co_await linger();
      else
        socket_->shutdown_write();
      break;
    }
  }
  co_return Sequel{};
}

Result<Reply> Connection::refuse_early(Exchange& exchange, const Route*& route) {
  const wire::Request& request = exchange.request;
  REPRISE_TRY(exchange.target, wire::parse_target(request.target));
  REPRISE_CHECK(set_.gatekeeper_.check_origin(request));
  Match match = set_.router_.find(request.method, exchange.target.segments);
  if (match.route == nullptr) {
    const std::string allow = set_.router_.allow(exchange.target.segments);
    if (allow.empty())
      return fail(Code::kNotFound, fmt::format("there is nothing at {}", exchange.target.path));
    if (request.method == wire::Method::kOptions) return set_.gatekeeper_.preflight(request, allow);
    Reply reply = problem(
        Error{Code::kMethodNotAllowed, fmt::format("{} knows {}", exchange.target.path, allow)},
        exchange.target.path);
    reply.headers.add("Allow", allow);
    return reply;
  }
  REPRISE_TRY(exchange.principal, set_.gatekeeper_.admit(request, match.route->scope));
  const auto& produces = match.route->produces;
  if (!produces.empty() &&
      std::none_of(produces.begin(), produces.end(),
                   [&](std::string_view type) { return exchange.accepts(type); }))
    return fail(Code::kNotAcceptable, fmt::format("offered is {}", fmt::join(produces, ", ")));
  if (!match.route->is_never_shed && set_.in_flight_ >= set_.options_.max_in_flight_per_loop) {
    set_.probe_.shed.fetch_add(1, std::memory_order_relaxed);
    return fail(Code::kOverloaded, "too many requests are being answered");
  }
  exchange.captured = std::move(match.captured);
  route = match.route;
  return Reply{};
}

rt::Task<Reply> Connection::answer(Exchange& exchange) {
  exchange.request_id = request_id(exchange.request.headers.get("x-request-id"));
  const Route* route = nullptr;
  Result<Reply> reply = refuse_early(exchange, route);
  exchange.route = route;
  if (reply && route != nullptr) {
    if (is_observed()) exchange.subject = std::make_unique<RequestSubject>();
    exchange.socket = socket_.get();
    exchange.flusher = &set_.flusher_;
    exchange.in_flight = &set_.in_flight_;
    ++set_.in_flight_;
    reply = co_await route->handler(exchange);
    --set_.in_flight_;
  }
  co_return finish(exchange, std::move(reply));
}

Reply Connection::finish(const Exchange& exchange, Result<Reply> outcome) {
  if (!outcome) {
    if (outcome.error().code == Code::kInternal || outcome.error().code == Code::kCorrupt)
      log::error("request failed", {{"id", exchange.request_id},
                                    {"path", exchange.target.path},
                                    {"detail", outcome.error().detail}});
    outcome = problem(outcome.error(), exchange.target.path);
  }
  Reply reply = std::move(*outcome);
  reply.headers.add("X-Request-Id", exchange.request_id);
  reply.headers.add("X-Content-Type-Options", "nosniff");
  reply.headers.add("Cross-Origin-Resource-Policy", "same-origin");
  // What clients have stored under a type of their own is shown to nobody as a page of ours.
  if (reply.status != kNotModified && may_be_active(reply.headers) &&
      !reply.headers.get("content-security-policy"))
    reply.headers.add("Content-Security-Policy",
                      "default-src 'none'; sandbox; frame-ancestors 'none'");
  set_.gatekeeper_.add_cors(exchange.request, reply.headers);
  return reply;
}

rt::Task<Result<>> Connection::send(Reply& reply, bool keep_alive) {
  std::string head;
  head.reserve(256 + (reply.body.size() < kSmallReadBytes ? reply.body.size() : 0));
  const std::uint64_t body_bytes = reply.source ? reply.source_bytes : reply.body.size();
  const auto length = reply.stream ? std::nullopt : std::optional<std::size_t>(body_bytes);
  wire::append_response_head(head, reply.status, reply.headers, length, keep_alive);
  if (is_head_request_) reply.body.clear();
  if (reply.body.size() < kSmallReadBytes) {
    head += reply.body;
    reply.body.clear();
  }
  REPRISE_CO_CHECK(co_await send_all(head, reply.body));
  if (!reply.source || is_head_request_) co_return Result<>{};
  co_return co_await send_source(*reply.source, reply.source_bytes);
}

rt::Task<Result<>> Connection::send_source(BodySource& source, std::uint64_t bytes) {
  const auto buffer = std::make_unique_for_overwrite<char[]>(kSourceReadBytes);
  while (bytes > 0) {
    enter(Phase::kAnswering);
    auto count = co_await source.read(
        {buffer.get(), static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kSourceReadBytes))});
    if (!count) {
      log::error("a reply was cut off", {{"detail", count.error().detail}});
      co_return fail(std::move(count).error());
    }
    if (scope_.is_cancelled()) co_return fail(scope_.reason());
    REPRISE_CO_CHECK(co_await send_all({buffer.get(), *count}, {}));
    bytes -= *count;
  }
  co_return Result<>{};
}

rt::Task<Result<>> Connection::send_all(std::string_view first, std::string_view second) {
  const std::size_t total = first.size() + second.size();
  std::size_t sent = 0;
  for (;;) {
    const std::size_t held = socket_->held_bytes();
    const std::size_t of_first = std::min(sent, first.size());
    const std::size_t of_second = sent - of_first;
    // writev only reads; its type does not say so.
    const std::array<iovec, 2> parts = {
        iovec{const_cast<char*>(first.data()) + of_first, first.size() - of_first},
        iovec{const_cast<char*>(second.data()) + of_second, second.size() - of_second}};
    REPRISE_CO_TRY(const std::size_t count, socket_->try_write(parts));
    sent += count;
    // What the socket holds back would be lost by a close.
    if (sent == total && socket_->held_bytes() == 0) co_return Result<>{};
    const bool has_progress = count > 0 || socket_->held_bytes() < held;
    if (has_progress || phase_ != Phase::kSending) enter(Phase::kSending);
    REPRISE_CO_CHECK(co_await socket_->wait_writable());
  }
}

rt::Task<> Connection::stream(Reply::Stream run) {
  enter(Phase::kStreaming);
  set_.probe_.streams_open.fetch_add(1, std::memory_order_relaxed);
  const auto watch = std::make_shared<PeerWatch>(*socket_, scope_);
  watch->watch();
  if (set_.is_draining_) scope_.cancel(Error{Code::kShuttingDown, "the server is stopping"});
  co_await run(scope_);
  watch->stop();
  set_.probe_.streams_open.fetch_sub(1, std::memory_order_relaxed);
  // The last frames may wait inside the socket, and a close would drop them.
  enter(Phase::kSending);
  (void)co_await socket_->write("");
  socket_->shutdown_write();
}

rt::Task<> Connection::converse(std::shared_ptr<WebSocketUpgrade> upgrade) {
  enter(Phase::kStreaming);
  set_.probe_.websockets_open.fetch_add(1, std::memory_order_relaxed);
  if (set_.is_draining_) scope_.cancel(Error{Code::kShuttingDown, "the server is stopping"});
  if (upgrade->home == nullptr || upgrade->home == &set_.loop_)
    co_await converse_here(*upgrade, set_.flusher_, scope_);
  else
    co_await converse_at(*upgrade->home, *upgrade);
  set_.probe_.websockets_open.fetch_sub(1, std::memory_order_relaxed);
}

rt::Task<> Connection::converse_here(WebSocketUpgrade& upgrade, Flusher& flusher,
                                     rt::CancelScope& scope) {
  WebSocket websocket(*socket_, flusher, upgrade.options);
  websocket.set_subprotocol(upgrade.subprotocol);
  websocket.start(std::exchange(input_, {}), &scope);
  co_await upgrade.run(websocket, scope);
  if (scope.is_cancelled() && scope.reason().code == Code::kShuttingDown)
    co_await websocket.close(wire::kCloseGoingAway, scope.reason().detail);
  else
    co_await websocket.close(wire::kCloseNormal, "");
}

rt::Task<> Connection::converse_at(rt::RealLoop& home, WebSocketUpgrade& upgrade) {
  if (!co_await socket_->write("") || !socket_->depart()) co_return;
  away_ = std::make_shared<Away>(home, *socket_);
  std::optional<rt::CancelScope::Listener> told(
      std::in_place, scope_, [away = away_, &scope = scope_] {
        away->home.post([away, reason = scope.reason()] { away->scope.cancel(reason); });
      });
  co_await rt::return_to(home);
  if (socket_->arrive(home)) {
    Flusher flusher(home);
    co_await converse_here(upgrade, flusher, away_->scope);
    socket_->close();
    co_await rt::yield(home);  // behind what the socket still has waiting there
  }
  away_->socket = nullptr;
  co_await rt::return_to(set_.loop_);
  told.reset();
  away_.reset();
}

rt::Task<> Connection::send_error(const Error& error) {
  // A connection that ends between two requests ends silently; one that is reset has nobody to
  // tell.
  if (scope_.is_cancelled() || error.code == Code::kClosed || error.code == Code::kIo) co_return;
  set_.probe_.count_request(error_row(error.code).http_status, 0);
  enter(Phase::kSending);
  const std::string bytes = last_answer(error);
  if (co_await socket_->write(bytes)) co_await linger();
}

}  // namespace reprise::http
