#include "wire/range.h"

#include <algorithm>
#include <charconv>

#include "wire/http_lines.h"

namespace reprise::wire {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Digits only; a number too large for 64 bits is the largest one, which is beyond any size.
std::optional<std::uint64_t> parse_position(std::string_view text) {
  if (text.empty() ||
      !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : UINT64_MAX;
}

}  // namespace

RangeAnswer parse_range(std::string_view header, std::uint64_t size) {
  const RangeAnswer whole;
  header = trim(header);
  const std::size_t equals = header.find('=');
  if (equals == std::string_view::npos || !equals_ignoring_case(header.substr(0, equals), "bytes"))
    return whole;
  const std::string_view spec = trim(header.substr(equals + 1));
  const std::size_t dash = spec.find('-');
  if (dash == std::string_view::npos || spec.find(',') != std::string_view::npos) return whole;
  const std::string_view before = spec.substr(0, dash);
  const std::string_view after = spec.substr(dash + 1);
  const auto first = parse_position(before);
  const auto last = parse_position(after);
  if ((!before.empty() && !first) || (!after.empty() && !last) || (!first && !last)) return whole;
  if (first && last && *last < *first) return whole;

  const RangeAnswer unsatisfiable{.kind = RangeAnswer::Kind::kUnsatisfiable, .range = {}};
  if (!first) {
    // The last so many bytes.
    if (*last == 0 || size == 0) return unsatisfiable;
    return {.kind = RangeAnswer::Kind::kPart,
            .range = {.first = size - std::min(*last, size), .last = size - 1}};
  }
  if (*first >= size) return unsatisfiable;
  return {.kind = RangeAnswer::Kind::kPart,
          .range = {.first = *first, .last = std::min(last.value_or(size - 1), size - 1)}};
}

bool names_etag(std::string_view list, std::string_view etag, bool is_weak_comparison) {
  if (trim(list) == "*") return true;
  while (!list.empty()) {
    list = trim(list);
    const bool is_weak = list.starts_with("W/");
    if (is_weak) list.remove_prefix(2);
    const std::size_t end = list.starts_with('"') ? list.find('"', 1) : std::string_view::npos;
    if (end == std::string_view::npos) return false;
    if (list.substr(0, end + 1) == etag && (is_weak_comparison || !is_weak)) return true;
    list = trim(list.substr(end + 1));
    if (!list.empty() && list.front() != ',') return false;
    if (!list.empty()) list.remove_prefix(1);
  }
  return false;
}

}  // namespace reprise::wire
