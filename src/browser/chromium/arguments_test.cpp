#include "browser/chromium/arguments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace reprise::browser::chromium {
namespace {

const Profile kProfile{.name = "ab", .path = "/run/x/profiles/ab"};

bool has(const std::vector<std::string>& arguments, std::string_view wanted) {
  return std::ranges::find(arguments, wanted) != arguments.end();
}

TEST(Arguments, OfTheHeadlessShell) {
  const auto arguments = browser_arguments({}, kProfile);
  EXPECT_TRUE(has(arguments, "--remote-debugging-pipe"));
  EXPECT_TRUE(has(arguments, "--user-data-dir=/run/x/profiles/ab/data"));
  EXPECT_TRUE(has(arguments, "--force-webrtc-ip-handling-policy=disable_non_proxied_udp"));
  for (const char* unasked : {"--headless", "--no-sandbox", "--remote-debugging-port=0",
                              "--disable-dev-shm-usage", "--disable-popup-blocking"})
    EXPECT_FALSE(has(arguments, unasked)) << unasked;
}

TEST(Arguments, AreWhatWasAskedFor) {
  const auto arguments = browser_arguments({.kind = BinaryKind::kChromium,
                                            .is_sandboxed = false,
                                            .has_port = true,
                                            .avoids_shared_memory = true,
                                            .extra = {"--proxy-server=127.0.0.1:3128"}},
                                           kProfile);
  for (const char* asked : {"--headless", "--no-sandbox", "--remote-debugging-port=0",
                            "--disable-dev-shm-usage", "--proxy-server=127.0.0.1:3128"})
    EXPECT_TRUE(has(arguments, asked)) << asked;
}

TEST(Arguments, FeaturesThatAreOffAreGivenOnceAndAllTogether) {
  const auto arguments = browser_arguments(
      {.kind = BinaryKind::kChromium, .extra = {"--disable-features=One,Two", "--x"}}, kProfile);
  const auto names_features = [](const std::string& argument) {
    return argument.starts_with("--disable-features=");
  };
  ASSERT_EQ(std::ranges::count_if(arguments, names_features), 1);
  const std::string features = *std::ranges::find_if(arguments, names_features) + ",";
  for (const char* name : {"WebUIOmniboxPopup,", "WebUIOmniboxAimPopup,", "One,", "Two,"})
    EXPECT_NE(features.find(name), std::string::npos) << name;
  const std::set<std::string> different(arguments.begin(), arguments.end());
  EXPECT_EQ(different.size(), arguments.size());
}

TEST(Environment, StaysInsideTheProfile) {
  const auto environment = browser_environment(kProfile, {"TZ=UTC"});
  for (const char* name : {"HOME=", "TMPDIR=", "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=",
                           "XDG_DATA_HOME=", "XDG_RUNTIME_DIR="}) {
    const auto found = std::ranges::find_if(
        environment, [&](const std::string& entry) { return entry.starts_with(name); });
    ASSERT_NE(found, environment.end()) << name;
    EXPECT_NE(found->find("=/run/x/profiles/ab/"), std::string::npos) << *found;
  }
  EXPECT_TRUE(has(environment, "TZ=UTC"));
}

}  // namespace
}  // namespace reprise::browser::chromium
