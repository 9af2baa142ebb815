// Any bytes as the headers of a request or of an answer: what is accepted holds what the RFC asks
// for, and a client believes no answer that it did not ask for.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "wire/http_lines.h"
#include "wire/limits.h"
#include "wire/websocket_handshake.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  using namespace reprise::wire;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";
  // Lines "<digit><value>": which header, and what it says.
  constexpr const char* kNames[] = {"Upgrade",
                                    "Connection",
                                    "Sec-WebSocket-Version",
                                    "Sec-WebSocket-Key",
                                    "Sec-WebSocket-Protocol",
                                    "Sec-WebSocket-Accept",
                                    "Sec-WebSocket-Extensions"};
  Request request;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty()) continue;
    const auto which = static_cast<unsigned char>(line.front()) % std::size(kNames);
    request.headers.add(kNames[which], line.substr(1));
  }
  if (const auto offer = read_websocket_offer(request)) {
    const std::string key(request.headers.get("sec-websocket-key").value());
    REPRISE_ASSERT(is_websocket_key(key) && offer->accept == websocket_accept(key), key);
    REPRISE_ASSERT(offer->protocols.size() <= kMaxSubprotocols, offer->protocols.size());
    for (const std::string& protocol : offer->protocols)
      REPRISE_ASSERT(is_token(protocol), protocol);
  }
  const std::string_view offered[] = {"one"};
  if (check_websocket_answer(101, request.headers, kKey, offered))
    REPRISE_ASSERT(request.headers.get("sec-websocket-accept") == websocket_accept(kKey));
  (void)websocket_request("localhost", {reinterpret_cast<const char*>(data), size}, kKey, offered);
  return 0;
}
