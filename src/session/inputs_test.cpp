// Inputs over the real service and a store in memory.
#include "session/inputs.h"

#include <gtest/gtest.h>

#include "model/limits.h"
#include "session/agents_testing.h"
#include "session/testing.h"

namespace reprise::session {
namespace {

using model::InputId;
using model::InputState;
using model::WhenBusy;
using testing::code_of;
using testing::Crew;
using testing::Sessions;

// The service with inputs beside it.
struct World : Sessions {
  using Sessions::Sessions;
  Inputs inputs{*service};

  Result<InputId> try_submit(SessionId id, std::string data, WhenBusy when_busy = {},
                             WriteTerms terms = {}) {
    return run(
        inputs.submit(id, {.id = {}, .data = std::move(data), .when_busy = when_busy, .by = "ada"},
                      std::move(terms)));
  }
  InputId submit(SessionId id, std::string data, WhenBusy when_busy = WhenBusy::kEnqueue) {
    const auto made = try_submit(id, std::move(data), when_busy);
    EXPECT_TRUE(made) << made.error().detail;
    return made.value_or(InputId{});
  }
  Result<> finish(SessionId id, InputId input, WriteTerms terms = {}) {
    return run(inputs.finish(id, {.id = input, .is_success = true, .error = {}, .by = "worker"},
                             std::move(terms)));
  }
  Result<> cancel(SessionId id, InputId input) {
    return run(inputs.cancel(id, {.id = input, .by = {}}));
  }
  InputView view(SessionId id, InputId input) {
    const auto found = run(inputs.get(id, input));
    EXPECT_TRUE(found) << found.error().detail;
    return found ? *found : InputView{};
  }
  InputState state(SessionId id, InputId input) { return view(id, input).record.state; }
  // The data of the active one.
  std::string active(SessionId id) {
    const auto found = run(inputs.active(id));
    EXPECT_TRUE(found) << found.error().detail;
    return found && *found ? (*found)->data : "none";
  }
  std::vector<std::string> list(SessionId id, std::optional<InputState> state = {},
                                std::optional<InputId> after = {},
                                std::size_t limit = kDefaultInputPageLimit) {
    const auto page = run(inputs.list(id, state, after, limit));
    EXPECT_TRUE(page) << page.error().detail;
    std::vector<std::string> data;
    for (const InputView& one : page->inputs) data.push_back(one.data);
    if (page->next) data.push_back("...");
    return data;
  }
  std::size_t rows() {
    std::size_t count = 0;
    for (const auto& record : records()) count += record.key.starts_with('u') ? 1 : 0;
    return count;
  }
};

using Data = std::vector<std::string>;

TEST(Inputs, AreActiveOneAfterTheOther) {
  World world;
  const SessionView session = world.create();
  const SessionId id = session.state.id;
  EXPECT_EQ(world.active(id), "none");
  const InputId one = world.submit(id, R"({"n":1})");
  const InputId two = world.submit(id, "2");
  EXPECT_EQ(world.active(id), R"({"n":1})");
  EXPECT_EQ(world.active(id), R"({"n":1})");  // another worker may take over
  InputView view = world.view(id, one);
  EXPECT_EQ(view.record.state, InputState::kActive);
  EXPECT_EQ(view.queued_by, "ada");
  EXPECT_EQ(view.when_busy, "enqueue");
  EXPECT_TRUE(view.started_at);
  EXPECT_FALSE(view.finished_at);
  EXPECT_EQ(world.state(id, two), InputState::kQueued);
  ASSERT_TRUE(world.finish(id, one));
  view = world.view(id, one);
  EXPECT_EQ(view.record.state, InputState::kFinished);
  EXPECT_EQ(view.end.outcome, "success");
  EXPECT_EQ(view.end.from, view.record.started);
  EXPECT_EQ(view.end.to.value, view.record.finished.value - 1);
  EXPECT_EQ(view.finished_by, "worker");
  EXPECT_EQ(world.active(id), "2");
  EXPECT_EQ(code_of(world.finish(id, one)), Code::kInputNotActive);
  ASSERT_TRUE(world.finish(id, two));
  EXPECT_EQ(world.active(id), "none");
  EXPECT_EQ(world.inputs.probe().submitted, 2U);
  EXPECT_EQ(world.inputs.probe().finished, 2U);
  // The record's watchers hear nothing of it, and its fold is what is stored.
  EXPECT_EQ(world.get(id)->revision, session.revision);
  EXPECT_EQ(world.folded(*world.get(id)), world.get(id)->state);
}

TEST(Inputs, TakeOverOrAreRejectedAsTheyWant) {
  World world;
  const SessionId id = world.create().state.id;
  const InputId one = world.submit(id, "1", WhenBusy::kReject);
  EXPECT_EQ(code_of(world.try_submit(id, "2", WhenBusy::kReject)), Code::kSessionBusy);
  const InputId three = world.submit(id, "3");
  const InputId four = world.submit(id, "4", WhenBusy::kInterrupt);
  EXPECT_EQ(world.state(id, one), InputState::kInterrupted);
  EXPECT_EQ(world.active(id), "4");
  const InputId five = world.submit(id, "5", WhenBusy::kRollback);
  EXPECT_EQ(world.state(id, four), InputState::kRolledBack);
  EXPECT_EQ(world.active(id), "5");
  ASSERT_TRUE(world.finish(id, five));
  EXPECT_EQ(world.active(id), "3");
  ASSERT_TRUE(world.finish(id, three));
  EXPECT_EQ(world.list(id), (Data{"1", "3", "4", "5"}));
  const InputProbe& probe = world.inputs.probe();
  EXPECT_EQ(probe.rejected, 1U);
  EXPECT_EQ(probe.interrupted, 1U);
  EXPECT_EQ(probe.rolled_back, 1U);
}

TEST(Inputs, OfTwoThatWouldRejectOneIsTaken) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    World world;
    SeededRandom random(seed);
    const SessionId id = world.create().state.id;
    const auto start = [&](std::size_t loop) {
      return world.start(world.inputs.submit(
                             id, {.id = {}, .data = "1", .when_busy = WhenBusy::kReject, .by = {}}),
                         loop);
    };
    const auto one = start(0);
    const auto other = start(1);
    world.world.settle_shuffled(random);
    ASSERT_NE(one->value().has_value(), other->value().has_value()) << seed;
    const auto& lost = one->value() ? other->value() : one->value();
    EXPECT_EQ(code_of(lost), Code::kSessionBusy);
    EXPECT_EQ(world.inputs.probe().submitted, 1U);
  }
}

