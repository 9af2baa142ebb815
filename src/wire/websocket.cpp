#include "wire/websocket.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "wire/json.h"
#include "wire/limits.h"

namespace reprise::wire {
namespace {

constexpr std::size_t kOpeningBytes = 2;  // opcode and flags, then the mask bit and a short length
constexpr std::uint64_t kLength16 = 126;  // a short length that says: two bytes of length follow
constexpr std::uint64_t kLength64 = 127;  // eight
// parse_json() needs room behind a text, and then need not copy it.
constexpr std::size_t kRoomBehind = 64;

std::uint64_t read_big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

void append_big_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(value >> shift & 0xff));
}

Error malformed(std::string detail) { return {Code::kMalformedFrame, std::move(detail)}; }

// The content of what is added is undefined: it is about to be written over.
void resize_without_clearing(std::string& text, std::size_t size) {
  text.resize_and_overwrite(size, [](char*, std::size_t count) { return count; });
}

}  // namespace

bool is_close_code(std::uint16_t code) {
  // 1004 is reserved, 1005, 1006 and 1015 stand for a close that was not sent; 1012 to 1014 were
  // registered after the RFC.
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}

std::uint16_t close_code_for(const Error& error) {
  switch (error.code) {
    case Code::kMalformedFrame: return kCloseProtocolError;
    case Code::kMalformedText: return kCloseNotUtf8;
    case Code::kBodyTooLarge: return kCloseTooBig;
    case Code::kShuttingDown: return kCloseGoingAway;
    default: return kCloseInternal;
  }
}

std::unexpected<Error> WebSocketDecoder::refuse(Error error) {
  error_ = std::make_unique<Error>(std::move(error));
  message_ = {};
  return fail(*error_);
}

Result<std::size_t> WebSocketDecoder::feed(std::string_view bytes) {
  if (error_) return fail(*error_);
  std::size_t used = 0;
  while (used < bytes.size() && !event_) {
    if (is_closed_) return bytes.size();
    if (is_in_frame_) {
      used += take_payload(bytes.substr(used));
    } else {
      auto taken = take_header(bytes.substr(used));
      if (!taken) return refuse(std::move(taken).error());
      used += *taken;
    }
    if (!is_in_frame_ || rest_ > 0) continue;
    if (auto ended = end_frame(); !ended) return refuse(std::move(ended).error());
  }
  return used;
}

std::optional<WebSocketEvent> WebSocketDecoder::take() { return std::exchange(event_, {}); }

std::size_t WebSocketDecoder::header_bytes() const {
  const std::uint64_t length = header_[1] & 0x7f;
  const std::size_t length_bytes = length == kLength64 ? 8 : length == kLength16 ? 2 : 0;
  return kOpeningBytes + length_bytes + (is_masked() ? 4 : 0);
}

Result<std::size_t> WebSocketDecoder::take_header(std::string_view bytes) {
  std::size_t used = 0;
  const auto read_up_to = [&](std::size_t size) {
    for (; header_size_ < size && used < bytes.size(); ++used)
      header_[header_size_++] = static_cast<unsigned char>(bytes[used]);
    return header_size_ >= size;
  };
  if (header_size_ < kOpeningBytes) {
    if (!read_up_to(kOpeningBytes)) return used;
    REPRISE_CHECK(check_opening());
  }
  if (!read_up_to(header_bytes())) return used;
  const std::string_view header(reinterpret_cast<const char*>(header_.data()), header_size_);
  header_size_ = 0;
  REPRISE_CHECK(begin_frame(header.substr(kOpeningBytes)));
  return used;
}

// What the first two bytes say already: nothing is waited for that would not change the verdict.
Result<> WebSocketDecoder::check_opening() const {
  using enum WebSocketOpcode;
  if ((header_[0] & 0x70) != 0) return fail(malformed("a reserved bit is set"));
  const WebSocketOpcode kind = opcode();
  const bool is_data = kind == kContinuation || kind == kText || kind == kBinary;
  if (!is_data && kind != kClose && kind != kPing && kind != kPong)
    return fail(malformed(fmt::format("{} is no opcode", header_[0] & 0x0f)));
  if (is_masked() != (options_.role == WebSocketRole::kServer))
    return fail(malformed(is_masked() ? "a server's frame is masked" : "the frame is not masked"));
  if (is_control()) {
    if (!is_final()) return fail(malformed("a control frame is fragmented"));
    if ((header_[1] & 0x7f) > kMaxControlBytes)
      return fail(malformed("a control frame has over 125 bytes"));
    return {};
  }
  if (kind == kContinuation && !is_in_message_)
    return fail(malformed("a continuation has nothing to continue"));
  if (kind != kContinuation && is_in_message_)
    return fail(malformed("a message begins inside another"));
  return {};
}

