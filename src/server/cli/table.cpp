#include "server/cli/table.h"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/assert.h"
#include "server/config.h"

namespace reprise::server::cli {
namespace {

constexpr std::string_view kEllipsis = "…";
constexpr std::string_view kReplacement = "\uFFFD";
constexpr std::size_t kLeastColumn = 6;
constexpr std::string_view kGap = "  ";

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool is_valid = false;
};

// The first character of a text that is not empty.
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  char32_t code = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    code = (code << 6) | (next & 0x3fU);
  }
  const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (is_overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, length, true};
}

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t Count>
bool is_in(const std::array<Range, Count>& ranges, char32_t code) {
  return std::ranges::any_of(
      ranges, [code](const Range& range) { return code >= range.first && code <= range.last; });
}

// The common part of Unicode's East Asian Width table; a terminal's own may differ by a column.
constexpr std::array kWide = {
    Range{0x1100, 0x115f}, Range{0x2e80, 0xa4cf},   Range{0xac00, 0xd7a3},
    Range{0xf900, 0xfaff}, Range{0xfe30, 0xfe6f},   Range{0xff00, 0xff60},
    Range{0xffe0, 0xffe6}, Range{0x1f300, 0x1faff}, Range{0x20000, 0x3fffd}};
constexpr std::array kCombining = {Range{0x300, 0x36f}, Range{0x200b, 0x200d},
                                   Range{0xfe00, 0xfe0f}};
// Controls, and the marks that change the direction of what follows.
constexpr std::array kUnprintable = {Range{0, 0x1f}, Range{0x7f, 0x9f}, Range{0x200e, 0x200f},
                                     Range{0x2028, 0x202e}, Range{0x2066, 0x2069}};

std::size_t width_of(char32_t code) {
  if (is_in(kCombining, code)) return 0;
  return is_in(kWide, code) ? 2 : 1;
}

std::vector<std::size_t> fit(std::vector<std::size_t> widths, std::size_t available) {
  const std::size_t gaps = kGap.size() * (widths.size() - 1);
  while (std::accumulate(widths.begin(), widths.end(), gaps) > available) {
    const auto widest = std::ranges::max_element(widths);
    if (*widest <= kLeastColumn) break;
    --*widest;
  }
  return widths;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.is_valid && (character.code == '\n' || character.code == '\t'))
      shown += ' ';
    else if (!character.is_valid || is_in(kUnprintable, character.code))
      shown += kReplacement;
    else
      shown += text.substr(0, character.bytes);
    text.remove_prefix(character.bytes);
  }
  return shown;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    width += width_of(character.code);
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string cut_to_width(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::size_t used = 0;
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Character character = first_character(text.substr(bytes));
    const std::size_t next = width_of(character.code);
    if (used + next > width - 1) break;
    used += next;
    bytes += character.bytes;
  }
  return std::string(text.substr(0, bytes)) + std::string(kEllipsis);
}

std::optional<std::size_t> terminal_width() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
      size.ws_col == 0)
    return std::nullopt;
  return size.ws_col;
}

bool wants_colour() {
  // https://no-color.org: present and not empty, whatever its value.
  const auto no_colour = process_environment("NO_COLOR");
  if (no_colour && !no_colour->empty()) return false;
  const auto terminal = process_environment("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && !(terminal && *terminal == "dumb");
}

Table::Table(std::vector<std::string> headings) {
  REPRISE_ASSERT(!headings.empty());
  rows_.push_back(std::move(headings));
}

void Table::add(std::vector<std::string> cells) {
  REPRISE_ASSERT(cells.size() == rows_.front().size(), cells.size(), rows_.front().size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::render(std::optional<std::size_t> width) const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], display_width(row[column]));
  if (width) widths = fit(std::move(widths), *width);

  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string cell = cut_to_width(row[column], widths[column]);
      if (column > 0) line += kGap;
      line += cell;
      line.append(widths[column] - display_width(cell), ' ');
    }
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  }
  return text;
}

std::string render_record(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::size_t widest = 0;
  for (const auto& [name, value] : fields)
    if (!value.empty()) widest = std::max(widest, display_width(name));
  std::string text;
  for (const auto& [name, value] : fields) {
    if (value.empty()) continue;
    text += name + ":";
    text.append(widest - display_width(name) + kGap.size(), ' ');
    text += printable(value) + "\n";
  }
  return text;
}

std::string short_time(std::string time) {
  if (time.size() != 24) return time;
  time[10] = ' ';
  return time.substr(0, 19);
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace reprise::server::cli
