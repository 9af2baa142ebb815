// Inputs: pieces of work given to a session, one at a time. Pure.
//
// At most one is active, and the session is busy while one is; others wait in order. What happens
// to a new one that finds the session busy is its own word (WhenBusy). All of it is told by events:
//
//     input_queued    {"id":…,"data":…,"whenBusy":"enqueue"}
//     input_started   {"id":…}
//     input_finished  {"id":…,"outcome":"success","fromSeq":7,"toSeq":19,"error":…}
//
// fromSeq is the input_started event and toSeq the last event before the end: what was written
// while the input was active. It is not there for one that never started. With the outcome
// `rolledBack` that range is void for whoever builds a context from the stream.
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

using InputId = detail::UuidId<struct InputIdTag>;

enum class WhenBusy : std::uint8_t { kEnqueue, kReject, kInterrupt, kRollback };
std::string_view word(WhenBusy policy);
std::optional<WhenBusy> parse_when_busy(std::string_view text);

enum class InputState : std::uint8_t {
  kQueued,
  kActive,
  kFinished,
  kInterrupted,
  kRolledBack,
  kCancelled
};
std::string_view word(InputState state);
std::optional<InputState> parse_input_state(std::string_view text);
inline bool is_over(InputState state) {
  return state != InputState::kQueued && state != InputState::kActive;
}

struct ActiveInput {
  InputId id;
  Seq queued;   // its input_queued event
  Seq started;  // its input_started event
  friend bool operator==(const ActiveInput&, const ActiveInput&) = default;
};
struct QueuedInput {
  InputId id;
  Seq queued;
  friend bool operator==(const QueuedInput&, const QueuedInput&) = default;
};

struct InputQueue {
  std::optional<ActiveInput> active;
  std::vector<QueuedInput> queued;  // in the order in which they came
  // Everything that was rolled back since the last reset lies in here; 0 if nothing was. Which of
  // it, the store says (session/input_records.h).
  Seq void_from;
  Seq void_to;
  bool is_busy() const { return active || !queued.empty(); }
  friend bool operator==(const InputQueue&, const InputQueue&) = default;
};

// Refused when the session has ended (kSessionEnded), is busy and `when_busy` is kReject
// (kSessionBusy), or has kMaxQueuedInputs waiting (kTooManyRequests). `data` is minified JSON.
struct SubmitInput {
  InputId id;
  std::string data;
  WhenBusy when_busy = WhenBusy::kEnqueue;
  std::string by;
};
// Of the active input only: kInputNotActive. The next one starts.
struct FinishInput {
  InputId id;
  bool is_success = true;
  std::string error;  // only of a failure
  std::string by;
};
// Of one that waits only: kConflict.
struct CancelInput {
  InputId id;
  std::string by;
};

Result<std::vector<Event>> decide_on(const SessionState& state, const SubmitInput& submit,
                                     TimePoint now);
Result<std::vector<Event>> decide_on(const SessionState& state, const FinishInput& finish,
                                     TimePoint now);
Result<std::vector<Event>> decide_on(const SessionState& state, const CancelInput& cancel,
                                     TimePoint now);
// What becomes of all inputs when the session ends or is reset.
void add_cancelled_inputs(std::vector<Event>& events, const SessionState& state, TimePoint now);

bool is_input_type(std::string_view type);
// Folding (model/session_state.cpp calls it).
Result<> apply_input_event(SessionState& state, Seq seq, const EntryView& event);

// An input_finished event as it is stored; kCorrupt.
struct InputFinished {
  InputId id;
  InputState state = InputState::kFinished;
  std::string outcome;  // success, failure, or the state's word
  Seq from;             // 0: it never started
  Seq to;
  std::string error;
};
Result<InputFinished> decode_input_finished(std::string_view data);

}  // namespace reprise::model
