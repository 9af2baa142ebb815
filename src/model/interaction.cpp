#include "model/interaction.h"

#include <algorithm>
#include <array>
#include <set>

#include "model/decide.h"
#include "model/decide_parts.h"
#include "model/event_data.h"
#include "model/input.h"
#include "model/limits.h"
#include "model/session_state.h"
#include "wire/json_schema.h"

namespace reprise::model {
namespace {

constexpr std::array<std::string_view, 4> kKindWords = {"inputNode", "waitForInput",
                                                        "waitForChoice", "confirm"};
constexpr std::array<std::string_view, 4> kStateWords = {"pending", "answered", "expired",
                                                         "cancelled"};

template <typename Enum, std::size_t count>
std::optional<Enum> parse_word(const std::array<std::string_view, count>& words,
                               std::string_view text) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == text) return static_cast<Enum>(i);
  return std::nullopt;
}

void check_one_of(Problems& problems, std::string_view pointer, std::string_view text,
                  std::string_view one, std::string_view other) {
  if (!text.empty() && text != one && text != other)
    problems.add(std::string(pointer),
                 fmt::format("{} is {} or {}", pointer.substr(1), one, other));
}

void check_choices(Problems& problems, const wire::JsonValue& choices) {
  const auto elements = choices.elements();
  if (elements.empty() || elements.size() > kMaxChoices)
    problems.add("/choices", fmt::format("choices must be 1 to {}", kMaxChoices));
  std::set<std::string> ids;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string pointer = fmt::format("/choices/{}", i);
    const auto id = elements[i].find("id");
    const auto text = id ? id->as_string() : std::nullopt;
    if (!text || text->empty() || text->size() > kMaxIdentifierBytes)
      problems.add(pointer + "/id", "a choice needs an id");
    else if (!ids.insert(*text).second)
      problems.add(pointer + "/id", fmt::format("two choices have the id '{}'", *text));
    for (const wire::JsonMember& member : elements[i].members()) {
      const bool is_text = member.value.type() == wire::JsonType::kString;
      const bool is_known =
          member.name == "id" || member.name == "label" || member.name == "description";
      if (!is_known || !is_text)
        problems.add(pointer + '/' + member.name, "a choice has the texts id, label, description");
    }
  }
}

// The JSON a question carries is checked as it will stand in the event.
std::string checked_choices(Problems& problems, const Ask& ask) {
  if (ask.kind != InteractionKind::kWaitForChoice) {
    if (!ask.choices.empty()) problems.add("/choices", "only waitForChoice has choices");
    return {};
  }
  if (ask.choices.empty()) {
    problems.add("/choices", "waitForChoice needs choices");
    return {};
  }
  std::string minified =
      checked_json(problems, "/choices", ask.choices, wire::JsonType::kArray, kMaxQuestionBytes);
  if (const auto document = wire::parse_json(minified.empty() ? "[]" : minified); document)
    check_choices(problems, document->root());
  return minified;
}

// Whether a value can stand so many levels down in an event's data and be read again.
bool fits_below(std::string_view value, std::size_t levels) {
  return wire::parse_json(std::string(levels, '[') + std::string(value) + std::string(levels, ']'))
      .has_value();
}

std::string checked_schema(Problems& problems, const Ask& ask) {
  if (ask.schema.empty()) return {};
  if (ask.kind == InteractionKind::kWaitForChoice || ask.kind == InteractionKind::kConfirm) {
    problems.add("/schema", "only questions for input have a schema");
    return {};
  }
  if (ask.schema.size() > kMaxQuestionBytes) {
    check_length(problems, "/schema", ask.schema.size(), kMaxQuestionBytes);
    return {};
  }
  const auto schema = wire::JsonSchema::compile(ask.schema);
  if (schema && fits_below(ask.schema, 1)) return wire::minify_json(ask.schema);
  if (schema) {
    problems.add("/schema", "schema is nested too deeply");
    return {};
  }
  if (schema.error().fields.empty()) problems.add("/schema", schema.error().detail);
  for (const FieldError& field : schema.error().fields)
    problems.add("/schema" + field.pointer, field.detail);
  return {};
}

std::unexpected<Error> not_this_answer(std::string_view pointer, std::string_view why) {
  return invalid(std::string(pointer), std::string(why));
}

