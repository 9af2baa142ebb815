#include "browser/proxy/connection.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "browser/proxy/limits.h"

namespace reprise::browser {
namespace {

constexpr wire::ParserLimits kParserLimits{.max_target_bytes = kMaxProxyTargetBytes,
                                           .max_header_bytes = kMaxProxyHeadBytes,
                                           .max_headers = kMaxProxyHeaders,
                                           .max_body_bytes = 0,
                                           .stops_before_long_bodies = true,
                                           .takes_connect = true};

// Whether it may be sent again where nobody can tell if it has been received. Only such a request
// is sent on a connection that the server may be about to close.
bool is_repeatable(const wire::Request& request, bool has_body) {
  return !has_body &&
         (request.method == wire::Method::kGet || request.method == wire::Method::kHead ||
          request.method == wire::Method::kOptions);
}

int status_of(const Error& error) {
  switch (error.code) {
    case Code::kUrlRefused: return 403;
    case Code::kDeadline: return 504;
    case Code::kOverloaded: return 503;
    default: return 502;
  }
}

}  // namespace

ProxyConnection::ProxyConnection(ProxyCommons& commons, std::unique_ptr<rt::Socket> socket)
    : commons_(commons),
      client_(std::move(socket)),
      parser_(kParserLimits),
      idle_(commons.loop, [this] {
        commons_.probe.timed_out.fetch_add(1, std::memory_order_relaxed);
        cut_off();
      }) {}

void ProxyConnection::cut_off() {
  client_left();
  client_.socket->close();
  if (server_) server_->side.socket->close();
}

void ProxyConnection::client_left() {
  scope_.cancel(Error{Code::kClosed, "the browser closed the connection"});
  if (exchange_ != nullptr) exchange_->give_up();
}

rt::Task<> ProxyConnection::serve() {
  for (;;) {
    const auto is_asked = co_await read_head();
    if (!is_asked) co_await answer_malformed(is_asked.error());
    if (!is_asked.value_or(false)) break;
    if (parser_.partial().method_name == "CONNECT") {
      co_await serve_tunnel(parser_.take());
      break;
    }
    if (!co_await serve_request()) break;
    client_.input.stop_watching();
  }
  idle_.stop();
  cut_off();
}

rt::Task<Result<bool>> ProxyConnection::read_head() {
  const ProxyLimits& limits = commons_.options.limits;
  idle_.allow(limits.idle_timeout);
  is_head_request_ = false;
  bool has_begun = false;
  for (;;) {
    if (!client_.input.bytes().empty()) {
      REPRISE_CO_TRY(const std::size_t used, parser_.feed(client_.input.bytes()));
      client_.input.skip(used);
      if (parser_.is_header_complete()) co_return true;
    }
    // Not touched meanwhile: a head that comes byte by byte has no more time than another.
    if (parser_.has_started() && !std::exchange(has_begun, true)) idle_.allow(limits.head_timeout);
    REPRISE_CO_TRY(const bool has_bytes, co_await client_.input.wait());
    if (!has_bytes) co_return false;
  }
}

rt::Task<> ProxyConnection::serve_tunnel(wire::Request request) {
  commons_.probe.tunnels.fetch_add(1, std::memory_order_relaxed);
  const auto at = wire::parse_authority(request.target);
  if (!at) {
    co_await answer_malformed(Error{Code::kMalformedHttp, at.error().detail});
    co_return;
  }
  client_.input.watch([this] { client_left(); });
  const ProxyLimits& limits = commons_.options.limits;
  // The time to connect is a deadline of its own.
  idle_.allow(limits.exchange_timeout);
  auto reached = co_await commons_.route.open(
      *at, "", scope_, rt::Deadline::after(commons_.loop, limits.connect_timeout));
  if (!reached) {
    co_await refuse_tunnel(reached.error(), at->to_string());
    co_return;
  }
  server_ = std::make_unique<Server>(std::move(*reached));
  if (!co_await client_.socket->write("HTTP/1.1 200 Connection established\r\n\r\n")) co_return;
  co_await tunnel();
}

rt::Task<> ProxyConnection::tunnel() {
  const ProxyLimits& limits = commons_.options.limits;
  if (scope_.is_cancelled()) co_return;
  co_await run_tunnel(client_, server_->side, idle_,
                      {.idle = limits.tunnel_timeout, .half_closed = limits.half_closed_timeout},
                      commons_.probe);
}

rt::Task<bool> ProxyConnection::serve_request() {
  commons_.probe.requests.fetch_add(1, std::memory_order_relaxed);
  const bool has_body = !parser_.is_complete();
  const wire::Request request = has_body ? parser_.partial() : parser_.take();
  is_head_request_ = request.method == wire::Method::kHead;
  auto asked = read_proxy_request(request);
  if (!asked) {
    co_await answer_malformed(asked.error());
    co_return false;
  }
  if (has_body) {
    (void)parser_.wants_continue();  // the server's to send
    (void)parser_.stream_body(std::numeric_limits<std::uint64_t>::max());
  }
  client_.input.watch([this] { client_left(); });
  // A kept connection that turns out dead before a word came is followed by a new one.
  for (bool may_reuse = is_repeatable(request, has_body);; may_reuse = false) {
    idle_.allow(commons_.options.limits.exchange_timeout);
    const auto is_reused = co_await find_server(*asked, may_reuse);
    if (!is_reused) {
      co_await end_without_answer(is_reused.error(), asked->url);
      co_return false;
    }
    const ExchangeEnd end = co_await carry(request, *asked, has_body);
    if (*is_reused && end.is_silent && !end.is_answered) continue;
    if (has_body && parser_.is_complete()) (void)parser_.take();
    co_return co_await finish(*asked, end);
  }
}

rt::Task<std::expected<bool, Trouble>> ProxyConnection::find_server(ProxyRequest& asked,
                                                                    bool may_reuse) {
  const auto deadline = rt::Deadline::after(commons_.loop, commons_.options.limits.connect_timeout);
  if (may_reuse && server_ && server_->side.is_quiet() &&
      co_await commons_.route.may_reuse(server_->reached, asked.at, scope_, deadline) &&
      server_->side.is_quiet()) {
    server_->side.input.stop_watching();
    co_return true;
  }
  server_.reset();
  REPRISE_CO_TRY(Reached reached, co_await commons_.route.open(asked.at, "http", scope_, deadline));
  // As the next proxy is to be asked for it.
  if (reached.is_proxy) asked.at = reached.at;
  server_ = std::make_unique<Server>(std::move(reached));
  co_return false;
}

rt::Task<ExchangeEnd> ProxyConnection::carry(const wire::Request& request,
                                             const ProxyRequest& asked, bool has_body) {
  const NextHop next{.is_proxy = server_->reached.is_proxy,
                     .authorization = commons_.route.upstream_authorization()};
  ProxyExchange exchange({.client = client_,
                          .parser = parser_,
                          .server = server_->side,
                          .idle = idle_,
                          .probe = commons_.probe},
                         request, asked, next, has_body);
  // Gone while the server was looked for: the exchange will find its server closed.
  if (scope_.is_cancelled()) exchange.give_up();
  exchange_ = &exchange;
  ExchangeEnd end = co_await exchange.run();
  exchange_ = nullptr;
  co_return end;
}

rt::Task<bool> ProxyConnection::finish(const ProxyRequest& asked, const ExchangeEnd& end) {
  if (scope_.is_cancelled()) co_return false;
  if (end.is_switched) {
    co_await tunnel();
    co_return false;
  }
  if (end.is_server_reusable)
    keep_server();
  else
    server_.reset();
  if (!end.error) co_return end.is_client_reusable;
  if (end.is_answered)
    report(Trouble(*end.error), asked.url);
  else
    co_await end_without_answer(Trouble(*end.error), asked.url);
  co_return false;
}

// A server that closes it while nobody uses it has closed it for good.
void ProxyConnection::keep_server() {
  server_->side.input.watch([this] { server_->side.socket->close(); });
}

void ProxyConnection::report(const Trouble& trouble, const std::string& url) {
  const ProxyOptions& options = commons_.options;
  if (trouble.refusal) {
    commons_.probe.refused.fetch_add(1, std::memory_order_relaxed);
    if (options.on_refused) options.on_refused(url, *trouble.refusal);
  } else {
    commons_.probe.failed.fetch_add(1, std::memory_order_relaxed);
    if (options.on_failed) options.on_failed(url, trouble.error);
  }
}

rt::Task<> ProxyConnection::end_without_answer(const Trouble& trouble, std::string url) {
  if (scope_.is_cancelled()) co_return;
  report(trouble, url);
  co_await linger();
}

rt::Task<> ProxyConnection::refuse_tunnel(const Trouble& trouble, std::string url) {
  if (scope_.is_cancelled()) co_return;
  report(trouble, url);
  Result<> sent;
  if (trouble.refusal)
    sent = co_await answer(
        403, "Reprise-Refused", word(trouble.refusal->rule),
        fmt::format("The browser may not go there: {}.\n", trouble.refusal->detail));
  else
    sent = co_await answer(
        status_of(trouble.error), "Reprise-Failed", error_row(trouble.error.code).name,
        fmt::format("{} could not be reached: {}.\n", url, trouble.error.detail));
  if (sent) co_await linger();
}

rt::Task<> ProxyConnection::answer_malformed(const Error& error) {
  // A connection that ended or was reset has nobody to tell.
  if (scope_.is_cancelled() || error.code == Code::kClosed || error.code == Code::kIo) co_return;
  commons_.probe.malformed.fetch_add(1, std::memory_order_relaxed);
  const auto& row = error_row(error.code);
  const auto sent = co_await answer(row.http_status, "Reprise-Failed", row.name,
                                    fmt::format("{}\n", error.detail));
  if (sent) co_await linger();
}

rt::Task<Result<>> ProxyConnection::answer(int status, std::string_view mark,
                                           std::string_view value, std::string text) {
  wire::Headers headers;
  headers.add(mark, value);
  headers.add("Content-Type", "text/plain; charset=utf-8");
  headers.add("X-Content-Type-Options", "nosniff");
  headers.add("Cache-Control", "no-store");
  std::string bytes;
  wire::append_response_head(bytes, status, headers, text.size(), false);
  if (!is_head_request_) bytes += text;
  co_return co_await client_.socket->write(bytes);
}

rt::Task<> ProxyConnection::linger() {
  client_.input.stop_watching();
  client_.socket->shutdown_write();
  idle_.allow(commons_.options.limits.linger_timeout);
  for (std::size_t dropped = 0; dropped < kMaxProxyLingerBytes;) {
    const Result<bool> has_bytes = co_await client_.input.wait();
    if (!has_bytes.value_or(false)) co_return;
    dropped += client_.input.bytes().size();
    client_.input.skip(client_.input.bytes().size());
  }
}

}  // namespace reprise::browser
