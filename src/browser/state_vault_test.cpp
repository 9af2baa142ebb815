#include "browser/state_vault.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "browser/testing.h"
#include "rt/test_loop.h"

namespace reprise::browser {
namespace {

class StateVaultTest : public ::testing::Test {
 protected:
  testing::TemporaryDirectory directory_;
  const std::filesystem::path file_ = directory_.path() / "key";
  SeededRandom random_{7};
};

TEST_F(StateVaultTest, KeyIsMadeOnceAndFoundAgain) {
  EXPECT_EQ(load_state_key(file_, false, random_).value(), std::nullopt);
  const auto made = load_state_key(file_, true, random_).value();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->size(), 32U);
  EXPECT_EQ(load_state_key(file_, true, random_).value(), made);
  struct stat status{};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  // Nothing else is left beside it.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_.path()), {}), 1);
}

TEST_F(StateVaultTest, KeyThatOthersMayReadIsRefused) {
  ASSERT_TRUE(load_state_key(file_, true, random_));
  std::filesystem::permissions(file_, std::filesystem::perms(0640));
  EXPECT_EQ(load_state_key(file_, true, random_).error().code, Code::kForbidden);
}

TEST_F(StateVaultTest, WhatIsNoKeyIsNotReplaced) {
  for (const char* text : {"", "abc\n", "zz"}) {
    std::ofstream(file_, std::ios::trunc) << text;
    std::filesystem::permissions(file_, std::filesystem::perms(0600));
    EXPECT_EQ(load_state_key(file_, true, random_).error().code, Code::kCorrupt) << text;
  }
  EXPECT_EQ(load_state_key(directory_.path() / "no" / "where", true, random_).error().code,
            Code::kIo);
}

}  // namespace
}  // namespace reprise::browser