Result<std::string> response_to_input(const wire::JsonValue& question, const Respond& respond) {
  if (!respond.input) return not_this_answer("/input", "this question is answered with input");
  REPRISE_TRY(const auto value, wire::parse_json(*respond.input));
  if (const auto schema = question.find("schema")) {
    REPRISE_TRY(const auto compiled, wire::JsonSchema::compile(std::string(schema->raw())));
    if (auto valid = compiled.validate(value.root()); !valid) {
      Error error = std::move(valid).error();
      for (FieldError& field : error.fields) field.pointer.insert(0, "/input");
      return fail(std::move(error));
    }
  }
  if (!fits_below(*respond.input, 2)) return not_this_answer("/input", "it is nested too deeply");
  return fmt::format("{{\"input\":{}}}", value.root().minified());
}

Result<std::string> response_to_choice(const wire::JsonValue& question, const Respond& respond) {
  if (!respond.selected)
    return not_this_answer("/selected", "this question is answered with selected");
  REPRISE_TRY(const auto document, wire::parse_json(*respond.selected));
  std::set<std::string> known;
  const auto choices = question.find("choices");
  for (const wire::JsonValue& choice :
       choices ? choices->elements() : std::vector<wire::JsonValue>{})
    if (const auto id = choice.find("id")) known.insert(id->as_string().value_or(""));
  const auto mode = question.find("selectionMode");
  const bool may_be_many = mode && mode->as_string() == "multiple";
  const auto selected = document.root().elements();
  if (document.root().type() != wire::JsonType::kArray)
    return not_this_answer("/selected", "selected is a list of choices' ids");
  if (selected.size() > 1 && !may_be_many)
    return not_this_answer("/selected", "only one choice may be selected");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < selected.size(); ++i) {
    const auto id = selected[i].as_string();
    const std::string pointer = fmt::format("/selected/{}", i);
    if (!id || !known.contains(*id)) return not_this_answer(pointer, "there is no such choice");
    if (!seen.insert(*id).second) return not_this_answer(pointer, "it is selected twice");
  }
  return fmt::format("{{\"selected\":{}}}", document.root().minified());
}

// The response as it is stored, if it is one to this question.
Result<std::string> checked_response(const wire::JsonValue& question, const Respond& respond) {
  const int given = (respond.input ? 1 : 0) + (respond.selected ? 1 : 0) +
                    (respond.confirmed ? 1 : 0) + (respond.is_skipped ? 1 : 0);
  if (given != 1)
    return not_this_answer("", "an answer has one of input, selected, confirmed, skipped");
  if (respond.is_skipped) {
    if (!question.find("skipLabel"))
      return not_this_answer("/skipped", "this question cannot be skipped");
    return R"({"skipped":true})";
  }
  const auto kind_text = question.find("kind");
  const auto kind = parse_interaction_kind(kind_text ? kind_text->as_string().value_or("") : "");
  if (kind == InteractionKind::kWaitForChoice) return response_to_choice(question, respond);
  if (kind != InteractionKind::kConfirm) return response_to_input(question, respond);
  if (!respond.confirmed)
    return not_this_answer("/confirmed", "this question is answered with confirmed");
  return fmt::format("{{\"confirmed\":{}}}", *respond.confirmed);
}

// What onDeadline's default stands for, by the kind of the question.
Respond default_response(const Ask& ask) {
  Respond respond{.id = ask.id};
  const auto value = wire::parse_json(ask.default_answer);
  switch (ask.kind) {
    case InteractionKind::kWaitForChoice: {
      const bool is_one = value && value->root().type() == wire::JsonType::kString;
      respond.selected = is_one ? '[' + ask.default_answer + ']' : ask.default_answer;
      break;
    }
    case InteractionKind::kConfirm:
      if (value) respond.confirmed = value->root().as_bool();
      break;
    default: respond.input = ask.default_answer;
  }
  return respond;
}

// Checks the default against the question it is for; its response, as it will be given.
Result<std::string> checked_default(const std::string& question, const Ask& ask) {
  REPRISE_TRY(const auto document, wire::parse_json(question));
  auto response = checked_response(document.root(), default_response(ask));
  if (response) return response;
  return invalid("/onDeadline/default", fmt::format("the default is no answer to the question: {}",
                                                    response.error().detail));
}

Event received(const OpenInteraction& open, InteractionState state, std::string_view response,
               TimePoint now) {
  DataWriter data;
  data.string("id", open.id.to_string());
  const auto question = wire::parse_json(open.question);
  const auto kind = question ? question->root().find("kind") : std::nullopt;
  if (kind) data.json("kind", kind->minified());
  data.string("state", word(state));
  data.json("response", response.empty() ? "null" : response);
  return {.type = std::string(event_type::kInputReceived),
          .at = now,
          .data = std::move(data).end(),
          .by = {}};
}

