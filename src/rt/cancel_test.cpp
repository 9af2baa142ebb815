#include "rt/cancel.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rt/gate.h"
#include "rt/manual_loop.h"

namespace reprise::rt {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

Task<> wait_and_store(Signal& signal, CancelScope& scope, Deadline deadline,
                      std::optional<Result<>>& outcome) {
  outcome = co_await signal.wait(scope, deadline);
}

Task<> wait_and_note(Signal& signal, CancelScope& scope, std::string& order, char name) {
  EXPECT_TRUE((co_await signal.wait(scope)).has_value());
  order += name;
}

Task<> sleep_and_store(Loop& loop, Nanos duration, CancelScope& scope,
                       std::optional<Result<>>& outcome) {
  outcome = co_await sleep_for(loop, duration, scope);
}

class CancelTest : public testing::Test {
 protected:
  ManualTime time;
  ManualLoop loop{time};
  CancelScope scope;
  Signal signal{loop};
  Gate gate;
  std::optional<Result<>> outcome;
};

TEST_F(CancelTest, AScopeIsCancelledOnceAndKeepsItsFirstReason) {
  int told = 0;
  const CancelScope::Listener listener(scope, [&] { ++told; });
  scope.cancel({Code::kDeadline, ""});
  scope.cancel({Code::kClosed, ""});
  EXPECT_EQ(told, 1);
  EXPECT_EQ(scope.reason().code, Code::kDeadline);
}

TEST_F(CancelTest, AListenerOfACancelledScopeIsToldAtOnce) {
  scope.cancel();
  bool was_told = false;
  const CancelScope::Listener listener(scope, [&] { was_told = true; });
  EXPECT_TRUE(was_told);
}

TEST_F(CancelTest, AListenerThatHasLeftIsNotTold) {
  bool was_told = false;
  {
    const CancelScope::Listener listener(scope, [&] { was_told = true; });
  }
  scope.cancel();
  EXPECT_FALSE(was_told);
}

TEST_F(CancelTest, AListenerMayDestroyItselfAndOthers) {
  std::unique_ptr<CancelScope::Listener> first;
  std::unique_ptr<CancelScope::Listener> second;
  int told = 0;
  const auto leave_both = [&] {
    ++told;
    first.reset();
    second.reset();
  };
  first = std::make_unique<CancelScope::Listener>(scope, leave_both);
  second = std::make_unique<CancelScope::Listener>(scope, leave_both);
  scope.cancel();
  EXPECT_EQ(told, 1);
}

TEST_F(CancelTest, CancellingAScopeCancelsItsChildrenButNotItsParent) {
  CancelScope child(scope);
  CancelScope grandchild(child);
  child.cancel({Code::kClosed, ""});
  EXPECT_FALSE(scope.is_cancelled());
  EXPECT_EQ(grandchild.reason().code, Code::kClosed);
  CancelScope second(scope);
  scope.cancel({Code::kShuttingDown, ""});
  EXPECT_EQ(second.reason().code, Code::kShuttingDown);
  EXPECT_EQ(child.reason().code, Code::kClosed);
}

TEST_F(CancelTest, AChildOfACancelledScopeIsCancelledFromTheStart) {
  scope.cancel({Code::kShuttingDown, ""});
  const CancelScope child(scope);
  EXPECT_EQ(child.reason().code, Code::kShuttingDown);
}

TEST_F(CancelTest, AChildMayOutliveItsParent) {
  auto parent = std::make_unique<CancelScope>();
  CancelScope child(*parent);
  parent.reset();
  child.cancel();
  EXPECT_TRUE(child.is_cancelled());
}

TEST_F(CancelTest, NotifyWakesEverybodyInOrderAndInALaterTurn) {
  std::string order;
  spawn(gate, wait_and_note(signal, scope, order, 'a'));
  spawn(gate, wait_and_note(signal, scope, order, 'b'));
  spawn(gate, wait_and_note(signal, scope, order, 'c'));
  EXPECT_EQ(signal.waiting(), 3U);
  signal.notify();
  EXPECT_EQ(order, "");
  EXPECT_EQ(signal.waiting(), 0U);
  loop.run_ready();
  EXPECT_EQ(order, "abc");
}

TEST_F(CancelTest, ANotifyBeforeTheWaitIsNotRemembered) {
  signal.notify();
  spawn(gate, wait_and_store(signal, scope, Deadline::never(), outcome));
  loop.run_ready();
  EXPECT_FALSE(outcome);
  signal.notify();
  loop.run_ready();
  EXPECT_TRUE(outcome && *outcome);
}

TEST_F(CancelTest, WaitingUnderACancelledScopeReturnsItsReasonAtOnce) {
  scope.cancel({Code::kShuttingDown, ""});
  spawn(gate, wait_and_store(signal, scope, Deadline::never(), outcome));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error().code, Code::kShuttingDown);
}

