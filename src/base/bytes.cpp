#include "base/bytes.h"

#include <array>

#include "base/assert.h"

namespace reprise {

void put_be64(std::string& out, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

void put_be32(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

std::uint64_t get_be64(std::string_view eight_bytes) {
  REPRISE_ASSERT(eight_bytes.size() >= 8, eight_bytes.size());
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i)
    value = (value << 8) | static_cast<unsigned char>(eight_bytes[i]);
  return value;
}

std::uint32_t get_be32(std::string_view four_bytes) {
  REPRISE_ASSERT(four_bytes.size() >= 4, four_bytes.size());
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = (value << 8) | static_cast<unsigned char>(four_bytes[i]);
  return value;
}

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out.append(text);
}

bool ByteReader::byte(std::uint8_t& value) {
  std::string_view one;
  if (!take(1, one)) return false;
  value = static_cast<std::uint8_t>(one[0]);
  return true;
}

bool ByteReader::take(std::size_t count, std::string_view& value) {
  if (!ok_ || rest_.size() < count) return ok_ = false;
  value = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return true;
}

bool ByteReader::be64(std::uint64_t& value) {
  std::string_view eight;
  if (!take(8, eight)) return false;
  value = get_be64(eight);
  return true;
}

bool ByteReader::varint(std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    std::uint8_t next = 0;
    if (!byte(next)) return false;
    if (shift == 63 && next > 1) return ok_ = false;  // would not fit 64 bits
    value |= static_cast<std::uint64_t>(next & 0x7f) << shift;
    if ((next & 0x80) != 0) continue;
    // put_varint never ends on a zero byte: a longer spelling of the same number is damage.
    return next != 0 || shift == 0 || (ok_ = false);
  }
  return ok_ = false;
}

bool ByteReader::text(std::string_view& value) {
  std::uint64_t size = 0;
  if (!varint(size)) return false;
  if (size > rest_.size()) return ok_ = false;
  return take(static_cast<std::size_t>(size), value);
}

bool ByteReader::text(std::string& value) {
  std::string_view view;
  if (!text(view)) return false;
  value.assign(view);
  return true;
}

std::string prefix_end(std::string prefix) {
  while (!prefix.empty()) {
    auto& last = prefix.back();
    if (static_cast<unsigned char>(last) != 0xff) {
      last = static_cast<char>(static_cast<unsigned char>(last) + 1);
      return prefix;
    }
    prefix.pop_back();
  }
  return prefix;
}

std::string to_hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    text.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
    text.push_back(kDigits[static_cast<unsigned char>(c) & 15]);
  }
  return text;
}

namespace {
int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr char kBase64Url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<signed char, 256> make_base64_values(const char* alphabet) {
  std::array<signed char, 256> values{};
  for (auto& value : values) value = -1;
  for (signed char i = 0; i < 64; ++i) values[static_cast<unsigned char>(alphabet[i])] = i;
  return values;
}
constexpr auto kBase64Values = make_base64_values(kBase64);
constexpr auto kBase64UrlValues = make_base64_values(kBase64Url);
}  // namespace

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]);
    const int low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

std::string to_base64(std::string_view bytes) {
  std::string text = to_base64url(bytes);
  for (char& c : text) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

std::string to_base64url(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t buffer = 0;
  int bits = 0;
  for (const char c : bytes) {
    buffer = (buffer << 8) | static_cast<unsigned char>(c);
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text.push_back(kBase64Url[(buffer >> bits) & 63]);
    }
  }
  if (bits > 0) text.push_back(kBase64Url[(buffer << (6 - bits)) & 63]);
  return text;
}

namespace {

std::optional<std::string> decode_base64(std::string_view text,
                                         const std::array<signed char, 256>& values) {
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t buffer = 0;
  int bits = 0;
  for (const char c : text) {
    const signed char value = values[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    buffer = (buffer << 6) | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes.push_back(static_cast<char>((buffer >> bits) & 255));
    }
  }
  // Left-over bits must be zero, or two texts would mean the same bytes.
  if ((buffer & ((1U << bits) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace

std::optional<std::string> from_base64url(std::string_view text) {
  return decode_base64(text, kBase64UrlValues);
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  return decode_base64(text, kBase64Values);
}

}  // namespace reprise
