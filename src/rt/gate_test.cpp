#include "rt/gate.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rt/cancel.h"
#include "rt/manual_loop.h"

namespace reprise::rt {
namespace {

Task<> wait_for(Signal& signal, std::string& log, char name) {
  CancelScope scope;
  EXPECT_TRUE((co_await signal.wait(scope)).has_value());
  log += name;
}

Task<> drain(Gate& gate, std::string& log) {
  gate.close();
  co_await gate.empty();
  log += '.';
}

Task<> note(bool& ran) {
  ran = true;
  co_return;
}

class GateTest : public testing::Test {
 protected:
  ManualTime time;
  ManualLoop loop{time};
  Signal signal{loop};
  std::string log;
};

TEST_F(GateTest, IsEmptyOnlyWhenEverybodyHasLeft) {
  Gate gate;
  Gate shutdown;
  spawn(gate, wait_for(signal, log, 'a'));
  spawn(gate, wait_for(signal, log, 'b'));
  EXPECT_EQ(gate.inside(), 2U);
  spawn(shutdown, drain(gate, log));
  loop.run_ready();
  EXPECT_EQ(log, "");
  signal.notify();
  loop.run_ready();
  EXPECT_EQ(log, "ab.");
  EXPECT_EQ(gate.inside(), 0U);
}

TEST_F(GateTest, AnEmptyGateIsNotWaitedFor) {
  Gate gate;
  Gate shutdown;
  spawn(shutdown, drain(gate, log));
  EXPECT_EQ(log, ".");
}

TEST_F(GateTest, AClosedGateRefusesAndTheTaskNeverStarts) {
  Gate gate;
  gate.close();
  bool ran = false;
  EXPECT_FALSE(spawn(gate, note(ran)));
  EXPECT_FALSE(ran);
  EXPECT_FALSE(gate.try_enter());
  EXPECT_TRUE(gate.is_closed());
}

TEST_F(GateTest, ClosingLetsThoseInsideFinish) {
  Gate gate;
  spawn(gate, wait_for(signal, log, 'a'));
  gate.close();
  signal.notify();
  loop.run_ready();
  EXPECT_EQ(log, "a");
}

Task<> drain_and_destroy(std::unique_ptr<Gate>& gate, std::string& log) {
  co_await gate->empty();
  gate.reset();
  log += 'x';
}

TEST_F(GateTest, WhoeverWaitedMayDestroyTheGateAtOnce) {
  auto gate = std::make_unique<Gate>();
  Gate shutdown;
  spawn(*gate, wait_for(signal, log, 'a'));
  spawn(shutdown, drain_and_destroy(gate, log));
  signal.notify();
  loop.run_ready();
  EXPECT_EQ(log, "ax");
  EXPECT_EQ(gate, nullptr);
}

Task<> hold(std::shared_ptr<int> held, Signal& signal) {
  CancelScope scope;
  EXPECT_TRUE((co_await signal.wait(scope)).has_value());
  EXPECT_TRUE(held);
}
Task<> look(Gate& gate, std::weak_ptr<int> held, bool& was_freed) {
  co_await gate.empty();
  was_freed = held.expired();
}

TEST_F(GateTest, WhatATaskHoldsIsFreedBeforeItLeaves) {
  Gate gate;
  Gate shutdown;
  auto held = std::make_shared<int>(1);
  bool was_freed = false;
  const std::weak_ptr<int> seen = held;
  spawn(gate, hold(std::move(held), signal));
  spawn(shutdown, look(gate, seen, was_freed));
  signal.notify();
  loop.run_ready();
  EXPECT_TRUE(was_freed);
}

}  // namespace
}  // namespace reprise::rt