Result<> WebSocketDecoder::begin_frame(std::string_view length_and_key) {
  std::uint64_t length = header_[1] & 0x7f;
  if (length >= kLength16) {
    const std::uint64_t least = length == kLength16 ? kLength16 : 0x10000;
    const std::string_view bytes = length_and_key.substr(0, length == kLength16 ? 2 : 8);
    length_and_key.remove_prefix(bytes.size());
    length = read_big_endian(bytes);
    if (length < least) return fail(malformed("a length is not in its shortest form"));
    if (length >> 63 != 0) return fail(malformed("a length is negative"));
  }
  if (is_masked()) length_and_key.copy(key_.data(), key_.size());
  if (!is_control()) {
    REPRISE_CHECK(check_size(length));
    if (!is_in_message_) message_opcode_ = opcode();
  }
  rest_ = length;
  unmasked_ = 0;
  is_in_frame_ = true;
  return {};
}

Result<> WebSocketDecoder::check_size(std::uint64_t length) const {
  if (options_.max_frame_bytes != 0 && length > options_.max_frame_bytes)
    return fail(Code::kBodyTooLarge, fmt::format("the frame has {} bytes, the most is {}", length,
                                                 options_.max_frame_bytes));
  // Both are less than 2^63.
  const std::uint64_t most = options_.max_message_bytes;
  if (most != 0 && length + filled_ > most)
    return fail(Code::kBodyTooLarge, fmt::format("the message has {} bytes or more, the most is {}",
                                                 length + filled_, most));
  return {};
}

std::size_t WebSocketDecoder::take_payload(std::string_view bytes) {
  const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), rest_));
  std::span<char> taken;
  if (is_control()) {
    control_.append(bytes.substr(0, piece));
    taken = std::span(control_).last(piece);
  } else {
    make_room(piece);
    taken = std::span(message_).subspan(filled_, piece);
    std::memcpy(taken.data(), bytes.data(), piece);
    filled_ += piece;
  }
  if (is_masked()) apply_mask(taken, key_, unmasked_);
  unmasked_ += piece;
  rest_ -= piece;
  return piece;
}

// For so many bytes of the frame; for all of it, as far as its length is believed: three times what
// has come. What is not written to is not resident, and growing so moves a third of the bytes once.
void WebSocketDecoder::make_room(std::size_t count) {
  const std::size_t needed = filled_ + count;
  if (message_.size() >= needed) return;
  const std::size_t believed = std::max(filled_ * 3, kMaxFrameReserve);
  const std::uint64_t wanted = filled_ + std::min<std::uint64_t>(rest_, believed);
  const auto size = std::max(needed, static_cast<std::size_t>(wanted));
  if (size > message_.capacity()) message_.reserve(std::max(size + kRoomBehind, filled_ * 2));
  resize_without_clearing(message_, size);
}

std::span<char> WebSocketDecoder::payload_room(std::size_t least) {
  if (!is_in_frame_ || is_control() || rest_ < least || error_) return {};
  make_room(1);
  const std::size_t room = message_.size() - filled_;
  return std::span(message_).subspan(
      filled_, static_cast<std::size_t>(std::min<std::uint64_t>(room, rest_)));
}

Result<> WebSocketDecoder::payload_filled(std::size_t count) {
  REPRISE_ASSERT(is_in_frame_ && count <= rest_ && filled_ + count <= message_.size(), count);
  if (is_masked()) apply_mask(std::span(message_).subspan(filled_, count), key_, unmasked_);
  filled_ += count;
  unmasked_ += count;
  rest_ -= count;
  if (rest_ > 0) return {};
  if (auto ended = end_frame(); !ended) return refuse(std::move(ended).error());
  return {};
}

