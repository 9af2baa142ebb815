#include "rt/loop.h"

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rt/limits.h"
#include "rt/manual_loop.h"
#include "rt/signals.h"
#include "rt/test_loop.h"

namespace reprise::rt {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

TEST(ManualLoop, RunsNothingByItselfAndThenEverythingInOrder) {
  ManualTime time;
  ManualLoop loop(time);
  std::string order;
  loop.post([&] {
    order += 'a';
    loop.post([&] { order += 'c'; });
  });
  loop.post([&] { order += 'b'; });
  EXPECT_EQ(order, "");
  EXPECT_TRUE(loop.has_ready());
  EXPECT_EQ(loop.run_ready(), 3U);
  EXPECT_EQ(order, "abc");
  EXPECT_FALSE(loop.run_one());
}

TEST(ManualLoop, IsTheCurrentLoopOnlyDuringItsTurn) {
  ManualTime time;
  ManualLoop outer(time);
  ManualLoop inner(time);
  outer.post([&] {
    EXPECT_TRUE(outer.is_current());
    inner.post([&] { EXPECT_EQ(Loop::current(), &inner); });
    inner.run_ready();
    EXPECT_EQ(Loop::current(), &outer);
  });
  outer.run_ready();
  EXPECT_EQ(Loop::current(), nullptr);
}

TEST(ManualLoop, AdvanceRunsEachTimerAtItsOwnTime) {
  ManualTime time;
  ManualLoop loop(time);
  const TimePoint start = time.now();
  std::vector<Millis> ran_after;
  const auto note = [&] { ran_after.push_back(time.now() - start); };
  Timer late(loop.timers());
  Timer early(loop.timers());
  late.arm(loop.now() + 30ms, note);
  early.arm(loop.now() + 10ms, [&] {
    note();
    early.arm(loop.now() + 5ms, note);
  });
  loop.advance(100ms);
  EXPECT_EQ(ran_after, (std::vector<Millis>{10ms, 15ms, 30ms}));
  EXPECT_EQ(time.now() - start, 100ms);
}

TEST(Loop, TakesAsManyPostsFromOutsideAsItsLimitAllows) {
  ManualTime time;
  ManualLoop loop(time);
  std::size_t ran = 0;
  for (std::size_t i = 0; i < kMaxPendingPosts; ++i) ASSERT_TRUE(loop.try_post([&] { ++ran; }));
  EXPECT_EQ(loop.pending_posts(), kMaxPendingPosts);
  loop.run_ready();
  EXPECT_EQ(ran, kMaxPendingPosts);
  EXPECT_EQ(loop.pending_posts(), 0U);
}

TEST(Loop, RefusesOnePostBeyondItsLimitUntilOneHasRun) {
  ManualTime time;
  ManualLoop loop(time);
  for (std::size_t i = 0; i < kMaxPendingPosts; ++i) ASSERT_TRUE(loop.try_post([] {}));
  EXPECT_FALSE(loop.try_post([] { FAIL() << "it was refused"; }));
  bool ran = false;
  loop.post([&] { ran = true; });  // completions are never refused
  EXPECT_TRUE(loop.run_one());
  EXPECT_TRUE(loop.try_post([] {}));
  EXPECT_FALSE(loop.try_post([] {}));
  loop.run_ready();
  EXPECT_TRUE(ran);
}

Task<> go_and_return(Loop& home, Loop& there, std::string& log) {
  EXPECT_TRUE(co_await switch_to(there));
  EXPECT_TRUE(there.is_current());
  log += 't';
  co_await return_to(home);
  EXPECT_TRUE(home.is_current());
  log += 'h';
  EXPECT_TRUE(co_await switch_to(home));  // already there: no turn passes
  log += '.';
}

TEST(Loop, ACoroutineSwitchesToAnotherLoopAndBack) {
  ManualTime time;
  ManualLoop home(time);
  ManualLoop there(time);
  Gate gate;
  std::string log;
  home.post([&] { spawn(gate, go_and_return(home, there, log)); });
  home.run_ready();
  EXPECT_EQ(log, "");
  there.run_ready();
  EXPECT_EQ(log, "t");
  home.run_ready();
  EXPECT_EQ(log, "th.");
}

Task<> try_to_go(Loop& home, Loop& there, bool& was_refused) {
  was_refused = !co_await switch_to(there);
  EXPECT_TRUE(home.is_current());
}

TEST(Loop, SwitchingToAFullLoopIsRefusedAndStaysHere) {
  ManualTime time;
  ManualLoop home(time);
  ManualLoop there(time);
  for (std::size_t i = 0; i < kMaxPendingPosts; ++i) ASSERT_TRUE(there.try_post([] {}));
  Gate gate;
  bool was_refused = false;
  home.post([&] { spawn(gate, try_to_go(home, there, was_refused)); });
  home.run_ready();
  EXPECT_TRUE(was_refused);
}

Task<> yield_once(Loop& loop, std::string& log) {
  log += 'a';
  co_await yield(loop);
  log += 'c';
}

TEST(Loop, YieldLetsWhatIsQueuedRunFirst) {
  ManualTime time;
  ManualLoop loop(time);
  Gate gate;
  std::string log;
  loop.post([&] { spawn(gate, yield_once(loop, log)); });
  loop.post([&] { log += 'b'; });
  loop.run_ready();
  EXPECT_EQ(log, "abc");
}

TEST(RealLoop, RunsPostsFromManyThreadsEachThreadsInOrder) {
  LoopThread thread;
  constexpr int kEach = 2'000;
  std::array<int, 4> last{};
  bool is_in_order = true;
  {
    std::vector<std::jthread> senders;
    for (std::size_t sender = 0; sender < last.size(); ++sender)
      senders.emplace_back([&, sender] {
        for (int i = 1; i <= kEach; ++i)
          thread.loop().post([&, sender, i] {
            is_in_order = is_in_order && last[sender] == i - 1;
            last[sender] = i;
          });
      });
  }
  call_on(thread.loop(), [] {});
  thread.stop();
  EXPECT_TRUE(is_in_order);
  for (const int count : last) EXPECT_EQ(count, kEach);
}

TEST(RealLoop, BoundsWhatOtherThreadsMayPost) {
  RealLoop loop;  // not running: everything waits
  std::atomic<std::size_t> accepted = 0;
  {
    std::vector<std::jthread> senders;
    for (int sender = 0; sender < 2; ++sender)
      senders.emplace_back([&] {
        for (std::size_t i = 0; i < kMaxPendingPosts; ++i)
          if (loop.try_post([] {})) ++accepted;
      });
  }
  EXPECT_EQ(accepted.load(), kMaxPendingPosts);
}

Task<> timers_in_order(RealLoop& loop) {
  Timer late(loop.timers());
  Timer early(loop.timers());
  Timer cancelled(loop.timers());
  Signal done(loop);
  CancelScope scope;
  std::string order;
  const Nanos start = loop.now();
  late.arm(start + 20ms, [&] {
    order += 'b';
    done.notify();
  });
  early.arm(start + 5ms, [&] { order += 'a'; });  // becomes the earliest: the loop wakes sooner
  cancelled.arm(start + 1ms, [&] { order += 'x'; });
  cancelled.cancel();
  EXPECT_TRUE((co_await done.wait(scope, Deadline::after(loop, kPatience))).has_value());
  EXPECT_EQ(order, "ab");
  EXPECT_GE(loop.now(), start + 20ms);
}

TEST(RealLoop, RunsTimersInOrderAndNotTooEarly) { run_on_a_loop(timers_in_order); }

Task<> timer_of_the_past(RealLoop& loop) {
  CancelScope scope;
  EXPECT_TRUE((co_await sleep_for(loop, -1s, scope)).has_value());
  EXPECT_TRUE((co_await sleep_for(loop, 0s, scope)).has_value());
  Signal never(loop);
  Timer far_away(loop.timers());
  far_away.arm(Nanos::max() - 1s, [] { FAIL() << "not within our lives"; });
  EXPECT_TRUE((co_await sleep_for(loop, 1ms, scope)).has_value());
}

TEST(RealLoop, TakesTimersOfThePastAndOfTheFarFuture) { run_on_a_loop(timer_of_the_past); }

TEST(RealLoop, StoppedBeforeItRunsItRunsNothing) {
  RealLoop loop;
  bool ran = false;
  loop.post([&] { ran = true; });
  loop.stop();
  loop.run();
  EXPECT_FALSE(ran);
}

TEST(RealLoop, WhatIsQueuedWhenItStopsIsFreedWithTheLoop) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = held;
  {
    LoopThread thread;
    thread.stop();
    thread.loop().post([held = std::move(held)] { FAIL() << "the loop has stopped"; });
    EXPECT_FALSE(seen.expired());
  }
  EXPECT_TRUE(seen.expired());
}

