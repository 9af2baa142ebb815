#include "stream/log/service.h"

#include <set>

#include "stream/log/testing.h"

namespace reprise::stream {
namespace {

using testing::body;
using testing::Logs;
using testing::text;
using testing::World;
using Kind = AppendOutcome::Kind;

TEST(LogService, CreatesAppendsReadsAndDeletes) {
  Logs logs;
  EXPECT_EQ(logs.code(logs.look("a")), Code::kStreamNotFound);
  EXPECT_TRUE(logs.create("a", text())->is_new);
  EXPECT_FALSE(logs.create("a", text())->is_new);
  EXPECT_EQ(logs.code(logs.create("a", {.content_type = "text/html"})), Code::kConflict);
  EXPECT_EQ(logs.append("a", body("one"))->tail, Seq{1});
  EXPECT_EQ(logs.append("a", body("two"))->tail, Seq{2});
  EXPECT_EQ(logs.append("a", {.content_type = "text/html", .body = "x"})->kind, Kind::kWrongType);
  EXPECT_EQ(logs.content("a"), "one|two|");
  ASSERT_TRUE(logs.remove("a"));
  EXPECT_EQ(logs.code(logs.append("a", body("x"))), Code::kStreamNotFound);
  EXPECT_EQ(logs.code(logs.remove("a")), Code::kStreamNotFound);
  EXPECT_EQ(logs.record_count(), 0U);
  // A new one of that name has nothing of the old one.
  EXPECT_TRUE(logs.create("a", text())->is_new);
  EXPECT_EQ(logs.look("a")->tail, Seq{0});
}

TEST(LogService, AClosedLogTakesNothingAndSaysSo) {
  Logs logs;
  ASSERT_TRUE(logs.create("a", text()));
  EXPECT_EQ(logs.append("a", {.body = "last", .closes = true})->kind, Kind::kAppended);
  EXPECT_EQ(logs.append("a", body("x"))->kind, Kind::kAlreadyClosed);
  EXPECT_EQ(logs.append("a", {.closes = true})->kind, Kind::kClosed);
  EXPECT_EQ(logs.content("a"), "last|");
  EXPECT_EQ(logs.code(logs.create("a", text())), Code::kConflict);
}

TEST(LogService, AProducersAppendsAreTakenOnceAlsoAfterARestart) {
  std::unique_ptr<store::MemoryEngine> contents;
  TimePoint now;
  {
    Logs logs;
    ASSERT_TRUE(logs.create("a", text()));
    AppendLog first = body("one");
    first.producer = ProducerClaim{"p", 1, 0};
    EXPECT_EQ(logs.append("a", first)->kind, Kind::kAppended);
    EXPECT_EQ(logs.append("a", first)->kind, Kind::kDuplicate);
    contents = logs.world.engine->copy();
    now = logs.world.time.now();
  }
  Logs logs(std::move(contents), now);
  AppendLog again = body("one");
  again.producer = ProducerClaim{"p", 1, 0};
  EXPECT_EQ(logs.append("a", again)->kind, Kind::kDuplicate);
  again.producer = ProducerClaim{"p", 0, 1};
  EXPECT_EQ(logs.append("a", again)->kind, Kind::kStaleEpoch);
  again.producer = ProducerClaim{"p", 1, 5};
  EXPECT_EQ(logs.append("a", again)->expected_seq, 1U);
  EXPECT_EQ(logs.content("a"), "one|");
  ASSERT_TRUE(logs.remove("a"));
  EXPECT_EQ(logs.record_count(), 0U);  // producers too
}

TEST(LogService, AppendsThatWaitBecomeOneCommit) {
  Logs logs;
  ASSERT_TRUE(logs.create("a", text()));
  const auto before = logs.world.store.probe().batches;
  std::vector<World::Place<Result<AppendOutcome>>> answers;
  for (int i = 0; i < 50; ++i) {
    AppendLog one = body(std::to_string(i));
    one.content_type = "text/plain";
    answers.push_back(logs.world.start(logs.world.loop(static_cast<std::size_t>(i) % 3),
                                       logs.service->append("a", std::move(one))));
  }
  logs.world.settle();
  EXPECT_LE(logs.world.store.probe().batches - before, 3U);
  std::set<std::uint64_t> tails;
  for (const auto& answer : answers) tails.insert((**answer)->tail.value);
  EXPECT_EQ(tails.size(), 50U);
}

TEST(LogService, AForkSharesWhatWasAndGoesItsOwnWay) {
  Logs logs;
  ASSERT_TRUE(logs.create("a", text()));
  for (const char* one : {"1", "2", "3"}) ASSERT_TRUE(logs.append("a", body(one)));
  CreateLog fork;
  fork.fork = ForkRequest{.path = "a", .offset = Seq{2}};
  ASSERT_TRUE(logs.create("b", fork)->is_new);
  EXPECT_FALSE(logs.create("b", fork)->is_new);
  ASSERT_TRUE(logs.append("a", body("4")));
  ASSERT_TRUE(logs.append("b", body("x")));
  EXPECT_EQ(logs.content("a"), "1|2|3|4|");
  EXPECT_EQ(logs.content("b"), "1|2|x|");
  EXPECT_EQ(logs.look("b")->tail, Seq{3});
  // Of a fork, before and after its own beginning; and a part of the next append.
  fork.fork = ForkRequest{.path = "b", .offset = Seq{1}};
  ASSERT_TRUE(logs.create("c", fork));
  EXPECT_EQ(logs.content("c"), "1|");
  fork.fork = ForkRequest{.path = "b", .offset = Seq{2}, .sub_offset = 1};
  ASSERT_TRUE(logs.create("d", fork));
  EXPECT_EQ(logs.content("d"), "1|2|x|");
  fork.fork = ForkRequest{.path = "b", .offset = Seq{4}};
  EXPECT_EQ(logs.code(logs.create("e", fork)), Code::kBadParameter);
  fork.fork = ForkRequest{.path = "nothing"};
  EXPECT_EQ(logs.code(logs.create("e", fork)), Code::kStreamNotFound);
}

TEST(LogService, ASourceStaysForItsForksAndGoesWithTheLast) {
  Logs logs;
  ASSERT_TRUE(logs.create("a", text()));
  ASSERT_TRUE(logs.append("a", body("1")));
  CreateLog fork;
  fork.fork = ForkRequest{.path = "a"};
  ASSERT_TRUE(logs.create("b", fork));
  fork.fork = ForkRequest{.path = "b"};
  ASSERT_TRUE(logs.create("c", fork));
  // A rejected fork holds nothing.
  fork.content_type = "text/html";
  EXPECT_EQ(logs.code(logs.create("d", fork)), Code::kConflict);
  ASSERT_TRUE(logs.remove("a"));
  ASSERT_TRUE(logs.remove("b"));
  EXPECT_EQ(logs.code(logs.look("a")), Code::kGone);
  EXPECT_EQ(logs.code(logs.append("b", body("x"))), Code::kGone);
  EXPECT_EQ(logs.code(logs.create("a", text())), Code::kConflict);
  EXPECT_EQ(logs.content("c"), "1|");
  ASSERT_TRUE(logs.remove("c"));
  for (const char* path : {"a", "b", "c"})
    EXPECT_EQ(logs.code(logs.look(path)), Code::kStreamNotFound) << path;
  EXPECT_EQ(logs.record_count(), 0U);
}

TEST(LogService, TimeToLiveSlidesWithUseAndNotWithALook) {
  Logs logs;
  CreateLog create = text();
  create.ttl_seconds = 10;
  ASSERT_TRUE(logs.create("a", create));
  logs.world.time.advance(std::chrono::seconds{8});
  ASSERT_TRUE(logs.look("a", true));
  logs.world.time.advance(std::chrono::seconds{8});
  ASSERT_TRUE(logs.look("a", false));
  logs.world.time.advance(std::chrono::seconds{4});
  EXPECT_EQ(logs.code(logs.look("a", true)), Code::kStreamNotFound);
  // Nobody has swept it, and it can be made anew.
  EXPECT_TRUE(logs.create("a", text())->is_new);
}

TEST(LogService, WhatIsPastItsTimeIsRemovedAndWhatIsReadStays) {
  Logs logs;
  CreateLog create = text();
  create.ttl_seconds = 10;
  for (const char* path : {"a", "b", "c"}) ASSERT_TRUE(logs.create(path, create));
  ASSERT_TRUE(logs.world.run(logs.service->join("b")));
  logs.world.time.advance(std::chrono::seconds{6});
  ASSERT_TRUE(logs.look("c", true));
  logs.world.time.advance(std::chrono::seconds{6});
  ASSERT_TRUE(logs.world.run(logs.service->expire_due()));
  EXPECT_EQ(logs.code(logs.look("a")), Code::kStreamNotFound);
  EXPECT_TRUE(logs.look("b"));
  EXPECT_TRUE(logs.look("c"));
  logs.world.loop(0).post([&] { logs.service->leave("b"); });
  logs.world.settle();
  logs.world.time.advance(std::chrono::seconds{60});
  ASSERT_TRUE(logs.world.run(logs.service->expire_due()));
  EXPECT_EQ(logs.record_count(), 0U);
}

TEST(LogService, WhoRacesForAPathGetsOneLog) {
  Logs logs;
  std::vector<World::Place<Result<CreatedLog>>> answers;
  for (std::size_t i = 0; i < 200; ++i)
    answers.push_back(logs.world.start(logs.world.loop(i % 3), logs.service->create("a", text())));
  logs.world.settle_shuffled(logs.random);
  std::size_t made = 0;
  std::set<StreamId> streams;
  for (const auto& answer : answers) {
    ASSERT_TRUE(answer->has_value() && (*answer)->has_value());
    made += (**answer)->is_new ? 1 : 0;
    streams.insert((**answer)->view.record.stream);
  }
  EXPECT_EQ(made, 1U);
  EXPECT_EQ(streams.size(), 1U);
}

TEST(LogService, WhoRacesForAPathThatWasLookedForGetsOneLog) {
  const std::uint64_t seed = testing::test_seed();
  for (std::uint64_t round = 0; round < 50; ++round) {
    Logs logs;
    SeededRandom dice(seed + round);
    // The actor knows that there is none, and hears of the new one a moment after others see it.
    EXPECT_EQ(logs.code(logs.look("a")), Code::kStreamNotFound);
    std::vector<World::Place<Result<CreatedLog>>> answers;
    for (std::size_t i = 0; i < 9; ++i) {
      CreateLog create = text();
      create.body = std::to_string(i);
      answers.push_back(
          logs.world.start(logs.world.loop(i % 3), logs.service->create("a", create)));
    }
    logs.world.settle_shuffled(dice);
    std::size_t made = 0;
    std::set<StreamId> streams;
    for (const auto& answer : answers) {
      ASSERT_TRUE(answer->has_value() && (*answer)->has_value()) << (*answer)->error().detail;
      made += (**answer)->is_new ? 1 : 0;
      streams.insert((**answer)->view.record.stream);
    }
    EXPECT_EQ(made, 1U) << "seed " << seed + round;
    EXPECT_EQ(streams.size(), 1U) << "seed " << seed + round;
  }
}

TEST(LogService, AForkThatWentByItsTimeIsForkedAnewFromTheSameSource) {
  Logs logs;
  ASSERT_TRUE(logs.create("a", text()));
  ASSERT_TRUE(logs.append("a", body("1")));
  CreateLog fork;
  fork.fork = ForkRequest{.path = "a"};
  fork.ttl_seconds = 5;
  ASSERT_TRUE(logs.create("b", fork));
  logs.world.time.advance(std::chrono::seconds{6});
  ASSERT_TRUE(logs.append("a", body("2")));
  ASSERT_TRUE(logs.create("b", fork)->is_new);
  EXPECT_EQ(logs.content("b"), "1|2|");
  // Its source counts it once: it stays for it, and goes with it.
  ASSERT_TRUE(logs.remove("a"));
  EXPECT_EQ(logs.code(logs.look("a")), Code::kGone);
  EXPECT_EQ(logs.content("b"), "1|2|");
  ASSERT_TRUE(logs.remove("b"));
  EXPECT_EQ(logs.code(logs.look("a")), Code::kStreamNotFound);
  EXPECT_EQ(logs.record_count(), 0U);
}

TEST(LogService, ALogMadeAnewWhileTheOldOneIsRemovedStays) {
  const std::uint64_t seed = testing::test_seed();
  for (std::uint64_t round = 0; round < 50; ++round) {
    Logs logs;
    SeededRandom dice(seed + round);
    CreateLog create = text();
    create.ttl_seconds = 5;
    ASSERT_TRUE(logs.create("a", create));
    logs.world.time.advance(std::chrono::seconds{6});
    create.ttl_seconds = 60;
    create.body = "new";
    const auto made = logs.world.start(logs.world.loop(1), logs.service->create("a", create));
    for (std::size_t i = 0; i < 3; ++i)
      (void)logs.world.start(logs.world.loop(i), logs.service->expire_due());
    logs.world.settle_shuffled(dice);
    ASSERT_TRUE(made->has_value() && (*made)->has_value());
    ASSERT_TRUE(logs.look("a")) << "seed " << seed + round;
    EXPECT_EQ(logs.content("a"), "new|") << "seed " << seed + round;
  }
}

TEST(LogService, TheTimeOfALogThatWasFollowedBeginsWhenItsReaderLeft) {
  std::unique_ptr<store::MemoryEngine> contents;
  TimePoint now;
  {
    Logs logs;
    CreateLog create = text();
    create.ttl_seconds = 10;
    for (const char* path : {"left", "followed"}) {
      ASSERT_TRUE(logs.create(path, create));
      ASSERT_TRUE(logs.world.run(logs.service->join(path)));
    }
    for (int seconds = 0; seconds < 36; ++seconds) {
      logs.world.time.advance(std::chrono::seconds{1});
      ASSERT_TRUE(logs.world.run(logs.service->expire_due()));
    }
    logs.service->leave("left");
    logs.world.settle();
    // Whoever makes a fork makes the actor read the record again.
    CreateLog fork;
    fork.fork = ForkRequest{.path = "left"};
    ASSERT_TRUE(logs.create("fork", fork));
    logs.world.time.advance(std::chrono::seconds{3});
    ASSERT_TRUE(logs.look("left"));
    contents = logs.world.engine->copy();
    now = logs.world.time.now();
  }
  // After a crash too; what was followed at that moment has what is left of its last window.
  Logs logs(std::move(contents), now);
  EXPECT_TRUE(logs.look("left"));
  EXPECT_TRUE(logs.look("followed"));
  logs.world.time.advance(std::chrono::seconds{8});
  EXPECT_EQ(logs.code(logs.look("left")), Code::kStreamNotFound);
}

TEST(LogService, AppendsForksAndDeletionsThatRaceLeaveNothingBehind) {
  const std::uint64_t seed = testing::test_seed();
  for (std::uint64_t round = 0; round < 40; ++round) {
    Logs logs;
    SeededRandom dice(seed + round);
    const std::vector<std::string> paths = {"a", "b", "c"};
    for (int step = 0; step < 40; ++step) {
      const std::string path = paths[dice.next_u64() % paths.size()];
      rt::Loop& loop = logs.world.loop(dice.next_u64() % 3);
      const std::uint64_t what = dice.next_u64() % 5;
      if (what == 0) {
        (void)logs.world.start(loop, logs.service->create(path, text()));
      } else if (what == 1) {
        CreateLog fork;
        fork.fork = ForkRequest{.path = paths[dice.next_u64() % paths.size()]};
        (void)logs.world.start(loop, logs.service->create(path, fork));
      } else if (what == 2) {
        (void)logs.world.start(loop, logs.service->remove(path));
      } else {
        AppendLog one = body("x");
        one.content_type = "text/plain";
        (void)logs.world.start(loop, logs.service->append(path, std::move(one)));
      }
      if (step % 8 == 7) logs.world.settle_shuffled(dice);
    }
    logs.world.settle_shuffled(dice);
    // References are right: once all are deleted, nothing is left.
    for (int pass = 0; pass < 3; ++pass)
      for (const std::string& path : paths) (void)logs.remove(path);
    EXPECT_EQ(logs.record_count(), 0U) << "seed " << seed + round;
  }
}

}  // namespace
}  // namespace reprise::stream
