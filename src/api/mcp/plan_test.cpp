#include "api/mcp/plan.h"

#include <gtest/gtest.h>

namespace reprise::api {
namespace {

// "tool session arguments" of the plan, or where it is wrong.
std::string planned(std::string tool, const std::string& arguments,
                    std::optional<std::string> default_session = {},
                    bool has_transport_session = false) {
  const auto document = wire::parse_json(arguments);
  EXPECT_TRUE(document.has_value()) << arguments;
  const auto plan = plan_tool_call({.tool = std::move(tool),
                                    .arguments = document->root(),
                                    .default_session = std::move(default_session),
                                    .has_transport_session = has_transport_session});
  if (plan) return plan->tool + ' ' + plan->session.value_or("-") + ' ' + plan->arguments;
  EXPECT_EQ(plan.error().code, Code::kInvalid);
  std::string pointers;
  for (const FieldError& field : plan.error().fields)
    pointers += (pointers.empty() ? "" : " ") + field.pointer;
  return pointers;
}

TEST(McpPlan, TheSessionIsTheArgumentOrElseTheAddressOrElseTheTransports) {
  EXPECT_EQ(planned("browser_navigate", R"({"url":"x","session":"shop:a"})", "other", true),
            R"(browser_navigate shop:a {"url":"x"})");
  EXPECT_EQ(planned("browser_navigate", R"({"url":"x"})", "other", true),
            R"(browser_navigate other {"url":"x"})");
  EXPECT_EQ(planned("browser_navigate", R"({"url":"x","session":null})", "other"),
            R"(browser_navigate other {"url":"x"})");
  EXPECT_EQ(planned("browser_navigate", R"({"url":"x"})", {}, true),
            R"(browser_navigate - {"url":"x"})");
  EXPECT_EQ(planned("browser_navigate", R"({"url":"x"})"), "/session");
  EXPECT_EQ(planned("browser_close", R"({"session":"0193315e-8f6a-7c21-9d6e-0b5f8f0e4a11"})"),
            "browser_close 0193315e-8f6a-7c21-9d6e-0b5f8f0e4a11 {}");
}

TEST(McpPlan, SomeToolsNeedNoSession) {
  EXPECT_EQ(planned("playwright_session_start", "{}"), "playwright_session_start - {}");
  EXPECT_EQ(planned("playwright_session_start", R"({"session":"a"})"),
            "playwright_session_start a {}");
  EXPECT_EQ(planned("playwright_session_list", "{}", "other"), "playwright_session_list - {}");
  EXPECT_EQ(planned("playwright_session_list", R"({"session":"a"})"), "/session");
}

TEST(McpPlan, ASessionThatIsNoneIsRefused) {
  EXPECT_EQ(planned("browser_close", R"({"session":7})", {}, true), "/session");
  EXPECT_EQ(planned("browser_close", R"({"session":""})", {}, true), "/session");
  EXPECT_EQ(planned("browser_close", R"({"session":":x"})", {}, true), "/session");
  EXPECT_EQ(planned("browser_close", "{}", ":x", true), "/session");
}

TEST(McpPlan, ACallInsideACallIsThatCall) {
  EXPECT_EQ(planned("playwright_session_call",
                    R"({"session":"a","tool":"browser_click","arguments":{"ref":"e1"}})"),
            R"(browser_click a {"target":"e1"})");
  EXPECT_EQ(planned("playwright_session_call", R"({"session":"a","tool":"browser_close"})"),
            "browser_close a {}");
  EXPECT_EQ(planned("playwright_session_call", R"({"tool":"browser_close"})"), "/session");
  EXPECT_EQ(planned("playwright_session_call", R"({"session":"a","tool":"browser_fly"})"), "/tool");
  EXPECT_EQ(
      planned("playwright_session_call", R"({"session":"a","tool":"playwright_session_call"})"),
      "/tool");
  EXPECT_EQ(planned("playwright_session_call",
                    R"({"session":"a","tool":"browser_click","arguments":{"x":1}})"),
            "/arguments/target /arguments/x");
  EXPECT_EQ(planned("playwright_session_call",
                    R"({"session":"a","tool":"browser_close","arguments":{"session":"b"}})"),
            "/arguments/session");
}

TEST(McpPlan, WhatIsWrongIsSaidWithWhatWouldBeRight) {
  const auto document = wire::parse_json(R"({"session":"a"})");
  const auto plan = plan_tool_call(
      {.tool = "browser_navigate", .arguments = document->root(), .default_session = {}});
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().detail,
            "browser_navigate was not called: its arguments are wrong. It takes (url, session?).");
}

}  // namespace
}  // namespace reprise::api