TEST(RealLoop, WhatIsFreedWithTheLoopMayStillPostAndArm) {
  struct Restless {
    RealLoop& loop;
    Timer timer;
    explicit Restless(RealLoop& its_loop) : loop(its_loop), timer(its_loop.timers()) {}
    Restless(const Restless&) = delete;
    Restless& operator=(const Restless&) = delete;
    ~Restless() {
      loop.post([] {});
      timer.arm(loop.now(), [] {});
    }
  };
  RealLoop loop;
  loop.post([restless = std::make_unique<Restless>(loop)] { EXPECT_TRUE(restless); });
}

TEST(RealLoop, StopsWhileOthersArePosting) {
  for (int round = 0; round < 20; ++round) {
    LoopThread thread;
    std::atomic<bool> is_over = false;
    std::jthread sender([&] {
      while (!is_over) (void)thread.loop().try_post([] {});
    });
    call_on(thread.loop(), [] {});
    thread.stop();
    is_over = true;
  }
}

// Ping-pong between two threads; TSan watches the hand-over of the coroutine's frame.
Task<> travel(RealLoop& home, RealLoop& there, int rounds, int& sum) {
  for (int i = 0; i < rounds; ++i) {
    EXPECT_TRUE(co_await switch_to(there));
    EXPECT_TRUE(there.is_current());
    ++sum;
    co_await return_to(home);
    EXPECT_TRUE(home.is_current());
    ++sum;
  }
}

