#include "rt/turns.h"

#include <gtest/gtest.h>

#include <vector>

#include "rt/gate.h"
#include "rt/manual_loop.h"

namespace reprise::rt {
namespace {

class TurnsTest : public ::testing::Test {
 protected:
  Task<> take(int who, Deadline deadline, Signal& until) {
    auto turn = co_await turns.take(scope, deadline);
    if (!turn) {
      given_up.push_back(who);
      co_return;
    }
    order.push_back(who);
    CancelScope never;
    (void)co_await until.wait(never);
  }
  void start(int who, Signal& until, Deadline deadline = Deadline::never()) {
    loop.post([this, who, deadline, &until] { spawn(gate, take(who, deadline, until)); });
    loop.run_ready();
  }
  void finish(Signal& one) {
    loop.post([&one] { one.notify(); });
    loop.run_ready();
  }
  ManualTime time;
  ManualLoop loop{time};
  Gate gate;
  Turns turns{loop};
  CancelScope scope;
  std::vector<int> order;
  std::vector<int> given_up;
};

TEST_F(TurnsTest, WhoAsksFirstGoesFirstAndOneAtATime) {
  Signal first(loop);
  Signal second(loop);
  Signal third(loop);
  start(1, first);
  start(2, second);
  start(3, third);
  EXPECT_EQ(order, std::vector<int>{1});
  EXPECT_EQ(turns.waiting(), 2U);
  finish(first);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  finish(second);
  finish(third);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(turns.is_taken());
}

TEST_F(TurnsTest, WhoGivesUpLosesItsPlaceAndNobodyElseDoes) {
  Signal first(loop);
  Signal third(loop);
  start(1, first);
  start(2, first, Deadline::after(loop, std::chrono::milliseconds{5}));
  start(3, third);
  loop.advance(std::chrono::milliseconds{6});
  loop.run_ready();
  EXPECT_EQ(given_up, std::vector<int>{2});
  finish(first);
  EXPECT_EQ(order, (std::vector<int>{1, 3}));
  finish(third);
  EXPECT_FALSE(turns.is_taken());
}

TEST_F(TurnsTest, ACancelledScopeEndsAllThatWait) {
  Signal first(loop);
  start(1, first);
  start(2, first);
  start(3, first);
  loop.post([this] { scope.cancel(); });
  loop.run_ready();
  EXPECT_EQ(given_up.size(), 2U);
  finish(first);
  EXPECT_FALSE(turns.is_taken());
}

}  // namespace
}  // namespace reprise::rt
