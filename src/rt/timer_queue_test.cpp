#include "rt/timer_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace reprise::rt {
namespace {

using std::chrono_literals::operator""ns;

TEST(TimerQueue, RunsInOrderOfTimeAndThenOfArming) {
  TimerQueue queue;
  Timer late(queue);
  Timer early(queue);
  Timer also_early(queue);
  std::string order;
  late.arm(20ns, [&] { order += 'c'; });
  early.arm(10ns, [&] { order += 'a'; });
  also_early.arm(10ns, [&] { order += 'b'; });
  EXPECT_EQ(queue.next_due(), 10ns);
  queue.run_due(9ns);
  EXPECT_EQ(order, "");
  queue.run_due(20ns);
  EXPECT_EQ(order, "abc");
  EXPECT_EQ(queue.next_due(), std::nullopt);
}

TEST(TimerQueue, ArmingAgainReplacesTheEarlierArming) {
  TimerQueue queue;
  Timer timer(queue);
  int first = 0;
  int second = 0;
  timer.arm(10ns, [&] { ++first; });
  timer.arm(5ns, [&] { ++second; });
  EXPECT_EQ(queue.size(), 1U);
  queue.run_due(10ns);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
  EXPECT_FALSE(timer.is_armed());
}

TEST(TimerQueue, DestroyingATimerDisarmsIt) {
  TimerQueue queue;
  int ran = 0;
  {
    Timer timer(queue);
    timer.arm(1ns, [&] { ++ran; });
  }
  queue.run_due(1ns);
  EXPECT_EQ(ran, 0);
}

TEST(TimerQueue, ACallbackMayArmItsOwnTimerAgain) {
  TimerQueue queue;
  Timer timer(queue);
  int ran = 0;
  timer.arm(1ns, [&] {
    ++ran;
    timer.arm(5ns, [&] { ran += 10; });
  });
  queue.run_due(4ns);
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(timer.is_armed());
  queue.run_due(5ns);
  EXPECT_EQ(ran, 11);
}

TEST(TimerQueue, ACallbackMayDestroyItsOwnTimerAndOthersThatAreDue) {
  TimerQueue queue;
  auto own = std::make_unique<Timer>(queue);
  auto other = std::make_unique<Timer>(queue);
  std::string order;
  own->arm(1ns, [&] {
    own.reset();
    other.reset();
    order += 'a';
  });
  other->arm(2ns, [&] { order += 'b'; });
  queue.run_due(3ns);
  EXPECT_EQ(order, "a");
  EXPECT_EQ(queue.size(), 0U);
}

TEST(TimerQueue, ATimerArmedForThePastByACallbackRunsInTheSameRound) {
  TimerQueue queue;
  Timer first(queue);
  Timer second(queue);
  bool ran = false;
  first.arm(5ns, [&] { second.arm(1ns, [&] { ran = true; }); });
  queue.run_due(5ns);
  EXPECT_TRUE(ran);
}

TEST(TimerQueue, CancellingMayDestroyTheTimerThroughWhatItsCallbackHolds) {
  TimerQueue queue;
  struct Owner {
    Timer timer;
    explicit Owner(TimerQueue& its_queue) : timer(its_queue) {}
  };
  auto owner = std::make_shared<Owner>(queue);
  Timer& timer = owner->timer;
  timer.arm(1ns, [held = std::move(owner)] { EXPECT_TRUE(held); });
  timer.cancel();
  EXPECT_EQ(queue.size(), 0U);
}

TEST(TimerQueue, ATimerMayOutliveItsQueue) {
  auto queue = std::make_unique<TimerQueue>();
  Timer timer(*queue);
  timer.arm(1ns, [] {});
  queue.reset();
  EXPECT_FALSE(timer.is_armed());
}

TEST(TimerQueue, TellsWhenATimerBecomesTheEarliest) {
  TimerQueue queue;
  std::vector<Nanos> told;
  queue.set_on_earlier([&](Nanos at) { told.push_back(at); });
  Timer a(queue);
  Timer b(queue);
  Timer c(queue);
  a.arm(10ns, [] {});
  b.arm(20ns, [] {});
  c.arm(5ns, [] {});
  EXPECT_EQ(told, (std::vector<Nanos>{10ns, 5ns}));
}

}  // namespace
}  // namespace reprise::rt