TEST(Inputs, ManyAtOnceAreAllTakenAndWorkedOffInTheOrderOfTheirEvents) {
  World world;
  const SessionId id = world.create().state.id;
  std::vector<decltype(world.start(world.inputs.submit(id, {})))> started;
  for (std::size_t i = 0; i < 30; ++i)
    started.push_back(world.start(
        world.inputs.submit(id, {.id = {}, .data = std::to_string(i), .when_busy = {}, .by = {}}),
        i % 3));
  world.world.settle();
  const Data listed = world.list(id);
  ASSERT_EQ(listed.size(), 30U);
  for (const std::string& data : listed) {
    const auto active = world.run(world.inputs.active(id));
    ASSERT_TRUE(active && *active);
    EXPECT_EQ((*active)->data, data);
    ASSERT_TRUE(world.finish(id, (*active)->record.id));
  }
  EXPECT_EQ(world.active(id), "none");
}

TEST(Inputs, ThatWaitAreCancelledAndOthersAreNot) {
  World world;
  const SessionId id = world.create().state.id;
  const InputId one = world.submit(id, "1");
  const InputId two = world.submit(id, "2");
  const InputId three = world.submit(id, "3");
  EXPECT_EQ(code_of(world.cancel(id, one)), Code::kConflict);
  ASSERT_TRUE(world.cancel(id, two));
  const InputView view = world.view(id, two);
  EXPECT_EQ(view.record.state, InputState::kCancelled);
  EXPECT_EQ(view.end.from, Seq{});
  EXPECT_FALSE(view.started_at);
  EXPECT_EQ(code_of(world.cancel(id, two)), Code::kConflict);
  ASSERT_TRUE(world.finish(id, one));
  EXPECT_EQ(world.state(id, three), InputState::kActive);
  EXPECT_EQ(world.inputs.probe().cancelled, 1U);
}

