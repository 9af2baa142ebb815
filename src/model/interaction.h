// Interactions: the questions a session asks people. Pure.
//
// A question is an event (input_required), and so is what becomes of it (input_received): answered,
// expired at its deadline, or cancelled with the session. The session's state holds the open ones;
// it is PAUSED for `input` while there is one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/event.h"

namespace reprise::model {

struct SessionState;

using InteractionId = detail::UuidId<struct InteractionIdTag>;

enum class InteractionKind : std::uint8_t { kInputNode, kWaitForInput, kWaitForChoice, kConfirm };
std::string_view word(InteractionKind kind);
std::optional<InteractionKind> parse_interaction_kind(std::string_view text);

enum class InteractionState : std::uint8_t { kPending, kAnswered, kExpired, kCancelled };
std::string_view word(InteractionState state);
std::optional<InteractionState> parse_interaction_state(std::string_view text);

// A question that nobody has answered yet.
struct OpenInteraction {
  InteractionId id;
  Seq asked_at_seq;
  TimePoint asked_at;
  std::optional<TimePoint> deadline_at;
  std::string question;  // the event's data: a minified JSON object
  friend bool operator==(const OpenInteraction&, const OpenInteraction&) = default;
};

// Asks. Members that are empty were not given; `schema`, `choices` and `default_answer` are JSON.
struct Ask {
  InteractionId id;
  InteractionKind kind = InteractionKind::kWaitForInput;
  std::string prompt;
  std::string schema;
  std::string choices;
  std::string selection_mode;  // single, multiple
  std::string layout;          // list, grid
  std::string skip_label;
  std::string none_label;
  std::string node_id;
  std::optional<std::uint64_t> deadline_ms;
  std::string on_deadline;     // cancelSession, failSession
  std::string default_answer;  // instead of on_deadline
  std::string by;              // who asks; empty if nobody said
};

// Answers: exactly one of the members is given.
struct Respond {
  InteractionId id;
  std::optional<std::string> input;     // JSON
  std::optional<std::string> selected;  // JSON: a list of choices' ids
  std::optional<bool> confirmed;
  bool is_skipped = false;
  std::string by;
};

// kSessionEnded; kInvalid with what is wrong; kTooManyRequests where too many are open.
Result<std::vector<Event>> decide_on(const SessionState& state, const Ask& ask, TimePoint now);
// kNotFound for an id that was never asked or is resolved already (the caller knows which);
// kInvalid where the answer is not one to this question.
Result<std::vector<Event>> decide_on(const SessionState& state, const Respond& respond,
                                     TimePoint now);
// What becomes of open questions when the session ends, is reset or starts anew.
std::vector<Event> cancel_open(const SessionState& state, TimePoint now);
// Cancels the questions that were asked after an event, and lets the session go on if it waited for
// nothing else: whoever asked is not there any more.
void add_cancelled_since(std::vector<Event>& events, const SessionState& state, Seq since,
                         TimePoint now);
// The questions whose deadline has passed, and what follows from that.
std::vector<Event> decide_deadlines(const SessionState& state, TimePoint now);

// The next deadline of an open question.
std::optional<TimePoint> next_deadline(const std::vector<OpenInteraction>& open);

// Folding (model/session_state.cpp calls these).
Result<> apply_input_required(SessionState& state, Seq seq, const EntryView& event);
Result<> apply_input_received(SessionState& state, const EntryView& event);

}  // namespace reprise::model
