#include "model/decide.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/limits.h"
#include "model/testing.h"
#include "wire/json.h"
#include "wire/limits.h"

namespace reprise::model {
namespace {

std::string data_of(const std::vector<Event>& events) {
  EXPECT_EQ(events.size(), 1U);
  return events.empty() ? "" : events.front().data;
}

PauseReasons reasons(std::initializer_list<PauseReason> list) {
  PauseReasons set;
  for (const PauseReason reason : list) set.insert(reason);
  return set;
}

TEST(Decide, EachOfThe49MovesHappensOrIsRefusedAsTheTableSays) {
  for (const Status from : kStatuses) {
    for (const Status to : kStatuses) {
      SCOPED_TRACE(fmt::format("{} to {}", word(from), word(to)));
      SessionState state = session_in(from);
      const auto decided = decide(&state, Move{.to = to}, kStart);
      if (from == to) {
        ASSERT_TRUE(decided);
        EXPECT_TRUE(decided->empty());
      } else if (may_move(from, to)) {
        apply(state, Move{.to = to});
        EXPECT_EQ(state.status, to);
        EXPECT_EQ(state.pause_reasons.empty(), to != Status::kPaused);
        EXPECT_EQ(state.ended_at.has_value(), is_terminal(to));
      } else {
        ASSERT_FALSE(decided);
        EXPECT_EQ(decided.error().code, Code::kBadTransition);
      }
    }
  }
}

TEST(Decide, ARefusedMoveSaysWhatCannotBecomeWhat) {
  const SessionState completed = session_in(Status::kCompleted);
  EXPECT_EQ(decide(&completed, Move{.to = Status::kActive}, kStart).error().detail,
            "a COMPLETED session cannot become ACTIVE");
  const SessionState active = session_in(Status::kActive);
  EXPECT_EQ(decide(&active, Move{.to = Status::kCleanup}, kStart).error().detail,
            "an ACTIVE session cannot become CLEANUP");
}

TEST(Decide, TheNamedMovesAreThoseOfTheTable) {
  for (const Status from : kStatuses) {
    const auto expect = [&](const Command& command, Status to) {
      SCOPED_TRACE(fmt::format("{} to {}", word(from), word(to)));
      SessionState state = session_in(from);
      if (from == to || may_move(from, to)) {
        apply(state, command);
        EXPECT_EQ(state.status, to);
      } else {
        EXPECT_EQ(refusal(state, command), Code::kBadTransition);
      }
    };
    expect(Pause{}, Status::kPaused);
    expect(Resume{}, Status::kActive);
    expect(Cancel{}, Status::kCancelled);
    expect(Close{}, Status::kCompleted);
  }
}

TEST(Decide, MovingToThePresentStatusChangesNothing) {
  for (const Status status : kStatuses) {
    SessionState state = session_in(status);
    EXPECT_TRUE(apply(state, Move{.to = status, .reason = "again", .error = "e"}).empty())
        << word(status);
  }
  SessionState state = session_in(Status::kPaused);
  apply(state, Pause{.pause_reason = PauseReason::kInput});
  EXPECT_TRUE(apply(state, Pause{}).empty());
  EXPECT_TRUE(apply(state, Pause{.pause_reason = PauseReason::kInput}).empty());
}

TEST(Decide, MovingToPausedWithoutAReasonMeansTheOperatorsUnlessItIsPausedAlready) {
  SessionState state = session_in(Status::kActive);
  apply(state, Pause{.pause_reason = PauseReason::kInput});
  EXPECT_TRUE(apply(state, Move{.to = Status::kPaused}).empty());
  EXPECT_EQ(state.pause_reasons, reasons({PauseReason::kInput}));
  EXPECT_EQ(session_in(Status::kPaused).pause_reasons, reasons({PauseReason::kOperator}));
}

TEST(Decide, FurtherPauseReasonsAreAdded) {
  SessionState state = session_in(Status::kActive);
  EXPECT_EQ(data_of(apply(state, Pause{.pause_reason = PauseReason::kRateLimit, .reason = "429"})),
            R"({"from":"ACTIVE","to":"PAUSED","pauseReasons":["rateLimit"],"reason":"429"})");
  EXPECT_EQ(data_of(apply(state, Move{.to = Status::kPaused, .pause_reason = PauseReason::kInput})),
            R"({"from":"PAUSED","to":"PAUSED","pauseReasons":["input","rateLimit"]})");
  EXPECT_EQ(state.pause_reasons.first(), PauseReason::kInput);
}

TEST(Decide, ResumeClearsEveryReasonButInput) {
  SessionState state = session_in(Status::kActive);
  for (const PauseReason reason : kPauseReasons) apply(state, Pause{.pause_reason = reason});
  EXPECT_EQ(data_of(apply(state, Resume{})),
            R"({"from":"PAUSED","to":"PAUSED","pauseReasons":["input"]})");
  EXPECT_EQ(state.status, Status::kPaused);
  EXPECT_TRUE(apply(state, Resume{}).empty());
  EXPECT_TRUE(apply(state, Move{.to = Status::kActive}).empty());

  SessionState without_input = session_in(Status::kPaused);
  apply(without_input, Pause{.pause_reason = PauseReason::kWorkerLost});
  EXPECT_EQ(data_of(apply(without_input, Resume{})),
            R"({"from":"PAUSED","to":"ACTIVE","pauseReasons":[]})");
  EXPECT_EQ(without_input.status, Status::kActive);
}

TEST(Decide, ResumeMayTakeBackOneReasonAlone) {
  const Resume only_operator{.reason = "handed back", .only = PauseReason::kOperator};
  SessionState state = session_in(Status::kActive);
  EXPECT_TRUE(apply(state, only_operator).empty());
  apply(state, Pause{.pause_reason = PauseReason::kRateLimit});
  EXPECT_TRUE(apply(state, only_operator).empty()) << "it was not paused for that";
  apply(state, Pause{.pause_reason = PauseReason::kOperator});
  EXPECT_EQ(
      data_of(apply(state, only_operator)),
      R"({"from":"PAUSED","to":"PAUSED","pauseReasons":["rateLimit"],"reason":"handed back"})");
  apply(state, Resume{});
  apply(state, Pause{});
  apply(state, only_operator);
  EXPECT_EQ(state.status, Status::kActive);
  SessionState paused = session_in(Status::kPaused);
  apply(paused, Close{});
  EXPECT_TRUE(apply(paused, only_operator).empty()) << "what has ended stays so";
}

TEST(Decide, ASessionThatWaitsForInputMayStillEnd) {
  for (const Status to : {Status::kCompleted, Status::kFailed, Status::kCancelled}) {
    SessionState state = session_in(Status::kActive);
    apply(state, Pause{.pause_reason = PauseReason::kInput});
    apply(state, Move{.to = to});
    EXPECT_EQ(state.status, to);
    EXPECT_TRUE(state.pause_reasons.empty());
  }
}

TEST(Decide, AnExpectedStatusThatDoesNotHoldIsRefusedFirst) {
  const SessionState state = session_in(Status::kActive);
  const auto decided =
      decide(&state, Move{.to = Status::kActive, .expected_status = Status::kPaused}, kStart);
  ASSERT_FALSE(decided);
  EXPECT_EQ(decided.error().code, Code::kWrongStatus);
  EXPECT_EQ(decided.error().members, R"("expectedStatus":"PAUSED","status":"ACTIVE")");
  SessionState moved = state;
  apply(moved, Move{.to = Status::kCompleted, .expected_status = Status::kActive});
  EXPECT_EQ(moved.status, Status::kCompleted);
}

TEST(Decide, CreateWritesOnlyWhatItWasGiven) {
  Create create = create_command();
  create.name.clear();
  EXPECT_EQ(data_of(events_of(decide(nullptr, create, kStart))),
            R"({"id":"019a8b3c-1111-7222-8333-444455556666","app":"slack","graphId":"slack",)"
            R"("status":"INITIALIZING","metadata":{},"onWorkerLost":"pause"})");
  create.name = "n";
  create.graph_id = "g";
  create.owner_agent = "o";
  create.ttl_seconds = 1;
  create.max_lifetime_seconds = 2;
  create.steps = "[]";
  EXPECT_EQ(
      data_of(events_of(decide(nullptr, create, kStart))),
      R"({"id":"019a8b3c-1111-7222-8333-444455556666","app":"slack","name":"n","graphId":"g",)"
      R"("ownerAgent":"o","status":"INITIALIZING","ttlSeconds":1,"maxLifetimeSeconds":2,)"
      R"("metadata":{},"steps":[],"onWorkerLost":"pause"})");
}

TEST(Decide, ASessionBeginsInitializingOrActive) {
  for (const Status status : kStatuses) {
    Create create = create_command();
    create.status = status;
    const auto decided = decide(nullptr, create, kStart);
    if (status == Status::kInitializing || status == Status::kActive)
      EXPECT_TRUE(decided);
    else
      EXPECT_EQ(invalid_fields(decided), std::vector<std::string>{"/status"});
  }
}

TEST(Decide, EveryWrongFieldOfACreationIsNamed) {
  Create create = create_command();
  create.graph_id = "a\nb";
  create.owner_agent = "\xff";
  create.ttl_seconds = 0;
  create.max_lifetime_seconds = 0;
  create.metadata = "[]";
  create.steps = "{}";
  EXPECT_EQ(invalid_fields(decide(nullptr, create, kStart)),
            (std::vector<std::string>{"/graphId", "/ownerAgent", "/ttlSeconds",
                                      "/maxLifetimeSeconds", "/metadata", "/steps"}));
}

TEST(Decide, MetadataThatIsNotOneObjectIsRefused) {
  for (const std::string_view metadata :
       {"", "{", "null", "1", "{},{}", "{}],[{}", "[{}]", R"({"a":1,"a":2})", "{}}"}) {
    Create create = create_command();
    create.metadata = metadata;
    EXPECT_EQ(invalid_fields(decide(nullptr, create, kStart)),
              std::vector<std::string>{"/metadata"})
        << metadata;
  }
}

TEST(Decide, MetadataTooDeepForItsEventIsRefusedAndTheDeepestIsReadBack) {
  const auto nested = [](std::size_t depth) {
    std::string text;
    for (std::size_t i = 1; i < depth; ++i) text += "{\"a\":";
    return text + "{}" + std::string(depth - 1, '}');
  };
  Create create = create_command();
  create.metadata = nested(wire::kMaxJsonDepth - 1);
  EXPECT_EQ(created(create).metadata, create.metadata);
  create.metadata = nested(wire::kMaxJsonDepth);
  EXPECT_EQ(invalid_fields(decide(nullptr, create, kStart)), std::vector<std::string>{"/metadata"});
}

TEST(Decide, ABadKeyIsABadKey) {
  Create create = create_command();
  create.app = "";
  EXPECT_EQ(decide(nullptr, create, kStart).error().code, Code::kBadKey);
  create.app = "a:b";
  EXPECT_EQ(decide(nullptr, create, kStart).error().code, Code::kBadKey);
  create.app = "a";
  create.name = "line\n";
  EXPECT_EQ(decide(nullptr, create, kStart).error().code, Code::kBadKey);
}

TEST(Decide, AppendedEventsGetTheServersTimeAndKeepTheRest) {
  const SessionState state = created();
  Append append;
  append.events = {{.type = "log", .at = {5}, .data = R"({"a":1})", .by = "me"},
                   client_event("message", "2")};
  append.expected_seq = Seq{1};
  const auto events = events_of(decide(&state, append, kStart + Millis{9}));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].type, "log");
  EXPECT_EQ(events[0].data, R"({"a":1})");
  EXPECT_EQ(events[0].by, "me");
  EXPECT_EQ(events[0].at, kStart + Millis{9});
  EXPECT_EQ(events[1].at, kStart + Millis{9});
}

