// How a handler makes its connection a WebSocket.
//
//     rt::Task<Result<Reply>> open(Exchange& exchange) {
//       ... whatever may refuse it, with a status as for any request ...
//       co_return accept_websocket(exchange, [service](WebSocket& socket, rt::CancelScope& scope) {
//         return converse(service, socket, scope);
//       });
//     }
//
// The connection answers 101, reads and writes messages from then on, and no longer counts as a
// request. When the function's task ends, the socket is closed: with 1000, or with 1001 if the
// server is stopping. Its scope is cancelled when that happens, and when the peer has closed or is
// gone. The exchange is gone by then: the function owns what it needs.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "http/exchange.h"
#include "http/websocket.h"
#include "rt/cancel.h"
#include "rt/real_loop.h"
#include "rt/task.h"

namespace reprise::http {

using WebSocketRun = std::move_only_function<rt::Task<>(WebSocket&, rt::CancelScope&)>;

struct WebSocketUpgrade {
  WebSocketOptions options;
  std::string subprotocol;
  WebSocketRun run;
  // Where it runs, and the socket lives from then on; nullptr: where it is.
  rt::RealLoop* home = nullptr;
};

// The answer to a request that asks for a WebSocket: kUpgradeRequired (426) for one that does not,
// or that speaks another version; kBadRequest for a malformed one.
Result<Reply> accept_websocket(const Exchange& exchange, WebSocketRun run,
                               WebSocketOptions options = {});
// The same; the connection moves to that loop, and the function runs there. For what must not wait
// for another thread with each message.
Result<Reply> accept_websocket_at(rt::RealLoop& home, const Exchange& exchange, WebSocketRun run,
                                  WebSocketOptions options = {});

}  // namespace reprise::http
