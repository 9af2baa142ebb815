// Any bytes as frames: the same events and the same verdict however they are cut, and whether long
// payloads are fed or read to their place. Any bytes as messages: what is encoded, in fragments and
// with pings between them, is decoded again.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "wire/json.h"
#include "wire/websocket.h"

namespace {

using namespace reprise;
using namespace reprise::wire;

constexpr std::size_t kNeverToItsPlace = static_cast<std::size_t>(-1);

std::string outcome(std::string_view bytes, WebSocketRole role, std::size_t piece,
                    std::size_t least_room) {
  WebSocketDecoder decoder({.role = role, .max_frame_bytes = 5'000, .max_message_bytes = 8'000});
  std::string text;
  while (!bytes.empty()) {
    const std::string_view next = bytes.substr(0, piece);
    const std::span<char> place = decoder.payload_room(least_room);
    Result<std::size_t> used = std::min(place.size(), next.size());
    if (place.empty()) {
      used = decoder.feed(next);
    } else {
      next.copy(place.data(), *used);
      if (auto filled = decoder.payload_filled(*used); !filled)
        used = fail(std::move(filled).error());
    }
    if (!used) return text + std::to_string(close_code_for(used.error()));
    bytes.remove_prefix(*used);
    const auto event = decoder.take();
    REPRISE_ASSERT(event || *used > 0);
    if (!event) continue;
    REPRISE_ASSERT(event->payload.size() <= 8'000, event->payload.size());
    REPRISE_ASSERT(event->opcode != WebSocketOpcode::kText || is_utf8(event->payload));
    text += std::to_string(static_cast<int>(event->opcode)) + " " +
            std::to_string(event->close_code) + " " + event->payload + "\n";
  }
  return text + (decoder.is_between_messages() ? "" : "unfinished");
}

// The first bytes say how the others are cut and masked.
void check_round_trip(std::string_view bytes) {
  if (bytes.size() < 6) return;
  const std::size_t fragment = static_cast<unsigned char>(bytes[0]) + 1;
  const std::size_t piece = static_cast<unsigned char>(bytes[1]) + 1;
  const WebSocketMask mask{bytes[2], bytes[3], bytes[4], bytes[5]};
  const std::string_view payload = bytes.substr(6);
  const bool is_masked = (fragment & 1) != 0;
  const std::optional<WebSocketMask> key =
      is_masked ? std::optional<WebSocketMask>(mask) : std::nullopt;
  std::string encoded;
  std::string expected;
  for (std::size_t at = 0; at == 0 || at < payload.size(); at += fragment) {
    const bool is_last = at + fragment >= payload.size();
    append_frame(encoded, at == 0 ? WebSocketOpcode::kBinary : WebSocketOpcode::kContinuation,
                 payload.substr(at, fragment), key, is_last);
    if (is_last) break;
    append_frame(encoded, WebSocketOpcode::kPing, "p", key);
    expected += "9 0 p\n";
  }
  if (payload.size() > 5'000) return;
  expected += "2 0 " + std::string(payload) + "\n";
  const auto role = is_masked ? WebSocketRole::kServer : WebSocketRole::kClient;
  REPRISE_ASSERT(outcome(encoded, role, piece, kNeverToItsPlace) == expected);
  REPRISE_ASSERT(outcome(encoded, role, piece, 1) == expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const WebSocketRole role : {WebSocketRole::kServer, WebSocketRole::kClient}) {
    const std::string whole = outcome(bytes, role, size, kNeverToItsPlace);
    REPRISE_ASSERT(outcome(bytes, role, 1, kNeverToItsPlace) == whole, whole);
    REPRISE_ASSERT(outcome(bytes, role, 7, 1) == whole, whole);
    REPRISE_ASSERT(outcome(bytes, role, 100, 20) == whole, whole);
  }
  check_round_trip(bytes);
  return 0;
}
