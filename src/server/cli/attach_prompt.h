// Prompt: one question on a terminal, as a state machine: keys in, lines of text and at last an
// answer out. Pure.
//
//     Prompt prompt(question);
//     switch (prompt.on_key(key)) { case Prompt::Step::kAnswer: send(prompt.answer()); ... }
//     draw(prompt.render(80));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/cli/attach_keys.h"
#include "server/cli/attach_question.h"

namespace reprise::server::cli {

// Entries of a menu that are shown at a time; the others are reached by moving on.
inline constexpr std::size_t kMaxMenuRows = 12;
inline constexpr std::size_t kMaxTypedBytes = 64 * 1024;

class Prompt {
 public:
  explicit Prompt(Question question);

  enum class Step : std::uint8_t { kNothing, kChanged, kAnswer };
  Step on_key(const Key& key);
  // After kAnswer: the body for the server.
  const std::string& answer() const { return answer_; }
  // The answer was none: says why, and goes on.
  void refuse(std::string why) { problem_ = std::move(why); }

  // Lines of at most `width` columns, without a newline after the last.
  std::string render(std::size_t width) const;
  const Question& question() const { return question_; }

 private:
  Step on_text_key(const Key& key);
  Step on_menu_key(const Key& key);
  Step on_confirm_key(const Key& key);
  Step take_line(std::string_view line);
  Step take_menu();
  Step give(std::string answer);
  std::size_t entries() const;
  std::string entry_text(std::size_t entry) const;
  void add_menu(std::vector<std::string>& lines) const;

  Question question_;
  std::string typed_;
  std::size_t cursor_ = 0;
  std::vector<bool> is_ticked_;
  std::string problem_;
  std::string answer_;
};

}  // namespace reprise::server::cli
