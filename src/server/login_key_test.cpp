#include "server/login_key.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "http/limits.h"

namespace reprise::server {
namespace {

class LoginKey : public ::testing::Test {
 protected:
  ~LoginKey() override { std::filesystem::remove_all(directory_); }
  const std::string directory_ =
      (std::filesystem::temp_directory_path() /
       fmt::format("reprise-key-{}-{}", ::getpid(), SystemRandom().next_u64()))
          .string();
  SystemRandom random_;
};

TEST_F(LoginKey, IsMadeOnceAndOnlyItsOwnerReadsIt) {
  const auto first = load_login_key(directory_, random_);
  ASSERT_TRUE(first) << first.error().detail;
  EXPECT_EQ(first->size(), http::kLoginKeyBytes);
  EXPECT_EQ(load_login_key(directory_, random_).value(), *first);
  struct stat about{};
  ASSERT_EQ(::stat((directory_ + "/login.key").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
}

TEST_F(LoginKey, ThatOthersMayReadIsRefused) {
  ASSERT_TRUE(load_login_key(directory_, random_));
  ASSERT_EQ(::chmod((directory_ + "/login.key").c_str(), 0640), 0);
  EXPECT_FALSE(load_login_key(directory_, random_));
}

TEST_F(LoginKey, OfAnotherLengthIsRefusedRatherThanReplaced) {
  std::filesystem::create_directories(directory_);
  for (const std::size_t length :
       {std::size_t{0}, http::kLoginKeyBytes - 1, http::kLoginKeyBytes + 1}) {
    std::ofstream(directory_ + "/login.key", std::ios::trunc) << std::string(length, 'x');
    EXPECT_FALSE(load_login_key(directory_, random_)) << length;
  }
}

TEST_F(LoginKey, ThatCannotBeWrittenIsAnError) {
  std::ofstream(directory_) << "a file, no directory";
  EXPECT_FALSE(load_login_key(directory_, random_));
}

}  // namespace
}  // namespace reprise::server
