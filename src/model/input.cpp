#include "model/input.h"

#include <algorithm>
#include <array>

#include "model/decide.h"
#include "model/decide_parts.h"
#include "model/event_data.h"
#include "model/interaction.h"
#include "model/limits.h"
#include "model/session_state.h"

namespace reprise::model {
namespace {

constexpr std::array<std::string_view, 4> kWhenBusyWords = {"enqueue", "reject", "interrupt",
                                                            "rollback"};
constexpr std::array<std::string_view, 6> kStateWords = {"queued",      "active",     "finished",
                                                         "interrupted", "rolledBack", "cancelled"};
constexpr std::string_view kSuccess = "success";
constexpr std::string_view kFailure = "failure";

template <typename Enum, std::size_t count>
std::optional<Enum> parse_word(const std::array<std::string_view, count>& words,
                               std::string_view text) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == text) return static_cast<Enum>(i);
  return std::nullopt;
}

Event event_of(std::string_view type, TimePoint now, DataWriter&& data, std::string_view by) {
  return {
      .type = std::string(type), .at = now, .data = std::move(data).end(), .by = std::string(by)};
}

Event started(InputId id, TimePoint now) {
  DataWriter data;
  data.string("id", id.to_string());
  return event_of(event_type::kInputStarted, now, std::move(data), "");
}

// The end of the active input. What is decided together with it is not its work, and so not in its
// range.
Event finished(const SessionState& state, std::string_view outcome, std::string_view error,
               TimePoint now, std::string_view by) {
  DataWriter data;
  data.string("id", state.inputs.active->id.to_string());
  data.string("outcome", outcome);
  data.number("fromSeq", state.inputs.active->started.value);
  data.number("toSeq", state.head.value);
  data.text("error", error);
  return event_of(event_type::kInputFinished, now, std::move(data), by);
}

Event cancelled(InputId id, TimePoint now, std::string_view by) {
  DataWriter data;
  data.string("id", id.to_string());
  data.string("outcome", word(InputState::kCancelled));
  return event_of(event_type::kInputFinished, now, std::move(data), by);
}

Result<> check_data(std::string_view data) {
  if (data.size() > kMaxInputBytes)
    return fail(Code::kBodyTooLarge, fmt::format("an input's data has {} bytes, at most {} are "
                                                 "allowed",
                                                 data.size(), kMaxInputBytes));
  // Parsed one level down, as it will stand in the event.
  const auto document = wire::parse_json(fmt::format("[{}]", data));
  if (!document || document->root().elements().size() != 1)
    return invalid("/data", "data is no JSON, or is nested too deeply");
  return {};
}

std::unexpected<Error> busy(const SessionState& state) {
  const std::string id = state.inputs.active->id.to_string();
  Error error{Code::kSessionBusy, fmt::format("the session works on the input {}", id)};
  error.members =
      fmt::format("\"activeInput\":\"{}\",\"queuedInputs\":{}", id, state.inputs.queued.size());
  return fail(std::move(error));
}

std::optional<InputId> id_of(EventData& data) {
  const auto text = data.string("id");
  return text ? InputId::parse(*text) : std::nullopt;
}

auto find_queued(std::vector<QueuedInput>& queued, InputId id) {
  return std::find_if(queued.begin(), queued.end(),
                      [id](const QueuedInput& input) { return input.id == id; });
}

Result<> apply_queued(InputQueue& inputs, Seq seq, const EntryView& event) {
  REPRISE_TRY(EventData data, EventData::parse(event.type, event.data));
  const auto id = id_of(data);
  const auto policy = data.string("whenBusy");
  if (data.is_damaged() || !id || !policy || !parse_when_busy(*policy) || !data.has("data"))
    return corrupt(event.type, "a member is missing or of the wrong kind");
  const bool is_known = (inputs.active && inputs.active->id == *id) ||
                        find_queued(inputs.queued, *id) != inputs.queued.end();
  if (is_known || inputs.queued.size() > kMaxQueuedInputs)
    return corrupt(event.type, "its id is not new, or there are too many");
  inputs.queued.push_back({.id = *id, .queued = seq});
  return {};
}

Result<> apply_started(InputQueue& inputs, Seq seq, const EntryView& event) {
  REPRISE_TRY(EventData data, EventData::parse(event.type, event.data));
  const auto id = id_of(data);
  const auto input = id ? find_queued(inputs.queued, *id) : inputs.queued.end();
  if (inputs.active || input == inputs.queued.end())
    return corrupt(event.type, "it does not wait, or another one is active");
  inputs.active = ActiveInput{.id = *id, .queued = input->queued, .started = seq};
  inputs.queued.erase(input);
  return {};
}

Result<> apply_finished(InputQueue& inputs, Seq seq, const EntryView& event) {
  REPRISE_TRY(const InputFinished end, decode_input_finished(event.data));
  const bool is_active = inputs.active && inputs.active->id == end.id;
  if (!is_active) {
    const auto input = find_queued(inputs.queued, end.id);
    if (input == inputs.queued.end() || end.state != InputState::kCancelled || end.from.value != 0)
      return corrupt(event.type, "it is not open");
    inputs.queued.erase(input);
    return {};
  }
  if (end.from != inputs.active->started || end.to < end.from || end.to >= seq)
    return corrupt(event.type, "its range is not that of its work");
  if (end.state == InputState::kRolledBack) {
    if (inputs.void_to.value == 0) inputs.void_from = end.from;
    inputs.void_to = end.to;
  }
  inputs.active.reset();
  return {};
}

}  // namespace

