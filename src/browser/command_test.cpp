#include "browser/command.h"

#include <gtest/gtest.h>

namespace reprise::browser {
namespace {

const model::Redactor& redactor() {
  static const model::Redactor made;
  return made;
}

TEST(Command, AnErrorBeginsWithItsCode) {
  EXPECT_EQ(tool_error(Error{Code::kToolFailed, "stale_ref: e1 is gone"}).code, "stale_ref");
  EXPECT_EQ(tool_error(Error{Code::kToolFailed, "stale_ref: e1 is gone"}).message, "e1 is gone");
  EXPECT_EQ(tool_error(Error{Code::kToolFailed, "The page said: no"}).code, "tool_failed");
  EXPECT_EQ(tool_error(Error{Code::kBrowserGone, "gone: x"}).code, "browser_gone");
}

TEST(Command, WhatWentIntoAFieldForSecretsIsToldByItsLength) {
  EXPECT_EQ(stored_arguments(R"({"target":"e1","text":"hunter2"})", true, redactor()),
            R"({"target":"e1","text":{"redacted":true,"length":7}})");
  EXPECT_EQ(stored_arguments(R"({"target":"e1","text":"hello"})", false, redactor()),
            R"({"target":"e1","text":"hello"})");
  EXPECT_EQ(stored_arguments(R"({"fields":[{"name":"a","value":"s"},{"name":"b","value":""}]})",
                             true, redactor()),
            R"({"fields":[{"name":"a","value":{"redacted":true,"length":1}},)"
            R"({"name":"b","value":{"redacted":true,"length":0}}]})");
  EXPECT_EQ(stored_arguments("[]", false, redactor()), "{}");
}

TEST(Command, SecretsByNameAndByLookAreReplacedEverywhere) {
  const std::string stored = stored_arguments(
      R"({"password":"x","url":"https://u:pw@h/","text":"Bearer abcdefghijklmnop"})", false,
      redactor());
  EXPECT_EQ(stored.find("\"x\""), std::string::npos) << stored;
  EXPECT_EQ(stored.find("pw@"), std::string::npos) << stored;
  EXPECT_EQ(stored.find("abcdefghijklmnop"), std::string::npos) << stored;
}

TEST(Command, IsAnEventThatItsIndexReadsBack) {
  const CommandCall call{.tool = "browser_click", .arguments = R"({"target":"e1"})", .by = "me"};
  const ToolOutcome outcome;
  SeededRandom random(3);
  CommandAnswer answer{.is_ok = false, .tool = call.tool, .duration = Millis{12}};
  answer.tab = model::TabId::make({1}, random);
  answer.error_code = "not_found";
  answer.error = "password=hunter2 is not there";
  const model::Event event = command_event({.id = "i",
                                            .call = call,
                                            .outcome = outcome,
                                            .answer = answer,
                                            .started_at = {1'000},
                                            .capture = "c",
                                            .has_log = true},
                                           redactor());
  EXPECT_EQ(event.type, "command");
  EXPECT_EQ(event.by, "me");
  EXPECT_EQ(event.data.find("hunter2"), std::string::npos) << event.data;
  EXPECT_NE(event.data.find(R"("picture":"captures/c.jpg")"), std::string::npos) << event.data;
  EXPECT_NE(event.data.find(R"("log":"captures/c.json")"), std::string::npos) << event.data;
  const auto facts = model::decode_command(event.data);
  ASSERT_TRUE(facts) << facts.error().detail;
  EXPECT_EQ(facts->tool, "browser_click");
  EXPECT_FALSE(facts->is_ok);
  EXPECT_EQ(facts->tab, answer.tab);
}

}  // namespace
}  // namespace reprise::browser