TEST(RealLoop, ACoroutineTravelsBetweenThreads) {
  LoopThread home;
  LoopThread there;
  int sum = 0;
  run_on(home.loop(), travel(home.loop(), there.loop(), 1'000, sum));
  EXPECT_EQ(sum, 2'000);
}

Task<> catch_signal(RealLoop& loop) {
  Signal arrived(loop);
  CancelScope scope;
  int number = 0;
  const Signals signals(loop, {SIGUSR1}, [&](int delivered) {
    EXPECT_TRUE(loop.is_current());
    number = delivered;
    arrived.notify();
  });
  for (int round = 0; round < 2; ++round) {
    number = 0;
    EXPECT_EQ(::raise(SIGUSR1), 0);
    EXPECT_TRUE((co_await arrived.wait(scope, Deadline::after(loop, kPatience))).has_value());
    EXPECT_EQ(number, SIGUSR1);
  }
}

TEST(Signals, AreDeliveredToTheLoopEachTime) { run_on_a_loop(catch_signal); }

// However far a delivery has come on its way through the loop, its owner is not called once gone.
Task<> destroy_signals_soon(RealLoop& loop) {
  for (int turns = 0; turns < 8; ++turns) {
    auto called =
        std::make_unique<int>(0);  // freed with the owner: a late call is a use after free
    auto signals =
        std::make_unique<Signals>(loop, std::vector{SIGUSR1}, [&count = *called](int) { ++count; });
    EXPECT_EQ(::raise(SIGUSR1), 0);
    for (int turn = 0; turn < turns; ++turn) co_await yield(loop);
    signals.reset();
    called.reset();
    for (int turn = 0; turn < 8; ++turn) co_await yield(loop);
  }
}

TEST(Signals, AreNotDeliveredToAnOwnerThatIsGone) { run_on_a_loop(destroy_signals_soon); }

}  // namespace
}  // namespace reprise::rt
