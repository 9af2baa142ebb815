// Text for people: aligned tables, and values made safe for a terminal.
//
//     Table table({"KEY", "STATUS", "EVENTS"});
//     table.add({"slack:C01", "ACTIVE", "12"});
//     std::fputs(table.render(terminal_width()).c_str(), stdout);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::server::cli {

// What a terminal may be shown: control characters, which could move the cursor or recolour the
// screen, are replaced, and so are bytes that are not UTF-8. Newlines become spaces.
std::string printable(std::string_view text);

// The columns a text takes on a terminal: wide East Asian characters and emoji take two, combining
// marks none.
std::size_t display_width(std::string_view text);

// The text, or as much of its beginning as fits with an ellipsis.
std::string cut_to_width(std::string_view text, std::size_t width);

// The columns of the terminal behind standard output; nullopt if it is none (then nothing is cut).
std::optional<std::size_t> terminal_width();
// Whether to colour standard output: it is a terminal and NO_COLOR is not set.
bool wants_colour();

class Table {
 public:
  explicit Table(std::vector<std::string> headings);
  // One cell per heading.
  void add(std::vector<std::string> cells);
  // Lines of at most `width` columns: the widest columns give way first, none below a few
  // characters.
  std::string render(std::optional<std::size_t> width) const;
  std::size_t size() const { return rows_.size() - 1; }

 private:
  std::vector<std::vector<std::string>> rows_;  // the first one holds the headings
};

// "name:  value" lines with the values aligned; an empty value is left out.
std::string render_record(const std::vector<std::pair<std::string, std::string>>& fields);

// "2026-11-15T18:13:02.117Z" without what a list need not show.
std::string short_time(std::string time);

// 1.5 GiB, 340 KiB, 12 bytes.
std::string format_bytes(std::uint64_t bytes);

}  // namespace reprise::server::cli