// After a question was resolved: the session goes on unless another reason holds it.
void add_end_of_wait(Events& events, const SessionState& state, std::size_t resolved,
                     TimePoint now) {
  if (state.interactions.size() > resolved || !state.pause_reasons.contains(PauseReason::kInput))
    return;
  PauseReasons left = state.pause_reasons;
  left.erase(PauseReason::kInput);
  events.push_back(status_change(state.status, left.empty() ? Status::kActive : Status::kPaused,
                                 left, "", "", now));
}

const OpenInteraction* find_open(const SessionState& state, InteractionId id) {
  const auto found = std::find_if(state.interactions.begin(), state.interactions.end(),
                                  [id](const OpenInteraction& open) { return open.id == id; });
  return found == state.interactions.end() ? nullptr : &*found;
}

}  // namespace

std::string_view word(InteractionKind kind) { return kKindWords[static_cast<std::size_t>(kind)]; }
std::optional<InteractionKind> parse_interaction_kind(std::string_view text) {
  return parse_word<InteractionKind>(kKindWords, text);
}
std::string_view word(InteractionState state) {
  return kStateWords[static_cast<std::size_t>(state)];
}
std::optional<InteractionState> parse_interaction_state(std::string_view text) {
  return parse_word<InteractionState>(kStateWords, text);
}

Result<std::vector<Event>> decide_on(const SessionState& state, const Ask& ask, TimePoint now) {
  if (is_terminal(state.status))
    return fail(Code::kSessionEnded, fmt::format("the session is {}", word(state.status)));
  if (state.interactions.size() >= kMaxOpenInteractions)
    return fail(Code::kTooManyRequests,
                fmt::format("{} questions are open already", state.interactions.size()));
  Problems problems;
  check_text(problems, "/prompt", ask.prompt);
  for (const auto& [pointer, text] :
       {std::pair("/skipLabel", &ask.skip_label),
        std::pair("/noneOfTheAboveLabel", &ask.none_label), std::pair("/nodeId", &ask.node_id)})
    check_identifier(problems, pointer, *text);
  check_one_of(problems, "/selectionMode", ask.selection_mode, "single", "multiple");
  check_one_of(problems, "/layout", ask.layout, "list", "grid");
  check_one_of(problems, "/onDeadline", ask.on_deadline, "cancelSession", "failSession");
  if ((!ask.on_deadline.empty() || !ask.default_answer.empty()) && !ask.deadline_ms)
    problems.add("/onDeadline", "onDeadline needs deadlineMs");
  if (!ask.on_deadline.empty() && !ask.default_answer.empty())
    problems.add("/onDeadline", "onDeadline ends the session or gives a default, not both");
  if (ask.deadline_ms && (*ask.deadline_ms == 0 || *ask.deadline_ms > kMaxDeadlineMs))
    problems.add("/deadlineMs", fmt::format("deadlineMs is 1 to {}", kMaxDeadlineMs));
  const std::string schema = checked_schema(problems, ask);
  const std::string choices = checked_choices(problems, ask);
  REPRISE_CHECK(problems.as_result());

  DataWriter data;
  data.string("id", ask.id.to_string());
  data.string("kind", word(ask.kind));
  data.text("prompt", ask.prompt);
  if (!schema.empty()) data.json("schema", schema);
  if (!choices.empty()) {
    data.json("choices", choices);
    data.string("selectionMode", ask.selection_mode.empty() ? "single" : ask.selection_mode);
  }
  data.text("layout", ask.layout);
  data.text("skipLabel", ask.skip_label);
  data.text("noneOfTheAboveLabel", ask.none_label);
  data.text("nodeId", ask.node_id);
  if (ask.deadline_ms)
    data.string("deadlineAt",
                format_time(now + Millis(static_cast<std::int64_t>(*ask.deadline_ms))));
  data.text("onDeadline", ask.on_deadline);
  std::string question = std::move(data).end();
  if (!ask.default_answer.empty()) {
    REPRISE_TRY(const std::string response, checked_default(question, ask));
    question.pop_back();
    question += fmt::format(",\"onDeadline\":{{\"default\":{}}}}}", response);
  }
  if (question.size() > kMaxQuestionBytes)
    return invalid("", fmt::format("the question has {} bytes, at most {} are allowed",
                                   question.size(), kMaxQuestionBytes));
  Events events;
  events.push_back({.type = std::string(event_type::kInputRequired),
                    .at = now,
                    .data = std::move(question),
                    .by = ask.by});
  if (!state.pause_reasons.contains(PauseReason::kInput)) {
    PauseReasons reasons = state.pause_reasons;
    reasons.insert(PauseReason::kInput);
    events.push_back(status_change(state.status, Status::kPaused, reasons, "", "", now));
  }
  return events;
}

