#include "wire/json_index.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/json_text.h"
#include "wire/json_names.h"
#include "wire/limits.h"

namespace reprise::wire {
namespace {

std::uint32_t info_of(JsonType type) { return static_cast<std::uint32_t>(type); }

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Which bytes a number is made of; what follows them ends it.
constexpr std::array<bool, 256> make_number_bytes() {
  std::array<bool, 256> bytes{};
  for (const char c : {'+', '-', '.', 'e', 'E', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'})
    bytes[static_cast<unsigned char>(c)] = true;
  return bytes;
}
constexpr auto kNumberBytes = make_number_bytes();

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The four digits of a \u escape, or -1.
int four_hex(const char* at, const char* end) {
  if (end - at < 4) return -1;
  int value = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_value(at[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

bool is_high_surrogate(int unit) { return unit >= 0xd800 && unit <= 0xdbff; }
bool is_low_surrogate(int unit) { return unit >= 0xdc00 && unit <= 0xdfff; }

void append_utf8(std::string& out, unsigned point) {
  const auto put = [&](unsigned byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | (point >> 6));
    put(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    put(0xe0 | (point >> 12));
    put(0x80 | ((point >> 6) & 0x3f));
    put(0x80 | (point & 0x3f));
  } else {
    put(0xf0 | (point >> 18));
    put(0x80 | ((point >> 12) & 0x3f));
    put(0x80 | ((point >> 6) & 0x3f));
    put(0x80 | (point & 0x3f));
  }
}

class Indexer {
 public:
  Indexer(const std::string& text, std::vector<JsonToken>& tokens)
      : text_(text),
        begin_(text.data()),
        end_(begin_ + text.size()),
        at_(begin_),
        tokens_(tokens) {}

  Result<> run();

 private:
  // Each reads at at_ and returns whether it could; if not, error_ says why.
  bool read_name();
  bool read_string();
  bool read_escape();
  bool read_scalar();
  bool read_literal(std::string_view literal, JsonType type);
  bool open();
  bool close();

  // std::string ends with a NUL, which is no JSON byte: reading at end_ is safe and stops every
  // loop.
  void skip_space() {
    while (is_space(*at_)) ++at_;
  }
  std::uint32_t offset() const { return static_cast<std::uint32_t>(at_ - begin_); }
  bool in_object() const { return tokens_[open_[depth_ - 1]].type() == JsonType::kObject; }
  void push(JsonType type, std::uint32_t start, std::uint32_t end, std::uint32_t flag = 0) {
    const auto next = static_cast<std::uint32_t>(tokens_.size() + 1);
    tokens_.push_back({start, end, next, info_of(type) | flag << 3});
  }
  bool refuse(std::string_view what) {
    error_ = at_ == end_
                 ? Error{Code::kMalformedJson, fmt::format("the text ends early: {}", what)}
                 : Error{Code::kMalformedJson, fmt::format("{} at byte {}", what, offset())};
    return false;
  }

  const std::string& text_;
  const char* const begin_;
  const char* const end_;
  const char* at_;
  std::vector<JsonToken>& tokens_;
  std::array<std::uint32_t, kMaxJsonDepth> open_;  // the containers around at_, outermost first
  std::size_t depth_ = 0;
  std::optional<Error> error_;
};

// Each turn reads one value, with its name before it in an object, and then what may follow a
// value: the ends of containers, and a comma before the next turn.
Result<> Indexer::run() {
  for (;;) {
    skip_space();
    if (depth_ > 0 && in_object() && !read_name()) return fail(std::move(*error_));
    if (*at_ == '{' || *at_ == '[') {
      if (!open()) return fail(std::move(*error_));
      skip_space();
      if (*at_ != '}' && *at_ != ']') continue;
    } else {
      if (!read_scalar()) return fail(std::move(*error_));
      if (depth_ > 0) tokens_[open_[depth_ - 1]].add_child();
    }
    for (;;) {
      skip_space();
      if (depth_ == 0) {
        if (at_ == end_) return {};
        refuse("something follows the value");
        return fail(std::move(*error_));
      }
      if (*at_ == ',') {
        ++at_;
        break;
      }
      if (!close()) return fail(std::move(*error_));
    }
  }
}

bool Indexer::read_name() {
  if (*at_ != '"') return refuse("a member name must stand");
  if (!read_string()) return false;
  skip_space();
  if (*at_ != ':') return refuse("a colon must stand");
  ++at_;
  skip_space();
  return true;
}

bool Indexer::read_string() {
  const std::uint32_t start = offset();
  std::uint32_t has_escapes = 0;
  ++at_;
  for (;;) {
    at_ = find_quote_or_backslash(at_, end_);
    if (at_ == end_) return refuse("a string has no closing quote");
    if (*at_ == '"') break;
    has_escapes = 1;
    if (!read_escape()) return false;
  }
  ++at_;
  push(JsonType::kString, start, offset(), has_escapes);
  return true;
}

bool Indexer::read_escape() {
  const char kind = at_[1];
  if (kind != 'u') {
    if (kind == '\0' || std::strchr("\"\\/bfnrt", kind) == nullptr)
      return refuse("an unknown escape");
    at_ += 2;
    return true;
  }
  const int unit = four_hex(at_ + 2, end_);
  if (unit < 0) return refuse("\\u needs four hexadecimal digits");
  if (is_low_surrogate(unit)) return refuse("a lone surrogate escape has no UTF-8 form");
  if (!is_high_surrogate(unit)) {
    at_ += 6;
    return true;
  }
  const bool has_second = end_ - at_ >= 12 && at_[6] == '\\' && at_[7] == 'u';
  if (!has_second || !is_low_surrogate(four_hex(at_ + 8, end_)))
    return refuse("a lone surrogate escape has no UTF-8 form");
  at_ += 12;
  return true;
}

bool Indexer::read_scalar() {
  switch (*at_) {
    case '"': return read_string();
    case 't': return read_literal("true", JsonType::kBool);
    case 'f': return read_literal("false", JsonType::kBool);
    case 'n': return read_literal("null", JsonType::kNull);
    default: break;
  }
  const std::uint32_t start = offset();
  while (kNumberBytes[static_cast<unsigned char>(*at_)]) ++at_;
  if (offset() == start) return refuse("a value must stand");
  push(JsonType::kNumber, start, offset());
  return true;
}

bool Indexer::read_literal(std::string_view literal, JsonType type) {
  const std::uint32_t start = offset();
  if (text_.compare(start, literal.size(), literal) != 0) return refuse("a value must stand");
  at_ += literal.size();
  push(type, start, offset());
  return true;
}

bool Indexer::open() {
  if (depth_ == kMaxJsonDepth)
    return refuse(fmt::format("nesting deeper than {} levels", kMaxJsonDepth));
  open_[depth_++] = static_cast<std::uint32_t>(tokens_.size());
  push(*at_ == '{' ? JsonType::kObject : JsonType::kArray, offset(), 0);
  ++at_;
  return true;
}

bool Indexer::close() {
  const std::uint32_t token = open_[depth_ - 1];
  const bool is_object = tokens_[token].type() == JsonType::kObject;
  if (*at_ != (is_object ? '}' : ']'))
    return refuse("a comma or the end of the container must stand");
  ++at_;
  tokens_[token].end = offset();
  tokens_[token].next = static_cast<std::uint32_t>(tokens_.size());
  if (--depth_ > 0) tokens_[open_[depth_ - 1]].add_child();
  if (!is_object || tokens_[token].count() < 2) return true;
  // Kept while the thread lives, for its buffers; those of a huge object are freed.
  thread_local DuplicateNames duplicates;
  const auto twice = duplicates.find(text_, tokens_, token);
  if (tokens_[token].count() > kKeptJsonBytes / 16) duplicates = DuplicateNames();
  if (!twice) return true;
  std::string name;
  const JsonToken& again = tokens_[*twice];
  append_unescaped(name,
                   std::string_view(text_).substr(again.start + 1, again.end - again.start - 2));
  constexpr std::size_t kShownBytes = 80;
  error_ =
      Error{Code::kDuplicateMember,
            fmt::format("the member {} is named twice, again at byte {}",
                        json_string(std::string_view(name).substr(0, kShownBytes)), again.start)};
  return false;
}

// RFC 8259 section 6.
bool is_number_text(std::string_view text) {
  std::size_t at = 0;
  const auto peek = [&] { return at < text.size() ? text[at] : '\0'; };
  const auto digits = [&] {
    const std::size_t from = at;
    while (peek() >= '0' && peek() <= '9') ++at;
    return at - from;
  };
  if (peek() == '-') ++at;
  const bool has_leading_zero = peek() == '0';
  const std::size_t whole = digits();
  if (whole == 0 || (has_leading_zero && whole > 1)) return false;
  if (peek() == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (peek() == 'e' || peek() == 'E') {
    ++at;
    if (peek() == '+' || peek() == '-') ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

bool has_value(std::string_view number) {
  const char* const end = number.data() + number.size();
  if (number.find_first_of(".eE") == std::string_view::npos) {
    std::int64_t negative = 0;
    std::uint64_t positive = 0;
    return number[0] == '-' ? std::from_chars(number.data(), end, negative).ec == std::errc()
                            : std::from_chars(number.data(), end, positive).ec == std::errc();
  }
  return std::isfinite(std::strtod(std::string(number).c_str(), nullptr));
}

}  // namespace

void append_unescaped(std::string& out, std::string_view inner) {
  const char* at = inner.data();
  const char* const end = at + inner.size();
  while (at != end) {
    const void* found = std::memchr(at, '\\', static_cast<std::size_t>(end - at));
    const char* const escape = found == nullptr ? end : static_cast<const char*>(found);
    out.append(at, escape);
    if (escape == end) return;
    at = escape + 2;
    switch (escape[1]) {
      case 'b': out.push_back('\b'); break;
      case 'f': out.push_back('\f'); break;
      case 'n': out.push_back('\n'); break;
      case 'r': out.push_back('\r'); break;
      case 't': out.push_back('\t'); break;
      case 'u': {
        auto point = static_cast<unsigned>(four_hex(at, end));
        at += 4;
        if (is_high_surrogate(static_cast<int>(point))) {
          const auto low = static_cast<unsigned>(four_hex(at + 2, end));
          point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
          at += 6;
        }
        append_utf8(out, point);
        break;
      }
      default: out.push_back(escape[1]);
    }
  }
}

Result<> index_json(const std::string& text, std::vector<JsonToken>& tokens) {
  tokens.clear();
  return Indexer(text, tokens).run();
}

Result<> check_numbers(std::string_view text, const std::vector<JsonToken>& tokens) {
  for (const JsonToken& token : tokens) {
    if (token.type() != JsonType::kNumber) continue;
    const std::string_view number = text.substr(token.start, token.end - token.start);
    constexpr std::size_t kShownBytes = 40;
    if (!is_number_text(number))
      return fail(Code::kMalformedJson, fmt::format("{} is not a JSON number, at byte {}",
                                                    number.substr(0, kShownBytes), token.start));
    if (!has_value(number))
      return fail(Code::kMalformedJson,
                  fmt::format("the number {} at byte {} fits neither a 64-bit integer nor a double",
                              number.substr(0, kShownBytes), token.start));
  }
  return {};
}

}  // namespace reprise::wire