TEST_F(CancelTest, CancellingEndsAWaitWithTheReason) {
  spawn(gate, wait_and_store(signal, scope, Deadline::never(), outcome));
  scope.cancel({Code::kShuttingDown, ""});
  loop.run_ready();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error().code, Code::kShuttingDown);
  EXPECT_EQ(signal.waiting(), 0U);
}

TEST_F(CancelTest, OfNotifyAndCancelInOneTurnTheFirstDecides) {
  spawn(gate, wait_and_store(signal, scope, Deadline::never(), outcome));
  signal.notify();
  scope.cancel();
  loop.run_ready();
  EXPECT_TRUE(outcome && *outcome);

  CancelScope other;
  std::optional<Result<>> second;
  spawn(gate, wait_and_store(signal, other, Deadline::never(), second));
  other.cancel();
  signal.notify();
  loop.run_ready();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->error().code, Code::kCancelled);
}

TEST_F(CancelTest, ANotifyWhoseWaiterHasNotRunYetBeatsTheDeadlineThatPassesMeanwhile) {
  spawn(gate, wait_and_store(signal, scope, Deadline::after(loop, 5ms), outcome));
  signal.notify();
  time.advance(10ms);
  loop.run_ready();
  EXPECT_TRUE(outcome && *outcome);
  EXPECT_EQ(loop.timers().size(), 0U);
}

TEST_F(CancelTest, AWaitEndsAtItsDeadlineAndNotBefore) {
  spawn(gate, wait_and_store(signal, scope, Deadline::after(loop, 5s), outcome));
  loop.advance(4999ms);
  EXPECT_FALSE(outcome);
  loop.advance(1ms);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error().code, Code::kDeadline);
}

TEST_F(CancelTest, OneWaiterLeavingTheMiddleKeepsTheOthersInOrder) {
  std::string order;
  CancelScope middle;
  spawn(gate, wait_and_note(signal, scope, order, 'a'));
  spawn(gate, wait_and_store(signal, middle, Deadline::never(), outcome));
  spawn(gate, wait_and_note(signal, scope, order, 'b'));
  middle.cancel();
  loop.run_ready();
  EXPECT_EQ(signal.waiting(), 2U);
  spawn(gate, wait_and_note(signal, scope, order, 'c'));
  signal.notify();
  loop.run_ready();
  EXPECT_EQ(order, "abc");
}

TEST_F(CancelTest, SleepEndsAfterItsDuration) {
  spawn(gate, sleep_and_store(loop, 2s, scope, outcome));
  loop.advance(1999ms);
  EXPECT_FALSE(outcome);
  loop.advance(1ms);
  EXPECT_TRUE(outcome && *outcome);
}

TEST_F(CancelTest, ACancelledSleepEndsWithTheReason) {
  spawn(gate, sleep_and_store(loop, 2s, scope, outcome));
  scope.cancel();
  loop.run_ready();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error().code, Code::kCancelled);
  EXPECT_EQ(loop.timers().size(), 0U);
}

TEST_F(CancelTest, ADurationBeyondTheClockIsNever) {
  EXPECT_TRUE(Deadline::after(loop, Nanos::max()).is_never());
  EXPECT_FALSE(Deadline::after(loop, Nanos::max()).has_passed(loop));
  EXPECT_TRUE(Deadline::after(loop, -1s).has_passed(loop));
}

TEST_F(CancelTest, ADeadlineThatHasPassedEndsTheWaitInTheNextTurn) {
  spawn(gate, wait_and_store(signal, scope, Deadline::after(loop, -1s), outcome));
  EXPECT_FALSE(outcome);
  loop.run_ready();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error().code, Code::kDeadline);
}

}  // namespace
}  // namespace reprise::rt
