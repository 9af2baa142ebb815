#include "browser/chromium/binary.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "browser/testing.h"

namespace reprise::browser::chromium {
namespace {

namespace fs = std::filesystem;

TEST(FindBrowser, NamesThePackageThatIsMissing) {
  const testing::TemporaryDirectory empty;
  const auto shell = find_browser(BinaryKind::kHeadlessShell, empty.path());
  ASSERT_FALSE(shell.has_value());
  EXPECT_EQ(shell.error().code, Code::kNotFound);
  EXPECT_NE(shell.error().detail.find("package chromium-headless-shell,"), std::string::npos);
  const auto whole = find_browser(BinaryKind::kChromium, empty.path());
  ASSERT_FALSE(whole.has_value());
  EXPECT_NE(whole.error().detail.find("package chromium,"), std::string::npos);
}

TEST(FindBrowser, FindsAProgramAndNothingElse) {
  const testing::TemporaryDirectory place;
  const fs::path program = place.path() / "usr/lib/chromium/chromium";
  fs::create_directories(program);  // a directory of that name
  EXPECT_FALSE(find_browser(BinaryKind::kChromium, place.path()).has_value());
  fs::remove(program);
  std::ofstream(program) << "x";
  fs::permissions(program, fs::perms(0644));
  EXPECT_FALSE(find_browser(BinaryKind::kChromium, place.path()).has_value());
  fs::permissions(program, fs::perms(0755));
  EXPECT_EQ(find_browser(BinaryKind::kChromium, place.path()), program);
  EXPECT_FALSE(find_browser(BinaryKind::kHeadlessShell, place.path()).has_value());
}

TEST(FindUser, KnowsTheUsersOfTheSystem) {
  const auto root = find_user("root");
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->uid, 0U);
  const auto nobody = find_user("no-such-user");
  ASSERT_FALSE(nobody.has_value());
  EXPECT_EQ(nobody.error().code, Code::kNotFound);
  const auto unprivileged = unprivileged_user();
  ASSERT_TRUE(unprivileged.has_value());
  EXPECT_NE(unprivileged->uid, 0U);
}

}  // namespace
}  // namespace reprise::browser::chromium