TEST(Decide, AWrongExpectedSequenceTellsBoth) {
  const SessionState state = created();
  const auto decided =
      decide(&state, Append{.events = {client_event("log")}, .expected_seq = Seq{7}}, kStart);
  ASSERT_FALSE(decided);
  EXPECT_EQ(decided.error().code, Code::kWrongSequence);
  EXPECT_EQ(decided.error().members, R"("expectedSeq":7,"lastSeq":1)");
}

TEST(Decide, AnEndedSessionRefusesEventsAndAPausedOneTakesThem) {
  for (const Status status : kStatuses) {
    SessionState state = session_in(status);
    if (is_terminal(status))
      EXPECT_EQ(refusal(state, Append{.events = {client_event("log")}}), Code::kSessionEnded);
    else
      EXPECT_EQ(apply(state, Append{.events = {client_event("log")}}).size(), 1U);
  }
}

TEST(Decide, ReservedAndMalformedTypesAreRefusedWithTheirPlace) {
  const SessionState state = created();
  const auto reserved =
      decide(&state, Append{.events = {client_event("log"), client_event("command")}}, kStart);
  ASSERT_FALSE(reserved);
  EXPECT_EQ(reserved.error().code, Code::kReservedType);
  ASSERT_EQ(reserved.error().fields.size(), 1U);
  EXPECT_EQ(reserved.error().fields[0].pointer, "/events/1/type");
  EXPECT_EQ(
      invalid_fields(decide(
          &state, Append{.events = {client_event("Log"), client_event("log"), client_event("")}},
          kStart)),
      (std::vector<std::string>{"/events/0/type", "/events/2/type"}));
  EXPECT_EQ(invalid_fields(decide(&state, Append{}, kStart)), std::vector<std::string>{"/events"});
}