Result<std::vector<Event>> decide_on(const SessionState& state, const Respond& respond,
                                     TimePoint now) {
  const OpenInteraction* open = find_open(state, respond.id);
  if (open == nullptr)
    return fail(Code::kNotFound,
                fmt::format("there is no open interaction {}", respond.id.to_string()));
  REPRISE_TRY(const auto question, wire::parse_json(open->question));
  REPRISE_TRY(const std::string response, checked_response(question.root(), respond));
  Events events{received(*open, InteractionState::kAnswered, response, now)};
  events.front().by = respond.by;
  add_end_of_wait(events, state, 1, now);
  return events;
}

std::vector<Event> cancel_open(const SessionState& state, TimePoint now) {
  Events events;
  for (const OpenInteraction& open : state.interactions)
    events.push_back(received(open, InteractionState::kCancelled, "", now));
  return events;
}

void add_cancelled_since(std::vector<Event>& events, const SessionState& state, Seq since,
                         TimePoint now) {
  std::size_t cancelled = 0;
  for (const OpenInteraction& open : state.interactions) {
    if (open.asked_at_seq <= since) continue;
    events.push_back(received(open, InteractionState::kCancelled, "", now));
    ++cancelled;
  }
  if (cancelled > 0) add_end_of_wait(events, state, cancelled, now);
}

std::vector<Event> decide_deadlines(const SessionState& state, TimePoint now) {
  std::vector<const OpenInteraction*> due;
  for (const OpenInteraction& open : state.interactions)
    if (open.deadline_at && *open.deadline_at <= now) due.push_back(&open);
  std::sort(due.begin(), due.end(), [](const OpenInteraction* a, const OpenInteraction* b) {
    return std::pair(*a->deadline_at, a->id) < std::pair(*b->deadline_at, b->id);
  });
  Events events;
  std::optional<Status> end;
  std::string why;
  for (const OpenInteraction* open : due) {
    const auto question = wire::parse_json(open->question);
    const auto policy = question ? question->root().find("onDeadline") : std::nullopt;
    const auto fallback = policy ? policy->find("default") : std::nullopt;
    events.push_back(received(*open, InteractionState::kExpired,
                              fallback ? fallback->minified() : std::string(), now));
    const auto word_of_policy = policy ? policy->as_string() : std::nullopt;
    if (end || !word_of_policy) continue;
    end = *word_of_policy == "failSession" ? Status::kFailed : Status::kCancelled;
    why = fmt::format("nobody answered {} in time", open->id.to_string());
  }
  if (events.empty()) return events;
  if (!end) {
    add_end_of_wait(events, state, due.size(), now);
    return events;
  }
  for (const OpenInteraction& open : state.interactions)
    if (std::find(due.begin(), due.end(), &open) == due.end())
      events.push_back(received(open, InteractionState::kCancelled, "", now));
  add_cancelled_inputs(events, state, now);
  events.push_back(status_change(state.status, *end, {}, "", why, now));
  return events;
}

std::optional<TimePoint> next_deadline(const std::vector<OpenInteraction>& open) {
  std::optional<TimePoint> next;
  for (const OpenInteraction& one : open)
    if (one.deadline_at && (!next || *one.deadline_at < *next)) next = one.deadline_at;
  return next;
}

Result<> apply_input_required(SessionState& state, Seq seq, const EntryView& event) {
  REPRISE_TRY(EventData data, EventData::parse(event.type, event.data));
  const auto id_text = data.string("id");
  const auto id = id_text ? InteractionId::parse(*id_text) : std::nullopt;
  const auto deadline_text = data.string("deadlineAt");
  if (data.is_damaged() || !id || find_open(state, *id) != nullptr)
    return corrupt(event.type, "its id is missing or not new");
  OpenInteraction open{.id = *id,
                       .asked_at_seq = seq,
                       .asked_at = event.at,
                       .deadline_at = std::nullopt,
                       .question = std::string(event.data)};
  if (deadline_text) {
    const auto deadline = parse_time(*deadline_text);
    if (!deadline) return corrupt(event.type, "its deadline is no time");
    open.deadline_at = *deadline;
  }
  state.interactions.push_back(std::move(open));
  return {};
}

Result<> apply_input_received(SessionState& state, const EntryView& event) {
  REPRISE_TRY(EventData data, EventData::parse(event.type, event.data));
  const auto id_text = data.string("id");
  const auto id = id_text ? InteractionId::parse(*id_text) : std::nullopt;
  if (data.is_damaged() || !id || find_open(state, *id) == nullptr)
    return corrupt(event.type, "no such question is open");
  std::erase_if(state.interactions, [&](const OpenInteraction& open) { return open.id == *id; });
  return {};
}

}  // namespace reprise::model
