#include "server/cli/replay_protocol.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace reprise::server::cli {
namespace {

using Texts = std::vector<std::string>;

// Commands of a program, numbered from 1.
std::vector<RecordedCommand> program(const std::vector<std::pair<std::string, std::string>>& all) {
  std::vector<RecordedCommand> commands;
  for (const auto& [method, args] : all)
    commands.push_back({.seq = commands.size() + 1,
                        .tool = method,
                        .source = "cdp",
                        .args = args,
                        .is_ok = true,
                        .tab = "T"});
  return commands;
}

// What is done for each, in words.
Texts planned(const std::vector<RecordedCommand>& commands, const Secrets& secrets = {}) {
  Texts all;
  for (const Plan& plan : plan_commands(commands, secrets)) {
    std::string text;
    if (plan.missing) text = "needs " + *plan.missing;
    if (plan.merged_into) text = fmt::format("with {}", *plan.merged_into);
    if (!plan.skipped.empty()) text = "skipped";
    for (const Attempt& attempt : plan.attempts)
      for (const ToolCall& call : attempt)
        text += (text.empty() ? "" : "; ") + call.tool + ' ' + call.arguments;
    all.push_back(std::move(text));
  }
  return all;
}

TEST(ReplayProtocol, GoesToPagesAndTabsAndAnswersDialogs) {
  EXPECT_EQ(planned(program({{"Page.navigate", R"({"url":"http://a/"})"},
                             {"Page.reload", R"({"ignoreCache":true})"},
                             {"Target.createTarget", R"({"url":"http://b/"})"},
                             {"Target.createTarget", R"({"url":"about:blank"})"},
                             {"Target.closeTarget", R"({"targetId":"X"})"},
                             {"Page.handleJavaScriptDialog", R"({"accept":true})"}})),
            (Texts{R"(browser_navigate {"url":"http://a/"})", "browser_reload {}",
                   R"(browser_tabs {"action":"new","url":"http://b/"})",
                   R"(browser_tabs {"action":"new"})", R"(browser_tabs {"action":"close"})",
                   R"(browser_handle_dialog {"accept":true})"}));
}

TEST(ReplayProtocol, SaysOfTheRestWhyItIsSkipped) {
  auto commands = program({{"Page.navigate", R"({"url":"http://a/","frameId":"F"})"},
                           {"Page.navigateToHistoryEntry", R"({"entryId":3})"},
                           {"Target.createTarget", R"({"url":"a:b","browserContextId":"C"})"},
                           {"Target.createBrowserContext", "{}"},
                           {"DOM.setFileInputFiles", R"({"files":["a.txt"]})"},
                           {"Input.dispatchTouchEvent", R"({"type":"touchStart"})"},
                           {"Input.dispatchDragEvent", R"({"type":"drop","x":1,"y":1})"},
                           {"Input.dispatchKeyEvent", R"({"keys":1,"named":[],"order":null})"},
                           {"Target.closeTarget", R"({"targetId":"X"})"}});
  commands.back().tab.clear();
  EXPECT_EQ(planned(commands), Texts(commands.size(), "skipped"));
  for (const Plan& plan : plan_commands(commands, {})) EXPECT_GT(plan.skipped.size(), 10U);
}

TEST(ReplayProtocol, AClickIsOneAndADoubleClickAndADragAreToo) {
  const auto mouse = [](std::string_view type, int x, int clicks) {
    return std::pair<std::string, std::string>(
        "Input.dispatchMouseEvent",
        fmt::format(R"({{"type":"{}","x":{},"y":7,"button":"left","clickCount":{}}})", type, x,
                    clicks));
  };
  EXPECT_EQ(planned(program({mouse("mousePressed", 5, 1)})),
            Texts{R"(browser_mouse_click_xy {"x":5,"y":7,"button":"left","clickCount":1})"});
  EXPECT_EQ(
      planned(program({mouse("mousePressed", 5, 1), mouse("mousePressed", 6, 2)})),
      (Texts{"with 2", R"(browser_mouse_click_xy {"x":6,"y":7,"button":"left","clickCount":2})"}));
  EXPECT_EQ(
      planned(program({mouse("mousePressed", 5, 1), mouse("mouseReleased", 60, 1)})),
      (Texts{R"(browser_mouse_drag_xy {"startX":5,"startY":7,"endX":60,"endY":7})", "with 1"}));
  EXPECT_EQ(planned(program({mouse("mouseReleased", 60, 1)})), Texts{"skipped"});
  EXPECT_EQ(planned(program({{"Input.dispatchMouseEvent",
                              R"({"type":"mouseWheel","x":1,"y":2,"deltaX":0,"deltaY":9})"}})),
            Texts{R"(browser_mouse_move_xy {"x":1,"y":2}; )"
                  R"(browser_mouse_wheel {"deltaX":0,"deltaY":9})"});
  // On another page it is another gesture.
  auto apart = program({mouse("mousePressed", 5, 1), mouse("mouseReleased", 60, 1)});
  apart.back().tab = "OTHER";
  EXPECT_EQ(planned(apart).back(), "skipped");
}

TEST(ReplayProtocol, KeysAreInTheirOrderAndTextsAreSecrets) {
  const auto typed = program({{"Input.dispatchKeyEvent",
                               R"({"keys":5,"text":{"redacted":true,"length":5},"named":["Tab"],)"
                               R"("order":[3,"Tab","Control+a",2]})"}});
  EXPECT_EQ(planned(typed), Texts{"needs text"});
  const Texts done{R"(browser_type {"text":"Ada"}; browser_press_key {"key":"Tab"}; )"
                   R"(browser_press_key {"key":"Control+a"}; browser_type {"text":"42"})"};
  EXPECT_EQ(planned(typed, {{"1", "Ada42"}}), done);
  EXPECT_EQ(planned(typed, {{"text", "Ada42"}}), done);
  EXPECT_EQ(planned(typed, {{"text", "too long for that"}}), Texts{"skipped"});
  const auto one = program({{"Input.insertText", R"({"order":[3]})"}});
  EXPECT_EQ(planned(one, {{"text", "another"}}), Texts{R"(browser_type {"text":"another"})"});
  EXPECT_EQ(planned(program({{"Input.dispatchKeyEvent", R"({"order":["Enter"]})"}})),
            Texts{R"(browser_press_key {"key":"Enter"})"});
  EXPECT_EQ(planned(program({{"Page.handleJavaScriptDialog",
                              R"({"accept":true,"promptText":{"redacted":true,"length":2}})"}})),
            Texts{"needs promptText"});
}

}  // namespace
}  // namespace reprise::server::cli
