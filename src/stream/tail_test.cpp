#include "stream/tail.h"

#include "store/test_support.h"
#include "stream/limits.h"
#include "stream/testing.h"

namespace reprise::stream {
namespace {

using testing::count_lines;
using testing::numbers;
using testing::numbers_in;
using testing::TestOutlet;
using testing::World;

const StreamId kStream = store::testing::stream_id(1);

// A reader on one loop of a stream whose home is loop 0.
struct Reader {
  Reader(World& in, Hubs& hubs, std::size_t on_loop, bool is_endless)
      : world(in),
        loop(in.loop(on_loop)),
        answers(loop),
        async(in.store, answers, in.pool),
        outlet(loop),
        tail(hubs.at(on_loop), async, outlet, testing::test_frames(),
             {.stream = kStream, .is_endless = is_endless}) {}
  void stop() {
    loop.post([this] { scope.cancel(); });
    world.settle();
    EXPECT_TRUE(done == nullptr || done->has_value());
  }

  void subscribe() { ASSERT_TRUE(world.run(loop, tail.subscribe())); }
  void follow(Seq after, Seq until, std::optional<std::string> end_reason = std::nullopt) {
    tail.set_replay(after, until, std::move(end_reason));
    done = world.start(loop, tail.follow(scope));
    world.settle();
  }
  bool has_ended() const { return done->has_value() && (*done)->has_value(); }
  const std::string& text() const { return outlet.text; }

  World& world;
  rt::ManualLoop& loop;
  testing::LateAnswers answers;
  store::AsyncStore async;
  TestOutlet outlet;
  rt::CancelScope scope;
  Tail tail;
  World::Place<Result<>> done;
};

struct TailTest : ::testing::Test {
  ~TailTest() override {
    // Tails unsubscribe in their destructors, on their loops.
    for (auto& reader : readers) {
      reader->stop();
      rt::ManualLoop& loop = reader->loop;
      loop.post([&reader] { reader.reset(); });
      loop.run_ready();
    }
    world.settle();
  }

  Reader& reader(std::size_t on_loop, bool is_endless = false) {
    readers.push_back(std::make_unique<Reader>(world, hubs, on_loop, is_endless));
    readers.back()->subscribe();
    return *readers.back();
  }
  rt::Task<bool> commit(std::vector<std::string> entries, bool publishes, bool is_end) {
    store::Commit commit;
    commit.appends.push_back({.stream = kStream, .expected_head = {}, .entries = entries});
    auto done = co_await async.commit(std::move(commit));
    if (!done || !publishes) co_return done.has_value();
    auto batch = std::make_shared<Batch>();
    batch->stream = kStream;
    batch->first = (*done)->first_seqs[0];
    batch->entries = std::move(entries);
    batch->is_end = is_end;
    batch->end_reason = "COMPLETED";
    hubs.at(0).publish(done->with<std::shared_ptr<const Batch>>(std::move(batch)));
    co_return true;
  }
  void append(std::vector<std::string> entries, bool is_end = false) {
    ASSERT_TRUE(world.run(commit(std::move(entries), true, is_end)));
  }
  void store_only(std::vector<std::string> entries) {
    ASSERT_TRUE(world.run(commit(std::move(entries), false, false)));
  }
  rt::Task<bool> cut(Seq up_to) {
    store::Commit commit;
    commit.cuts.push_back({.stream = kStream, .up_to = up_to});
    co_return (co_await async.commit(std::move(commit))).has_value();
  }
  void at_home(std::function<void(Hub&)> work) {
    world.loop(0).post([this, work = std::move(work)] { work(hubs.at(0)); });
    world.settle();
  }

