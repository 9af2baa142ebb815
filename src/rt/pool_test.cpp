#include "rt/pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "rt/limits.h"
#include "rt/manual_loop.h"
#include "rt/test_loop.h"

namespace reprise::rt {
namespace {

// Keeps the pool's only thread busy until release().
class Blocker {
 public:
  explicit Blocker(ThreadPool& pool) {
    EXPECT_TRUE(pool.submit([this, released = released_.get_future()]() mutable {
      started_.set_value();
      await(std::move(released));
    }));
    await(started_.get_future());
  }
  void release() { released_.set_value(); }

 private:
  std::promise<void> started_;
  std::promise<void> released_;
};

Task<> ask(Pool& pool, RealLoop& loop, std::thread::id& worker, Result<std::string>& answer) {
  const std::string question = "long enough not to be stored inside the object itself";
  answer = co_await pool.run(loop, [&worker, question]() -> Result<std::string> {
    worker = std::this_thread::get_id();
    return question + "!";
  });
  EXPECT_TRUE(loop.is_current());
}

TEST(Pool, CallsOnAThreadOfItsOwnAndContinuesAtHome) {
  LoopThread thread;
  ThreadPool pool(2);
  std::thread::id worker;
  std::thread::id home;
  Result<std::string> answer;
  call_on(thread.loop(), [&] { home = std::this_thread::get_id(); });
  run_on(thread.loop(), ask(pool, thread.loop(), worker, answer));
  EXPECT_EQ(answer, "long enough not to be stored inside the object itself!");
  EXPECT_NE(worker, home);
  EXPECT_NE(worker, std::this_thread::get_id());
}

Task<> ask_for_failure(Pool& pool, Loop& loop, std::optional<Result<int>>& answer) {
  answer = co_await pool.run(loop, []() -> Result<int> { return fail(Code::kStorage); });
}

TEST(Pool, PassesErrorsOn) {
  ManualTime time;
  ManualLoop loop(time);
  InlinePool pool;
  Gate gate;
  std::optional<Result<int>> answer;
  spawn(gate, ask_for_failure(pool, loop, answer));
  EXPECT_FALSE(answer) << "also an inline pool answers in a later turn";
  loop.run_ready();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error().code, Code::kStorage);
}

TEST(Pool, QueuesAsManyCallsAsItsLimitAllowsAndRunsThemAll) {
  std::atomic<std::size_t> ran = 0;
  {
    ThreadPool pool(1);
    Blocker blocker(pool);
    for (std::size_t i = 0; i < kMaxPoolQueue; ++i) ASSERT_TRUE(pool.submit([&ran] { ++ran; }));
    blocker.release();
  }
  EXPECT_EQ(ran.load(), kMaxPoolQueue) << "a pool that is destroyed finishes what is queued";
}

TEST(Pool, RefusesOneCallBeyondItsLimit) {
  ManualTime time;
  ManualLoop loop(time);
  ThreadPool pool(1);
  Blocker blocker(pool);
  for (std::size_t i = 0; i < kMaxPoolQueue; ++i) ASSERT_TRUE(pool.submit([] {}));
  EXPECT_FALSE(pool.submit([] { FAIL() << "it was refused"; }));
  Gate gate;
  std::optional<Result<int>> answer;
  spawn(gate, ask_for_failure(pool, loop, answer));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error().code, Code::kOverloaded);
  blocker.release();
}

TEST(Pool, WhatACallHoldsMaySubmitMoreWhenItIsFreed) {
  struct SubmitsAtItsEnd {
    ThreadPool& pool;
    std::promise<void>& ran;
    SubmitsAtItsEnd(ThreadPool& its_pool, std::promise<void>& its_ran)
        : pool(its_pool), ran(its_ran) {}
    SubmitsAtItsEnd(const SubmitsAtItsEnd&) = delete;
    SubmitsAtItsEnd& operator=(const SubmitsAtItsEnd&) = delete;
    ~SubmitsAtItsEnd() {
      EXPECT_TRUE(pool.submit([&ran = ran] { ran.set_value(); }));
    }
  };
  std::promise<void> ran;
  ThreadPool pool(1);
  EXPECT_TRUE(pool.submit([held = std::make_unique<SubmitsAtItsEnd>(pool, ran)] {}));
  await(ran.get_future());
}

Task<> ask_often(Pool& pool, RealLoop& loop, int rounds, int& sum) {
  for (int i = 0; i < rounds; ++i) {
    const auto answer = co_await pool.run(loop, [i]() -> Result<int> { return i; });
    EXPECT_EQ(answer, i);
    sum += answer.value_or(0);
  }
}

TEST(Pool, ServesSeveralLoopsAtOnce) {
  LoopThread first;
  LoopThread second;
  ThreadPool pool(2);
  int first_sum = 0;
  int second_sum = 0;
  {
    const std::jthread other(
        [&] { run_on(second.loop(), ask_often(pool, second.loop(), 500, second_sum)); });
    run_on(first.loop(), ask_often(pool, first.loop(), 500, first_sum));
  }
  EXPECT_EQ(first_sum, 124'750);
  EXPECT_EQ(second_sum, 124'750);
}

}  // namespace
}  // namespace reprise::rt
