#include "rt/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "rt/gate.h"

namespace reprise::rt {
namespace {

Task<int> seven() { co_return 7; }
Task<std::unique_ptr<int>> seven_by_pointer() { co_return std::make_unique<int>(7); }
Task<Result<int>> refuse() { co_return fail(Code::kConflict); }
Task<Result<int>> pass_on_refusal(bool& went_on) {
  REPRISE_CO_TRY(const int value, co_await refuse());
  went_on = true;
  co_return value;
}

struct CountsItsEnd {
  int* ends;
  explicit CountsItsEnd(int& count) : ends(&count) {}
  CountsItsEnd(CountsItsEnd&& other) noexcept : ends(std::exchange(other.ends, nullptr)) {}
  CountsItsEnd& operator=(CountsItsEnd&&) = delete;
  ~CountsItsEnd() {
    if (ends != nullptr) ++*ends;
  }
};

Task<> hold(CountsItsEnd, bool& started) {
  started = true;
  co_return;
}

Task<> collect(int& sum) {
  sum += co_await seven();
  sum += *co_await seven_by_pointer();
}

TEST(Task, StartsOnlyWhenAwaited) {
  int ends = 0;
  bool started = false;
  {
    const Task<> task = hold(CountsItsEnd(ends), started);
    EXPECT_FALSE(started);
  }
  EXPECT_FALSE(started);
  EXPECT_EQ(ends, 1) << "a task that never ran frees what it was given";
}

TEST(Task, GivesItsValueToWhoeverAwaitsIt) {
  Gate gate;
  int sum = 0;
  ASSERT_TRUE(spawn(gate, collect(sum)));
  EXPECT_EQ(sum, 14);
}

Task<> store_refusal(Code& code, bool& went_on) {
  const auto outcome = co_await pass_on_refusal(went_on);
  code = outcome.error().code;
}

TEST(Task, CoTryReturnsTheErrorAndSkipsTheRest) {
  Gate gate;
  Code code = Code::kInternal;
  bool went_on = false;
  ASSERT_TRUE(spawn(gate, store_refusal(code, went_on)));
  EXPECT_EQ(code, Code::kConflict);
  EXPECT_FALSE(went_on);
}

TEST(Task, MovingOneOverAnotherFreesTheOther) {
  int first_ends = 0;
  int second_ends = 0;
  bool started = false;
  Task<> first = hold(CountsItsEnd(first_ends), started);
  Task<> second = hold(CountsItsEnd(second_ends), started);
  first = std::move(second);
  EXPECT_EQ(first_ends, 1);
  EXPECT_EQ(second_ends, 0);
}

// Finished tasks hand over to their awaiter without a stack frame each (symmetric transfer).
Task<> await_many(int count, int& sum) {
  for (int i = 0; i < count; ++i) sum += co_await seven();
}

TEST(Task, AwaitingAHundredThousandFinishedTasksDoesNotGrowTheStack) {
  Gate gate;
  int sum = 0;
  ASSERT_TRUE(spawn(gate, await_many(100'000, sum)));
  EXPECT_EQ(sum, 700'000);
}

}  // namespace
}  // namespace reprise::rt