  World world{2};
  Hubs hubs{world.loops()};
  store::AsyncStore async{world.store, world.loop(0), world.pool};
  std::vector<std::unique_ptr<Reader>> readers;
};

TEST_F(TailTest, ReplaysThenSaysSoOnceThenFollows) {
  append({"a", "b"});
  Reader& far = reader(1);
  Reader& near = reader(0);
  far.follow({0}, {2});
  near.follow({1}, {2});
  EXPECT_EQ(far.text(), "1:a\n2:b\nR2\n");
  EXPECT_EQ(near.text(), "2:b\nR2\n");
  append({"c"});
  append({"d", "e"});
  EXPECT_EQ(far.text(), "1:a\n2:b\nR2\n3:c\n4:d\n5:e\n");
  EXPECT_EQ(near.text(), "2:b\nR2\n3:c\n4:d\n5:e\n");
}

TEST_F(TailTest, AReaderAtTheHeadIsToldAtOnceThatTheReplayIsComplete) {
  append({"a"});
  Reader& at_head = reader(1);
  at_head.follow({1}, {1});
  EXPECT_EQ(at_head.text(), "R1\n");
  Reader& of_nothing = reader(0);
  of_nothing.follow({1}, {1});
  EXPECT_EQ(of_nothing.text(), "R1\n");
}

TEST_F(TailTest, DropsWhatArrivesTwiceAndReadsWhatIsMissingFromTheStore) {
  append({"a"});
  Reader& far = reader(1);
  // Published to the reader before it has begun, and in the store too.
  append({"b"});
  append({"c"});
  far.follow({0}, {3});
  EXPECT_EQ(far.text(), "1:a\n2:b\n3:c\nR3\n");
  // Never published: the next batch shows the gap.
  store_only({"d"});
  EXPECT_EQ(numbers_in(far.text()), numbers(1, 3));
  append({"e"});
  EXPECT_EQ(numbers_in(far.text()), numbers(1, 5));
  // A batch that begins before the reader's cursor gives only what is new.
  store_only({"f"});
  at_home([](Hub& hub) { hub.publish_gap(kStream); });
  EXPECT_EQ(numbers_in(far.text()), numbers(1, 6));
}

TEST_F(TailTest, AGapToldWhileTheStoreIsReadIsNotForgotten) {
  append({"a"});
  Reader& far = reader(1);
  far.follow({1}, {1});
  EXPECT_EQ(far.text(), "R1\n");
  // The reader goes back to the store, which has nothing; the answer is still on its way when an
  // entry becomes durable whose batch does not reach it.
  world.engine->set_cold(true);
  far.answers.hold();
  at_home([](Hub& hub) { hub.publish_gap(kStream); });
  ASSERT_EQ(far.answers.held(), 1U);
  world.engine->set_cold(false);
  store_only({"b"});
  at_home([](Hub& hub) { hub.publish_gap(kStream); });
  far.answers.release();
  world.settle();
  EXPECT_EQ(numbers_in(far.text()), numbers(2, 2));
}

TEST_F(TailTest, ASlowReaderFallsBackToTheStoreAndCatchesUpWhenItCan) {
  append({"a"});
  Reader& slow = reader(1);
  Reader& fast = reader(1);
  slow.follow({0}, {1});
  fast.follow({0}, {1});
  slow.outlet.room = 8;
  slow.outlet.take_all();
  for (int i = 0; i < 100; ++i) append({fmt::format("entry {}", i)});
  EXPECT_EQ(numbers_in(fast.text()), numbers(1, 101));  // nobody is held up
  EXPECT_LT(slow.text().size(), 64U);                   // and little is kept for the slow one
  for (int i = 0; i < 100; ++i) {
    slow.outlet.take_all();
    world.settle();
  }
  EXPECT_EQ(numbers_in(slow.text()), numbers(1, 101));
  EXPECT_EQ(slow.text(), fast.text());
  append({"live again"});
  EXPECT_EQ(slow.text(), fast.text());
}

TEST_F(TailTest, ReadsTheStoreInChunksOfLimitedSize) {
  // More entries than one chunk has, then more bytes than one chunk has.
  store_only(std::vector<std::string>(kReplayChunkEntries + 1, "e"));
  Reader& many = reader(0);
  many.outlet.on_push = [&] {
    if (many.outlet.pushes > 1) return;
    EXPECT_EQ(numbers_in(many.text()), numbers(1, kReplayChunkEntries));
  };
  many.follow({0}, {kReplayChunkEntries + 1});
  EXPECT_EQ(many.outlet.pushes, 2U);
  const Seq head{kReplayChunkEntries + 1};
  store_only({std::string(kReplayChunkBytes, 'x'), "after"});
  Reader& large = reader(0);
  large.outlet.on_push = [&] {
    if (large.outlet.pushes == 1) EXPECT_EQ(numbers_in(large.text()).size(), 1U);
  };
  large.follow(head, {head.value + 2});
  EXPECT_EQ(large.outlet.pushes, 2U);
  EXPECT_EQ(numbers_in(large.text()).size(), 2U);
}

TEST_F(TailTest, EndsWhereTheStreamEnds) {
  append({"a"});
  Reader& far = reader(1);
  far.follow({0}, {1});
  append({"b"}, true);
  EXPECT_EQ(far.text(), "1:a\nR1\n2:b\nECOMPLETED\n");
  EXPECT_TRUE(far.has_ended());
  // Who comes later is told of the end by its caller.
  Reader& late = reader(1);
  late.follow({1}, {2}, "COMPLETED");
  EXPECT_EQ(late.text(), "2:b\nR2\nECOMPLETED\n");
  EXPECT_TRUE(late.has_ended());
}

TEST_F(TailTest, AnEndlessReaderGoesOnBehindTheEnd) {
  Reader& endless = reader(1, true);
  endless.follow({0}, {0});
  append({"a"}, true);
  at_home([](Hub& hub) { hub.publish_end(kStream, Seq{1}, "COMPLETED"); });
  append({"b"});
  EXPECT_EQ(endless.text(), "R0\n1:a\n2:b\n");
  EXPECT_FALSE(endless.has_ended());
  at_home([](Hub& hub) { hub.publish_removed(kStream, "deleted"); });
  EXPECT_TRUE(endless.has_ended());
}

TEST_F(TailTest, AnEndToldWhileTheStoreIsReadIsNotForgotten) {
  append({"a"});
  Reader& far = reader(1);
  far.follow({1}, {1});
  // The end is stored and read by the reader, who went back to the store for another reason; its
  // batch comes while that answer is on its way.
  world.engine->set_cold(true);
  far.answers.hold();
  world.loop(0).post([this] { hubs.at(0).publish_gap(kStream); });
  auto ended = world.start(world.loop(0), commit({"b"}, true, true));
  world.loop(0).run_ready();
  world.committer.drain();
  world.loop(1).run_ready();
  ASSERT_EQ(far.answers.held(), 1U);
  world.settle();
  ASSERT_TRUE(ended->has_value());
  far.answers.release();
  world.settle();
  EXPECT_EQ(far.text(), "R1\n2:b\nECOMPLETED\n");
  EXPECT_TRUE(far.has_ended());
}

TEST_F(TailTest, AnEndThatASlowReaderHasNotReachedIsTakenBackByALaterBatch) {
  append({"a"});
  Reader& slow = reader(1);
  slow.outlet.room = 1;
  slow.follow({0}, {1});
  append({"closed"}, true);
  append({"reset"});
  append({"again"});
  EXPECT_FALSE(slow.done->has_value());
  for (int i = 0; i < 10; ++i) {
    slow.outlet.take_all();
    world.settle();
  }
  EXPECT_EQ(numbers_in(slow.text()), numbers(1, 4));
  EXPECT_EQ(count_lines(slow.text(), "E"), 0U);
  EXPECT_FALSE(slow.done->has_value());
}

TEST_F(TailTest, AnOldBatchDoesNotTakeBackTheEndThatTheCallerSaw) {
  append({"a"});
  Reader& far = reader(1);
  // Both are on their way to the reader's loop when the caller finds the stream ended.
  auto first = world.start(world.loop(0), commit({"b"}, true, false));
  world.loop(0).run_ready();
  world.committer.drain();
  world.loop(0).run_ready();
  store_only({"c"});
  far.tail.set_replay({0}, {3}, "COMPLETED");
  world.settle();
  far.follow({0}, {3}, "COMPLETED");
  EXPECT_EQ(far.text(), "1:a\n2:b\n3:c\nR3\nECOMPLETED\n");
}

TEST_F(TailTest, ARemovedStreamEndsItsReaders) {
  append({"a"});
  Reader& live = reader(1);
  live.follow({0}, {1});
  Reader& slow = reader(1);
  slow.outlet.room = 0;
  slow.follow({0}, {1});
  at_home([](Hub& hub) { hub.publish_removed(kStream, "deleted"); });
  EXPECT_EQ(live.text(), "1:a\nR1\nEdeleted\n");
  EXPECT_TRUE(live.has_ended());
  slow.outlet.room = 100;
  slow.outlet.take_all();
  world.settle();
  EXPECT_TRUE(slow.text().ends_with("Edeleted\n")) << slow.text();
}

TEST_F(TailTest, EphemeralEventsReachOnlyWhoIsLive) {
  append({"a"});
  Reader& live = reader(1);
  live.follow({0}, {1});
  Reader& slow = reader(1);
  slow.outlet.room = 0;
  slow.follow({0}, {1});
  at_home([](Hub& hub) {
    hub.publish_ephemeral(kStream, std::make_shared<const std::string>("typing"));
  });
  EXPECT_EQ(live.text(), "1:a\nR1\n~typing\n");
  slow.outlet.room = 100;
  slow.outlet.take_all();
  world.settle();
  EXPECT_EQ(slow.text(), "1:a\nR1\n");
}

TEST_F(TailTest, SilenceNeverLastsLongerThanTheHeartbeatInterval) {
  append({"a"});
  Reader& far = reader(1);
  far.follow({0}, {1});
  far.outlet.text.clear();
  world.advance(std::chrono::seconds{14});
  EXPECT_EQ(far.text(), "");
  world.advance(std::chrono::seconds{1});
  EXPECT_EQ(far.text(), "H\n");
  world.advance(std::chrono::seconds{1});
  append({"b"});
  far.outlet.text.clear();
  world.advance(std::chrono::seconds{15});
  EXPECT_EQ(count_lines(far.text(), "H"), 1U);
  world.advance(std::chrono::minutes{1});
  EXPECT_EQ(count_lines(far.text(), "H"), 5U);
}

TEST_F(TailTest, WhatNobodyAnnouncedIsFoundWithTheNextHeartbeat) {
  append({"a"});
  Reader& far = reader(1);
  far.follow({0}, {1});
  store_only({"b"});
  EXPECT_EQ(numbers_in(far.text()), numbers(1, 1));
  world.advance(std::chrono::seconds{15});
  EXPECT_EQ(numbers_in(far.text()), numbers(1, 2));
}

TEST_F(TailTest, ACancelledReaderSaysWhy) {
  append({"a"});
  Reader& far = reader(1);
  far.follow({0}, {1});
  world.loop(1).post([&] { far.scope.cancel(Error{Code::kShuttingDown, "stopping"}); });
  world.settle();
  EXPECT_EQ((*far.done)->error().code, Code::kShuttingDown);
}

TEST_F(TailTest, ADamagedStreamIsReportedAndNotSkipped) {
  append({"a", "b", "c"});
  ASSERT_TRUE(world.run(cut({2})));
  Reader& far = reader(1);
  far.follow({1}, {3});
  ASSERT_TRUE(far.done->has_value());
  EXPECT_EQ((*far.done)->error().code, Code::kCorrupt);
}

// One thread, but every order of events that the seed brings about: readers on three loops come and
// go with their cursors while a writer appends, ends and reopens.
TEST(TailProperty, WhateverRacesEveryReaderSeesEverySeqOnceInOrder) {
  SeededRandom random(testing::test_seed());
  for (int round = 0; round < 60; ++round) {
    World world{3};
    Hubs hubs{world.loops()};
    store::AsyncStore async{world.store, world.loop(0), world.pool};
    const std::uint64_t total = 20 + random.next_u64() % 60;
    testing::SharedEnd end;
    auto writer =
        world.start(world.loop(0), testing::write_stream(hubs, async, kStream, total, random, end));
    std::vector<World::Place<std::vector<std::uint64_t>>> seen;
    for (std::size_t i = 0; i < 6; ++i)
      seen.push_back(world.start(
          world.loop(i % 3), testing::read_with_breaks(world.loop(i % 3), hubs, i % 3, world.store,
                                                       world.pool, kStream, random, end)));
    world.settle_shuffled(random);
    ASSERT_TRUE(writer->has_value());
    for (const auto& one : seen) {
      ASSERT_TRUE(one->has_value()) << "round " << round;
      ASSERT_EQ(**one, numbers(1, **writer)) << "round " << round;
    }
    EXPECT_EQ(hubs.probe().subscribers, 0U);
  }
}

}  // namespace
}  // namespace reprise::stream
