// Values that take the rest of a line, or the lines below.
//
//     Passphrase: correct horse battery staple
//     password: |
//       two
//       lines
#include <algorithm>

#include "model/redact_text.h"

namespace reprise::model {
namespace {

// What follows a name on its line and is longer is a paragraph; then the first word is taken.
constexpr std::size_t kMaxPhraseBytes = 256;

// A sign of YAML's blocks with its indentation and what becomes of final newlines: |, >-, |2+.
constexpr std::size_t kMaxBlockSignBytes = 3;

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_line_end(char c) { return c == '\n' || c == '\r'; }

// Whether a line ends with such a sign; a comment may follow it.
bool opens_block(std::string_view line) {
  line = line.substr(0, line.find(" #"));
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  const std::string_view sign = line.substr(line.find_last_of(" \t") + 1);
  return (sign.starts_with('|') || sign.starts_with('>')) && sign.size() <= kMaxBlockSignBytes &&
         sign.find_first_not_of("+-0123456789", 1) == std::string_view::npos;
}

}  // namespace

std::optional<std::size_t> TextRedaction::column_at_line_start(std::size_t name_begin) const {
  std::size_t begin = name_begin;
  while (begin > 0 && !is_line_end(text_[begin - 1])) {
    if (!std::string_view(" \t-*#>/+\"'").contains(text_[begin - 1])) return std::nullopt;
    --begin;
  }
  return name_begin - begin;
}

bool TextRedaction::take_line(std::size_t value, const Assigned& assigned) {
  const std::size_t limit = std::min(text_.size(), value + kMaxPhraseBytes + 1);
  std::size_t end = value;
  for (; end < limit; ++end) {
    const char c = text_[end];
    const bool is_escape = c == '\\' && (at(end + 1) == 'n' || at(end + 1) == 'r');
    if (is_line_end(c) || is_escape || (assigned.quote != '\0' && c == assigned.quote)) break;
  }
  if (end - value > kMaxPhraseBytes) return false;

  const std::string_view rest = text_.substr(value, end - value);
  if (assigned.column && is_line_end(at(end)) && opens_block(rest)) {
    if (const auto block = block_below(end, *assigned.column, Block::kScalar)) {
      // A tag, an anchor or a comment beside the sign is not worth to be kept.
      replace(rest.size() <= kMaxBlockSignBytes ? block->begin : value, block->end);
      return true;
    }
  }

  // null, and what follows it, are no phrase.
  const std::size_t word_end = std::min(end, end_of_bare(value));
  if (is_literal(text_.substr(value, word_end - value))) {
    const std::size_t next = skip_blanks(word_end);
    if (next >= end || std::string_view(",;)}]|=#").contains(text_[next])) return false;
  }
  while (end > value &&
         (is_blank(text_[end - 1]) || text_[end - 1] == ',' || text_[end - 1] == ';'))
    --end;
  if (end == value) return false;
  replace(value, end);
  return true;
}

std::optional<TextRedaction::Span> TextRedaction::block_below(std::size_t line_end,
                                                              std::size_t name_column,
                                                              Block kind) const {
  std::optional<Span> block;
  std::size_t line = line_end;
  while (line < text_.size()) {
    // To the next line; a line end is \n or \r\n.
    if (text_[line] == '\r' && at(line + 1) == '\n') ++line;
    ++line;
    const std::size_t begin = skip_blanks(line);
    std::size_t end = std::min(text_.find('\n', begin), text_.size());
    const std::size_t next = end > begin && text_[end - 1] == '\r' ? end - 1 : end;
    end = next;
    while (end > begin && is_blank(text_[end - 1])) --end;
    const bool is_empty = begin == end;
    if (!is_empty && begin - line <= name_column) break;
    if (is_empty && kind == Block::kPlain) break;
    if (!is_empty && !block) {
      // A key in PEM goes on after an empty line; its own rule knows where it ends.
      if (kind == Block::kPlain && text_.substr(begin).starts_with("-----BEGIN "))
        return std::nullopt;
      block = Span{.begin = begin, .end = end};
    }
    if (!is_empty) block->end = end;
    line = next;
  }
  if (block && is_literal(text_.substr(block->begin, block->end - block->begin)))
    return std::nullopt;
  return block;
}

}  // namespace reprise::model
