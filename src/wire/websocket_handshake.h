// The handshake that turns an HTTP/1.1 connection into a WebSocket (RFC 6455 section 4), both sides
// of it: heads in, verdicts out. No I/O; extensions are never agreed on.
//
//     REPRISE_TRY(WebSocketOffer offer, read_websocket_offer(request));
//     answer 101 with Sec-WebSocket-Accept: offer.accept
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "wire/http.h"

namespace reprise::wire {

inline constexpr std::string_view kWebSocketVersion = "13";

// What a client asked for.
struct WebSocketOffer {
  std::string accept;                  // the value of Sec-WebSocket-Accept
  std::vector<std::string> protocols;  // in the order of its preference
};

// kUpgradeRequired for a request that asks for something else, or for another version of the
// protocol: the answer then says what would be right. kBadRequest for a key or protocols that
// cannot be.
Result<WebSocketOffer> read_websocket_offer(const Request& request);
// The first of those offered that is known; empty if none is.
std::string_view pick_subprotocol(const WebSocketOffer& offer,
                                  std::span<const std::string_view> known);

// Sixteen random bytes in base64.
std::string make_websocket_key(Random& random);
bool is_websocket_key(std::string_view key);
// What proves that a server understood the key.
std::string websocket_accept(std::string_view key);

// The head of a client's request. Without Origin: only browsers have one. kBadParameter for a host
// or path that cannot stand in a head.
Result<std::string> websocket_request(std::string_view host, std::string_view path,
                                      std::string_view key,
                                      std::span<const std::string_view> protocols);
// Whether the answer to it opens a WebSocket; kMalformedHttp if it does not. Its body, where it has
// one, is not looked at.
Result<> check_websocket_answer(int status, const Headers& headers, std::string_view key,
                                std::span<const std::string_view> protocols);

}  // namespace reprise::wire
