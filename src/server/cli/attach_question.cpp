#include "server/cli/attach_question.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"

namespace reprise::server::cli {
namespace {

std::string text_of(wire::JsonValue object, std::string_view name) {
  const auto member = object.find(name);
  return member ? member->as_string().value_or("") : std::string();
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

bool is_for_a_string(wire::JsonValue schema) { return text_of(schema, "type") == "string"; }

Result<std::string> choices_of_line(const Question& question, std::string_view line) {
  std::vector<std::string> ids;
  for (std::string_view rest = line;;) {
    const std::string_view name = trim(rest.substr(0, rest.find(',')));
    const auto found = std::find_if(
        question.choices.begin(), question.choices.end(),
        [name](const Question::Choice& one) { return one.id == name || one.label == name; });
    if (found == question.choices.end()) {
      std::string known;
      for (const auto& choice : question.choices) known += (known.empty() ? "" : ", ") + choice.id;
      return fail(Code::kInvalid, fmt::format("'{}' is no choice; there are {}", name, known));
    }
    ids.push_back(found->id);
    const std::size_t comma = rest.find(',');
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (ids.size() > 1 && !question.is_multiple)
    return fail(Code::kInvalid, "only one may be chosen");
  return selected_answer(ids);
}

Result<std::string> confirmation_of_line(std::string_view line) {
  if (line == "y" || line == "Y" || line == "yes") return confirmed_answer(true);
  if (line == "n" || line == "N" || line == "no") return confirmed_answer(false);
  return fail(Code::kInvalid, "the answer is y or n");
}

}  // namespace

std::optional<Question> parse_question(wire::JsonValue data) {
  Question question{.id = text_of(data, "id"), .prompt = text_of(data, "prompt")};
  if (question.id.empty()) return std::nullopt;
  const std::string kind = text_of(data, "kind");
  if (kind == "confirm") question.kind = Question::Kind::kConfirm;
  if (kind == "waitForChoice") question.kind = Question::Kind::kChoice;
  const auto schema = data.find("schema");
  question.wants_json = schema && !is_for_a_string(*schema);
  question.is_multiple = text_of(data, "selectionMode") == "multiple";
  question.skip_label = text_of(data, "skipLabel");
  question.none_label = text_of(data, "noneOfTheAboveLabel");
  const auto choices = data.find("choices");
  for (const wire::JsonValue& choice :
       choices ? choices->elements() : std::vector<wire::JsonValue>{}) {
    const std::string id = text_of(choice, "id");
    const std::string label = text_of(choice, "label");
    question.choices.push_back({id, label.empty() ? id : label});
  }
  return question;
}

std::string input_answer(std::string_view json) { return fmt::format("{{\"input\":{}}}", json); }

std::string selected_answer(const std::vector<std::string>& ids) {
  std::string list;
  for (const std::string& id : ids) list += (list.empty() ? "" : ",") + json_string(id);
  return fmt::format("{{\"selected\":[{}]}}", list);
}

std::string confirmed_answer(bool is_confirmed) {
  return fmt::format("{{\"confirmed\":{}}}", is_confirmed);
}

std::string skipped_answer() { return R"({"skipped":true})"; }

Result<std::string> answer_of_line(const Question& question, std::string_view line) {
  const std::string_view trimmed = trim(line);
  if (!question.skip_label.empty() && (trimmed.empty() || trimmed == question.skip_label))
    return skipped_answer();
  if (question.kind == Question::Kind::kConfirm) return confirmation_of_line(trimmed);
  if (question.kind == Question::Kind::kChoice) {
    if (!question.none_label.empty() && trimmed == question.none_label) return selected_answer({});
    return choices_of_line(question, trimmed);
  }
  if (!question.wants_json) return input_answer(json_string(line));
  const auto document = wire::parse_json(std::string(line));
  if (!document)
    return fail(Code::kInvalid,
                fmt::format("the answer must be JSON: {}", document.error().detail));
  return input_answer(document->root().minified());
}

OpenQuestions::Change OpenQuestions::on_event(wire::JsonValue event) {
  const std::string type = text_of(event, "type");
  const auto data = event.find("data");
  if (!data) return {};
  if (type == "input_required") {
    auto question = parse_question(*data);
    if (!question) return {};
    drop(question->id);
    open_.push_back(std::move(*question));
    return {Change::Kind::kAsked, open_.back().id};
  }
  if (type != "input_received") return {};
  Change change{Change::Kind::kResolved, text_of(*data, "id"), text_of(*data, "state")};
  drop(change.id);
  return change;
}

void OpenQuestions::drop(std::string_view id) {
  std::erase_if(open_, [id](const Question& question) { return question.id == id; });
}

}  // namespace reprise::server::cli
