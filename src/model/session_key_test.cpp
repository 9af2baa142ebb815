#include <gtest/gtest.h>

#include "model/limits.h"
#include "model/session_state.h"

namespace reprise::model {
namespace {

Code key_refusal(std::string_view text) {
  const auto key = parse_session_key(text);
  EXPECT_FALSE(key.has_value()) << text;
  return key ? Code::kInternal : key.error().code;
}

TEST(SessionKey, SplitsAtItsFirstColon) {
  EXPECT_EQ(parse_session_key("slack:C01:thread-9").value(), (SessionKey{"slack", "C01:thread-9"}));
  EXPECT_EQ(parse_session_key("a:b").value(), (SessionKey{"a", "b"}));
  EXPECT_EQ(parse_session_key("a::").value(), (SessionKey{"a", ":"}));
  EXPECT_EQ(parse_session_key("a:b").value().to_string(), "a:b");
}

TEST(SessionKey, ABareNameMeansTheDefaultApp) {
  EXPECT_EQ(parse_session_key("hello").value(), (SessionKey{"default", "hello"}));
  EXPECT_EQ(parse_session_key("\xc3\xbc ber/x").value(), (SessionKey{"default", "\xc3\xbc ber/x"}));
}

TEST(SessionKey, AnEmptyAppOrNameIsRefused) {
  for (const std::string_view text : {"", ":", ":name", "app:"})
    EXPECT_EQ(key_refusal(text), Code::kBadKey);
}

TEST(SessionKey, ABareUuidIsAnIdAndNeverAName) {
  const std::string uuid = "019a8b3c-1111-7222-8333-444455556666";
  EXPECT_EQ(key_refusal(uuid), Code::kBadKey);
  EXPECT_EQ(key_refusal("019A8B3C-1111-7222-8333-444455556666"), Code::kBadKey);
  EXPECT_EQ(parse_session_key("default:" + uuid).value(), (SessionKey{"default", uuid}));
}

TEST(SessionKey, AnAppIsAShortPlainWord) {
  for (const std::string& app : {std::string("a"), std::string("9"), std::string("My.app_v-2"),
                                 std::string(kMaxAppBytes, 'a')})
    EXPECT_TRUE(check_app(app)) << app;
  for (const std::string& app :
       {std::string(), std::string(".a"), std::string("_a"), std::string("-a"), std::string("a b"),
        std::string("a/b"), std::string("a:b"), std::string("\xc3\xbc"), std::string("a\0", 2),
        std::string(kMaxAppBytes + 1, 'a')}) {
    const auto checked = check_app(app);
    ASSERT_FALSE(checked) << app;
    EXPECT_EQ(checked.error().code, Code::kBadKey);
  }
}

TEST(SessionKey, ANameIsUtf8WithoutControlCharacters) {
  for (const std::string& name :
       {std::string("x"), std::string(kMaxNameBytes, 'n'), std::string("a b/c?d#e%"),
        std::string("\xf0\x9f\x98\x80"), std::string("\xc2\xa0")})
    EXPECT_TRUE(check_name(name)) << name;
  for (const std::string& name :
       {std::string(), std::string(kMaxNameBytes + 1, 'n'), std::string("a\nb"),
        std::string("a\0b", 3), std::string("\x7f"), std::string("\xc2\x80"),
        std::string("\xc2\x9f"), std::string("\xff"), std::string("cut\xc3"),
        std::string("\xed\xa0\x80")}) {
    const auto checked = check_name(name);
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().code, Code::kBadKey);
  }
}

}  // namespace
}  // namespace reprise::model
