#include "browser/gesture_log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "browser/limits.h"

namespace reprise::browser {
namespace {

constexpr TimePoint kNow{1'700'000'000'000};

GestureTarget field(std::string place, bool is_secret = false) {
  return {.description = "{}", .place = std::move(place), .is_secret = is_secret};
}

// Everything that is complete, in words.
std::vector<std::string> taken(GestureLog& log) {
  std::vector<std::string> all;
  while (const auto done = log.take_done())
    all.push_back(done->tool + ' ' + done->arguments + (done->hides_text ? " hidden" : ""));
  return all;
}

std::vector<std::string> finished(GestureLog& log) {
  log.finish();
  return taken(log);
}

TEST(GestureLog, KeystrokesAreOneText) {
  GestureLog log;
  for (const char* key : {"h", "e", "y"}) log.typed(key, field("a"), kNow);
  EXPECT_TRUE(taken(log).empty());
  log.pressed("Enter", field("a"), kNow);
  EXPECT_EQ(taken(log), std::vector<std::string>{R"(browser_type {"text":"hey"})"});
  EXPECT_EQ(finished(log), std::vector<std::string>{R"(browser_press_key {"key":"Enter"})"});
  EXPECT_FALSE(log.last_at());
}

TEST(GestureLog, TextOfSecretAndOfUnknownFieldsIsHidden) {
  GestureLog log;
  log.typed("me", field("user"), kNow);
  log.typed("hunter2", field("password", true), kNow);
  log.typed("x", {}, kNow);
  EXPECT_EQ(finished(log), (std::vector<std::string>{R"(browser_type {"text":"me"})",
                                                     R"(browser_type {"text":"hunter2"} hidden)",
                                                     R"(browser_type {"text":"x"} hidden)"}));
}

TEST(GestureLog, AFieldThatBecomesSecretHidesWhatComesThen) {
  GestureLog log;
  log.typed("a", field("f"), kNow);
  log.typed("b", field("f", true), kNow);
  EXPECT_EQ(finished(log), (std::vector<std::string>{R"(browser_type {"text":"a"})",
                                                     R"(browser_type {"text":"b"} hidden)"}));
}

TEST(GestureLog, ALongTextIsSeveral) {
  GestureLog log;
  log.typed(std::string(kMaxTypedBytes, 'a'), field("f"), kNow);
  log.typed("b", field("f"), kNow);
  EXPECT_EQ(finished(log).size(), 2U);
  log.typed(std::string(kMaxTypedBytes - 1, 'a'), field("f"), kNow);
  log.typed("b", field("f"), kNow);
  EXPECT_EQ(finished(log).size(), 1U);
}

TEST(GestureLog, AClickIsOneCommandAndADoubleClickToo) {
  GestureLog log;
  log.mouse_down({10, 20}, "left", 1, {}, kNow);
  log.mouse_up({11, 20}, kNow);
  log.mouse_down({11, 20}, "left", 2, {}, kNow);
  log.mouse_up({11, 20}, kNow);
  EXPECT_EQ(finished(log),
            std::vector<std::string>{
                R"(browser_mouse_click_xy {"x":11,"y":20,"button":"left","clickCount":2})"});
  log.mouse_down({10, 20}, "right", 1, {}, kNow);
  log.mouse_up({10, 20}, kNow);
  log.mouse_down({300, 20}, "right", 1, {}, kNow);
  log.mouse_up({300, 20}, kNow);
  EXPECT_EQ(finished(log).size(), 2U);
}

TEST(GestureLog, APressThatIsLetGoElsewhereIsADrag) {
  GestureLog log;
  log.mouse_up({1, 1}, kNow);  // of a press that nobody saw
  log.mouse_down({10, 20}, "left", 1, {}, kNow);
  EXPECT_FALSE(log.last_at()) << "it may be held for long";
  log.mouse_up({110, 20}, kNow);
  EXPECT_TRUE(log.last_at());
  EXPECT_EQ(finished(log),
            std::vector<std::string>{
                R"(browser_mouse_drag_xy {"startX":10,"startY":20,"endX":110,"endY":20})"});
}

TEST(GestureLog, TheWheelAndRepeatedKeysAddUp) {
  GestureLog log;
  for (int i = 0; i < 3; ++i) log.wheel({5, 5}, {0, 100}, {}, kNow);
  for (int i = 0; i < 4; ++i) log.pressed("Backspace", field("f"), kNow);
  EXPECT_EQ(finished(log), (std::vector<std::string>{
                               R"(browser_mouse_wheel {"x":5,"y":5,"deltaX":0,"deltaY":300})",
                               R"(browser_press_key {"key":"Backspace","count":4})"}));
}

}  // namespace
}  // namespace reprise::browser