TEST(Inputs, AreListedByStateInPages) {
  World world;
  const SessionId id = world.create().state.id;
  std::vector<InputId> ids;
  for (const char* data : {"1", "2", "3", "4", "5"}) ids.push_back(world.submit(id, data));
  ASSERT_TRUE(world.finish(id, ids[0]));
  EXPECT_EQ(world.list(id, InputState::kQueued), (Data{"3", "4", "5"}));
  EXPECT_EQ(world.list(id, InputState::kActive), (Data{"2"}));
  EXPECT_EQ(world.list(id, {}, {}, 2), (Data{"1", "2", "..."}));
  EXPECT_EQ(world.list(id, {}, ids[1], 2), (Data{"3", "4", "..."}));
  EXPECT_EQ(world.list(id, {}, ids[3], 2), (Data{"5"}));
  EXPECT_EQ(world.list(id, {}, {}, 5), (Data{"1", "2", "3", "4", "5"}));
  EXPECT_EQ(code_of(world.run(world.inputs.list(id, {}, InputId{}, 5))), Code::kBadCursor);
}

TEST(Inputs, ARepetitionGetsTheFirstOnesId) {
  World world;
  const SessionId id = world.create().state.id;
  const auto terms = [](std::string_view key, std::string_view body = "x") {
    return WriteTerms{.claim = *stream::make_claim("inputs", key, body), .lease = {}};
  };
  const auto first = world.try_submit(id, "1", WhenBusy::kReject, terms("a"));
  ASSERT_TRUE(first);
  const auto again = world.try_submit(id, "1", WhenBusy::kReject, terms("a"));
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ(*again, *first);
  EXPECT_EQ(code_of(world.try_submit(id, "1", WhenBusy::kReject, terms("a", "y"))),
            Code::kIdempotencyMismatch);
  // Also where the call had ended another one first.
  const auto second = world.try_submit(id, "2", WhenBusy::kInterrupt, terms("b"));
  EXPECT_EQ(*world.try_submit(id, "2", WhenBusy::kInterrupt, terms("b")), *second);
  EXPECT_EQ(world.active(id), "2");
  EXPECT_EQ(world.inputs.probe().submitted, 2U);
  ASSERT_TRUE(world.finish(id, *second, terms("c")));
  EXPECT_TRUE(world.finish(id, *second, terms("c")));
  EXPECT_EQ(world.inputs.probe().finished, 1U);
}

TEST(Inputs, AWorkerThatLostItsSessionIsFenced) {
  Crew crew;
  Inputs inputs(*crew.sessions.service);
  const Generation old = crew.join("w");
  const SessionId id = crew.work("w");
  const auto input = crew.sessions.run(inputs.submit(id, {.id = {}, .data = "1", .by = {}}));
  const Generation present = crew.join("w");
  const auto finish = [&](Generation lease) {
    return crew.sessions.run(
        inputs.finish(id, {.id = *input, .error = {}, .by = {}}, {.claim = {}, .lease = lease}));
  };
  EXPECT_EQ(code_of(finish(old)), Code::kFenced);
  EXPECT_TRUE(finish(present));
}

