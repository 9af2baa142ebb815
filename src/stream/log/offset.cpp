#include "stream/log/offset.h"

#include <fmt/format.h>

#include <charconv>

namespace reprise::stream {
namespace {

constexpr std::size_t kDigits = 16;
constexpr std::string_view kZeros = "0000000000000000";

}  // namespace

void append_offset(std::string& out, Seq after) {
  char digits[20];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, after.value);
  const auto size = static_cast<std::size_t>(end - digits);
  out.append(kDigits > size ? kDigits - size : 0, '0');
  out.append(digits, size);
  out += '_';
  out += kZeros;
}

std::string offset_text(Seq after) {
  std::string text;
  append_offset(text, after);
  return text;
}

Result<Seq> parse_offset(std::string_view text) {
  const auto is_digits = [](std::string_view part) {
    return part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (text.size() != 2 * kDigits + 1 || text[kDigits] != '_' ||
      !is_digits(text.substr(0, kDigits)) || !is_digits(text.substr(kDigits + 1)))
    return fail(Code::kBadParameter, "the offset is none that this server gave out");
  Seq seq;
  std::from_chars(text.data(), text.data() + kDigits, seq.value);
  return seq;
}

Result<ReadFrom> parse_read_from(std::string_view text) {
  if (text == "-1") return ReadFrom{};
  if (text == "now") return ReadFrom{.after = {}, .is_tail = true};
  REPRISE_TRY(const Seq after, parse_offset(text));
  return ReadFrom{.after = after};
}

}  // namespace reprise::stream
