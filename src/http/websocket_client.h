// The client's side of a WebSocket: to a server of ours, or to a browser's DevTools.
//
//     REPRISE_CO_TRY(auto socket, co_await connect_websocket(loop, {"127.0.0.1", port}, path,
//                                                            random, scope, deadline));
//     co_await socket->send({.is_text = true, .data = command}, scope);
//     REPRISE_CO_TRY(auto answer, co_await socket->read(scope));
//
// A server that answers with something else than a WebSocket: kMalformedHttp. The socket closes
// without a word when it is destroyed, and in good order by close().
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "base/ids.h"
#include "http/websocket.h"
#include "rt/cancel.h"
#include "rt/real_loop.h"
#include "rt/socket.h"
#include "rt/task.h"

namespace reprise::http {

// Towards a server that is trusted and near: messages of any size, and no pings.
WebSocketOptions trusting();

// `random` outlives the socket. Resolves the name on the calling thread, as rt::connect does.
rt::Task<Result<std::unique_ptr<WebSocket>>> connect_websocket(
    rt::RealLoop& loop, rt::Endpoint endpoint, std::string path, Random& random,
    rt::CancelScope& scope, rt::Deadline deadline, WebSocketOptions options = trusting());

// The same over a connection that is there, plain or TLS; `host` is what the server is called.
rt::Task<Result<std::unique_ptr<WebSocket>>> open_websocket(rt::Loop& loop,
                                                            std::unique_ptr<rt::Socket> socket,
                                                            std::string host, std::string path,
                                                            Random& random, rt::CancelScope& scope,
                                                            rt::Deadline deadline,
                                                            WebSocketOptions options = trusting());

}  // namespace reprise::http
