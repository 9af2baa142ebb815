#include "http/websocket_upgrade.h"

#include "wire/websocket_handshake.h"

namespace reprise::http {

Result<Reply> accept_websocket(const Exchange& exchange, WebSocketRun run,
                               WebSocketOptions options) {
  REPRISE_TRY(const wire::WebSocketOffer offer, wire::read_websocket_offer(exchange.request));
  const std::string_view subprotocol = wire::pick_subprotocol(offer, options.subprotocols);
  Reply reply = Reply::empty(101);
  reply.headers.add("Upgrade", "websocket");
  reply.headers.add("Connection", "Upgrade");
  reply.headers.add("Sec-WebSocket-Accept", offer.accept);
  if (!subprotocol.empty()) reply.headers.add("Sec-WebSocket-Protocol", subprotocol);
  reply.websocket =
      std::make_shared<WebSocketUpgrade>(WebSocketUpgrade{.options = std::move(options),
                                                          .subprotocol = std::string(subprotocol),
                                                          .run = std::move(run)});
  return reply;
}

Result<Reply> accept_websocket_at(rt::RealLoop& home, const Exchange& exchange, WebSocketRun run,
                                  WebSocketOptions options) {
  REPRISE_TRY(Reply reply, accept_websocket(exchange, std::move(run), std::move(options)));
  reply.websocket->home = &home;
  return reply;
}

}  // namespace reprise::http
