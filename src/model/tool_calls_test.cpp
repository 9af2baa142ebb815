#include "model/tool_calls.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "model/limits.h"
#include "model/testing.h"

namespace reprise::model {
namespace {

ToolCallId call_id(std::uint16_t number) {
  ToolCallId id;
  id.bytes[14] = static_cast<unsigned char>(number >> 8U);
  id.bytes[15] = static_cast<unsigned char>(number & 0xFFU);
  return id;
}

StartToolCall start(std::uint16_t number, std::string_view input = "") {
  return {.id = call_id(number),
          .tool_name = "browser.click",
          .input_summary = Redactor().text(input),
          .by = "agent"};
}

FinishToolCall finish(std::uint16_t number, ToolCallStatus status = ToolCallStatus::kSuccess) {
  return {.id = call_id(number), .status = status, .output_summary = {}, .error = {}, .by = {}};
}

TEST(ToolCalls, AreToldByTwoEvents) {
  SessionState state = created();
  const auto started = apply(state, start(1, "the button"));
  ASSERT_EQ(started.size(), 1U);
  EXPECT_EQ(started[0].type, "tool_started");
  EXPECT_EQ(started[0].by, "agent");
  EXPECT_EQ(started[0].data,
            R"({"id":"00000000-0000-0000-0000-000000000001","toolName":"browser.click",)"
            R"("inputSummary":"the button"})");
  ASSERT_EQ(state.open_tool_calls.size(), 1U);
  EXPECT_EQ(state.open_tool_calls[0].started, Seq{2});

  FinishToolCall failed = finish(1, ToolCallStatus::kFailure);
  failed.error = Redactor().text("no such \"button\"");
  const auto finished = apply(state, failed, kStart + Millis{120});
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].type, "tool_finished");
  EXPECT_EQ(finished[0].data,
            R"({"id":"00000000-0000-0000-0000-000000000001","toolName":"browser.click",)"
            R"("status":"failure","startedSeq":2,"durationMs":120,)"
            R"("error":"no such \"button\""})");
  EXPECT_TRUE(state.open_tool_calls.empty());
  EXPECT_EQ(state.audit.entries, 2U);
}

TEST(ToolCalls, AreNoChangeOfTheRecordButActivity) {
  SessionState state = created();
  apply(state, start(1), kStart + Millis{5});
  EXPECT_EQ(state.updated_at, kStart);
  EXPECT_EQ(state.last_activity_at, kStart + Millis{5});
}

TEST(ToolCalls, SeveralMayBeOpenAndFinishInAnyOrder) {
  SessionState state = created();
  for (std::uint16_t i = 1; i <= 3; ++i) apply(state, start(i));
  apply(state, finish(2));
  apply(state, finish(3, ToolCallStatus::kCancelled));
  ASSERT_EQ(state.open_tool_calls.size(), 1U);
  EXPECT_EQ(state.open_tool_calls[0].id, call_id(1));
}

TEST(ToolCalls, AreFinishedOnce) {
  SessionState state = created();
  apply(state, start(1));
  apply(state, finish(1));
  EXPECT_EQ(refusal(state, finish(1)), Code::kToolCallFinished);
  EXPECT_EQ(refusal(state, finish(2)), Code::kToolCallFinished);
}

TEST(ToolCalls, AnEndedSessionTakesNoneAndLeavesOpenOnesOpen) {
  SessionState state = created();
  apply(state, start(1));
  apply(state, Close{});
  EXPECT_EQ(refusal(state, start(2)), Code::kSessionEnded);
  EXPECT_EQ(refusal(state, finish(1)), Code::kSessionEnded);
  EXPECT_EQ(state.open_tool_calls.size(), 1U);
  apply(state, Reset{});
  apply(state, finish(1));
}

TEST(ToolCalls, ANameIsAWordOfToolNames) {
  SessionState state = created();
  for (const std::string& name : {std::string("a"), std::string("mcp__server__do-it.v2:x/y"),
                                  std::string(kMaxToolNameBytes, 'n')}) {
    StartToolCall command = start(1);
    command.tool_name = name;
    EXPECT_TRUE(decide(&state, command, kStart)) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("a b"), std::string("a\"b"), std::string("\xc3\xa4"),
        std::string(kMaxToolNameBytes + 1, 'n')}) {
    StartToolCall command = start(1);
    command.tool_name = name;
    EXPECT_EQ(invalid_fields(decide(&state, command, kStart)),
              std::vector<std::string>{"/toolName"});
  }
}

TEST(Limits, OpenToolCalls) {
  SessionState state = created();
  for (std::uint16_t i = 1; i <= kMaxOpenToolCalls; ++i) apply(state, start(i));
  EXPECT_EQ(refusal(state, start(kMaxOpenToolCalls + 1)), Code::kTooManyToolCalls);
  const auto stored = decode_state(encode_state(state));
  ASSERT_TRUE(stored);
  EXPECT_EQ(*stored, state);
  apply(state, finish(7));
  apply(state, start(kMaxOpenToolCalls + 1));
}

TEST(ToolCalls, DamagedEventsAreFoundAndChangeNothing) {
  SessionState state = created();
  apply(state, start(1));
  const std::string other_start = R"({"id":"00000000-0000-0000-0000-000000000001",)"
                                  R"("toolName":"browser.click","status":"success",)"
                                  R"("startedSeq":9,"durationMs":1})";
  const std::vector<std::pair<std::string_view, std::string>> damaged = {
      {"tool_started", "{}"},
      {"tool_started", "[]"},
      {"tool_started", R"({"id":"x","toolName":"a"})"},
      {"tool_started", R"({"id":"00000000-0000-0000-0000-000000000001","toolName":"a"})"},
      {"tool_finished", "{}"},
      {"tool_finished", other_start},
  };
  for (const auto& [type, data] : damaged) {
    const SessionState before = state;
    const EntryView entry{
        .type = type, .at = kStart, .data = data, .by = {}, .counters = {}, .extra = {}};
    const auto folded = evolve(state, state.head.next(), entry);
    ASSERT_FALSE(folded) << data;
    EXPECT_EQ(folded.error().code, Code::kCorrupt);
    EXPECT_EQ(state, before);
  }
}

TEST(StateCodec, ASessionWithoutToolCallsIsStoredAsItAlwaysWas) {
  const std::string bytes = encode_state(created());
  EXPECT_EQ(bytes[0], 1);
  EXPECT_TRUE(decode_state(bytes));
}

TEST(StateCodec, ToolCallsAreReadBackAndDamageIsFound) {
  SessionState state = created();
  apply(state, start(1));
  apply(state, start(2));
  apply(state, finish(1));
  const std::string bytes = encode_state(state);
  EXPECT_EQ(bytes[0], 2);
  const auto stored = decode_state(bytes);
  ASSERT_TRUE(stored);
  EXPECT_EQ(*stored, state);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_state(std::string_view(bytes).substr(0, size))) << size;
  // A section that nobody knows, and sections that are announced and absent.
  EXPECT_FALSE(decode_state(bytes + std::string("\x7f\x01x", 3)));
  std::string without = encode_state(created());
  without[0] = 2;
  EXPECT_FALSE(decode_state(without));
}

}  // namespace
}  // namespace reprise::model