TEST(Decide, ResetIsAllowedInAnyStatusButCleanup) {
  for (const Status status : kStatuses) {
    SessionState state = session_in(status);
    if (status == Status::kCleanup) {
      EXPECT_EQ(refusal(state, Reset{}), Code::kBadTransition);
      continue;
    }
    EXPECT_EQ(data_of(apply(state, Reset{.reason = "r"})),
              fmt::format(R"({{"from":"{}","reason":"r"}})", word(status)));
    EXPECT_EQ(state.status, Status::kActive);
    EXPECT_EQ(state.visible_after.value, state.head.value - 1);
  }
}

TEST(Decide, APatchWritesOnlyWhatChanges) {
  SessionState state = created();
  EXPECT_TRUE(apply(state, Patch{}).empty());
  EXPECT_TRUE(apply(state, Patch{.metadata = "{ }",
                                 .ttl_seconds = std::optional<std::uint64_t>{},
                                 .owner_agent = ""})
                  .empty());
  EXPECT_EQ(data_of(apply(
                state, Patch{.metadata = R"({"a":1})", .ttl_seconds = 60, .owner_agent = "agent"})),
            R"({"metadata":{"a":1},"ttlSeconds":60,"ownerAgent":"agent"})");
  EXPECT_EQ(state.metadata, R"({"a":1})");
  EXPECT_EQ(state.ttl_seconds, 60U);
  EXPECT_EQ(state.owner_agent, "agent");
  EXPECT_EQ(data_of(apply(state, Patch{.metadata = R"({"a":1})", .ttl_seconds = 61})),
            R"({"ttlSeconds":61})");
  EXPECT_EQ(data_of(apply(state,
                          Patch{.ttl_seconds = std::optional<std::uint64_t>{}, .owner_agent = ""})),
            R"({"ttlSeconds":null,"ownerAgent":null})");
  EXPECT_EQ(state.ttl_seconds, std::nullopt);
  EXPECT_EQ(state.owner_agent, "");
}

