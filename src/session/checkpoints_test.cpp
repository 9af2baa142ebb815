// Checkpoints over the real service and a store in memory.
#include "session/checkpoints.h"

#include <gtest/gtest.h>

#include "model/limits.h"
#include "session/agents_testing.h"
#include "session/inputs.h"
#include "session/testing.h"

namespace reprise::session {
namespace {

using testing::code_of;
using testing::Crew;
using testing::new_session;
using testing::Sessions;

// The service with checkpoints and inputs beside it.
struct World : Sessions {
  using Sessions::Sessions;
  Checkpoints checkpoints{*service};
  Inputs inputs{*service};

  Result<CheckpointPut> put(SessionId id, std::string data, NewCheckpoint what = {}) {
    if (what.name.empty()) what.name = "state";
    what.data = std::move(data);
    return run(checkpoints.put(id, std::move(what)));
  }
  Result<SavedCheckpoint> saved(SessionId id, std::optional<std::uint64_t> number = {},
                                std::string name = "state") {
    return run(checkpoints.get(id, std::move(name), number));
  }
  std::string data(SessionId id, std::optional<std::uint64_t> number = {},
                   std::string name = "state") {
    const auto found = saved(id, number, std::move(name));
    return found ? found->data : std::string(error_row(found.error().code).name);
  }
  std::vector<std::string> names(SessionId id, std::string after = {},
                                 std::size_t limit = kDefaultCheckpointPageLimit) {
    const auto page = run(checkpoints.list(id, std::move(after), limit));
    std::vector<std::string> list;
    for (const auto& one : page->checkpoints) list.push_back(one.name);
    if (!page->next.empty()) list.push_back("...");
    return list;
  }
  model::InputId submit(SessionId id, model::WhenBusy when_busy = model::WhenBusy::kEnqueue) {
    const auto made =
        run(inputs.submit(id, {.id = {}, .data = "1", .when_busy = when_busy, .by = {}}));
    EXPECT_TRUE(made) << made.error().detail;
    return made.value_or(model::InputId{});
  }
  std::size_t rows() {
    std::size_t count = 0;
    for (const auto& record : records()) count += record.key.starts_with('p') ? 1 : 0;
    return count;
  }
};

using Names = std::vector<std::string>;

TEST(Checkpoints, EachSaveIsTheNextVersionToldByItsEvent) {
  World world;
  const SessionView session = world.create();
  const SessionId id = session.state.id;
  const auto first = world.put(id, R"({"step":1})");
  ASSERT_TRUE(first) << first.error().detail;
  EXPECT_TRUE(first->is_new);
  EXPECT_EQ(first->view.version.version, 1U);
  EXPECT_EQ(first->view.version.seq, Seq{2});
  EXPECT_EQ(first->view.version.size, 10U);
  const auto second = world.put(id, R"({"step":2})", {.name = "state", .by = "ada"});
  EXPECT_FALSE(second->is_new);
  EXPECT_EQ(second->view.version.version, 2U);
  EXPECT_EQ(second->view.etag(), "\"2\"");
  EXPECT_EQ(world.data(id), R"({"step":2})");
  EXPECT_EQ(world.data(id, 1), R"({"step":1})");
  EXPECT_EQ(world.data(id, 3), "checkpoint_not_found");
  EXPECT_EQ(world.data(id, {}, "other"), "checkpoint_not_found");
  const auto page = world.run(world.service->events(id, Seq{1}));
  ASSERT_EQ(page->entries.size(), 2U);
  const auto event = model::decode_entry(page->entries[1].bytes);
  EXPECT_EQ(event->type, "checkpoint");
  EXPECT_EQ(event->data, R"({"name":"state","version":2,"size":10})");
  EXPECT_EQ(event->by, "ada");
  // Nobody who watches the record hears of it.
  EXPECT_EQ(world.get(id)->revision, session.revision);
  EXPECT_EQ(world.checkpoints.probe().saved, 2U);
  EXPECT_EQ(world.checkpoints.probe().saved_bytes, 20U);
}

TEST(Checkpoints, OnlyTheNewestVersionsAreKept) {
  World world;
  const SessionId id = world.create().state.id;
  for (std::size_t i = 1; i <= kMaxVersionsPerCheckpoint; ++i)
    ASSERT_TRUE(world.put(id, std::to_string(i)));
  EXPECT_EQ(world.data(id, 1), "1");
  ASSERT_TRUE(world.put(id, "17"));
  EXPECT_EQ(world.data(id, 1), "checkpoint_not_found");
  EXPECT_EQ(world.data(id, 2), "2");
  EXPECT_EQ(world.data(id), "17");
  EXPECT_EQ(world.rows(), 1 + kMaxVersionsPerCheckpoint);
}

TEST(Checkpoints, ConditionsAreOnTheNewestVersion) {
  World world;
  const SessionId id = world.create().state.id;
  EXPECT_EQ(code_of(world.put(id, "1", {.name = "state", .if_match = "\"1\""})),
            Code::kPreconditionFailed);
  ASSERT_TRUE(world.put(id, "1", {.name = "state", .if_none_match = "*"}));
  EXPECT_EQ(code_of(world.put(id, "2", {.name = "state", .if_none_match = "*"})),
            Code::kPreconditionFailed);
  ASSERT_TRUE(world.put(id, "2", {.name = "state", .if_match = "\"1\""}));
  EXPECT_EQ(code_of(world.put(id, "3", {.name = "state", .if_match = "\"1\""})),
            Code::kPreconditionFailed);
  EXPECT_EQ(world.data(id), "2");
}

TEST(Checkpoints, OfTwoThatRaceForAVersionOneWins) {
  World world;
  const SessionId id = world.create().state.id;
  ASSERT_TRUE(world.put(id, "1"));
  const auto start = [&](std::string data, std::size_t loop) {
    return world.start(
        world.checkpoints.put(id, {.name = "state", .data = std::move(data), .if_match = "\"1\""}),
        loop);
  };
  const auto one = start("2", 0);
  const auto other = start("3", 1);
  world.world.settle();
  EXPECT_NE(one->value().has_value(), other->value().has_value());
  EXPECT_EQ(world.saved(id)->view.version.version, 2U);
}

TEST(Checkpoints, ManyAtOnceGetNumbersOfTheirOwn) {
  World world;
  const SessionId id = world.create().state.id;
  std::vector<decltype(world.start(world.checkpoints.put(id, {})))> started;
  for (std::size_t i = 0; i < 12; ++i)
    started.push_back(world.start(
        world.checkpoints.put(id, {.name = "state", .data = std::to_string(i)}), i % 3));
  world.world.settle();
  std::set<std::uint64_t> numbers;
  for (const auto& one : started) {
    ASSERT_TRUE(one->value()) << one->value().error().detail;
    const auto& version = one->value()->view.version;
    numbers.insert(version.version);
    EXPECT_EQ(world.saved(id, version.version)->view.version.seq, version.seq);
  }
  EXPECT_EQ(numbers.size(), 12U);
  EXPECT_EQ(*numbers.rbegin(), 12U);
}

TEST(Checkpoints, AreListedByNameInPages) {
  World world;
  const SessionId id = world.create().state.id;
  for (const char* name : {"c", "a", "b"}) ASSERT_TRUE(world.put(id, "1", {.name = name}));
  ASSERT_TRUE(world.put(id, "22", {.name = "b"}));
  EXPECT_EQ(world.names(id), (Names{"a", "b", "c"}));
  EXPECT_EQ(world.names(id, "", 2), (Names{"a", "b", "..."}));
  EXPECT_EQ(world.names(id, "b", 2), (Names{"c"}));
  EXPECT_EQ(world.names(id, "", 3), (Names{"a", "b", "c"}));
  const auto page = world.run(world.checkpoints.list(id, "a", 1));
  EXPECT_EQ(page->checkpoints[0].version.version, 2U);
  EXPECT_EQ(page->checkpoints[0].version.size, 2U);
}

TEST(Checkpoints, AreDeletedWithAllVersionsAndBeginAnew) {
  World world;
  const SessionId id = world.create().state.id;
  const auto remove = [&] { return world.run(world.checkpoints.remove(id, "state", "ada", {})); };
  EXPECT_EQ(code_of(remove()), Code::kCheckpointNotFound);
  ASSERT_TRUE(world.put(id, "1"));
  ASSERT_TRUE(world.put(id, "2"));
  ASSERT_TRUE(remove());
  EXPECT_EQ(world.data(id), "checkpoint_not_found");
  EXPECT_EQ(world.rows(), 0U);
  EXPECT_EQ(code_of(remove()), Code::kCheckpointNotFound);
  const auto page = world.run(world.service->events(id, Seq{3}));
  const auto event = model::decode_entry(page->entries.at(0).bytes);
  EXPECT_EQ(event->type, "checkpoint_deleted");
  EXPECT_EQ(event->data, R"({"name":"state","versions":2})");
  EXPECT_EQ(world.put(id, "3")->view.version.version, 1U);
}

TEST(Checkpoints, NamesAndSizesHaveLimits) {
  World world;
  const SessionId id = world.create().state.id;
  EXPECT_EQ(code_of(world.put(id, "1", {.name = "a\tb"})), Code::kBadParameter);
  EXPECT_EQ(code_of(world.run(world.checkpoints.get(id, "", {}))), Code::kBadParameter);
  const std::string most(model::kMaxCheckpointBytes, '7');
  EXPECT_TRUE(world.put(id, most));
  EXPECT_EQ(world.data(id), most);
  EXPECT_EQ(code_of(world.put(id, most + "7")), Code::kBodyTooLarge);
}

TEST(Checkpoints, ThereAreSoManyNamesAndNoMore) {
  World world;
  const SessionId id = world.create().state.id;
  for (std::size_t i = 0; i < kMaxCheckpointsPerSession; ++i)
    ASSERT_TRUE(world.put(id, "1", {.name = fmt::format("n{}", i)}));
  EXPECT_EQ(code_of(world.put(id, "1", {.name = "one more"})), Code::kQuotaExceeded);
  EXPECT_EQ(world.checkpoints.probe().over_quota, 1U);
  EXPECT_TRUE(world.put(id, "2", {.name = "n0"}));
  ASSERT_TRUE(world.run(world.checkpoints.remove(id, "n1", "", {})));
  EXPECT_TRUE(world.put(id, "1", {.name = "one more"}));
  // A reset hides them all; who comes by takes them away.
  ASSERT_TRUE(world.run(world.service->reset(id, "")));
  EXPECT_EQ(world.names(id), Names{});
  ASSERT_TRUE(world.put(id, "1", {.name = "new"}));
  EXPECT_EQ(world.rows(), 2U);
}

TEST(Checkpoints, AResetHidesWhatCameBeforeIt) {
  World world;
  const SessionId id = world.create().state.id;
  ASSERT_TRUE(world.put(id, "1"));
  ASSERT_TRUE(world.put(id, "2"));
  ASSERT_TRUE(world.run(world.service->reset(id, "")));
  EXPECT_EQ(world.data(id), "checkpoint_not_found");
  EXPECT_EQ(world.data(id, 1), "checkpoint_not_found");
  EXPECT_EQ(world.names(id), Names{});
  EXPECT_EQ(code_of(world.run(world.checkpoints.remove(id, "state", "", {}))),
            Code::kCheckpointNotFound);
  const auto put = world.put(id, "3", {.name = "state", .if_none_match = "*"});
  ASSERT_TRUE(put);
  EXPECT_TRUE(put->is_new);
  EXPECT_EQ(put->view.version.version, 1U);
  EXPECT_EQ(world.data(id, 1), "3");
  EXPECT_EQ(world.rows(), 2U);
}

TEST(Checkpoints, ASaveThatLookedBeforeAResetLooksAgain) {
  World world;
  const SessionId id = world.create().state.id;
  ASSERT_TRUE(world.put(id, "1"));
  world.world.is_holding_commits = true;
  const auto reset = world.start(world.service->reset(id, ""));
  world.world.settle();
  const auto put = world.start(world.checkpoints.put(id, {.name = "state", .data = "2"}));
  world.world.settle();
  ASSERT_FALSE(put->has_value());
  world.world.is_holding_commits = false;
  world.world.settle();
  ASSERT_TRUE(reset->value());
  ASSERT_TRUE(put->value()) << put->value().error().detail;
  EXPECT_EQ(put->value()->view.version.version, 1U);
  EXPECT_TRUE(put->value()->is_new);
  EXPECT_EQ(world.data(id), "2");
  EXPECT_EQ(world.rows(), 2U);
}

TEST(Checkpoints, ASaveThatLookedBeforeARollbackLooksAgain) {
  World world;
  const SessionId id = world.create().state.id;
  ASSERT_TRUE(world.put(id, "1"));
  world.submit(id);
  ASSERT_TRUE(world.put(id, "2"));
  world.world.is_holding_commits = true;
  const auto rollback = world.start(world.inputs.submit(
      id, {.id = {}, .data = "1", .when_busy = model::WhenBusy::kRollback, .by = {}}));
  world.world.settle();
  // What it has seen is not there any more when it comes to be written.
  const auto put =
      world.start(world.checkpoints.put(id, {.name = "state", .data = "3", .if_match = "\"2\""}));
  world.world.settle();
  ASSERT_FALSE(put->has_value());
  world.world.is_holding_commits = false;
  world.world.settle();
  ASSERT_TRUE(rollback->value());
  EXPECT_EQ(code_of(put->value()), Code::kPreconditionFailed);
  EXPECT_EQ(world.data(id), "1");
}

TEST(Checkpoints, AnEndedSessionGivesThemAndTakesNoMore) {
  World world;
  const SessionId id = world.create().state.id;
  ASSERT_TRUE(world.put(id, "1"));
  ASSERT_TRUE(world.command(id, model::Close{}));
  EXPECT_EQ(code_of(world.put(id, "2")), Code::kSessionEnded);
  EXPECT_EQ(code_of(world.run(world.checkpoints.remove(id, "state", "", {}))), Code::kSessionEnded);
  EXPECT_EQ(world.data(id), "1");
}

TEST(Checkpoints, AWorkerThatLostItsSessionIsFenced) {
  Crew crew;
  Checkpoints checkpoints(*crew.sessions.service);
  const Generation old = crew.join("w");
  const SessionId id = crew.work("w");
  const auto put = [&](Generation lease) {
    return crew.sessions.run(checkpoints.put(id, {.name = "state", .data = "1", .lease = lease}));
  };
  EXPECT_TRUE(put(old));
  const Generation present = crew.join("w");
  EXPECT_EQ(code_of(put(old)), Code::kFenced);
  EXPECT_EQ(code_of(crew.sessions.run(checkpoints.remove(id, "state", "", old))), Code::kFenced);
  EXPECT_TRUE(put(present));
}

TEST(Checkpoints, SurviveARestart) {
  World before;
  const SessionId id = before.create().state.id;
  ASSERT_TRUE(before.put(id, "1"));
  ASSERT_TRUE(before.put(id, "2"));
  World after({}, before.contents(), before.world.time.now(), 2);
  EXPECT_EQ(after.data(id), "2");
  EXPECT_EQ(after.data(id, 1), "1");
  EXPECT_EQ(after.put(id, "3")->view.version.version, 3U);
}

TEST(Checkpoints, LeaveNothingBehindWhenTheSessionIsDeleted) {
  World world;
  const SessionId id = world.create().state.id;
  const SessionId other = world.create().state.id;
  for (std::size_t i = 0; i < 300; ++i)
    ASSERT_TRUE(world.put(id, "1", {.name = fmt::format("n{}", i)}));
  ASSERT_TRUE(world.put(id, "2", {.name = "n0"}));
  ASSERT_TRUE(world.put(other, "1"));
  ASSERT_TRUE(world.run(world.service->remove(id)));
  EXPECT_EQ(code_of(world.saved(id)), Code::kSessionNotFound);
  ASSERT_TRUE(world.sweep());
  EXPECT_EQ(world.rows(), 2U);
  EXPECT_EQ(world.data(other), "1");
}

TEST(Checkpoints, WhatARolledBackInputSavedIsGoneAndTheOneBeforeCountsAgain) {
  World world;
  const SessionId id = world.create().state.id;
  ASSERT_TRUE(world.put(id, "1"));
  world.submit(id);
  ASSERT_TRUE(world.put(id, "2"));
  ASSERT_TRUE(world.put(id, "1", {.name = "only its"}));
  world.submit(id, model::WhenBusy::kRollback);
  EXPECT_EQ(world.data(id), "1");
  EXPECT_EQ(world.data(id, 2), "checkpoint_not_found");
  EXPECT_EQ(world.names(id), (Names{"state"}));
  // Numbers go on: what events tell of stays unambiguous.
  const auto put = world.put(id, "3", {.name = "state", .if_match = "\"1\""});
  ASSERT_TRUE(put) << put.error().detail;
  EXPECT_EQ(put->view.version.version, 3U);
  const auto again = world.put(id, "9", {.name = "only its"});
  EXPECT_TRUE(again->is_new);
  EXPECT_EQ(again->view.version.version, 2U);
  // An interrupted input's work stays.
  world.submit(id, model::WhenBusy::kInterrupt);
  EXPECT_EQ(world.data(id), "3");
  // And what was void stays void over further rollbacks.
  ASSERT_TRUE(world.put(id, "4"));
  world.submit(id, model::WhenBusy::kRollback);
  EXPECT_EQ(world.data(id), "3");
  EXPECT_EQ(world.data(id, 2), "checkpoint_not_found");
  World after({}, world.contents(), world.world.time.now(), 2);
  EXPECT_EQ(after.data(id), "3");
  EXPECT_EQ(after.data(id, 4), "checkpoint_not_found");
}

TEST(Checkpoints, HoweverMuchAnInputSavesWhatItFoundIsThereAfterARollback) {
  World world;
  const SessionId id = world.create().state.id;
  ASSERT_TRUE(world.put(id, "0"));
  ASSERT_TRUE(world.put(id, "1"));
  world.submit(id);
  for (std::size_t i = 0; i < 2 * kMaxVersionsPerCheckpoint; ++i)
    ASSERT_TRUE(world.put(id, std::to_string(100 + i)));
  EXPECT_EQ(world.rows(), 2 + kMaxVersionsPerCheckpoint);
  world.submit(id, model::WhenBusy::kRollback);
  EXPECT_EQ(world.data(id), "1");
  // The next save takes away what was rolled back.
  ASSERT_TRUE(world.put(id, "2"));
  EXPECT_EQ(world.rows(), 3U);
}

TEST(Checkpoints, NamesThatWereRolledBackDoNotFillTheSession) {
  World world;
  const SessionId id = world.create().state.id;
  world.submit(id);
  for (std::size_t i = 0; i < kMaxCheckpointsPerSession; ++i)
    ASSERT_TRUE(world.put(id, "1", {.name = fmt::format("n{}", i)}));
  world.submit(id, model::WhenBusy::kRollback);
  ASSERT_TRUE(world.put(id, "1", {.name = "new"}));
  EXPECT_EQ(world.names(id), (Names{"new"}));
  EXPECT_EQ(world.rows(), 2U);
}

TEST(CheckpointRecords, WhatIsDamagedIsCorrupt) {
  const StreamId stream{{1}};
  const std::string key = checkpoint_key(stream, "a");
  const CheckpointRow row{.name = "a",
                          .last_number = 3,
                          .versions = {{.version = 1, .seq = Seq{4}, .at = {5}, .size = 6},
                                       {.version = 3, .seq = Seq{7}, .at = {8}, .size = 9}}};
  const std::string bytes = encode_checkpoint(row);
  const auto read = decode_checkpoint(key, bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->versions, row.versions);
  EXPECT_EQ(read->name, "a");
  for (std::size_t i = 0; i < bytes.size(); ++i)
    EXPECT_EQ(code_of(decode_checkpoint(key, bytes.substr(0, i))), Code::kCorrupt) << i;
  EXPECT_EQ(code_of(decode_checkpoint(key, bytes + "x")), Code::kCorrupt);
  EXPECT_EQ(code_of(decode_checkpoint(checkpoint_prefix(stream), bytes)), Code::kCorrupt);
  CheckpointRow unordered = row;
  std::swap(unordered.versions[0], unordered.versions[1]);
  EXPECT_EQ(code_of(decode_checkpoint(key, encode_checkpoint(unordered))), Code::kCorrupt);
}

}  // namespace
}  // namespace reprise::session
