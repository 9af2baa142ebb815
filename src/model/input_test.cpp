#include "model/input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "model/limits.h"
#include "model/testing.h"

namespace reprise::model {
namespace {

InputId input(std::uint64_t number) {
  InputId id;
  for (std::size_t i = 0; i < 8; ++i)
    id.bytes[15 - i] = static_cast<unsigned char>(number >> (8 * i));
  return id;
}

SubmitInput submit(std::uint64_t number, WhenBusy when_busy = WhenBusy::kEnqueue) {
  return {.id = input(number), .data = R"({"text":"hi"})", .when_busy = when_busy, .by = "ada"};
}
FinishInput finish(std::uint64_t number, bool is_success = true, std::string error = {}) {
  return {.id = input(number), .is_success = is_success, .error = std::move(error), .by = "worker"};
}

std::vector<std::string> types(const std::vector<Event>& events) {
  std::vector<std::string> list;
  for (const Event& event : events) list.push_back(event.type);
  return list;
}
using Types = std::vector<std::string>;

std::vector<std::uint64_t> waiting(const SessionState& state) {
  std::vector<std::uint64_t> list;
  for (const QueuedInput& one : state.inputs.queued) list.push_back(one.id.bytes[15]);
  return list;
}
using Numbers = std::vector<std::uint64_t>;

InputFinished end_told(const Event& event) {
  const auto end = decode_input_finished(event.data);
  EXPECT_TRUE(end) << event.data;
  return end ? *end : InputFinished{};
}

TEST(Input, IsActiveAtOnceWhereNoneIs) {
  SessionState state = session_in(Status::kActive);
  const Seq head = state.head;
  const auto events = apply(state, submit(1));
  EXPECT_EQ(types(events), (Types{"input_queued", "input_started"}));
  EXPECT_EQ(events[0].data,
            fmt::format(R"({{"id":"{}","data":{{"text":"hi"}},"whenBusy":"enqueue"}})",
                        input(1).to_string()));
  EXPECT_EQ(events[0].by, "ada");
  ASSERT_TRUE(state.inputs.active);
  EXPECT_EQ(state.inputs.active->id, input(1));
  EXPECT_EQ(state.inputs.active->queued, head.next());
  EXPECT_EQ(state.inputs.active->started, head.next().next());
  EXPECT_EQ(state.status, Status::kActive);
}

TEST(Input, WaitsInOrderBehindTheActiveOne) {
  SessionState state = session_in(Status::kActive);
  for (const std::uint64_t number : {1U, 2U, 3U}) apply(state, submit(number));
  EXPECT_EQ(state.inputs.active->id, input(1));
  EXPECT_EQ(waiting(state), (Numbers{2, 3}));
  const Seq before = state.head;
  const auto events = apply(state, finish(1));
  EXPECT_EQ(types(events), (Types{"input_finished", "input_started"}));
  EXPECT_EQ(events[0].by, "worker");
  const InputFinished end = end_told(events[0]);
  EXPECT_EQ(end.outcome, "success");
  EXPECT_EQ(end.state, InputState::kFinished);
  EXPECT_EQ(end.from, Seq{4});  // created, moved, queued, started
  EXPECT_EQ(end.to, before);
  EXPECT_EQ(state.inputs.active->id, input(2));
  EXPECT_EQ(types(apply(state, finish(2, false, "no luck"))),
            (Types{"input_finished", "input_started"}));
  EXPECT_EQ(types(apply(state, finish(3))), (Types{"input_finished"}));
  EXPECT_FALSE(state.inputs.is_busy());
}

TEST(Input, ARejectedOneFindsTheSessionBusy) {
  SessionState state = session_in(Status::kActive);
  apply(state, submit(1, WhenBusy::kReject));
  const auto decided = decide(&state, submit(2, WhenBusy::kReject), kStart);
  ASSERT_FALSE(decided);
  EXPECT_EQ(decided.error().code, Code::kSessionBusy);
  EXPECT_NE(decided.error().members.find(input(1).to_string()), std::string::npos);
  apply(state, finish(1));
  apply(state, submit(2, WhenBusy::kReject));
  EXPECT_EQ(state.inputs.active->id, input(2));
}

TEST(Input, AnInterruptingOneGoesAheadOfTheQueue) {
  SessionState state = session_in(Status::kActive);
  apply(state, submit(1));
  apply(state, submit(2));
  apply(state, Append{.events = {client_event("log")}, .expected_seq = {}});
  const Seq before = state.head;
  const auto events = apply(state, submit(3, WhenBusy::kInterrupt));
  EXPECT_EQ(types(events), (Types{"input_finished", "input_queued", "input_started"}));
  const InputFinished end = end_told(events[0]);
  EXPECT_EQ(end.id, input(1));
  EXPECT_EQ(end.state, InputState::kInterrupted);
  EXPECT_EQ(end.to, before);
  EXPECT_EQ(state.inputs.active->id, input(3));
  EXPECT_EQ(waiting(state), (Numbers{2}));
  EXPECT_EQ(state.inputs.void_to, Seq{});
  // The worker of the first learns of it.
  EXPECT_EQ(refusal(state, finish(1)), Code::kInputNotActive);
}

TEST(Input, ARollbackMakesTheWorkOfTheActiveOneVoid) {
  SessionState state = session_in(Status::kActive);
  apply(state, submit(1));
  apply(state, Append{.events = {client_event("log")}, .expected_seq = {}});
  const auto first = apply(state, submit(2, WhenBusy::kRollback));
  const InputFinished end = end_told(first[0]);
  EXPECT_EQ(end.state, InputState::kRolledBack);
  EXPECT_EQ(end.from, Seq{4});
  EXPECT_EQ(end.to, Seq{5});
  EXPECT_EQ(state.inputs.void_from, Seq{4});
  EXPECT_EQ(state.inputs.void_to, Seq{5});
  const InputFinished later = end_told(apply(state, submit(3, WhenBusy::kRollback))[0]);
  EXPECT_GT(later.from, end.to);
  EXPECT_EQ(state.inputs.void_from, Seq{4});
  EXPECT_EQ(state.inputs.void_to, later.to);
}

TEST(Input, TakingOverWhereNothingIsActiveIsJustAnInput) {
  for (const WhenBusy policy : {WhenBusy::kInterrupt, WhenBusy::kRollback}) {
    SessionState state = session_in(Status::kActive);
    EXPECT_EQ(types(apply(state, submit(1, policy))), (Types{"input_queued", "input_started"}));
    EXPECT_EQ(state.inputs.void_to, Seq{});
  }
}

TEST(Input, QuestionsOfAnInterruptedOneAreCancelledAndEarlierOnesStay) {
  SessionState state = session_in(Status::kActive);
  Ask earlier{.id = *InteractionId::parse("019a8b3c-1111-7222-8333-000000000001")};
  earlier.kind = InteractionKind::kConfirm;
  Ask its_own = earlier;
  its_own.id = *InteractionId::parse("019a8b3c-1111-7222-8333-000000000002");
  apply(state, submit(1));
  apply(state, its_own);
  EXPECT_EQ(state.status, Status::kPaused);
  EXPECT_EQ(types(apply(state, submit(2, WhenBusy::kInterrupt))),
            (Types{"input_finished", "input_received", "status_change", "input_queued",
                   "input_started"}));
  EXPECT_EQ(state.status, Status::kActive);
  apply(state, finish(2));
  apply(state, earlier);
  apply(state, submit(3));
  its_own.id = *InteractionId::parse("019a8b3c-1111-7222-8333-000000000003");
  apply(state, its_own);
  apply(state, submit(4, WhenBusy::kRollback));
  ASSERT_EQ(state.interactions.size(), 1U);
  EXPECT_EQ(state.interactions[0].id, earlier.id);
  EXPECT_EQ(state.status, Status::kPaused);
}

TEST(Input, OneThatWaitsCanBeCancelledAndNoOther) {
  SessionState state = session_in(Status::kActive);
  for (const std::uint64_t number : {1U, 2U, 3U}) apply(state, submit(number));
  EXPECT_EQ(refusal(state, CancelInput{.id = input(1), .by = {}}), Code::kConflict);
  const auto events = apply(state, CancelInput{.id = input(2), .by = "ada"});
  const InputFinished end = end_told(events.front());
  EXPECT_EQ(end.state, InputState::kCancelled);
  EXPECT_EQ(end.from, Seq{});
  EXPECT_EQ(events.front().by, "ada");
  EXPECT_EQ(waiting(state), (Numbers{3}));
  EXPECT_EQ(refusal(state, CancelInput{.id = input(2), .by = {}}), Code::kConflict);
  EXPECT_EQ(refusal(state, CancelInput{.id = input(9), .by = {}}), Code::kConflict);
}

TEST(Input, OnlyTheActiveOneFinishesAndOnlyOnce) {
  SessionState state = session_in(Status::kActive);
  EXPECT_EQ(refusal(state, finish(1)), Code::kInputNotActive);
  apply(state, submit(1));
  apply(state, submit(2));
  EXPECT_EQ(refusal(state, finish(2)), Code::kInputNotActive);
  EXPECT_EQ(invalid_fields(decide(&state, finish(1, true, "why"), kStart)), (Types{"/error"}));
  EXPECT_EQ(invalid_fields(
                decide(&state, finish(1, false, std::string(kMaxReasonBytes + 1, 'x')), kStart)),
            (Types{"/error"}));
  const InputFinished end = end_told(apply(state, finish(1, false, "no luck"))[0]);
  EXPECT_EQ(end.outcome, "failure");
  EXPECT_EQ(end.error, "no luck");
  EXPECT_EQ(refusal(state, finish(1)), Code::kInputNotActive);
}

TEST(Input, SoManyMayWaitAndNoMoreButOneMayStillTakeOver) {
  SessionState state = session_in(Status::kActive);
  apply(state, submit(1));
  for (std::uint64_t i = 0; i < kMaxQueuedInputs; ++i) apply(state, submit(100 + i));
  EXPECT_EQ(refusal(state, submit(2)), Code::kTooManyRequests);
  const auto stored = decode_state(encode_state(state));
  ASSERT_TRUE(stored);
  EXPECT_EQ(*stored, state);
  apply(state, submit(3, WhenBusy::kInterrupt));
  EXPECT_EQ(state.inputs.queued.size(), kMaxQueuedInputs);
  apply(state, finish(3));
  apply(state, submit(2));
}

TEST(Input, DataIsJsonOfLimitedSizeAndDepth) {
  SessionState state = session_in(Status::kActive);
  SubmitInput one = submit(1);
  one.data = '"' + std::string(kMaxInputBytes - 2, 'x') + '"';
  EXPECT_TRUE(decide(&state, one, kStart));
  one.data = '"' + std::string(kMaxInputBytes - 1, 'x') + '"';
  EXPECT_EQ(refusal(state, one), Code::kBodyTooLarge);
  for (const std::string& data : {std::string(), std::string("{"), std::string("1,2"),
                                  std::string(2000, '[') + std::string(2000, ']')}) {
    one.data = data;
    EXPECT_EQ(refusal(state, one), Code::kInvalid) << data.substr(0, 10);
  }
  one.data = "null";
  EXPECT_TRUE(decide(&state, one, kStart));
}

TEST(Input, AllAreCancelledWithTheSessionAndByAReset) {
  const std::vector<Command> ends = {Command(Close{}), Command(Cancel{}),
                                     Command(Move{.to = Status::kFailed}), Command(Reset{})};
  for (const Command& end : ends) {
    SessionState state = session_in(Status::kActive);
    apply(state, submit(9));
    for (const std::uint64_t number : {1U, 2U, 3U})
      apply(state, submit(number, WhenBusy::kRollback));
    apply(state, submit(4));
    const Types expected = {"input_finished", "input_finished"};
    const auto events = apply(state, end);
    EXPECT_EQ(Types({events[0].type, events[1].type}), expected);
    EXPECT_EQ(end_told(events[0]).state, InputState::kCancelled);
    EXPECT_EQ(end_told(events[0]).to.value + 1, state.head.value - 2);
    EXPECT_EQ(end_told(events[1]).from, Seq{});
    EXPECT_FALSE(state.inputs.is_busy());
    EXPECT_EQ(state.inputs.void_to.value == 0, std::holds_alternative<Reset>(end));
  }
  SessionState ended = session_in(Status::kCompleted);
  EXPECT_EQ(refusal(ended, submit(1)), Code::kSessionEnded);
}

TEST(Input, AllAreCancelledWhereADeadlineEndsTheSession) {
  SessionState state = session_in(Status::kActive);
  apply(state, submit(1));
  Ask ask{.id = *InteractionId::parse("019a8b3c-1111-7222-8333-000000000001")};
  ask.kind = InteractionKind::kConfirm;
  ask.deadline_ms = 10;
  ask.on_deadline = "failSession";
  apply(state, ask);
  EXPECT_EQ(types(apply(state, Expire{}, kStart + Millis{10})),
            (Types{"input_received", "input_finished", "status_change"}));
  EXPECT_EQ(state.status, Status::kFailed);
}

TEST(Input, DamagedEventsAreCorrupt) {
  SessionState state = session_in(Status::kActive);
  apply(state, submit(1));
  apply(state, submit(2));
  const std::string active = input(1).to_string();
  const std::string queued = input(2).to_string();
  const std::vector<std::pair<std::string_view, std::string>> damaged = {
      {event_type::kInputQueued, R"({})"},
      {event_type::kInputQueued, R"({"id":"x","data":1,"whenBusy":"enqueue"})"},
      {event_type::kInputQueued,
       fmt::format(R"({{"id":"{}","data":1,"whenBusy":"later"}})", input(3).to_string())},
      {event_type::kInputQueued,
       fmt::format(R"({{"id":"{}","data":1,"whenBusy":"enqueue"}})", active)},
      {event_type::kInputQueued,
       fmt::format(R"({{"id":"{}","data":1,"whenBusy":"enqueue"}})", queued)},
      {event_type::kInputStarted, fmt::format(R"({{"id":"{}"}})", queued)},
      {event_type::kInputFinished, fmt::format(R"({{"id":"{}","outcome":"success"}})", active)},
      {event_type::kInputFinished,
       fmt::format(R"({{"id":"{}","outcome":"active","fromSeq":4,"toSeq":5}})", active)},
      {event_type::kInputFinished,
       fmt::format(R"({{"id":"{}","outcome":"success","fromSeq":3,"toSeq":5}})", active)},
      {event_type::kInputFinished,
       fmt::format(R"({{"id":"{}","outcome":"success","fromSeq":4,"toSeq":6}})", active)},
      {event_type::kInputFinished, fmt::format(R"({{"id":"{}","outcome":"success"}})", queued)},
      {event_type::kInputFinished,
       fmt::format(R"({{"id":"{}","outcome":"cancelled"}})", input(3).to_string())},
      {event_type::kSessionReset, R"({"from":"ACTIVE"})"},
      {event_type::kStatusChange, R"({"from":"ACTIVE","to":"COMPLETED","pauseReasons":[]})"},
  };
  for (const auto& [type, data] : damaged) {
    SessionState copy = state;
    const EntryView event{
        .type = type, .at = kStart, .data = data, .by = {}, .counters = {0}, .extra = {}};
    const auto folded = evolve(copy, state.head.next(), event);
    ASSERT_FALSE(folded) << type << data;
    EXPECT_EQ(folded.error().code, Code::kCorrupt);
    EXPECT_EQ(copy, state);
  }
}

// A simple queue beside the real one: whatever is asked for, never two are active, the order is
// kept, and every input that was taken ends exactly once.
TEST(Input, NoSequenceOfCallsMakesTwoActiveLosesOneOrChangesTheOrder) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 random(seed);
    SessionState state = session_in(Status::kActive);
    std::deque<std::uint64_t> queue;  // the first is active
    std::size_t starts = 0;
    std::size_t ends = 0;
    for (std::uint64_t number = 1; number <= 120; ++number) {
      std::vector<Event> events;
      const std::uint64_t any = queue.empty() ? 200 : queue[random() % queue.size()];
      switch (random() % 8) {
        case 0:
        case 1:
        case 2: {
          events = apply(state, submit(number));
          queue.push_back(number);
          break;
        }
        case 3:
        case 4: {
          const auto policy = random() % 2 == 0 ? WhenBusy::kInterrupt : WhenBusy::kRollback;
          events = apply(state, submit(number, policy));
          if (!queue.empty()) queue.pop_front();
          queue.push_front(number);
          break;
        }
        case 5: {
          const auto decided = decide(&state, submit(number, WhenBusy::kReject), kStart);
          ASSERT_EQ(decided.has_value(), queue.empty());
          break;
        }
        case 6: {
          const auto decided = decide(&state, finish(any), kStart);
          ASSERT_EQ(decided.has_value(), !queue.empty() && any == queue.front());
          if (!decided) break;
          events = apply(state, finish(any));
          queue.pop_front();
          break;
        }
        default: {
          const CancelInput cancel{.id = input(any), .by = {}};
          const auto decided = decide(&state, cancel, kStart);
          ASSERT_EQ(decided.has_value(), !queue.empty() && any != queue.front());
          if (!decided) break;
          events = apply(state, cancel);
          queue.erase(std::find(queue.begin(), queue.end(), any));
        }
      }
      for (const Event& event : events) {
        starts += event.type == event_type::kInputStarted ? 1 : 0;
        ends += event.type == event_type::kInputFinished ? 1 : 0;
      }
      ASSERT_EQ(state.inputs.active.has_value(), !queue.empty());
      if (!queue.empty()) {
        ASSERT_EQ(state.inputs.active->id, input(queue.front()));
        ASSERT_EQ(waiting(state), Numbers(queue.begin() + 1, queue.end()));
      }
      const auto stored = decode_state(encode_state(state));
      ASSERT_TRUE(stored);
      ASSERT_EQ(*stored, state);
    }
    apply(state, Close{});
    EXPECT_FALSE(state.inputs.is_busy());
    EXPECT_GT(starts, 0U);
    EXPECT_GT(ends, 0U);
  }
}

}  // namespace
}  // namespace reprise::model