TEST(Decide, EveryWrongFieldOfAPatchIsNamed) {
  const SessionState state = created();
  EXPECT_EQ(invalid_fields(decide(
                &state, Patch{.metadata = "1", .ttl_seconds = 0, .owner_agent = "\n"}, kStart)),
            (std::vector<std::string>{"/metadata", "/ttlSeconds", "/ownerAgent"}));
}

TEST(Decide, ExpireCancelsALivingSessionWhoseTimeHasCome) {
  Create create = create_command();
  create.ttl_seconds = 60;
  SessionState state = created(create);
  EXPECT_TRUE(apply(state, Expire{}, kStart + Millis{59'999}).empty());
  EXPECT_EQ(data_of(apply(state, Expire{}, kStart + Millis{60'000})),
            R"({"from":"INITIALIZING","to":"CANCELLED","pauseReasons":[],"error":"expired"})");
  EXPECT_EQ(state.status, Status::kCancelled);
  EXPECT_EQ(state.last_error, "expired");
  EXPECT_TRUE(apply(state, Expire{}, kStart + Millis{120'000}).empty());
}

TEST(Decide, ExpireCancelsAPausedSessionToo) {
  Create create = create_command();
  create.max_lifetime_seconds = 1;
  SessionState state = created(create);
  apply(state, Pause{.pause_reason = PauseReason::kInput});
  apply(state, Expire{}, kStart + Millis{1000});
  EXPECT_EQ(state.status, Status::kCancelled);
}

TEST(DecideDeathTest, OnlyACreationHasNoState) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const SessionState state = created();
  EXPECT_DEATH((void)decide(nullptr, Resume{}, kStart), "assertion failed");
  EXPECT_DEATH((void)decide(&state, create_command(), kStart), "assertion failed");
}

}  // namespace
}  // namespace reprise::model