TEST(Inputs, SurviveARestartInTheMiddle) {
  World before;
  const SessionId id = before.create().state.id;
  const InputId done = before.submit(id, "0");
  const InputId one = before.submit(id, "1");
  const InputId two = before.submit(id, "2");
  before.submit(id, "3");
  ASSERT_TRUE(before.finish(id, done));
  World after({}, before.contents(), before.world.time.now(), 2);
  EXPECT_EQ(after.active(id), "1");
  EXPECT_EQ(after.list(id, InputState::kQueued), (Data{"2", "3"}));
  EXPECT_EQ(after.state(id, done), InputState::kFinished);
  ASSERT_TRUE(after.finish(id, one));
  EXPECT_EQ(after.state(id, two), InputState::kActive);
}

TEST(Inputs, AreCancelledWithTheirSessionAndHiddenByAReset) {
  World world;
  const SessionId id = world.create().state.id;
  const InputId one = world.submit(id, "1");
  const InputId two = world.submit(id, "2");
  ASSERT_TRUE(world.command(id, model::Close{}));
  EXPECT_EQ(world.state(id, one), InputState::kCancelled);
  EXPECT_EQ(world.state(id, two), InputState::kCancelled);
  EXPECT_EQ(code_of(world.run(world.inputs.active(id))), Code::kSessionEnded);
  EXPECT_EQ(code_of(world.try_submit(id, "3")), Code::kSessionEnded);
  ASSERT_TRUE(world.run(world.service->reset(id, "")));
  EXPECT_EQ(code_of(world.run(world.inputs.get(id, one))), Code::kInputNotFound);
  EXPECT_EQ(world.list(id), Data{});
  const InputId three = world.submit(id, "3");
  ASSERT_TRUE(world.run(world.service->reset(id, "")));
  EXPECT_EQ(world.active(id), "none");
  EXPECT_EQ(code_of(world.finish(id, three)), Code::kInputNotActive);
}

TEST(Inputs, LeaveNothingBehindWhenTheSessionIsDeleted) {
  World world;
  const SessionId id = world.create().state.id;
  world.submit(id, "1");
  world.submit(id, "2");
  world.submit(id, "3", WhenBusy::kRollback);
  EXPECT_GT(world.rows(), 0U);
  ASSERT_TRUE(world.run(world.service->remove(id)));
  ASSERT_TRUE(world.sweep());
  EXPECT_EQ(world.rows(), 0U);
}

TEST(Inputs, OnlySoManyWait) {
  World world;
  const SessionId id = world.create().state.id;
  for (std::size_t i = 0; i <= model::kMaxQueuedInputs; ++i) world.submit(id, "1");
  EXPECT_EQ(code_of(world.try_submit(id, "2")), Code::kTooManyRequests);
  EXPECT_EQ(world.inputs.probe().refused, 1U);
  ASSERT_TRUE(world.command(id, model::Close{}));
  EXPECT_EQ(world.list(id, InputState::kCancelled, {}, 2), (Data{"1", "1", "..."}));
}

TEST(InputRecords, WhatIsDamagedIsCorrupt) {
  const StreamId stream{{1}};
  const InputRecord record{.id = InputId{{7}},
                           .queued = Seq{3},
                           .state = InputState::kFinished,
                           .started = Seq{4},
                           .finished = Seq{9}};
  const std::string key = input_key(stream, record.id);
  const std::string bytes = encode_input(record);
  const auto read = decode_input(key, bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, record.id);
  EXPECT_EQ(read->finished, record.finished);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    EXPECT_EQ(code_of(decode_input(key, bytes.substr(0, i))), Code::kCorrupt) << i;
  EXPECT_EQ(code_of(decode_input(key, bytes + "x")), Code::kCorrupt);
  EXPECT_EQ(code_of(decode_input("ui", bytes)), Code::kCorrupt);
  InputRecord both = record;
  both.state = InputState::kActive;
  EXPECT_EQ(code_of(decode_input(key, encode_input(both))), Code::kCorrupt);
  EXPECT_EQ(code_of(decode_void("")), Code::kCorrupt);
  EXPECT_EQ(*decode_void(encode_void(Seq{8})), Seq{8});
}

}  // namespace
}  // namespace reprise::session
