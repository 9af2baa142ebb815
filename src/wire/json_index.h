// The token index of a JSON text (inside src/wire; users read wire/json.h).
//
// One pass over the text, without recursion, writes one token per value and per member name, in the
// order of the text. A container is followed by its children; `next` skips a value with all it
// holds:
//
//     {"a":[1,2]}    0 object next=5 count=1 | 1 "a" next=2 | 2 array next=5 count=2 | 3 1 | 4 2
//
// The pass trusts nothing: it also finds where a malformed text goes wrong, for the error's detail.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "wire/json.h"

namespace reprise::wire {

struct JsonToken {
  std::uint32_t start = 0;
  std::uint32_t end = 0;   // one beyond the last byte
  std::uint32_t next = 0;  // the token after this value
  std::uint32_t info = 0;  // the type, and above it the count of children or whether escapes occur

  JsonType type() const { return static_cast<JsonType>(info & 7); }
  std::uint32_t count() const { return info >> 3; }      // of an array or an object
  bool has_escapes() const { return (info >> 3) != 0; }  // of a string
  void add_child() { info += 8; }
};

// kMalformedJson (structure, depth, a lone surrogate escape) or kDuplicateMember. `tokens` is
// filled from empty. Bytes inside strings and the digits of numbers are not checked: simdjson has
// done so.
Result<> index_json(const std::string& text, std::vector<JsonToken>& tokens);

// The first number of an indexed text that is no JSON number or has no 64-bit or double value.
Result<> check_numbers(std::string_view text, const std::vector<JsonToken>& tokens);

// Appends what a string's inner text (between the quotes, already checked) stands for.
void append_unescaped(std::string& out, std::string_view inner);

// The first quote or backslash at or after `at`, or the end.
inline const char* find_quote_or_backslash(const char* at, const char* end) {
  // Eight bytes at a time: a byte of `word ^ pattern` is zero where the pattern's byte stands, and
  // the lowest bit of (x - 0x01..) & ~x & 0x80.. marks the first zero byte of x.
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x8080808080808080;
  for (; end - at >= 8; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    const std::uint64_t quotes = word ^ (kOnes * '"');
    const std::uint64_t backslashes = word ^ (kOnes * '\\');
    const std::uint64_t found =
        (((quotes - kOnes) & ~quotes) | ((backslashes - kOnes) & ~backslashes)) & kHighs;
    if (found != 0) return at + std::countr_zero(found) / 8;
  }
  while (at != end && *at != '"' && *at != '\\') ++at;
  return at;
}

}  // namespace reprise::wire
