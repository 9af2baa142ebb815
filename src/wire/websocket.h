// WebSocket frames (RFC 6455) as values: bytes in, whole messages and control frames out; and back.
// No I/O, no extensions, no compression.
//
// WebSocketDecoder is incremental and strict: reserved bits and opcodes, a length that is not the
// shortest, a mask where there must be none or none where there must be one, a control frame that
// is fragmented or long, a continuation of nothing, a close code nobody may send: all end the
// connection with 1002; a text that is not UTF-8 with 1007, a message beyond the limit with 1009.
//
//     WebSocketDecoder decoder({.role = WebSocketRole::kServer, .max_message_bytes = 1 << 20});
//     REPRISE_TRY(std::size_t used, decoder.feed(bytes));   // may stop early: behind an event
//     if (auto event = decoder.take()) ...
//
// The rest of a long frame need not pass through a buffer: payload_room() says where in the message
// it belongs, and payload_filled() that it was read to there.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace reprise::wire {

enum class WebSocketRole : std::uint8_t { kServer, kClient };

enum class WebSocketOpcode : std::uint8_t {
  kContinuation = 0,
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10,
};

// Section 7.4.1, those that we use.
inline constexpr std::uint16_t kCloseNormal = 1000;
inline constexpr std::uint16_t kCloseGoingAway = 1001;
inline constexpr std::uint16_t kCloseProtocolError = 1002;
inline constexpr std::uint16_t kCloseNoCode = 1005;  // never sent: a close frame without a code
inline constexpr std::uint16_t kCloseNotUtf8 = 1007;
inline constexpr std::uint16_t kCloseTooBig = 1009;
inline constexpr std::uint16_t kCloseInternal = 1011;

// Whether a peer may send this code: one that is defined for it, or of an application (3000-4999).
bool is_close_code(std::uint16_t code);
// What to tell the peer when an error ends the connection.
std::uint16_t close_code_for(const Error& error);

// A whole message, or a control frame.
struct WebSocketEvent {
  WebSocketOpcode opcode = WebSocketOpcode::kText;  // never kContinuation
  std::string payload;                              // of a close: the reason
  std::uint16_t close_code = 0;                     // of a close: kCloseNoCode if it has none
};

struct WebSocketDecoderOptions {
  WebSocketRole role = WebSocketRole::kServer;  // who reads: a server's peer masks, a client's not
  std::uint64_t max_frame_bytes = 0;            // 0: no limit but the message's
  std::uint64_t max_message_bytes = 0;          // 0: no limit
};

class WebSocketDecoder {
 public:
  explicit WebSocketDecoder(WebSocketDecoderOptions options) : options_(options) {}

  // Takes bytes; returns how many were used. It stops behind an event, which must be taken before
  // it goes on. What follows a close is dropped. Errors: kMalformedFrame, kMalformedText,
  // kBodyTooLarge; close_code_for() says what the peer is told. Once refused, always refused.
  Result<std::size_t> feed(std::string_view bytes);
  std::optional<WebSocketEvent> take();
  // Whether the last byte fed was the last of a message, so that nothing is kept here.
  bool is_between_messages() const { return !is_in_frame_ && !is_in_message_ && header_size_ == 0; }

  // Room for the next bytes of a frame of a message, at most for the rest of it; empty if less than
  // `least` is missing. The bytes put there are not fed.
  std::span<char> payload_room(std::size_t least);
  Result<> payload_filled(std::size_t count);

 private:
  Result<std::size_t> take_header(std::string_view bytes);
  Result<> check_opening() const;
  Result<> begin_frame(std::string_view length_and_key);
  Result<> check_size(std::uint64_t length) const;
  std::size_t take_payload(std::string_view bytes);
  void make_room(std::size_t count);
  Result<> end_frame();
  Result<> end_close();
  bool is_control() const { return (header_[0] & 0x08) != 0; }
  bool is_final() const { return (header_[0] & 0x80) != 0; }
  bool is_masked() const { return (header_[1] & 0x80) != 0; }
  WebSocketOpcode opcode() const { return static_cast<WebSocketOpcode>(header_[0] & 0x0f); }
  std::size_t header_bytes() const;
  std::unexpected<Error> refuse(Error error);

  WebSocketDecoderOptions options_;
  std::array<unsigned char, 14> header_{};
  std::uint8_t header_size_ = 0;  // of the frame whose header is being read
  bool is_in_frame_ = false;      // its header is read, its payload is not
  bool is_in_message_ = false;    // a frame that was not its last has been read
  bool is_closed_ = false;
  std::array<char, 4> key_{};
  std::uint64_t rest_ = 0;      // of the frame's payload
  std::uint64_t unmasked_ = 0;  // bytes of the frame's payload that have come
  WebSocketOpcode message_opcode_ = WebSocketOpcode::kText;
  std::string message_;     // its first filled_ bytes have come, the others are room
  std::size_t filled_ = 0;  // over all frames of the message
  std::string control_;
  std::optional<WebSocketEvent> event_;
  std::unique_ptr<Error> error_;
};

// A client masks what it sends, with a key that nobody can predict (section 10.3).
using WebSocketMask = std::array<char, 4>;

// The header of a frame whose payload of that many bytes follows it, masked if there is a key.
void append_frame_header(std::string& out, WebSocketOpcode opcode, std::uint64_t payload_bytes,
                         const std::optional<WebSocketMask>& mask = {}, bool is_final = true);
// Masks or unmasks in place; `offset` is where in the payload the bytes begin.
void apply_mask(std::span<char> bytes, const WebSocketMask& mask, std::uint64_t offset = 0);
// A whole frame.
void append_frame(std::string& out, WebSocketOpcode opcode, std::string_view payload,
                  const std::optional<WebSocketMask>& mask = {}, bool is_final = true);
// The payload of a close frame: none for kCloseNoCode. A long reason is cut, between characters.
std::string close_payload(std::uint16_t code, std::string_view reason);

}  // namespace reprise::wire
