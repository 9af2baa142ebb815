#include "base/json_text.h"

#include <charconv>

namespace reprise {
namespace {

// The length of the UTF-8 sequence at `at`, or 0 where the bytes are not one (RFC 3629: no overlong
// forms, no surrogates, nothing above U+10FFFF).
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto is_tail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return is_tail(at + 1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!is_tail(at + 1) || !is_tail(at + 2)) return 0;
    if (first == 0xe0 && byte(at + 1) < 0xa0) return 0;
    if (first == 0xed && byte(at + 1) > 0x9f) return 0;
    return 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!is_tail(at + 1) || !is_tail(at + 2) || !is_tail(at + 3)) return 0;
    if (first == 0xf0 && byte(at + 1) < 0x90) return 0;
    if (first == 0xf4 && byte(at + 1) > 0x8f) return 0;
    return 4;
  }
  return 0;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out.push_back('"');
  std::size_t plain_from = 0;
  const auto flush = [&](std::size_t until) {
    out.append(text.substr(plain_from, until - plain_from));
  };
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\' && c < 0x80) {
      ++i;
      continue;
    }
    if (c >= 0x80) {
      const std::size_t length = utf8_length(text, i);
      if (length > 0) {
        i += length;
        continue;
      }
      flush(i);
      out += "\xef\xbf\xbd";
    } else {
      flush(i);
      switch (c) {
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        case '\n': out += "\\n"; break;
        case '\r': out += "\\r"; break;
        case '\t': out += "\\t"; break;
        default:
          out += "\\u00";
          out.push_back(kDigits[c >> 4]);
          out.push_back(kDigits[c & 15]);
      }
    }
    plain_from = ++i;
  }
  flush(text.size());
  out.push_back('"');
}

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

void append_number(std::string& out, std::uint64_t value) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

void append_number(std::string& out, std::int64_t value) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

}  // namespace reprise
