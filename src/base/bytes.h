// Fixed-width integers, varints and length-prefixed text in byte strings.
//
// Keys use big-endian so that byte order is numeric order; values use varints (LEB128) to stay
// small.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reprise {

void put_be64(std::string& out, std::uint64_t value);
void put_be32(std::string& out, std::uint32_t value);
std::uint64_t get_be64(std::string_view eight_bytes);
std::uint32_t get_be32(std::string_view four_bytes);

void put_varint(std::string& out, std::uint64_t value);
// A varint length, then the bytes.
void put_text(std::string& out, std::string_view text);

// Reads what the functions above wrote, from bytes that may be damaged: every read says whether it
// fitted, and after one that did not, all later ones fail too.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
  bool varint(std::uint64_t& value);
  bool text(std::string_view& value);
  bool text(std::string& value);
  bool byte(std::uint8_t& value);
  bool be64(std::uint64_t& value);
  bool take(std::size_t count, std::string_view& value);
  bool at_end() const { return ok_ && rest_.empty(); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// The first key after all keys with this prefix; empty where there is none.
std::string prefix_end(std::string prefix);

std::string to_hex(std::string_view bytes);
std::optional<std::string> from_hex(std::string_view text);
// base64 with padding (RFC 4648 section 4).
std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);
// base64url without padding (RFC 4648 section 5).
std::string to_base64url(std::string_view bytes);
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace reprise
