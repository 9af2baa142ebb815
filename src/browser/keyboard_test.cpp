#include "browser/keyboard.h"

#include <gtest/gtest.h>

namespace reprise::browser {
namespace {

TEST(Keyboard, KnowsKeysByTheNamesPeopleUse) {
  const auto enter = parse_keys("Enter");
  ASSERT_TRUE(enter);
  EXPECT_EQ(enter->front().text, "\r");
  EXPECT_EQ(enter->front().key_code, 13U);
  const auto letter = parse_keys("A");
  EXPECT_EQ(letter->front().code, "KeyA");
  EXPECT_EQ(letter->front().modifiers, 8U) << "Shift";
  EXPECT_EQ(parse_keys("%")->front().code, "Digit5");
  EXPECT_EQ(parse_keys("Space")->front().key, " ");
  EXPECT_EQ(parse_keys("+")->front().code, "Equal");
}

TEST(Keyboard, AChordHoldsItsModifiersAndTypesNothing) {
  const auto chord = parse_keys("Control+Shift+a");
  ASSERT_TRUE(chord);
  ASSERT_EQ(chord->size(), 3U);
  EXPECT_EQ((*chord)[2].modifiers, 2U | 8U);
  EXPECT_EQ((*chord)[2].text, "");
  EXPECT_EQ(parse_keys("Shift+a")->back().text, "a");
  EXPECT_EQ(parse_keys("Control++")->back().code, "Equal");
  EXPECT_EQ(parse_keys("ControlOrMeta+c")->front().key, "Control");
}

TEST(Keyboard, SaysWhatIsNoKey) {
  for (const char* bad : {"", "Entr", "Control+", "ü", "ab"}) {
    const auto keys = parse_keys(bad);
    ASSERT_FALSE(keys) << bad;
    EXPECT_EQ(keys.error().code, Code::kToolFailed);
  }
}

TEST(Keyboard, TypesEveryPrintableCharacterOfAscii) {
  for (char c = ' '; c <= '~'; ++c) {
    const auto stroke = stroke_of(c);
    ASSERT_TRUE(stroke) << c;
    EXPECT_EQ(stroke->text, std::string(1, c));
  }
  EXPECT_EQ(stroke_of('\n')->key, "Enter");
  EXPECT_EQ(stroke_of('\t')->key, "Tab");
  EXPECT_FALSE(stroke_of('\x01'));
}

}  // namespace
}  // namespace reprise::browser
