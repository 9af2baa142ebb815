#include "model/interaction.h"

#include "model/limits.h"
#include "model/testing.h"

namespace reprise::model {
namespace {

InteractionId id(unsigned char number) {
  InteractionId made;
  made.bytes[15] = number;
  return made;
}

Ask question(unsigned char number, InteractionKind kind = InteractionKind::kWaitForInput) {
  Ask ask{.id = id(number), .kind = kind, .prompt = "What colour?"};
  if (kind == InteractionKind::kWaitForChoice)
    ask.choices = R"([{"id":"red","label":"Red"},{"id":"blue"},{"id":"green"}])";
  return ask;
}

Respond input(unsigned char number, std::string json) {
  return {.id = id(number), .input = std::move(json)};
}

std::string types(const std::vector<Event>& events) {
  std::string all;
  for (const Event& event : events) all += (all.empty() ? "" : " ") + event.type;
  return all;
}

std::string pointer(const SessionState& state, const Command& command) {
  const auto pointers = invalid_fields(decide(&state, command, kStart));
  return pointers.empty() ? "none" : pointers.front();
}

TEST(Interaction, PausesTheSessionUntilItIsAnswered) {
  SessionState state = session_in(Status::kActive);
  EXPECT_EQ(types(apply(state, question(1))), "input_required status_change");
  EXPECT_EQ(state.status, Status::kPaused);
  EXPECT_TRUE(state.pause_reasons.contains(PauseReason::kInput));
  ASSERT_EQ(state.interactions.size(), 1U);
  const auto events = apply(state, input(1, R"({ "colour" : "blue" })"));
  EXPECT_EQ(types(events), "input_received status_change");
  EXPECT_NE(events[0].data.find(R"("state":"answered","response":{"input":{"colour":"blue"}})"),
            std::string::npos);
  EXPECT_EQ(state.status, Status::kActive);
  EXPECT_TRUE(state.interactions.empty());
  EXPECT_EQ(refusal(state, input(1, "1")), Code::kNotFound);
}

TEST(Interaction, SeveralMayBeOpenAndTheLastAnswerEndsTheWait) {
  SessionState state = session_in(Status::kActive);
  apply(state, question(1));
  EXPECT_EQ(types(apply(state, question(2))), "input_required");
  EXPECT_EQ(types(apply(state, input(2, "1"))), "input_received");
  EXPECT_EQ(state.status, Status::kPaused);
  apply(state, input(1, "1"));
  EXPECT_EQ(state.status, Status::kActive);
}

TEST(Interaction, AnAnswerTakesAwayOnlyTheWaitForIt) {
  SessionState state = session_in(Status::kActive);
  apply(state, question(1));
  apply(state, Pause{});
  apply(state, Resume{});
  EXPECT_EQ(state.status, Status::kPaused);  // resuming does not answer
  apply(state, Pause{.pause_reason = PauseReason::kWorkerLost});
  apply(state, input(1, "1"));
  EXPECT_EQ(state.status, Status::kPaused);
  EXPECT_EQ(state.pause_reasons.first(), PauseReason::kWorkerLost);
  apply(state, Resume{});
  EXPECT_EQ(state.status, Status::kActive);
}

TEST(Interaction, OpenOnesAreCancelledWithTheSession) {
  for (const Command& end : {Command{Cancel{}}, Command{Close{}}, Command{Reset{}},
                             Command{Move{.to = Status::kFailed}}}) {
    SessionState state = session_in(Status::kActive);
    apply(state, question(1));
    apply(state, question(2));
    const auto events = apply(state, end);
    ASSERT_EQ(events.size(), 3U);
    EXPECT_NE(events[0].data.find(R"("state":"cancelled","response":null)"), std::string::npos);
    EXPECT_TRUE(state.interactions.empty());
    EXPECT_FALSE(state.pause_reasons.contains(PauseReason::kInput));
  }
  EXPECT_EQ(refusal(session_in(Status::kCompleted), question(1)), Code::kSessionEnded);
}

TEST(Interaction, AChoiceIsOneOfThoseOffered) {
  SessionState state = session_in(Status::kActive);
  apply(state, question(1, InteractionKind::kWaitForChoice));
  const auto selected = [](std::string json) { return Respond{.id = id(1), .selected = json}; };
  EXPECT_EQ(pointer(state, selected(R"(["pink"])")), "/selected/0");
  EXPECT_EQ(pointer(state, selected(R"(["red","blue"])")), "/selected");
  EXPECT_EQ(pointer(state, selected(R"("red")")), "/selected");
  EXPECT_EQ(pointer(state, selected(R"([1])")), "/selected/0");
  EXPECT_EQ(pointer(state, input(1, "\"red\"")), "/selected");
  EXPECT_EQ(pointer(state, Respond{.id = id(1)}), "");
  EXPECT_EQ(pointer(state, Respond{.id = id(1), .is_skipped = true}), "/skipped");
  SessionState none = state;
  apply(none, selected("[]"));  // none of the above
  EXPECT_TRUE(none.interactions.empty());
  apply(state, selected(R"(["blue"])"));

  Ask many = question(2, InteractionKind::kWaitForChoice);
  many.selection_mode = "multiple";
  many.skip_label = "Later";
  apply(state, many);
  EXPECT_EQ(pointer(state, Respond{.id = id(2), .selected = R"(["red","red"])"}), "/selected/1");
  SessionState skipped = state;
  apply(skipped, Respond{.id = id(2), .is_skipped = true});
  apply(state, Respond{.id = id(2), .selected = R"(["red","green"])"});
}

TEST(Interaction, AConfirmationIsYesOrNo) {
  SessionState state = session_in(Status::kActive);
  apply(state, question(1, InteractionKind::kConfirm));
  EXPECT_EQ(pointer(state, input(1, "true")), "/confirmed");
  const auto events = apply(state, Respond{.id = id(1), .confirmed = false});
  EXPECT_NE(events[0].data.find(R"("response":{"confirmed":false})"), std::string::npos);
}

TEST(Interaction, AnAnswerKeepsToTheSchema) {
  SessionState state = session_in(Status::kActive);
  Ask ask = question(1, InteractionKind::kInputNode);
  ask.schema = R"({"type":"object","required":["age"],"properties":{"age":{"minimum":0}}})";
  apply(state, ask);
  EXPECT_EQ(pointer(state, input(1, R"({"age":-1})")), "/input/age");
  EXPECT_EQ(pointer(state, input(1, "[]")), "/input");
  apply(state, input(1, R"({"age":7})"));
}

TEST(Interaction, ABadQuestionIsRefusedWhenItIsAsked) {
  const SessionState state = session_in(Status::kActive);
  const auto refused_at = [&](auto change, InteractionKind kind = InteractionKind::kWaitForInput) {
    Ask ask = question(1, kind);
    change(ask);
    return pointer(state, ask);
  };
  constexpr auto kChoice = InteractionKind::kWaitForChoice;
  EXPECT_EQ(refused_at([](Ask& ask) { ask.schema = R"({"properties":{"a":{"minimun":1}}})"; }),
            "/schema/properties/a/minimun");
  EXPECT_EQ(refused_at([](Ask& ask) { ask.schema = "{"; }), "/schema");
  EXPECT_EQ(refused_at([](Ask& ask) { ask.schema = "true"; }, kChoice), "/schema");
  EXPECT_EQ(refused_at([](Ask& ask) { ask.choices = R"([{"id":"a"}])"; }), "/choices");
  EXPECT_EQ(refused_at([](Ask& ask) { ask.choices.clear(); }, kChoice), "/choices");
  EXPECT_EQ(refused_at([](Ask& ask) { ask.choices = "[]"; }, kChoice), "/choices");
  EXPECT_EQ(refused_at([](Ask& ask) { ask.choices = R"([{"id":""}])"; }, kChoice), "/choices/0/id");
  EXPECT_EQ(refused_at([](Ask& ask) { ask.choices = R"([{"id":"a"},{"id":"a"}])"; }, kChoice),
            "/choices/1/id");
  EXPECT_EQ(refused_at([](Ask& ask) { ask.choices = R"([{"id":"a","x":1}])"; }, kChoice),
            "/choices/0/x");
  EXPECT_EQ(refused_at([](Ask& ask) { ask.selection_mode = "some"; }), "/selectionMode");
  EXPECT_EQ(refused_at([](Ask& ask) { ask.layout = "pile"; }), "/layout");
  EXPECT_EQ(refused_at([](Ask& ask) { ask.on_deadline = "explode"; }), "/onDeadline");
  EXPECT_EQ(refused_at([](Ask& ask) { ask.on_deadline = "cancelSession"; }), "/onDeadline");
  EXPECT_EQ(refused_at([](Ask& ask) { ask.deadline_ms = 0; }), "/deadlineMs");
  EXPECT_EQ(refused_at([](Ask& ask) { ask.deadline_ms = kMaxDeadlineMs + 1; }), "/deadlineMs");
  EXPECT_EQ(refused_at([](Ask& ask) {
              ask.deadline_ms = kMaxDeadlineMs;
              ask.schema = R"({"type":"integer"})";
              ask.default_answer = "\"x\"";
            }),
            "/onDeadline/default");
  EXPECT_EQ(refused_at([](Ask& ask) { ask.schema = std::string(kMaxQuestionBytes, ' ') + "true"; }),
            "/schema");
}

TEST(Interaction, ThereAreLimits) {
  SessionState state = session_in(Status::kActive);
  for (unsigned char i = 0; i < kMaxOpenInteractions; ++i) apply(state, question(i));
  EXPECT_EQ(refusal(state, question(99)), Code::kTooManyRequests);
  apply(state, input(0, "1"));
  apply(state, question(99));

  std::string choices = R"([{"id":"0"})";
  for (std::size_t i = 1; i < kMaxChoices; ++i) choices += fmt::format(R"(,{{"id":"{}"}})", i);
  SessionState fresh = session_in(Status::kActive);
  Ask ask = question(1, InteractionKind::kWaitForChoice);
  ask.choices = choices + "]";
  apply(fresh, ask);
  ask.id = id(2);
  ask.choices = choices + R"(,{"id":"one more"}])";
  EXPECT_EQ(pointer(fresh, ask), "/choices");
}

TEST(Interaction, ADeadlineThatPassesDoesWhatTheQuestionSays) {
  const TimePoint due = kStart + Millis{1'000};
  struct Case {
    std::string on_deadline;
    std::string fallback;
    Status status;
    std::string response;
  };
  for (const Case& one :
       {Case{"", "", Status::kActive, "null"}, Case{"", "7", Status::kActive, R"({"input":7})"},
        Case{"cancelSession", "", Status::kCancelled, "null"},
        Case{"failSession", "", Status::kFailed, "null"}}) {
    SessionState state = session_in(Status::kActive);
    apply(state, question(9));
    Ask ask = question(1);
    ask.deadline_ms = 1'000;
    ask.on_deadline = one.on_deadline;
    ask.default_answer = one.fallback;
    apply(state, ask);
    EXPECT_EQ(state.due_at(), due);
    EXPECT_TRUE(apply(state, Expire{}, due + Millis{-1}).empty());
    const auto events = apply(state, Expire{}, due);
    EXPECT_NE(events[0].data.find(R"("state":"expired","response":)" + one.response),
              std::string::npos)
        << events[0].data;
    if (!is_terminal(one.status)) {
      EXPECT_EQ(state.status, Status::kPaused);  // the other question is still open
      apply(state, input(9, "1"));
    } else {
      EXPECT_NE(state.last_error.find(id(1).to_string()), std::string::npos);
    }
    EXPECT_EQ(state.status, one.status);
    EXPECT_TRUE(state.interactions.empty());
    EXPECT_FALSE(state.due_at());
  }
}

TEST(Interaction, ADefaultMayBeAChoiceOrAYes) {
  SessionState state = session_in(Status::kActive);
  Ask choice = question(1, InteractionKind::kWaitForChoice);
  choice.deadline_ms = 1;
  choice.default_answer = R"("red")";
  apply(state, choice);
  Ask confirm = question(2, InteractionKind::kConfirm);
  confirm.deadline_ms = 2;
  confirm.default_answer = "true";
  apply(state, confirm);
  const auto events = apply(state, Expire{}, kStart + Millis{5});
  EXPECT_EQ(types(events), "input_received input_received status_change");
  EXPECT_NE(events[0].data.find(R"({"selected":["red"]})"), std::string::npos);
  EXPECT_NE(events[1].data.find(R"({"confirmed":true})"), std::string::npos);
}

TEST(Interaction, WhatComesFirstHappensFirst) {
  Create create = create_command();
  create.max_lifetime_seconds = 1;
  SessionState state = created(create);
  Ask ask = question(1);
  ask.deadline_ms = 500;
  apply(state, ask);
  EXPECT_EQ(types(apply(state, Expire{}, kStart + Millis{5'000})), "input_received status_change");
  EXPECT_EQ(state.status, Status::kActive);
  apply(state, Expire{}, kStart + Millis{5'000});
  EXPECT_EQ(state.last_error, "expired");
}

TEST(Interaction, AnAnswerAsDeepAsCanBeReadAgainIsTaken) {
  SessionState state = session_in(Status::kActive);
  apply(state, question(1));
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(pointer(state, input(1, nested(511))), "/input");
  apply(state, input(1, nested(510)));
}

TEST(Interaction, OpenQuestionsAreInTheSnapshot) {
  SessionState state = session_in(Status::kActive);
  Ask ask = question(1);
  ask.deadline_ms = 1'000;
  apply(state, ask);
  apply(state, question(2));
  EXPECT_EQ(*decode_state(encode_state(state)), state);
}

}  // namespace
}  // namespace reprise::model
