// decide(state, command, now) -> the events that make it so, or why it may not be. Pure: no clock,
// no disk.
//
// An empty vector is a command that changes nothing (a move to the present status); it is not an
// error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/event.h"
#include "model/input.h"
#include "model/session_state.h"
#include "model/status.h"
#include "model/tool_calls.h"

namespace reprise::model {

// Makes a session. The first event of every stream.
struct Create {
  SessionId id;
  std::string app;
  std::string name;  // empty: no key
  std::string graph_id;
  std::string owner_agent;
  Status status = Status::kInitializing;  // or kActive; anything else is refused
  std::optional<std::uint64_t> ttl_seconds;
  std::optional<std::uint64_t> max_lifetime_seconds;
  std::string metadata = "{}";
  std::string steps;
  OnWorkerLost on_worker_lost = OnWorkerLost::kPause;
};

// Events from a client: all or none. Refused when the session has ended (kSessionEnded), when the
// head is not `expected_seq` (kWrongSequence, with the members "expectedSeq" and "lastSeq"), or for
// a reserved type.
struct Append {
  std::vector<Event> events;
  std::optional<Seq> expected_seq;
};

// Any move of the table by its target. PAUSED adds `pause_reason` to the set; ACTIVE clears all
// reasons but kInput and, if kInput remains, stays PAUSED. `expected_status` that is not the
// present one: kWrongStatus.
struct Move {
  Status to;
  std::optional<PauseReason> pause_reason;  // for kPaused; kOperator if absent
  std::string reason;                       // free text for the event
  std::string error;                        // becomes lastError
  std::optional<Status> expected_status;
};

// The moves people ask for by name.
struct Pause {
  PauseReason pause_reason = PauseReason::kOperator;
  std::string reason;
};
// Resumes for good, or takes back one reason alone.
struct Resume {
  std::string reason;
  std::optional<PauseReason> only = std::nullopt;
};
struct Cancel {
  std::string reason;
  std::string error;
};
struct Close {
  std::string reason;
};
// Hides the history up to its own event, zeroes the message count and makes the session ACTIVE
// again; refused (kBadTransition) in CLEANUP. Clears lastError, pause reasons and ended_at.
struct Reset {
  std::string reason;
};
// What PATCH may change. The metadata is already merged by the caller; absent members stay.
struct Patch {
  std::optional<std::string> metadata;                      // the whole new object
  std::optional<std::optional<std::uint64_t>> ttl_seconds;  // inner nullopt: no idle limit
  std::optional<std::string> owner_agent;                   // empty: nobody
};
// The janitor's: cancels a session whose time has come, with lastError "expired", or resolves
// questions whose deadline has passed, whichever came first. Nothing if nothing has.
struct Expire {};

using Command =
    std::variant<Create, Append, Move, Pause, Resume, Cancel, Close, Reset, Patch, Expire, Ask,
                 Respond, StartToolCall, FinishToolCall, SubmitInput, FinishInput, CancelInput>;

// `state` is nullptr for Create, and only for it.
Result<std::vector<Event>> decide(const SessionState* state, const Command& command, TimePoint now);

// RFC 7396: merges `patch` (a JSON object) into `target` (a JSON object); both minified, and so is
// the result.
Result<std::string> merge_patch(std::string_view target, std::string_view patch);

}  // namespace reprise::model
