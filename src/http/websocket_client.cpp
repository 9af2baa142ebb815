#include "http/websocket_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "wire/http.h"
#include "wire/websocket_handshake.h"

namespace reprise::http {
namespace {

// Reads the head of the answer, and what came behind it.
rt::Task<Result<>> read_answer(rt::Socket& socket, wire::ResponseParser& parser) {
  std::array<char, kIdleReadBytes> buffer;
  while (!parser.is_header_complete()) {
    REPRISE_CO_TRY(const std::size_t count, co_await socket.read_some(buffer));
    if (count == 0) co_return parser.finish();
    REPRISE_CO_CHECK(parser.feed({buffer.data(), count}));
  }
  co_return Result<>{};
}

rt::Task<Result<>> shake_hands(rt::Socket& socket, std::string request,
                               wire::ResponseParser& parser) {
  REPRISE_CO_CHECK(co_await socket.write(request));
  co_return co_await read_answer(socket, parser);
}

ReadBuffer buffer_of(std::string_view bytes) {
  ReadBuffer buffer;
  if (bytes.empty()) return buffer;
  std::ranges::copy(bytes, buffer.room(bytes.size()).begin());
  buffer.fill(bytes.size());
  return buffer;
}

}  // namespace

WebSocketOptions trusting() {
  WebSocketOptions options;
  options.max_message_bytes = 0;
  options.ping_interval = rt::Nanos::zero();
  return options;
}

rt::Task<Result<std::unique_ptr<WebSocket>>> connect_websocket(
    rt::RealLoop& loop, rt::Endpoint endpoint, std::string path, Random& random,
    rt::CancelScope& scope, rt::Deadline deadline, WebSocketOptions options) {
  const bool is_v6 = endpoint.host.find(':') != std::string::npos;
  std::string host =
      fmt::format(fmt::runtime(is_v6 ? "[{}]:{}" : "{}:{}"), endpoint.host, endpoint.port);
  REPRISE_CO_TRY(auto socket, co_await rt::connect(loop, std::move(endpoint), scope, deadline));
  co_return co_await open_websocket(loop, std::move(socket), std::move(host), std::move(path),
                                    random, scope, deadline, std::move(options));
}

rt::Task<Result<std::unique_ptr<WebSocket>>> open_websocket(
    rt::Loop& loop, std::unique_ptr<rt::Socket> socket, std::string host, std::string path,
    Random& random, rt::CancelScope& scope, rt::Deadline deadline, WebSocketOptions options) {
  const std::string key = wire::make_websocket_key(random);
  REPRISE_CO_TRY(std::string request,
                 wire::websocket_request(host, path, key, options.subprotocols));
  if (scope.is_cancelled()) co_return fail(scope.reason());
  bool is_late = false;
  const rt::CancelScope::Listener cancelled(scope, [&] { socket->close(); });
  rt::Timer timer(loop.timers());
  if (!deadline.is_never())
    timer.arm(deadline.at(), [&] {
      is_late = true;
      socket->close();
    });
  wire::ResponseParser parser;
  auto shaken = co_await shake_hands(*socket, std::move(request), parser);
  timer.cancel();
  if (scope.is_cancelled()) co_return fail(scope.reason());
  if (is_late) co_return fail(Code::kDeadline, fmt::format("{} did not answer in time", host));
  if (!shaken) co_return fail(std::move(shaken).error());
  const wire::Headers& headers = parser.headers();
  REPRISE_CO_CHECK(
      wire::check_websocket_answer(parser.status(), headers, key, options.subprotocols));
  auto websocket = std::make_unique<WebSocket>(std::move(socket), loop, random, options);
  websocket->set_subprotocol(headers.get("sec-websocket-protocol").value_or(""));
  websocket->start(buffer_of(parser.body()), nullptr);
  co_return websocket;
}

}  // namespace reprise::http
