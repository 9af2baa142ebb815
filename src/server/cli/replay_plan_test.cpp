#include "server/cli/replay_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reprise::server::cli {
namespace {

RecordedCommand recorded(std::string json) {
  const auto document = wire::parse_json(std::move(json)).value();
  return read_command(document.root());
}

// The arguments of each attempt; "tool arguments" where it is another tool or more than one call.
std::vector<std::string> attempts(const RecordedCommand& command, const Secrets& secrets = {}) {
  std::vector<std::string> all;
  for (const Attempt& attempt : plan_tool(command, secrets).attempts) {
    std::string text;
    for (const ToolCall& call : attempt) {
      if (!text.empty()) text += "; ";
      const bool is_plain = attempt.size() == 1 && call.tool == command.tool;
      text += is_plain ? call.arguments : call.tool + ' ' + call.arguments;
    }
    all.push_back(std::move(text));
  }
  return all;
}
using Texts = std::vector<std::string>;

constexpr const char* kButton =
    R"({"role":"button","name":"Save \"all\"","nth":1,"selector":"#save","tag":"button"})";

TEST(ReplayPlan, NamesAnElementByRoleAndNameAndThenBySelector) {
  const auto named = attempts(
      recorded(std::string(R"({"seq":7,"tool":"browser_click","args":{"target":"f2e12",)") +
               R"("button":"left"},"ok":true,"target":)" + kButton + "}"));
  EXPECT_EQ(
      named,
      (Texts{R"({"target":"role=button[name=\"Save \\\"all\\\"\"] >> nth=1","button":"left"})",
             R"({"target":"#save","button":"left"})"}));
}

TEST(ReplayPlan, NamesAnElementInFramesByWayOfThemAndThenInWhicheverFrameItIs) {
  const auto named = attempts(recorded(
      R"({"tool":"browser_click","args":{"target":"f3e1"},"target":{"role":"button",)"
      R"("name":"Pay","nth":0,"selector":"#pay","frames":[{"role":"iframe","name":"Shop",)"
      R"("nth":0,"selector":"iframe[name=\"shop\"]"},{"selector":"my-card >> iframe"}]}})"));
  const std::string by_selectors =
      R"(frame=\"iframe[name=\\\"shop\\\"]\" >> frame=\"my-card >> iframe\" >> )";
  const std::string pay = R"(role=button[name=\"Pay\"] >> nth=0"})";
  EXPECT_EQ(named, (Texts{R"({"target":"frame=\"role=iframe[name=\\\"Shop\\\"] >> nth=0\" >> )"
                          R"(frame=\"my-card >> iframe\" >> )" +
                              pay,
                          R"({"target":"frame=* >> )" + pay, R"({"target":")" + by_selectors + pay,
                          R"({"target":")" + by_selectors + R"(#pay"})"}));
}

TEST(ReplayPlan, LeavesSelectorsAndWhatIsNotKnownAsTheyAre) {
  const auto same = [](const std::string& args) {
    EXPECT_EQ(attempts(recorded(R"({"tool":"t","args":)" + args + R"(,"target":)" + kButton + "}")),
              Texts{args});
  };
  same(R"({"target":"#other"})");
  same(R"({"target":"text=e12"})");
  same(R"({"text":"e12"})");
  same(R"({})");
  EXPECT_EQ(attempts(recorded(R"({"tool":"t","args":{"target":"e1"},"target":null})")),
            Texts{R"({"target":"e1"})"});
  // A role without a name says too little.
  EXPECT_EQ(attempts(recorded(R"({"tool":"t","args":{"target":"e1"},"target":)"
                              R"({"role":"generic","name":"","nth":0,"selector":"div"}})")),
            Texts{R"({"target":"div"})"});
}

TEST(ReplayPlan, NamesEachOfSeveralElements) {
  const auto named =
      attempts(recorded(R"({"tool":"browser_drag","args":{"startTarget":"e1","endTarget":"e2"},)"
                        R"("target":{"role":"listitem","name":"b","nth":0,"selector":"#b"},)"
                        R"("targets":{"startTarget":{"role":"listitem","name":"a","nth":0,)"
                        R"("selector":"#a"},"endTarget":{"role":"listitem","name":"b","nth":0,)"
                        R"("selector":"#b"}}})"));
  EXPECT_EQ(named.back(), R"({"startTarget":"#a","endTarget":"#b"})");
}

TEST(ReplayPlan, ClicksWhatAPersonClickedAndElseWhereTheyDid) {
  const auto click = [](const std::string& args, const std::string& target) {
    return attempts(recorded(R"({"tool":"browser_mouse_click_xy","source":"operator","args":)" +
                             args + R"(,"target":)" + target + "}"));
  };
  const std::string twice = R"({"x":5,"y":6,"button":"right","clickCount":2})";
  EXPECT_EQ(click(twice, R"({"role":"link","name":"More","nth":0,"selector":"a"})"),
            (Texts{R"(browser_click {"target":"role=link[name=\"More\"] >> nth=0",)"
                   R"("doubleClick":true,"button":"right"})",
                   R"(browser_click {"target":"a","doubleClick":true,"button":"right"})", twice}));
  // On a canvas, or with a third click, the point is what counts.
  EXPECT_EQ(click(twice, R"({"role":"img","name":"Map","nth":0,"selector":"canvas"})"),
            Texts{twice});
  const std::string thrice = R"({"x":5,"y":6,"button":"left","clickCount":3})";
  EXPECT_EQ(click(thrice, kButton), Texts{thrice});
  EXPECT_EQ(click(twice, "null"), Texts{twice});
}

TEST(ReplayPlan, TypesWhereAPersonDidAndElseIntoTheFieldItWas) {
  const std::string field = R"({"role":"textbox","name":"Pin","nth":0,"selector":"#pin"})";
  EXPECT_EQ(
      attempts(recorded(R"({"tool":"browser_type","args":{"text":"ab"},"target":)" + field + "}")),
      (Texts{R"({"text":"ab"})",
             R"({"text":"ab","target":"role=textbox[name=\"Pin\"] >> nth=0","slowly":true})",
             R"({"text":"ab","target":"#pin","slowly":true})"}));
  const auto hidden = recorded(
      R"({"seq":4,"tool":"browser_type","args":{"text":{"redacted":true,"length":4}},"target":)" +
      field + "}");
  EXPECT_EQ(plan_tool(hidden, {}).missing, "Pin");
  EXPECT_EQ(attempts(hidden, {{"Pin", "1234"}}).front(), R"({"text":"1234"})");
  EXPECT_EQ(attempts(recorded(R"({"tool":"browser_select_option","args":{"values":["b"]},)"
                              R"("target":{"selector":"select"}})")),
            Texts{R"({"values":["b"],"target":"select"})"});
}

TEST(ReplayPlan, TakesApartWhatWasCountedTogether) {
  EXPECT_EQ(attempts(recorded(R"({"tool":"browser_press_key","args":{"key":"Tab","count":2}})")),
            Texts{R"(browser_press_key {"key":"Tab"}; browser_press_key {"key":"Tab"})"});
  EXPECT_EQ(attempts(recorded(R"({"tool":"browser_mouse_wheel","args":{"x":1,"y":2,"deltaX":0,)"
                              R"("deltaY":30}})")),
            Texts{R"(browser_mouse_move_xy {"x":1,"y":2}; )"
                  R"(browser_mouse_wheel {"deltaX":0,"deltaY":30})"});
  // Commands of before that was recorded.
  EXPECT_EQ(attempts(recorded(R"({"tool":"browser_mouse_wheel","args":{"deltaY":30}})")),
            Texts{R"({"deltaY":30})"});
}

TEST(ReplayPlan, AsksForWhatWasRedacted) {
  const auto typed = recorded(
      R"({"seq":9,"tool":"browser_type","args":{"target":"e1","text":{"redacted":true,)"
      R"("length":3}},"target":{"role":"textbox","name":"Password","nth":0,"selector":"#p"}})");
  EXPECT_EQ(plan_tool(typed, {}).missing, "Password");
  EXPECT_EQ(attempts(typed, {{"Password", "abc"}}).back(), R"({"target":"#p","text":"abc"})");
  EXPECT_EQ(attempts(typed, {{"9", "xyz"}}).back(), R"({"target":"#p","text":"xyz"})");
  const auto form = recorded(
      R"({"seq":2,"tool":"browser_fill_form","args":{"fields":[{"name":"User","target":"e1",)"
      R"("value":"ada"},{"name":"Code","target":"e2","value":{"redacted":true,"length":6}}]},)"
      R"("targets":{"fields/1":{"role":"textbox","name":"","nth":0,"selector":"#c"}}})");
  EXPECT_EQ(plan_tool(form, {}).missing, "Code");
  EXPECT_EQ(attempts(form, {{"Code", "123456"}}).back(),
            R"({"fields":[{"name":"User","target":"e1","value":"ada"},)"
            R"({"name":"Code","target":"#c","value":"123456"}]})");
  const auto cookie =
      recorded(R"({"tool":"browser_cookie_set","args":{"name":"sid","value":{"redacted":true,)"
               R"("length":1}}})");
  EXPECT_EQ(plan_tool(cookie, {}).missing, "sid");
  const auto marked =
      recorded(R"({"tool":"browser_navigate","args":{"url":"http://a/?token=[redacted]"}})");
  EXPECT_EQ(plan_tool(marked, {}).missing, "url");
}

TEST(ReplayPlan, SecretsAreGivenByName) {
  EXPECT_EQ(parse_secrets({"a=b", "c=d=e", "f="}).value(),
            (Secrets{{"a", "b"}, {"c", "d=e"}, {"f", ""}}));
  for (const char* wrong : {"hunter2", "=x"}) {
    const auto refused = parse_secrets({wrong});
    EXPECT_EQ(refused.error().code, Code::kBadParameter);
    EXPECT_EQ(refused.error().detail.find("hunter2"), std::string::npos);
  }
}

}  // namespace
}  // namespace reprise::server::cli
