// What the tests of src/model share: a session to begin with, folding, and storing as the server
// does.
//
//     SessionState state = created({.ttl_seconds = 60});
//     apply(state, Pause{});                    // decide, then evolve; fails the test if refused
//     EXPECT_EQ(refusal(state, Reset{}), Code::kBadTransition);
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/decide.h"
#include "model/event.h"
#include "model/session_state.h"

namespace reprise::model {

inline constexpr TimePoint kStart{1'794'766'382'117};  // 2026-11-15T18:13:02.117Z

inline SessionId test_id() { return *SessionId::parse("019a8b3c-1111-7222-8333-444455556666"); }

inline Create create_command() {
  Create create;
  create.id = test_id();
  create.app = "slack";
  create.name = "C01:thread-9";
  return create;
}

inline std::vector<Event> events_of(const Result<std::vector<Event>>& decided) {
  EXPECT_TRUE(decided.has_value()) << decided.error().detail;
  return decided ? *decided : std::vector<Event>{};
}

inline std::vector<Event> apply(SessionState& state, const Command& command,
                                TimePoint now = kStart) {
  std::vector<Event> events = events_of(decide(&state, command, now));
  for (const Event& event : events) evolve(state, event);
  return events;
}

inline SessionState created(const Create& create = create_command(), TimePoint now = kStart) {
  SessionState state;
  for (const Event& event : events_of(decide(nullptr, create, now))) evolve(state, event);
  return state;
}

// A session brought to `status` by allowed moves.
inline SessionState session_in(Status status) {
  SessionState state = created();
  if (status == Status::kInitializing) return state;
  if (status == Status::kCleanup) apply(state, Cancel{});
  apply(state, Move{.to = status});
  EXPECT_EQ(state.status, status);
  return state;
}

inline Code refusal(const SessionState& state, const Command& command, TimePoint now = kStart) {
  const auto decided = decide(&state, command, now);
  EXPECT_FALSE(decided.has_value());
  return decided ? Code::kInternal : decided.error().code;
}

// The JSON pointers of a refusal with kInvalid.
inline std::vector<std::string> invalid_fields(const Result<std::vector<Event>>& decided) {
  std::vector<std::string> pointers;
  if (decided) return pointers;
  EXPECT_EQ(decided.error().code, Code::kInvalid) << decided.error().detail;
  for (const FieldError& field : decided.error().fields) pointers.push_back(field.pointer);
  return pointers;
}

inline Event client_event(std::string type, std::string data = "{}") {
  return {.type = std::move(type), .at = {}, .data = std::move(data), .by = {}};
}

}  // namespace reprise::model
