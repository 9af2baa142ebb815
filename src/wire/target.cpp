#include "wire/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "wire/http_lines.h"
#include "wire/json.h"

namespace reprise::wire {
namespace {

std::unexpected<Error> bad(std::string_view why) {
  return fail(Code::kBadRequest, fmt::format("the request target is malformed: {}", why));
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> decode(std::string_view text, bool plus_is_space) {
  // Most pieces have nothing to decode, and what is not encoded is ASCII.
  if (text.find_first_of(plus_is_space ? "%+" : "%") == std::string_view::npos)
    return std::string(text);
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      decoded.push_back(' ');
    } else if (text[i] != '%') {
      decoded.push_back(text[i]);
    } else {
      const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0) return bad("a percent sign needs two hexadecimal digits");
      if (high == 0 && low == 0) return bad("it encodes NUL");
      decoded.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  if (!is_utf8(decoded)) return bad("it is not UTF-8 once decoded");
  return decoded;
}

// Takes the text up to the first `separator`, and the separator, off the front.
std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t at = rest.find(separator);
  const std::string_view piece = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return piece;
}

// Drops the scheme and the authority of the absolute form.
Result<std::string_view> origin_form(std::string_view text) {
  if (text.starts_with('/')) return text;
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || (!equals_ignoring_case(text.substr(0, colon), "http") &&
                                          !equals_ignoring_case(text.substr(0, colon), "https")))
    return bad("it must begin with a slash");
  const std::string_view rest = text.substr(colon + 3);
  const std::size_t authority = std::min(rest.find_first_of("/?"), rest.size());
  if (authority == 0) return bad("the authority is empty");
  return rest.substr(authority);
}

}  // namespace

Result<Target> parse_target(std::string_view text) {
  const bool is_plain = std::all_of(text.begin(), text.end(),
                                    [](char c) { return c > 0x20 && c < 0x7f && c != '#'; });
  if (!is_plain) return bad("it holds a space, a '#' or a byte beyond ASCII");
  REPRISE_TRY(std::string_view rest, origin_form(text));
  Target target;
  std::string_view path = take_until(rest, '?');
  // Only the absolute form can leave the path out.
  target.path = path.empty() ? std::string("/") : std::string(path);
  if (!path.empty()) path.remove_prefix(1);
  target.segments.reserve(1 + static_cast<std::size_t>(std::count(path.begin(), path.end(), '/')));
  bool is_last = false;
  while (!is_last) {
    is_last = path.find('/') == std::string_view::npos;
    REPRISE_TRY(std::string segment, decode(take_until(path, '/'), false));
    target.segments.push_back(std::move(segment));
  }
  while (!rest.empty()) {
    std::string_view parameter = take_until(rest, '&');
    if (parameter.empty()) continue;
    REPRISE_TRY(std::string name, decode(take_until(parameter, '='), true));
    REPRISE_TRY(std::string value, decode(parameter, true));
    target.query.emplace_back(std::move(name), std::move(value));
  }
  return target;
}

std::string percent_encode(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    const bool is_unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                               (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
                               c == '~';
    if (is_unreserved) {
      encoded.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded.push_back('%');
      encoded.push_back(kDigits[byte >> 4]);
      encoded.push_back(kDigits[byte & 15]);
    }
  }
  return encoded;
}

}  // namespace reprise::wire
