// Tool calls: one invocation of a tool, started and finished, told by two events of the session.
//
//     tool_started   {"id":…,"toolName":…,"inputSummary":…}
//     tool_finished  {"id":…,"toolName":…,"status":"success","startedSeq":7,"durationMs":120,
//                     "outputSummary":…,"error":…}
//
// Texts are there only if there is one. What a command carries of inputs and outputs is Redacted
// (model/redact.h): text with secrets in it does not compile into a summary. An app may ask for
// more: then "input" and "output" stand there as they came. Both events are part of the audit
// (model/audit.h).
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
#include "model/redact.h"

namespace reprise::model {

struct SessionState;

using ToolCallId = detail::UuidId<struct ToolCallIdTag>;

// kOpen: started, not finished; also what a call stays when its session ends first.
enum class ToolCallStatus : std::uint8_t { kOpen, kSuccess, kFailure, kCancelled };
std::string_view word(ToolCallStatus status);
std::optional<ToolCallStatus> parse_tool_call_status(std::string_view text);

struct OpenToolCall {
  ToolCallId id;
  Seq started;
  TimePoint started_at;
  std::string tool_name;
  friend bool operator==(const OpenToolCall&, const OpenToolCall&) = default;
};

// Refused when the session has ended (kSessionEnded) or has kMaxOpenToolCalls open
// (kTooManyToolCalls).
struct StartToolCall {
  ToolCallId id;
  std::string tool_name;
  Redacted input_summary;
  std::string by;
  // Minified JSON, kept whole and not redacted; empty: not kept, which is so unless the app says
  // otherwise (session/apps.h).
  std::string raw_input = {};
};

// Refused when the call is not open (kToolCallFinished: the state does not know whether it ever
// was) or the session has ended. `status` is not kOpen.
struct FinishToolCall {
  ToolCallId id;
  ToolCallStatus status = ToolCallStatus::kSuccess;
  Redacted output_summary;
  Redacted error;
  std::string by;
  std::string raw_output = {};  // as above
};

// 1 to kMaxToolNameBytes of letters, digits and `_ . : / -`; kInvalid at /toolName.
Result<> check_tool_name(std::string_view name);

// The part of decide() (model/decide.h) and of evolve() (model/session_state.h) for tool calls.
Result<std::vector<Event>> decide_on(const SessionState& state, const StartToolCall& start,
                                     TimePoint now);
Result<std::vector<Event>> decide_on(const SessionState& state, const FinishToolCall& finish,
                                     TimePoint now);
Result<> apply_tool_event(SessionState& state, Seq seq, const EntryView& event);

// A tool call's events as they are stored; kCorrupt where they do not decode.
struct ToolStarted {
  ToolCallId id;
  std::string tool_name;
  std::string input_summary;
};
struct ToolFinished {
  ToolCallId id;
  std::string tool_name;
  ToolCallStatus status = ToolCallStatus::kSuccess;
  Seq started;
  std::uint64_t duration_ms = 0;
  std::string output_summary;
  std::string error;
};
Result<ToolStarted> decode_tool_started(std::string_view data);
Result<ToolFinished> decode_tool_finished(std::string_view data);

}  // namespace reprise::model
