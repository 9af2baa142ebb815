#include "base/log.h"

#include <gtest/gtest.h>

namespace reprise::log {
namespace {

// What a line says after its time, which is 24 bytes and a space in text.
class Log : public testing::Test {
 protected:
  void TearDown() override { configure(Level::kInfo, Format::kText); }

  template <typename Write>
  std::string written(Write write_lines) {
    testing::internal::CaptureStderr();
    write_lines();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(Log, ATextLineHasItsFieldsInOrder) {
  configure(Level::kInfo, Format::kText);
  const std::string line =
      written([] { info("session created", {{"app", "slack"}, {"count", 3}}); });
  ASSERT_GT(line.size(), 25U);
  EXPECT_EQ(line.substr(25), "info session created app=slack count=3\n");
}

TEST_F(Log, AValueCannotForgeAnotherLineOrField) {
  configure(Level::kInfo, Format::kText);
  const std::string line = written(
      [] { warning("x", {{"a", "two words"}, {"b", "new\nline"}, {"c", ""}, {"d", "e=f"}}); });
  EXPECT_EQ(line.substr(25), "warning x a=\"two words\" b=\"new\\nline\" c=\"\" d=\"e=f\"\n");
}

TEST_F(Log, BracesInAMessageAreOrdinaryText) {
  const std::string line = written([] { error("{} {0} %v", {{"a", "{}"}}); });
  EXPECT_EQ(line.substr(25), "error {} {0} %v a={}\n");
}

TEST_F(Log, AJsonLineIsOneObject) {
  configure(Level::kDebug, Format::kJson);
  const std::string line =
      written([] { debug("say \"hi\"", {{"n", 1}, {"t", std::string("a\nb")}}); });
  ASSERT_TRUE(line.starts_with("{\"at\":\""));
  EXPECT_EQ(line.substr(line.find("\",\"level\"") + 2),
            "\"level\":\"debug\",\"message\":\"say \\\"hi\\\"\",\"n\":\"1\",\"t\":\"a\\nb\"}\n");
}

TEST_F(Log, LevelsBelowTheConfiguredOneAreSilent) {
  configure(Level::kWarning, Format::kText);
  EXPECT_FALSE(is_enabled(Level::kInfo));
  EXPECT_TRUE(is_enabled(Level::kError));
  EXPECT_EQ(written([] { info("quiet"); }), "");
  configure(Level::kOff, Format::kText);
  EXPECT_EQ(written([] { error("quiet"); }), "");
}

}  // namespace
}  // namespace reprise::log
