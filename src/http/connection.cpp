#include "http/connection.h"

#include <fmt/format.h>

#include <array>
#include <atomic>

#include "base/log.h"
#include "http/limits.h"
#include "http/request_id.h"

namespace reprise::http {
namespace {

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
    if (Reply::Stream run = co_await connection.serve()) co_await connection.stream(std::move(run));
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
  socket_->close();
}

rt::Task<Result<std::optional<wire::Request>>> Connection::read_request() {
  std::size_t read_size = kSmallReadBytes;
  bool is_head_checked = false;
  for (;;) {
    if (!input_.empty()) {
      REPRISE_CO_TRY(const std::size_t used, parser_->feed(input_.unread()));
      input_.skip(used);
      if (parser_->is_complete()) co_return parser_->take();
      if (parser_->is_header_complete() && !std::exchange(is_head_checked, true) &&
          co_await refuse_by_head())
        co_return std::nullopt;
      if (parser_->wants_continue()) {
        enter(Phase::kSending);
        REPRISE_CO_CHECK(co_await socket_->write("HTTP/1.1 100 Continue\r\n\r\n"));
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
rt::Task<bool> Connection::refuse_by_head() {
  auto exchange = std::make_unique<Exchange>();
  exchange->request = parser_->partial();
  exchange->request_id = request_id(exchange->request.headers.get("x-request-id"));
  const Route* route = nullptr;
  Result<Reply> outcome = refuse_early(*exchange, route);
  if (outcome && route != nullptr) co_return false;
  is_head_request_ = exchange->request.method == wire::Method::kHead;
  Reply reply = finish(*exchange, std::move(outcome));
  note(*exchange, reply.status, 0);
  if (co_await send(reply, false)) co_await linger();
  co_return true;
}

rt::Task<> Connection::linger() {
  socket_->shutdown_write();
  enter(Phase::kLingering);
  co_await read_and_drop(*socket_);
}

void Connection::note(const Exchange& exchange, int status, std::uint64_t micros) {
  set_.probe_.count_request(status, micros);
  if (!log::is_enabled(log::Level::kDebug) && status < 500) return;
  log::write(status >= 500 ? log::Level::kWarning : log::Level::kDebug, "request",
             {{"id", exchange.request_id},
              {"method", wire::word(exchange.request.method)},
              {"path", exchange.target.path},
              {"status", status},
              {"micros", micros},
              {"by", exchange.principal.name}});
}

rt::Task<Reply::Stream> Connection::serve() {
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
    const bool wants_more = exchange->request.keep_alive || !input_.empty();
    is_head_request_ = exchange->request.method == wire::Method::kHead;
    Reply reply = co_await answer(*exchange);
    const bool is_stream = reply.stream && !is_head_request_;
    const bool keep_alive = exchange->request.keep_alive && !set_.is_draining_ && !is_stream &&
                            served + 1 < set_.options_.max_requests_per_connection;
    note(*exchange, reply.status,
         static_cast<std::uint64_t>((set_.loop_.now() - started).count() / 1000));
    if (!co_await send(reply, keep_alive)) break;
    if (is_stream) {
      // A stream may last for days: what was needed to start it is given back.
      parser_.reset();
      input_ = {};
      co_return std::move(reply.stream);
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
  co_return nullptr;
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
  if (std::none_of(produces.begin(), produces.end(),
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
  if (reply && route != nullptr) {
    exchange.socket = socket_.get();
    exchange.flusher = &set_.flusher_;
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
  set_.gatekeeper_.add_cors(exchange.request, reply.headers);
  return reply;
}

rt::Task<Result<>> Connection::send(Reply& reply, bool keep_alive) {
  std::string head;
  head.reserve(256 + (reply.body.size() < kSmallReadBytes ? reply.body.size() : 0));
  const auto length = reply.stream ? std::nullopt : std::optional(reply.body.size());
  wire::append_response_head(head, reply.status, reply.headers, length, keep_alive);
  if (is_head_request_) reply.body.clear();
  if (reply.body.size() < kSmallReadBytes) {
    head += reply.body;
    reply.body.clear();
  }
  const std::size_t total = head.size() + reply.body.size();
  std::size_t sent = 0;
  for (;;) {
    const std::size_t held = socket_->held_bytes();
    const std::size_t of_head = std::min(sent, head.size());
    const std::size_t of_body = sent - of_head;
    const std::array<iovec, 2> parts = {
        iovec{head.data() + of_head, head.size() - of_head},
        iovec{reply.body.data() + of_body, reply.body.size() - of_body}};
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
