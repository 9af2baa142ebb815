#include "server/cli/attach_prompt.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/cli/table.h"

namespace reprise::server::cli {
namespace {

bool is_text(const Key& key, std::string_view text) {
  return key.kind == Key::Kind::kText && key.text == text;
}

void drop_last_character(std::string& text) {
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.back());
    text.pop_back();
    if ((byte & 0xc0) != 0x80) return;
  }
}

// The end of a line that is too long is where the person types.
std::string end_of(const std::string& text, std::size_t width) {
  std::string_view rest = text;
  while (display_width(rest) > width) {
    rest.remove_prefix(1);
    while (!rest.empty() && (static_cast<unsigned char>(rest.front()) & 0xc0) == 0x80)
      rest.remove_prefix(1);
  }
  return std::string(rest);
}

}  // namespace

Prompt::Prompt(Question question)
    : question_(std::move(question)), is_ticked_(question_.choices.size(), false) {}

Prompt::Step Prompt::on_key(const Key& key) {
  problem_.clear();
  switch (question_.kind) {
    case Question::Kind::kChoice: return on_menu_key(key);
    case Question::Kind::kConfirm: return on_confirm_key(key);
    case Question::Kind::kText: break;
  }
  return on_text_key(key);
}

Prompt::Step Prompt::give(std::string answer) {
  answer_ = std::move(answer);
  return Step::kAnswer;
}

Prompt::Step Prompt::take_line(std::string_view line) {
  auto answer = answer_of_line(question_, line);
  if (answer) return give(std::move(*answer));
  refuse(answer.error().detail);
  return Step::kChanged;
}

Prompt::Step Prompt::on_text_key(const Key& key) {
  switch (key.kind) {
    case Key::Kind::kEnter: return take_line(typed_);
    case Key::Kind::kBackspace: drop_last_character(typed_); return Step::kChanged;
    case Key::Kind::kClearLine: typed_.clear(); return Step::kChanged;
    case Key::Kind::kText:
      if (typed_.size() + key.text.size() > kMaxTypedBytes) return Step::kNothing;
      typed_ += key.text;
      return Step::kChanged;
    default: return Step::kNothing;
  }
}

Prompt::Step Prompt::on_confirm_key(const Key& key) {
  if (is_text(key, "y") || is_text(key, "Y")) return give(confirmed_answer(true));
  if (is_text(key, "n") || is_text(key, "N")) return give(confirmed_answer(false));
  if (is_text(key, "s") && !question_.skip_label.empty()) return give(skipped_answer());
  return Step::kNothing;
}

// The choices, then none of the above, then to skip.
std::size_t Prompt::entries() const {
  return question_.choices.size() + (question_.none_label.empty() ? 0 : 1) +
         (question_.skip_label.empty() ? 0 : 1);
}

Prompt::Step Prompt::on_menu_key(const Key& key) {
  const std::size_t count = entries();
  if (count == 0) return Step::kNothing;
  if (key.kind == Key::Kind::kUp || is_text(key, "k")) {
    cursor_ = (cursor_ + count - 1) % count;
    return Step::kChanged;
  }
  if (key.kind == Key::Kind::kDown || is_text(key, "j")) {
    cursor_ = (cursor_ + 1) % count;
    return Step::kChanged;
  }
  if (is_text(key, " ") && question_.is_multiple && cursor_ < is_ticked_.size()) {
    is_ticked_[cursor_] = !is_ticked_[cursor_];
    return Step::kChanged;
  }
  return key.kind == Key::Kind::kEnter ? take_menu() : Step::kNothing;
}

Prompt::Step Prompt::take_menu() {
  const std::size_t choices = question_.choices.size();
  if (cursor_ == choices && !question_.none_label.empty()) return give(selected_answer({}));
  if (cursor_ >= choices) return give(skipped_answer());
  if (!question_.is_multiple) return give(selected_answer({question_.choices[cursor_].id}));
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < choices; ++i)
    if (is_ticked_[i]) ids.push_back(question_.choices[i].id);
  if (!ids.empty()) return give(selected_answer(ids));
  refuse("nothing is chosen: the space bar chooses");
  return Step::kChanged;
}

std::string Prompt::entry_text(std::size_t entry) const {
  const std::size_t choices = question_.choices.size();
  if (entry < choices) {
    std::string label = printable(question_.choices[entry].label);
    if (!question_.is_multiple) return label;
    return fmt::format("[{}] {}", is_ticked_[entry] ? 'x' : ' ', label);
  }
  const bool is_none = entry == choices && !question_.none_label.empty();
  return printable(is_none ? question_.none_label : question_.skip_label);
}

void Prompt::add_menu(std::vector<std::string>& lines) const {
  const std::size_t count = entries();
  const std::size_t shown = std::min(count, kMaxMenuRows);
  const std::size_t first = std::min(cursor_ - std::min(cursor_, shown / 2), count - shown);
  for (std::size_t i = first; i < first + shown; ++i)
    lines.push_back(fmt::format("{} {}", i == cursor_ ? '>' : ' ', entry_text(i)));
  std::string hint = question_.is_multiple ? "arrows move, space chooses, Enter answers"
                                           : "arrows move, Enter answers";
  if (shown < count) hint = fmt::format("{} of {}; {}", cursor_ + 1, count, hint);
  lines.push_back("  (" + hint + ")");
}

std::string Prompt::render(std::size_t width) const {
  std::vector<std::string> lines;
  const std::string skip = printable(question_.skip_label);
  switch (question_.kind) {
    case Question::Kind::kChoice: add_menu(lines); break;
    case Question::Kind::kConfirm:
      lines.push_back(skip.empty() ? "(y/n)" : fmt::format("(y/n, s: {})", skip));
      break;
    case Question::Kind::kText:
      if (!skip.empty()) lines.push_back(fmt::format("  (Enter on its own: {})", skip));
      if (question_.wants_json) lines.emplace_back("  (the answer is JSON)");
      lines.push_back("> " + end_of(printable(typed_), width > 4 ? width - 4 : 1));
      break;
  }
  // Above what is typed, where the cursor stays.
  if (!problem_.empty()) lines.insert(lines.begin(), "! " + printable(problem_));
  std::string text;
  for (const std::string& line : lines) {
    if (!text.empty()) text += '\n';
    text += cut_to_width(line, width > 1 ? width - 1 : 1);
  }
  return text;
}

}  // namespace reprise::server::cli
