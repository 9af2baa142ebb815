#include "base/tally.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace reprise {
namespace {

TEST(Tally, KeepsASumForEachKeyWhileItIsNotZero) {
  Tally<std::string> tally;
  EXPECT_EQ(tally.add("a", 3), 3U);
  EXPECT_EQ(tally.add("a", 4), 7U);
  EXPECT_EQ(tally.add("b", 1), 1U);
  tally.remove("a", 7);
  tally.remove("nobody", 1);
  EXPECT_EQ(tally.size(), 1U);
  EXPECT_EQ(tally.at("b"), 1U);
  EXPECT_EQ(tally.at("a"), 0U);
  EXPECT_EQ(tally.add("a", 2), 2U);
}

TEST(Tally, CountsWhatSeveralThreadsAdd) {
  Tally<int> tally;
  std::thread other([&tally] {
    for (int i = 0; i < 10'000; ++i) tally.add(1, 1);
  });
  for (int i = 0; i < 10'000; ++i) tally.add(1, 1);
  other.join();
  EXPECT_EQ(tally.add(1, 0), 20'000U);
}

}  // namespace
}  // namespace reprise
