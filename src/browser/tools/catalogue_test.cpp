#include "browser/tools/catalogue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "browser/tools/limits.h"
#include "model/limits.h"

namespace reprise::browser {
namespace {

// What a tool makes of its arguments: their text, or where they are wrong, joined by blanks.
std::string read(std::string_view tool, const std::string& arguments,
                 std::string_view except = {}) {
  const Tool* found = find_tool(tool);
  EXPECT_NE(found, nullptr) << tool;
  const auto document = wire::parse_json(arguments);
  EXPECT_TRUE(document.has_value()) << arguments;
  const auto outcome = read_arguments(*found, document->root(), except);
  EXPECT_EQ(check_arguments(*found, document->root()).has_value() || !except.empty(),
            outcome.has_value() || !except.empty());
  if (outcome) return *outcome;
  EXPECT_EQ(outcome.error().code, Code::kInvalid);
  std::string pointers;
  for (const FieldError& field : outcome.error().fields)
    pointers += (pointers.empty() ? "" : " ") + (field.pointer.empty() ? "/" : field.pointer);
  return pointers;
}

TEST(Catalogue, HasTheToolsThatAgentsKnowAndOurs) {
  std::set<std::string> names;
  for (const Tool& tool : tools()) names.insert(tool.name);
  std::set<std::string> expected;
  for (const char* name : {"close",
                           "resize",
                           "navigate",
                           "navigate_back",
                           "navigate_forward",
                           "reload",
                           "snapshot",
                           "click",
                           "hover",
                           "drag",
                           "drop",
                           "type",
                           "press_key",
                           "fill_form",
                           "select_option",
                           "file_upload",
                           "handle_dialog",
                           "evaluate",
                           "find",
                           "take_screenshot",
                           "console_messages",
                           "network_requests",
                           "network_request",
                           "tabs",
                           "wait_for",
                           "emulate_media",
                           "pdf_save",
                           "mouse_move_xy",
                           "mouse_click_xy",
                           "mouse_drag_xy",
                           "mouse_down",
                           "mouse_up",
                           "mouse_wheel",
                           "storage_state",
                           "set_storage_state"})
    expected.insert(std::string("browser_") + name);
  for (const char* storage : {"cookie", "localstorage", "sessionstorage"})
    for (const char* verb : {"list", "get", "set", "delete", "clear"})
      expected.insert(std::string("browser_") + storage + '_' + verb);
  for (const char* name : {"start", "call", "end", "list", "tabs", "inspect", "new_tab",
                           "close_tab", "set_active_page"})
    expected.insert(std::string("playwright_session_") + name);
  EXPECT_EQ(names, expected);
  EXPECT_EQ(names.size(), tools().size());
  EXPECT_EQ(find_tool("browser_run_code_unsafe"), nullptr);
}

TEST(Catalogue, EveryToolSaysWhatItIsAndEveryArgumentToo) {
  for (const Tool& tool : tools()) {
    EXPECT_FALSE(tool.title.empty()) << tool.name;
    EXPECT_TRUE(tool.description.ends_with('.')) << tool.name;
    EXPECT_EQ(tool.is_page_tool, tool.name.starts_with("browser_")) << tool.name;
    const auto schema = wire::parse_json(tool.schema);
    ASSERT_TRUE(schema.has_value()) << tool.schema;
    EXPECT_EQ(schema->root().find("type")->as_string(), "object");
    EXPECT_EQ(schema->root().find("additionalProperties")->as_bool(), false) << tool.name;
    for (const auto& [name, property] : schema->root().find("properties")->members()) {
      EXPECT_TRUE(property.find("description")) << tool.name << ' ' << name;
      EXPECT_NE(name, "ref") << tool.name << ": the older name is not advertised";
      EXPECT_NE(name, "session") << tool.name << ": that is the caller's";
    }
  }
}

TEST(Catalogue, ReadsWhatIsRight) {
  EXPECT_EQ(read("browser_navigate_back", "{}"), "{}");
  EXPECT_EQ(read("browser_click", R"({ "target" : "e1", "button":"right", "modifiers":["Alt"] })"),
            R"({"target":"e1","button":"right","modifiers":["Alt"]})");
  EXPECT_EQ(read("browser_resize", R"({"width":800,"height":600})"),
            R"({"width":800,"height":600})");
  EXPECT_EQ(read("browser_drop", R"({"target":"e1","data":{"text/plain":"x"}})"),
            R"({"target":"e1","data":{"text/plain":"x"}})");
  EXPECT_EQ(read("playwright_session_call", R"({"tool":"browser_click","arguments":{"x":[1]}})"),
            R"({"tool":"browser_click","arguments":{"x":[1]}})");
}

TEST(Catalogue, SaysWhereArgumentsAreWrong) {
  EXPECT_EQ(read("browser_click", "[]"), "/");
  EXPECT_EQ(read("browser_click", "{}"), "/target");
  EXPECT_EQ(read("browser_click", R"({"target":7})"), "/target");
  EXPECT_EQ(read("browser_click", R"({"target":"e1","buton":"left"})"), "/buton");
  EXPECT_EQ(read("browser_click", R"({"target":"e1","button":"top","doubleClick":"yes"})"),
            "/button /doubleClick");
  EXPECT_EQ(read("browser_click", R"({"target":"e1","modifiers":["Alt","Fn"]})"), "/modifiers/1");
  EXPECT_EQ(read("browser_fill_form", R"({"fields":[]})"), "/fields");
  EXPECT_EQ(read("browser_fill_form", R"({"fields":[{"target":"e1","name":"n","type":"text"}]})"),
            "/fields/0/value /fields/0/type");
  EXPECT_EQ(read("playwright_session_start", R"({"viewport":{"width":1}})"), "/viewport/height");
  EXPECT_EQ(read("browser_cookie_list", R"({"a~/b":1})"), "/a~0~1b");
}

TEST(Catalogue, OlderNamesAreUnderstoodUnlessTodaysIsThereToo) {
  EXPECT_EQ(read("browser_click", R"({"ref":"e1"})"), R"({"target":"e1"})");
  EXPECT_EQ(read("browser_drag", R"({"startRef":"e1","endRef":"e2"})"),
            R"({"startTarget":"e1","endTarget":"e2"})");
  EXPECT_EQ(read("browser_fill_form",
                 R"({"fields":[{"ref":"e1","name":"n","type":"slider","value":"1"}]})"),
            R"({"fields":[{"target":"e1","name":"n","type":"slider","value":"1"}]})");
  EXPECT_EQ(read("browser_click", R"({"ref":"e1","target":"e2"})"), "/ref");
  EXPECT_EQ(read("browser_navigate", R"({"ref":"e1","url":"x"})"), "/ref");
}

TEST(Catalogue, NullIsNothingExceptWhereItTakesAChoiceBack) {
  EXPECT_EQ(read("browser_click", R"({"element":null,"target":"e1","ref":null,"button":null})"),
            "/ref");
  EXPECT_EQ(read("browser_click", R"({"element":null,"target":"e1","button":null})"),
            R"({"target":"e1"})");
  EXPECT_EQ(read("browser_click", R"({"target":null})"), "/target");
  EXPECT_EQ(read("browser_click", R"({"target":"e1","other":null})"), "/other");
  EXPECT_EQ(read("browser_emulate_media", R"({"colorScheme":null,"media":"print"})"),
            R"({"colorScheme":null,"media":"print"})");
}

TEST(Catalogue, AMemberThatIsNotTheToolsIsLeftOut) {
  EXPECT_EQ(read("browser_click", R"({"session":"a:b","target":"e1"})", "session"),
            R"({"target":"e1"})");
  EXPECT_EQ(read("browser_click", R"({"session":"a:b","target":"e1"})"), "/session");
}

TEST(Catalogue, NumbersHaveLimits) {
  // `name` is the last of the arguments, which has its limit.
  const auto expect_limit = [](std::string_view tool, const std::string& before,
                               const std::string& name, auto most) {
    const std::string start = fmt::format("{{{}\"{}\":", before, name);
    EXPECT_TRUE(read(tool, fmt::format("{}{}}}", start, most)).starts_with('{')) << start;
    EXPECT_EQ(read(tool, fmt::format("{}{}}}", start, most + 1)), '/' + name) << start;
    EXPECT_EQ(read(tool, start + "-1}"), '/' + name) << start;
  };
  expect_limit("browser_resize", R"("height":1,)", "width", kMaxViewport);
  expect_limit("browser_tabs", R"("action":"select",)", "index", kMaxTabIndex);
  expect_limit("browser_snapshot", "", "depth", kMaxSnapshotDepth);
  expect_limit("browser_snapshot", "", "maxBytes", kMaxSnapshotBytes);
  expect_limit("browser_wait_for", "", "time", kMaxWaitSeconds);
  expect_limit("browser_network_request", "", "index", kMaxRequestIndex);
  expect_limit("browser_mouse_click_xy", R"("x":1,"y":2,)", "clickCount", kMaxClickCount);
  expect_limit("browser_mouse_click_xy", R"("x":1,"y":2,)", "delay", kMaxClickDelayMs);
  expect_limit("playwright_session_start", "", "ttlSeconds", model::kMaxTtlSeconds);
  expect_limit("playwright_session_list", "", "limit", kMaxListedSessions);
  expect_limit("playwright_session_inspect", "", "commands", kMaxListedCommands);
}

}  // namespace
}  // namespace reprise::browser