std::string_view word(WhenBusy policy) { return kWhenBusyWords[static_cast<std::size_t>(policy)]; }
std::optional<WhenBusy> parse_when_busy(std::string_view text) {
  return parse_word<WhenBusy>(kWhenBusyWords, text);
}
std::string_view word(InputState state) { return kStateWords[static_cast<std::size_t>(state)]; }
std::optional<InputState> parse_input_state(std::string_view text) {
  return parse_word<InputState>(kStateWords, text);
}

Result<std::vector<Event>> decide_on(const SessionState& state, const SubmitInput& submit,
                                     TimePoint now) {
  if (is_terminal(state.status))
    return fail(Code::kSessionEnded, fmt::format("the session is {}", word(state.status)));
  REPRISE_CHECK(check_data(submit.data));
  const InputQueue& inputs = state.inputs;
  const bool is_busy = inputs.active.has_value();
  Events events;
  if (is_busy && submit.when_busy == WhenBusy::kReject) return busy(state);
  if (is_busy && submit.when_busy == WhenBusy::kEnqueue && inputs.queued.size() >= kMaxQueuedInputs)
    return fail(Code::kTooManyRequests,
                fmt::format("{} inputs wait already", inputs.queued.size()));
  const bool takes_over = is_busy && submit.when_busy != WhenBusy::kEnqueue;
  if (takes_over) {
    const bool is_rollback = submit.when_busy == WhenBusy::kRollback;
    events.push_back(
        finished(state, word(is_rollback ? InputState::kRolledBack : InputState::kInterrupted), "",
                 now, submit.by));
    // Nobody waits for the answers to what it asked.
    add_cancelled_since(events, state, inputs.active->started, now);
  }
  DataWriter data;
  data.string("id", submit.id.to_string());
  data.json("data", submit.data);
  data.string("whenBusy", word(submit.when_busy));
  events.push_back(event_of(event_type::kInputQueued, now, std::move(data), submit.by));
  if (!is_busy || takes_over) events.push_back(started(submit.id, now));
  return events;
}

Result<std::vector<Event>> decide_on(const SessionState& state, const FinishInput& finish,
                                     TimePoint now) {
  Problems problems;
  check_text(problems, "/error", finish.error);
  if (finish.is_success && !finish.error.empty())
    problems.add("/error", "only a failure has an error");
  REPRISE_CHECK(problems.as_result());
  const InputQueue& inputs = state.inputs;
  if (!inputs.active || inputs.active->id != finish.id)
    return fail(Code::kInputNotActive,
                fmt::format("the input {} is not active", finish.id.to_string()));
  Events events{
      finished(state, finish.is_success ? kSuccess : kFailure, finish.error, now, finish.by)};
  if (!inputs.queued.empty()) events.push_back(started(inputs.queued.front().id, now));
  return events;
}

Result<std::vector<Event>> decide_on(const SessionState& state, const CancelInput& cancel,
                                     TimePoint now) {
  for (const QueuedInput& input : state.inputs.queued)
    if (input.id == cancel.id) return Events{cancelled(cancel.id, now, cancel.by)};
  return fail(Code::kConflict, fmt::format("the input {} does not wait", cancel.id.to_string()));
}

void add_cancelled_inputs(std::vector<Event>& events, const SessionState& state, TimePoint now) {
  if (state.inputs.active)
    events.push_back(finished(state, word(InputState::kCancelled), "", now, ""));
  for (const QueuedInput& input : state.inputs.queued)
    events.push_back(cancelled(input.id, now, ""));
}

bool is_input_type(std::string_view type) {
  return type == event_type::kInputQueued || type == event_type::kInputStarted ||
         type == event_type::kInputFinished;
}

Result<> apply_input_event(SessionState& state, Seq seq, const EntryView& event) {
  if (event.type == event_type::kInputQueued) return apply_queued(state.inputs, seq, event);
  if (event.type == event_type::kInputStarted) return apply_started(state.inputs, seq, event);
  return apply_finished(state.inputs, seq, event);
}

Result<InputFinished> decode_input_finished(std::string_view data) {
  constexpr std::string_view kType = event_type::kInputFinished;
  REPRISE_TRY(EventData members, EventData::parse(kType, data));
  const auto id = id_of(members);
  auto outcome = members.string("outcome");
  InputFinished end;
  end.from.value = members.number("fromSeq").value_or(0);
  end.to.value = members.number("toSeq").value_or(0);
  end.error = members.string("error").value_or("");
  if (members.is_damaged() || !id || !outcome || (end.from.value == 0) != (end.to.value == 0))
    return corrupt(kType, "a member is missing or of the wrong kind");
  if (*outcome != kSuccess && *outcome != kFailure) {
    const auto state = parse_input_state(*outcome);
    if (!state || !is_over(*state) || *state == InputState::kFinished)
      return corrupt(kType, "there is no such outcome");
    end.state = *state;
  }
  end.id = *id;
  end.outcome = std::move(*outcome);
  return end;
}

}  // namespace reprise::model
