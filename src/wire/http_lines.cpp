#include "wire/http_lines.h"

#include <algorithm>
#include <array>

#include "wire/limits.h"

namespace reprise::wire {
namespace {

constexpr std::array<bool, 256> make_token_bytes() {
  std::array<bool, 256> bytes{};
  for (char c = 'a'; c <= 'z'; ++c) bytes[static_cast<unsigned char>(c)] = true;
  for (char c = 'A'; c <= 'Z'; ++c) bytes[static_cast<unsigned char>(c)] = true;
  for (char c = '0'; c <= '9'; ++c) bytes[static_cast<unsigned char>(c)] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~"))
    bytes[static_cast<unsigned char>(c)] = true;
  return bytes;
}
constexpr auto kTokenBytes = make_token_bytes();

Result<> check_line(std::string_view line) {
  if (line.size() < 2 || line[line.size() - 2] != '\r')
    return fail(Code::kMalformedHttp, "a line ends with LF alone; it must end with CRLF");
  // Without an early exit the compiler checks sixteen bytes at a time.
  bool has_control = false;
  for (const char c : line.substr(0, line.size() - 2)) {
    const auto byte = static_cast<unsigned char>(c);
    has_control |= (byte < 0x20 && byte != '\t') || byte == 0x7f;
  }
  if (has_control) return fail(Code::kMalformedHttp, "a control character stands in the head");
  return {};
}

}  // namespace

std::size_t line_piece(std::string_view bytes) {
  const std::size_t at = bytes.find('\n');
  return at == std::string_view::npos ? bytes.size() : at + 1;
}

Result<bool> LineReader::take(std::string_view& bytes, std::string_view& line) {
  if (is_line_out_) {
    pending_.clear();
    is_line_out_ = false;
  }
  const std::size_t piece = line_piece(bytes);
  const bool is_whole = piece > 0 && bytes[piece - 1] == '\n';
  if (pending_.empty() && is_whole) {
    line = bytes.substr(0, piece);  // not copied: the usual case
  } else {
    pending_.append(bytes.substr(0, piece));
    line = pending_;
    is_line_out_ = is_whole;
  }
  bytes.remove_prefix(piece);
  if (!is_whole) return false;
  REPRISE_CHECK(check_line(line));
  return true;
}

void LineReader::reset() {
  is_line_out_ = false;
  empty_buffer(pending_);
}

void empty_buffer(std::string& text) {
  // Not by assigning an empty string: that keeps the memory.
  if (text.capacity() > kKeptLineBytes) std::string().swap(text);
  text.clear();
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return kTokenBytes[static_cast<unsigned char>(c)];
  });
}

Result<> check_field_line(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    return fail(Code::kMalformedHttp, "a header line must be a token, a colon and a value");
  return {};
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
  });
}

}  // namespace reprise::wire