Result<> WebSocketDecoder::end_frame() {
  is_in_frame_ = false;
  if (opcode() == WebSocketOpcode::kClose) return end_close();
  if (is_control()) {
    event_ = WebSocketEvent{.opcode = opcode(), .payload = std::exchange(control_, {})};
    return {};
  }
  is_in_message_ = !is_final();
  if (is_in_message_) return {};
  message_.resize(std::exchange(filled_, 0));
  if (message_opcode_ == WebSocketOpcode::kText && !is_utf8(message_))
    return fail(Code::kMalformedText, "a text message is not UTF-8");
  event_ = WebSocketEvent{.opcode = message_opcode_, .payload = std::exchange(message_, {})};
  return {};
}

Result<> WebSocketDecoder::end_close() {
  is_closed_ = true;
  std::string payload = std::exchange(control_, {});
  std::uint16_t code = kCloseNoCode;
  if (payload.size() == 1) return fail(malformed("a close has half a code"));
  if (payload.size() >= 2) {
    code = static_cast<std::uint16_t>(read_big_endian(std::string_view(payload).substr(0, 2)));
    if (!is_close_code(code)) return fail(malformed(fmt::format("{} is no close code", code)));
    payload.erase(0, 2);
    if (!is_utf8(payload)) return fail(Code::kMalformedText, "the reason of a close is not UTF-8");
  }
  event_ = WebSocketEvent{
      .opcode = WebSocketOpcode::kClose, .payload = std::move(payload), .close_code = code};
  return {};
}

void append_frame_header(std::string& out, WebSocketOpcode opcode, std::uint64_t payload_bytes,
                         const std::optional<WebSocketMask>& mask, bool is_final) {
  out.push_back(static_cast<char>((is_final ? 0x80 : 0) | static_cast<int>(opcode)));
  const int mask_bit = mask ? 0x80 : 0;
  if (payload_bytes < kLength16) {
    out.push_back(static_cast<char>(mask_bit | static_cast<int>(payload_bytes)));
  } else if (payload_bytes <= 0xffff) {
    out.push_back(static_cast<char>(mask_bit | static_cast<int>(kLength16)));
    append_big_endian(out, payload_bytes, 2);
  } else {
    out.push_back(static_cast<char>(mask_bit | static_cast<int>(kLength64)));
    append_big_endian(out, payload_bytes, 8);
  }
  if (mask) out.append(mask->data(), mask->size());
}

void apply_mask(std::span<char> bytes, const WebSocketMask& mask, std::uint64_t offset) {
  // The key as it meets these bytes, twice: eight bytes at a time, which the compiler makes wider.
  std::array<char, 8> pattern;
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = mask[(offset + i) % mask.size()];
  std::uint64_t wide = 0;
  std::memcpy(&wide, pattern.data(), sizeof wide);
  char* const data = bytes.data();
  const std::size_t whole = bytes.size() - bytes.size() % sizeof wide;
  for (std::size_t i = 0; i < whole; i += sizeof wide) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + i, sizeof word);
    word ^= wide;
    std::memcpy(data + i, &word, sizeof word);
  }
  for (std::size_t i = whole; i < bytes.size(); ++i)
    data[i] = static_cast<char>(data[i] ^ pattern[i % pattern.size()]);
}

void append_frame(std::string& out, WebSocketOpcode opcode, std::string_view payload,
                  const std::optional<WebSocketMask>& mask, bool is_final) {
  append_frame_header(out, opcode, payload.size(), mask, is_final);
  out += payload;
  if (mask) apply_mask(std::span(out).last(payload.size()), *mask);
}

std::string close_payload(std::uint16_t code, std::string_view reason) {
  std::string payload;
  if (code == kCloseNoCode) return payload;
  REPRISE_ASSERT(is_close_code(code), code);
  append_big_endian(payload, code, 2);
  std::size_t size = std::min(reason.size(), kMaxCloseReasonBytes);
  // Not inside a character: back to before its first byte.
  if (size < reason.size())
    while (size > 0 && (static_cast<unsigned char>(reason[size]) & 0xc0) == 0x80) --size;
  payload += reason.substr(0, size);
  return payload;
}

}  // namespace reprise::wire
