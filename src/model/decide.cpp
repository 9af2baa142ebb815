#include "model/decide.h"

#include "base/assert.h"
#include "base/json_text.h"
#include "model/decide_parts.h"
#include "model/interaction.h"
#include "model/limits.h"
#include "model/text_rules.h"
#include "wire/json.h"

namespace reprise::model {
namespace {

std::string_view article(Status status) {
  return status == Status::kInitializing || status == Status::kActive ? "an" : "a";
}

Result<Events> decide_on(const Create& create, TimePoint now) {
  REPRISE_CHECK(check_app(create.app));
  if (!create.name.empty()) REPRISE_CHECK(check_name(create.name));
  Problems problems;
  check_identifier(problems, "/graphId", create.graph_id);
  check_identifier(problems, "/ownerAgent", create.owner_agent);
  if (create.status != Status::kInitializing && create.status != Status::kActive)
    problems.add("/status", fmt::format("a new session is INITIALIZING or ACTIVE, not {}",
                                        word(create.status)));
  check_seconds(problems, "/ttlSeconds", create.ttl_seconds);
  check_seconds(problems, "/maxLifetimeSeconds", create.max_lifetime_seconds);
  const std::string metadata = checked_json(problems, "/metadata", create.metadata,
                                            wire::JsonType::kObject, kMaxMetadataBytes);
  std::string steps;
  if (!create.steps.empty())
    steps = checked_json(problems, "/steps", create.steps, wire::JsonType::kArray, kMaxStepsBytes);
  REPRISE_CHECK(problems.as_result());

  DataWriter data;
  data.string("id", create.id.to_string());
  data.string("app", create.app);
  data.text("name", create.name);
  data.string("graphId", create.graph_id.empty() ? create.app : create.graph_id);
  data.text("ownerAgent", create.owner_agent);
  data.string("status", word(create.status));
  data.number("ttlSeconds", create.ttl_seconds);
  data.number("maxLifetimeSeconds", create.max_lifetime_seconds);
  data.json("metadata", metadata);
  if (!steps.empty()) data.json("steps", steps);
  data.string("onWorkerLost", word(create.on_worker_lost));
  return one_event(event_type::kSessionCreated, now, std::move(data));
}

Result<> check_append(const Append& append) {
  if (append.events.empty()) return invalid("/events", "an append needs at least one event");
  if (append.events.size() > kMaxEventsPerAppend)
    return invalid("/events",
                   fmt::format("{} events are too many for one append, at most {} are allowed",
                               append.events.size(), kMaxEventsPerAppend));
  Problems problems;
  for (std::size_t i = 0; i < append.events.size(); ++i) {
    const std::string& type = append.events[i].type;
    if (is_reserved_type(type)) {
      Error error{Code::kReservedType,
                  fmt::format("only the server writes events of the type {}", type)};
      error.fields.push_back({fmt::format("/events/{}/type", i), error.detail});
      return fail(std::move(error));
    }
    if (!is_well_formed_type(type))
      problems.add(fmt::format("/events/{}/type", i),
                   "the type must be of the form [a-z][a-z0-9_.]{0,63}");
  }
  return problems.as_result();
}

Result<Events> decide_on(const SessionState& state, const Append& append, TimePoint now) {
  REPRISE_CHECK(check_append(append));
  if (is_terminal(state.status))
    return fail(Code::kSessionEnded, fmt::format("the session is {}", word(state.status)));
  if (append.expected_seq && *append.expected_seq != state.head) {
    Error error{Code::kWrongSequence, fmt::format("expectedSeq is {} but the stream's head is {}",
                                                  append.expected_seq->value, state.head.value)};
    error.members = fmt::format("\"expectedSeq\":{},\"lastSeq\":{}", append.expected_seq->value,
                                state.head.value);
    return fail(std::move(error));
  }
  Events events = append.events;
  for (Event& event : events) event.at = now;
  return events;
}

// What becomes of open questions and inputs when the session ends or is reset.
Events cancel_all_open(const SessionState& state, TimePoint now) {
  Events events = cancel_open(state, now);
  add_cancelled_inputs(events, state, now);
  return events;
}

// The reasons that hold once the move is made.
PauseReasons reasons_after(const SessionState& state, const Move& move) {
  PauseReasons reasons;
  if (move.to == Status::kPaused) {
    reasons = state.pause_reasons;
    // Without a reason, PAUSED to PAUSED is a move to the present status, which changes nothing.
    if (move.pause_reason || state.status != Status::kPaused)
      reasons.insert(move.pause_reason.value_or(PauseReason::kOperator));
  } else if (move.to == Status::kActive && state.pause_reasons.contains(PauseReason::kInput)) {
    // Only an answer ends the wait for one.
    reasons.insert(PauseReason::kInput);
  }
  return reasons;
}

Result<Events> decide_on(const SessionState& state, const Move& move, TimePoint now) {
  Problems problems;
  check_text(problems, "/reason", move.reason);
  check_text(problems, "/error", move.error);
  REPRISE_CHECK(problems.as_result());
  if (move.expected_status && *move.expected_status != state.status) {
    Error error{Code::kWrongStatus, fmt::format("expectedStatus is {} but the session is {}",
                                                word(*move.expected_status), word(state.status))};
    error.members = fmt::format("\"expectedStatus\":\"{}\",\"status\":\"{}\"",
                                word(*move.expected_status), word(state.status));
    return fail(std::move(error));
  }
  if (move.to != state.status && !may_move(state.status, move.to))
    return fail(Code::kBadTransition,
                fmt::format("{} {} session cannot become {}", article(state.status),
                            word(state.status), word(move.to)));
  const PauseReasons reasons = reasons_after(state, move);
  const Status to = move.to == Status::kActive && !reasons.empty() ? Status::kPaused : move.to;
  if (to == state.status && reasons == state.pause_reasons) return Events{};

  Events events;
  if (is_terminal(to)) events = cancel_all_open(state, now);
  events.push_back(status_change(state.status, to, reasons, move.reason, move.error, now));
  return events;
}

Result<Events> decide_on(const SessionState& state, const Pause& pause, TimePoint now) {
  return decide_on(
      state,
      Move{.to = Status::kPaused, .pause_reason = pause.pause_reason, .reason = pause.reason}, now);
}

Result<Events> decide_on(const SessionState& state, const Resume& resume, TimePoint now) {
  if (resume.only) {
    if (state.status != Status::kPaused || !state.pause_reasons.contains(*resume.only))
      return Events{};
    PauseReasons reasons = state.pause_reasons;
    reasons.erase(*resume.only);
    const Status to = reasons.empty() ? Status::kActive : Status::kPaused;
    return Events{status_change(state.status, to, reasons, resume.reason, "", now)};
  }
  return decide_on(state, Move{.to = Status::kActive, .reason = resume.reason}, now);
}

Result<Events> decide_on(const SessionState& state, const Cancel& cancel, TimePoint now) {
  return decide_on(
      state, Move{.to = Status::kCancelled, .reason = cancel.reason, .error = cancel.error}, now);
}

Result<Events> decide_on(const SessionState& state, const Close& close, TimePoint now) {
  return decide_on(state, Move{.to = Status::kCompleted, .reason = close.reason}, now);
}

Result<Events> decide_on(const SessionState& state, const Reset& reset, TimePoint now) {
  Problems problems;
  check_text(problems, "/reason", reset.reason);
  REPRISE_CHECK(problems.as_result());
  if (state.status == Status::kCleanup)
    return fail(Code::kBadTransition, "a CLEANUP session cannot be reset");
  Events events = cancel_all_open(state, now);
  DataWriter data;
  data.string("from", word(state.status));
  data.text("reason", reset.reason);
  events.push_back({.type = std::string(event_type::kSessionReset),
                    .at = now,
                    .data = std::move(data).end(),
                    .by = {}});
  return events;
}

Result<Events> decide_on(const SessionState& state, const Patch& patch, TimePoint now) {
  Problems problems;
  std::optional<std::string> metadata;
  if (patch.metadata)
    metadata = checked_json(problems, "/metadata", *patch.metadata, wire::JsonType::kObject,
                            kMaxMetadataBytes);
  if (patch.ttl_seconds) check_seconds(problems, "/ttlSeconds", *patch.ttl_seconds);
  if (patch.owner_agent) check_identifier(problems, "/ownerAgent", *patch.owner_agent);
  REPRISE_CHECK(problems.as_result());

  DataWriter data;
  if (metadata && *metadata != state.metadata) data.json("metadata", *metadata);
  if (patch.ttl_seconds && *patch.ttl_seconds != state.ttl_seconds)
    data.json("ttlSeconds", *patch.ttl_seconds ? fmt::to_string(**patch.ttl_seconds) : "null");
  if (patch.owner_agent && *patch.owner_agent != state.owner_agent)
    data.json("ownerAgent", patch.owner_agent->empty() ? "null" : json_string(*patch.owner_agent));
  if (data.is_empty()) return Events{};
  return one_event(event_type::kSessionUpdated, now, std::move(data));
}

Result<Events> decide_on(const SessionState& state, const Expire&, TimePoint now) {
  // In the order in which their times came.
  const auto deadline = next_deadline(state.interactions);
  const auto expiry = state.expires_at();
  const bool is_deadline_first = deadline && (!expiry || *deadline <= *expiry);
  if (is_deadline_first && *deadline <= now) return decide_deadlines(state, now);
  if (!state.is_expired(now)) return Events{};
  return decide_on(state, Cancel{.reason = {}, .error = "expired"}, now);
}

}  // namespace

Event status_change(Status from, Status to, PauseReasons reasons, std::string_view reason,
                    std::string_view error, TimePoint now) {
  DataWriter data;
  data.string("from", word(from));
  data.string("to", word(to));
  std::string list = "[";
  for (const PauseReason one : kPauseReasons) {
    if (!reasons.contains(one)) continue;
    if (list.size() > 1) list += ',';
    append_json_string(list, word(one));
  }
  data.json("pauseReasons", list + "]");
  data.text("reason", reason);
  data.text("error", error);
  return {.type = std::string(event_type::kStatusChange),
          .at = now,
          .data = std::move(data).end(),
          .by = {}};
}

Result<std::vector<Event>> decide(const SessionState* state, const Command& command,
                                  TimePoint now) {
  const auto* create = std::get_if<Create>(&command);
  REPRISE_ASSERT((create != nullptr) == (state == nullptr), command.index());
  if (create != nullptr) return decide_on(*create, now);
  return std::visit(
      [&]<typename Kind>(const Kind& kind) -> Result<Events> {
        if constexpr (std::is_same_v<Kind, Create>)
          return fail(Code::kInternal, "a session is created once");
        else
          return decide_on(*state, kind, now);
      },
      command);
}

}  // namespace reprise::model
