// Questions of a session as `reprise attach` asks them: read from events, answered by a line. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "wire/json.h"

namespace reprise::server::cli {

struct Question {
  enum class Kind : std::uint8_t { kText, kChoice, kConfirm };
  struct Choice {
    std::string id;
    std::string label;
  };
  std::string id;
  Kind kind = Kind::kText;
  std::string prompt;
  bool wants_json = false;  // it has a schema, and not one for a string
  std::vector<Choice> choices = {};
  bool is_multiple = false;
  std::string skip_label = {};  // empty: it cannot be skipped
  std::string none_label = {};  // empty: none of the above is not offered
};

// The data of an input_required event; nullopt if it is not one.
std::optional<Question> parse_question(wire::JsonValue data);

// Answers, as the server takes them.
std::string input_answer(std::string_view json);
std::string selected_answer(const std::vector<std::string>& ids);
std::string confirmed_answer(bool is_confirmed);
std::string skipped_answer();

// What a line means as an answer: the text, or JSON where that is wanted; choices by id or label,
// several with commas between them; yes or no. The labels of skipping and of none are answers too,
// and so is an empty line to what can be skipped. kInvalid says what would be right.
Result<std::string> answer_of_line(const Question& question, std::string_view line);

// The questions that are open, in the order in which they were asked.
class OpenQuestions {
 public:
  struct Change {
    enum class Kind : std::uint8_t { kNone, kAsked, kResolved } kind = Kind::kNone;
    std::string id = {};
    std::string state = {};  // of a resolved one: answered, expired, cancelled
  };
  Change on_event(wire::JsonValue event);
  // The next one to ask; nullptr: none.
  const Question* next() const { return open_.empty() ? nullptr : &open_.front(); }
  void drop(std::string_view id);

 private:
  std::deque<Question> open_;
};

}  // namespace reprise::server::cli
