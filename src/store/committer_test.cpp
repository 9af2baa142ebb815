#include "store/committer.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "store/commit_thread.h"
#include "store/head_cache.h"
#include "store/limits.h"
#include "store/memory/memory_engine.h"
#include "store/record_overlay.h"
#include "store/test_support.h"

namespace reprise::store {
namespace {

using namespace testing;  // NOLINT: test support of this folder
using Outcome = MemoryEngine::Outcome;

class CommitterTest : public ::testing::Test {
 protected:
  std::uint64_t head() { return engine_.head(a_, ReadMode::kBlocking)->value; }

  MemoryEngine engine_;
  ManualCommitter manual_{engine_};
  const StreamId a_ = stream_id(1);
};

TEST_F(CommitterTest, WaitingCommitsBecomeOneWrite) {
  for (int i = 0; i < 100; ++i) manual_.submit(append(a_, {"x"}));
  EXPECT_TRUE(manual_.committer().has_work());
  EXPECT_TRUE(manual_.committer().drain());
  EXPECT_FALSE(manual_.committer().drain());
  EXPECT_EQ(engine_.writes(), 1U);
  EXPECT_EQ(manual_.committer().probe().batches, 1U);
  EXPECT_EQ(manual_.committer().probe().commits, 100U);
}

TEST_F(CommitterTest, PlainAppendToAKnownStreamReadsNothing) {
  ASSERT_TRUE(manual_.commit(append(a_, {"1"})));
  const std::uint64_t reads = engine_.reads();
  ASSERT_TRUE(manual_.commit(append(a_, {"2"}, 1)));
  EXPECT_EQ(engine_.reads(), reads);
}

TEST_F(CommitterTest, ANewStreamIsNotLookedFor) {
  const std::uint64_t reads = engine_.reads();
  Commit commit = append(a_, {"1"}, 0);
  commit.appends[0].is_new_stream = true;
  ASSERT_TRUE(manual_.commit(std::move(commit)));
  ASSERT_TRUE(manual_.commit(append(a_, {"2"}, 1)));
  EXPECT_EQ(engine_.reads(), reads);
  EXPECT_EQ(head(), 2U);
}

TEST_F(CommitterTest, CommitsSubmittedTogetherWakeTheThreadOnceAndFailAlone) {
  int wakeups = 0;
  manual_.committer().set_wakeup([&] { ++wakeups; });
  std::vector<Code> codes;
  const auto note = [&](CommitResult result) {
    codes.push_back(result ? Code::kInternal : result.error().code);
  };
  std::vector<Submission> all;
  for (const std::uint64_t expected : {0U, 7U, 1U})
    all.push_back({append(a_, {"x"}, expected), note});
  manual_.committer().submit(std::move(all));
  EXPECT_EQ(wakeups, 1);
  EXPECT_TRUE(manual_.committer().drain());
  EXPECT_EQ(engine_.writes(), 1U);
  EXPECT_EQ(codes, (std::vector{Code::kInternal, Code::kWrongSequence, Code::kInternal}));
  // Those that find no room are refused at once, and the ones before them are kept.
  all.clear();
  codes.clear();
  for (std::size_t i = 0; i < kMaxQueuedCommits + 2; ++i) all.push_back({put("k", "v"), note});
  manual_.committer().submit(std::move(all));
  EXPECT_EQ(codes, (std::vector{Code::kOverloaded, Code::kOverloaded}));
  EXPECT_EQ(manual_.committer().queued(), kMaxQueuedCommits);
  EXPECT_EQ(manual_.committer().probe().rejected_full_queue, 2U);
  manual_.committer().close();
  codes.clear();
  all.push_back({put("k", "v"), note});
  manual_.committer().submit(std::move(all));
  EXPECT_EQ(codes, std::vector{Code::kShuttingDown});
  EXPECT_EQ(wakeups, 2);
  while (manual_.committer().drain()) {
  }
}

TEST_F(CommitterTest, NobodyIsToldBeforeTheWrite) {
  const auto good = manual_.submit(append(a_, {"1"}, 0));
  const auto bad = manual_.submit(append(a_, {"1"}, 0));
  EXPECT_FALSE(manual_.is_done(good));
  EXPECT_FALSE(manual_.is_done(bad));
  manual_.drain();
  EXPECT_TRUE(manual_.is_done(good));
  EXPECT_EQ(manual_.code(bad), Code::kWrongSequence);
  EXPECT_EQ(manual_.committer().probe().refused, 1U);
}

TEST_F(CommitterTest, FullQueueRefusesAtOnce) {
  for (std::size_t i = 0; i < kMaxQueuedCommits; ++i) manual_.submit(put("k", "v"));
  const auto extra = manual_.submit(put("k", "v"));
  EXPECT_EQ(manual_.code(extra), Code::kOverloaded);
  EXPECT_EQ(manual_.committer().probe().rejected_full_queue, 1U);
  EXPECT_EQ(manual_.committer().probe().queued, kMaxQueuedCommits);
  manual_.drain();
  EXPECT_EQ(manual_.committer().probe().batches, kMaxQueuedCommits / kMaxBatchCommits);
  EXPECT_TRUE(manual_.commit(put("k", "v")));
}

TEST_F(CommitterTest, QueueIsBoundedByBytesToo) {
  const std::string large(kMaxQueuedBytes / 4, 'x');
  std::vector<std::size_t> fitting;
  for (int i = 0; i < 3; ++i) fitting.push_back(manual_.submit(put("k", large)));
  const auto beyond = manual_.submit(put("k", large));
  EXPECT_EQ(manual_.code(beyond), Code::kOverloaded);
  manual_.drain();
  for (const std::size_t index : fitting) EXPECT_TRUE(manual_.outcome(index));
  // Each is larger than a batch should be, so each was one.
  EXPECT_EQ(manual_.committer().probe().batches, 3U);
}

TEST_F(CommitterTest, ClosedCommitterWritesWhatIsQueuedAndRefusesTheRest) {
  const auto before = manual_.submit(append(a_, {"1"}));
  manual_.committer().close();
  const auto after = manual_.submit(append(a_, {"2"}));
  EXPECT_EQ(manual_.code(after), Code::kShuttingDown);
  manual_.drain();
  EXPECT_TRUE(manual_.outcome(before));
}

TEST_F(CommitterTest, DestroyedCommitterTellsThoseThatWait) {
  std::optional<Code> code;
  {
    Committer committer(engine_, [] { return std::chrono::nanoseconds{0}; });
    committer.submit(append(a_, {"1"}), [&](CommitResult result) { code = result.error().code; });
  }
  EXPECT_EQ(code, Code::kShuttingDown);
}

TEST_F(CommitterTest, FullDiskFailsTheWholeBatchRefusalsIncludedUntilThereIsRoom) {
  ASSERT_TRUE(manual_.commit(append(a_, {"1"})));
  engine_.set_full(true);
  const auto good = manual_.submit(append(a_, {"2"}, 1));
  const auto refused = manual_.submit(append(a_, {"2"}, 1));
  manual_.drain();
  EXPECT_EQ(manual_.code(good), Code::kNoSpace);
  EXPECT_EQ(manual_.code(refused), Code::kNoSpace);
  EXPECT_EQ(manual_.committer().state(), StoreState::kFull);

  engine_.set_full(false);
  EXPECT_EQ(manual_.commit(append(a_, {"2"}, 1)).error().code, Code::kNoSpace);  // not asked yet
  manual_.advance(kRecoveryInterval);
  EXPECT_TRUE(manual_.commit(append(a_, {"2"}, 1)));
  EXPECT_EQ(manual_.committer().state(), StoreState::kWritable);
}

TEST_F(CommitterTest, TickLeavesFullWhenThereIsRoom) {
  engine_.set_full(true);
  EXPECT_FALSE(manual_.commit(append(a_, {"1"})));
  manual_.advance(kRecoveryInterval);
  manual_.committer().tick();
  EXPECT_EQ(manual_.committer().state(), StoreState::kFull);
  engine_.set_full(false);
  manual_.committer().tick();
  EXPECT_EQ(manual_.committer().state(), StoreState::kFull);
  manual_.advance(kRecoveryInterval);
  manual_.committer().tick();
  EXPECT_EQ(manual_.committer().state(), StoreState::kWritable);
}

TEST_F(CommitterTest, BatchThatFailedButWasWrittenIsSeenAfterRecovery) {
  ASSERT_TRUE(manual_.commit(append(a_, {"1"})));
  ASSERT_TRUE(manual_.commit(add("n", 1)));
  engine_.fail_write(1, Code::kNoSpace, Outcome::kApplied);
  Commit unknown = append(a_, {"2"}, 1);
  unknown.counters.push_back({"n", 1});
  unknown.puts.push_back({"k", "v", {}});
  EXPECT_EQ(manual_.commit(std::move(unknown)).error().code, Code::kNoSpace);
  manual_.advance(kRecoveryInterval);
  EXPECT_EQ(manual_.commit(append(a_, {"x"}, 1)).error().code, Code::kWrongSequence);
  EXPECT_TRUE(manual_.commit(append(a_, {"3"}, 2)));
  ASSERT_TRUE(manual_.commit(add("n", 1)));
  EXPECT_EQ(*engine_.counter("n", ReadMode::kBlocking), 3);
  const Version stored = (*engine_.get("k", ReadMode::kBlocking))->version;
  EXPECT_GT(manual_.commit(put("k", "w"))->versions[0], stored);
}

TEST_F(CommitterTest, BatchThatFailedAndWasLostLeavesNoTraceInTheCaches) {
  ASSERT_TRUE(manual_.commit(append(a_, {"1"})));
  ASSERT_TRUE(manual_.commit(add("n", 1)));
  engine_.fail_write(1, Code::kNoSpace, Outcome::kLost);
  Commit lost = append(a_, {"2"}, 1);
  lost.counters.push_back({"n", 1});
  EXPECT_FALSE(manual_.commit(std::move(lost)));
  manual_.advance(kRecoveryInterval);
  EXPECT_TRUE(manual_.commit(append(a_, {"2"}, 1)));
  ASSERT_TRUE(manual_.commit(add("n", 1)));
  EXPECT_EQ(*engine_.counter("n", ReadMode::kBlocking), 2);
}

TEST_F(CommitterTest, AnyOtherFailedWriteIsReadOnlyForGood) {
  ASSERT_TRUE(manual_.commit(append(a_, {"1"})));
  engine_.fail_write(1, Code::kStorage, Outcome::kLost);
  EXPECT_EQ(manual_.commit(append(a_, {"2"})).error().code, Code::kReadOnly);
  manual_.advance(10 * kRecoveryInterval);
  manual_.committer().tick();
  EXPECT_EQ(manual_.commit(append(a_, {"2"})).error().code, Code::kReadOnly);
  EXPECT_EQ(manual_.committer().state(), StoreState::kReadOnly);
  EXPECT_EQ(manual_.committer().probe().failed_writes, 1U);
  EXPECT_EQ(head(), 1U);
}

TEST_F(CommitterTest, FailedReadFailsThatCommitAlone) {
  ASSERT_TRUE(manual_.commit(append(a_, {"1"})));
  engine_.fail_reads(Code::kStorage);
  const auto cold = manual_.submit(append(stream_id(9), {"x"}));
  const auto known = manual_.submit(append(a_, {"2"}));
  manual_.drain();
  EXPECT_EQ(manual_.code(cold), Code::kStorage);
  EXPECT_TRUE(manual_.outcome(known));
}

TEST_F(CommitterTest, CommitOfChecksAloneWritesNothing) {
  Commit check;
  check.checks.push_back({"k", Precondition::absent()});
  EXPECT_TRUE(manual_.commit(std::move(check)));
  EXPECT_TRUE(manual_.commit(Commit{}));
  EXPECT_EQ(engine_.writes(), 0U);
}

TEST_F(CommitterTest, CommitNamingAStreamTwiceNumbersOnwards) {
  Commit twice = append(a_, {"1", "2"}, 0);
  twice.appends.push_back({a_, std::nullopt, {"3"}});
  const auto committed = manual_.commit(std::move(twice));
  ASSERT_TRUE(committed);
  EXPECT_EQ(committed->first_seqs, (std::vector<Seq>{Seq{1}, Seq{3}}));
  EXPECT_EQ(head(), 3U);
}

TEST_F(CommitterTest, CrashAfterAnUnknownOutcomeMayHoldIt) {
  engine_.fail_write(1, Code::kStorage, Outcome::kApplied);
  EXPECT_FALSE(manual_.commit(append(a_, {"1"})));
  EXPECT_EQ(head(), 0U);
  EXPECT_EQ(engine_.copy()->head(a_, ReadMode::kBlocking)->value, 1U);
}

TEST(HeadCacheTest, WhatABatchUsesStaysUntilItEnds) {
  HeadCache cache(8);
  for (std::uint64_t i = 1; i <= 100; ++i) cache.insert(stream_id(i), Seq{i}, 1);
  for (std::uint64_t i = 1; i <= 100; ++i) {
    ASSERT_NE(cache.find(stream_id(i), 1), nullptr);
    EXPECT_EQ(cache.find(stream_id(i), 1)->head.value, i);
  }
  cache.end_batch();
  std::size_t kept = 0;
  for (std::uint64_t i = 1; i <= 100; ++i) kept += cache.find(stream_id(i), 2) != nullptr ? 1 : 0;
  EXPECT_EQ(kept, 8U);
  cache.insert(stream_id(101), Seq{5}, 3);
  EXPECT_EQ(cache.find(stream_id(101), 3)->head.value, 5U);
  cache.clear();
  EXPECT_EQ(cache.find(stream_id(101), 4), nullptr);
}

TEST(RecordOverlayTest, LaterOperationsWinAndNewBatchesStartEmpty) {
  WriteSet writes;
  RecordOverlay overlay(writes);
  for (Version i = 1; i <= 5000; ++i) {
    writes.puts.push_back({std::to_string(i % 2500), "", i});
    overlay.add_put();
  }
  writes.erases.push_back("7");
  overlay.add_erase();
  EXPECT_EQ(overlay.find("7").kind, RecordOverlay::Kind::kErased);
  EXPECT_EQ(overlay.find("8").version, 2508U);
  EXPECT_EQ(overlay.find("x").kind, RecordOverlay::Kind::kUntouched);
  overlay.start_batch();
  EXPECT_EQ(overlay.find("8").kind, RecordOverlay::Kind::kUntouched);
}

TEST(CommitThreadTest, StopWritesEverythingQueued) {
  MemoryEngine engine;
  Committer committer(engine, [] { return std::chrono::nanoseconds{0}; });
  std::atomic<int> done{0};
  {
    CommitThread thread(committer, {.spin = std::chrono::microseconds{50}});
    for (int i = 0; i < 1000; ++i) {
      committer.submit(append(stream_id(1), {"x"}), [&](CommitResult result) {
        if (result) ++done;
      });
    }
  }
  EXPECT_EQ(done, 1000);
  EXPECT_EQ(engine.head(stream_id(1), ReadMode::kBlocking)->value, 1000U);
}

TEST(CommitThreadTest, TicksBringAFullStoreBackWithoutCommits) {
  MemoryEngine engine;
  engine.set_full(true);
  Committer committer(engine,
                      [] { return std::chrono::steady_clock::now().time_since_epoch() * 1000; });
  CommitThread thread(committer, {.tick_interval = std::chrono::milliseconds{2}});
  std::mutex mutex;
  std::condition_variable condition;
  bool is_told = false;
  committer.submit(append(stream_id(1), {"x"}), [&](CommitResult) {
    const std::lock_guard lock(mutex);
    is_told = true;
    condition.notify_all();
  });
  std::unique_lock lock(mutex);
  ASSERT_TRUE(condition.wait_for(lock, std::chrono::seconds{10}, [&] { return is_told; }));
  EXPECT_EQ(committer.state(), StoreState::kFull);
  engine.set_full(false);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (committer.state() != StoreState::kWritable &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(committer.state(), StoreState::kWritable);
}

}  // namespace
}  // namespace reprise::store
