#include "base/json_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace reprise {
namespace {

TEST(JsonText, PlainTextAndUtf8StandAsTheyAre) {
  EXPECT_EQ(json_string(""), "\"\"");
  EXPECT_EQ(json_string("plain /text"), "\"plain /text\"");
  EXPECT_EQ(json_string("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
            "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

TEST(JsonText, QuotesBackslashesAndControlCharactersAreEscaped) {
  EXPECT_EQ(json_string("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(json_string("\n\r\t"), R"("\n\r\t")");
  EXPECT_EQ(json_string(std::string("\0\x1f", 2)), R"("\u0000\u001f")");
  EXPECT_EQ(json_string("\b\f"), R"("\u0008\u000c")");
}

TEST(JsonText, BytesThatAreNotUtf8AreReplaced) {
  const std::string kReplacement = "\xef\xbf\xbd";
  EXPECT_EQ(json_string("a\xff"
                        "b"),
            "\"a" + kReplacement + "b\"");
  EXPECT_EQ(json_string("\xc3"), "\"" + kReplacement + "\"");                     // cut off
  EXPECT_EQ(json_string("\xc0\x80"), "\"" + kReplacement + kReplacement + "\"");  // overlong
  EXPECT_EQ(json_string("\xe0\x80\x80"), "\"" + kReplacement + kReplacement + kReplacement + "\"");
  EXPECT_EQ(json_string("\xed\xa0\x80"),
            "\"" + kReplacement + kReplacement + kReplacement + "\"");  // surrogate
  EXPECT_EQ(json_string("\xf4\x90\x80\x80").size(),
            2 + 4 * kReplacement.size());  // beyond U+10FFFF
  EXPECT_EQ(json_string("\xf0\x9f\x98\""),
            "\"" + kReplacement + kReplacement + kReplacement + "\\\"\"");
}

TEST(JsonText, TheBoundariesOfUtf8AreKept) {
  for (const std::string text :
       {"\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(json_string(text), "\"" + text + "\"");
}

TEST(JsonText, NumbersAreWrittenToTheirLimits) {
  std::string out = "x";
  append_number(out, std::uint64_t{0});
  out += ' ';
  append_number(out, std::numeric_limits<std::uint64_t>::max());
  out += ' ';
  append_number(out, std::numeric_limits<std::int64_t>::min());
  out += ' ';
  append_number(out, std::int64_t{-1});
  EXPECT_EQ(out, "x0 18446744073709551615 -9223372036854775808 -1");
}

}  // namespace
}  // namespace reprise
