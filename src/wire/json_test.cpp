#include "wire/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/json_text.h"
#include "wire/limits.h"

namespace reprise::wire {
namespace {

JsonDocument parsed(std::string text) {
  auto document = parse_json(std::move(text));
  EXPECT_TRUE(document) << document.error().detail;
  return std::move(*document);
}

Code refused(std::string text) {
  auto document = parse_json(text);
  if (document) {
    ADD_FAILURE() << "accepted: " << text.substr(0, 200);
    return Code::kInternal;
  }
  EXPECT_FALSE(document.error().detail.empty());
  return document.error().code;
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Json, ReadsEveryType) {
  const JsonDocument document = parsed(
      R"( {"n":null,"t":true,"f":false,"i":-7,"d":2.5e1,"s":"x","a":[1,[2],{}],"o":{"k":"v"}} )");
  const JsonValue root = document.root();
  EXPECT_EQ(root.type(), JsonType::kObject);
  EXPECT_TRUE(root.find("n")->is_null());
  EXPECT_EQ(root.find("t")->as_bool(), true);
  EXPECT_EQ(root.find("f")->as_bool(), false);
  EXPECT_EQ(root.find("i")->as_int(), -7);
  EXPECT_EQ(root.find("i")->as_uint(), std::nullopt);
  EXPECT_EQ(root.find("d")->as_double(), 25.0);
  EXPECT_EQ(root.find("d")->as_int(), std::nullopt);
  EXPECT_EQ(root.find("s")->as_string(), "x");
  EXPECT_EQ(root.find("o")->find("k")->as_string(), "v");
  EXPECT_EQ(root.find("none"), std::nullopt);
  const auto elements = root.find("a")->elements();
  ASSERT_EQ(elements.size(), 3U);
  EXPECT_EQ(elements[1].raw(), "[2]");
  EXPECT_EQ(elements[2].type(), JsonType::kObject);
  std::vector<std::string> names;
  for (const JsonMember& member : root.members()) names.push_back(member.name);
  EXPECT_THAT(names, testing::ElementsAre("n", "t", "f", "i", "d", "s", "a", "o"));
}

TEST(Json, AnotherTypeReadsAsNothing) {
  const JsonDocument document = parsed(R"(["text",1])");
  EXPECT_EQ(document.root().as_string(), std::nullopt);
  EXPECT_EQ(document.root().find("text"), std::nullopt);
  EXPECT_TRUE(document.root().members().empty());
  EXPECT_EQ(document.root().elements()[0].as_int(), std::nullopt);
  EXPECT_EQ(document.root().elements()[0].as_double(), std::nullopt);
  EXPECT_EQ(document.root().elements()[1].as_bool(), std::nullopt);
  EXPECT_TRUE(document.root().elements()[1].elements().empty());
}

TEST(Json, ScalarsMayStandAlone) {
  EXPECT_EQ(parsed("0").root().as_int(), 0);
  EXPECT_EQ(parsed(" \"x\" ").root().raw(), "\"x\"");
  EXPECT_TRUE(parsed("null\n").root().is_null());
}

TEST(Json, HandlesStayValidWhenTheDocumentMoves) {
  JsonDocument first = parsed(R"({"a":"b"})");
  const JsonValue value = *first.root().find("a");
  const JsonDocument second = std::move(first);
  EXPECT_EQ(value.as_string(), "b");
  EXPECT_EQ(second.root().find("a")->raw(), "\"b\"");
}

TEST(Json, RawKeepsWhiteSpaceAndMinifiedDropsIt) {
  const JsonDocument document = parsed("{ \"a\" : [ 1 , 2.50 ,\t\"x \\\" y\" ] }\r\n");
  EXPECT_EQ(document.root().raw(), "{ \"a\" : [ 1 , 2.50 ,\t\"x \\\" y\" ] }");
  EXPECT_EQ(document.root().minified(), R"({"a":[1,2.50,"x \" y"]})");
  EXPECT_EQ(document.root().find("a")->minified(), R"([1,2.50,"x \" y"])");
}

TEST(Json, UnescapesStrings) {
  EXPECT_EQ(parsed(R"("\"\\\/\b\f\n\r\t")").root().as_string(), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(parsed(R"("a\u0041\u00e9\u20AC\ud83d\ude00z")").root().as_string(),
            "aA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
  EXPECT_EQ(parsed(R"("\u0000")").root().as_string(), std::string(1, '\0'));
}

TEST(Json, RefusesLoneSurrogates) {
  for (const char* text : {R"("\ud800")", R"("\udc00")", R"("\ud800x")", R"("\ud800\u0041")",
                           R"("\ud800\ud800")", R"({"\udfff":1})", R"("\ud83d\n")"})
    EXPECT_EQ(refused(text), Code::kMalformedJson) << text;
}

TEST(Json, RefusesMalformedTexts) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[",
                           "[1",
                           "[1,",
                           "[1,]",
                           "[,1]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{\"a\" 1}",
                           "[1 2]",
                           "[}",
                           "{]",
                           "1 2",
                           "[] []",
                           "tru",
                           "truex",
                           "nul",
                           "True",
                           "'a'",
                           "\"a",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "\"\\",
                           "01",
                           "1.",
                           ".5",
                           "-",
                           "+1",
                           "1e",
                           "1e+",
                           "--1",
                           "NaN",
                           "Infinity",
                           "\"a\nb\"",
                           "\"\x01\"",
                           "/*c*/1",
                           "\xef\xbb\xbf{}",
                           "\xff",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "]",
                           "}",
                           ",",
                           ":"})
    EXPECT_EQ(refused(text), Code::kMalformedJson) << text;
  EXPECT_EQ(refused(std::string("1\0", 2)), Code::kMalformedJson);
  EXPECT_EQ(refused(std::string("[1\0]", 4)), Code::kMalformedJson);
}

TEST(Json, TellsWhereAMalformedTextGoesWrong) {
  EXPECT_THAT(parse_json("[1,2 3]").error().detail, testing::HasSubstr("byte 5"));
  EXPECT_THAT(parse_json("{\"a\":012}").error().detail, testing::HasSubstr("012"));
}

TEST(Json, IntegersReachTheirLimitsAndNotBeyond) {
  EXPECT_EQ(parsed("9223372036854775807").root().as_int(), INT64_MAX);
  EXPECT_EQ(parsed("-9223372036854775808").root().as_int(), INT64_MIN);
  EXPECT_EQ(parsed("9223372036854775808").root().as_int(), std::nullopt);
  EXPECT_EQ(parsed("18446744073709551615").root().as_uint(), UINT64_MAX);
  EXPECT_EQ(parsed("-0").root().as_uint(), 0U);
  EXPECT_EQ(refused("18446744073709551616"), Code::kMalformedJson);
  EXPECT_EQ(refused("-9223372036854775809"), Code::kMalformedJson);
  EXPECT_EQ(refused("[1," + std::string(400, '9') + "]"), Code::kMalformedJson);
  EXPECT_THAT(parse_json("[18446744073709551616]").error().detail, testing::HasSubstr("64-bit"));
}

TEST(Json, DoublesReachTheirLimitsAndNotBeyond) {
  EXPECT_EQ(parsed("1.7976931348623157e308").root().as_double(), 1.7976931348623157e308);
  EXPECT_EQ(parsed("5e-324").root().as_double(), 5e-324);
  EXPECT_EQ(parsed("1e-400").root().as_double(), 0.0);
  EXPECT_EQ(refused("1e309"), Code::kMalformedJson);
  EXPECT_EQ(refused("-1e400"), Code::kMalformedJson);
}

TEST(Json, NestsToTheLimitAndNotBeyond) {
  EXPECT_TRUE(parse_json(nested(kMaxJsonDepth)));
  EXPECT_EQ(refused(nested(kMaxJsonDepth + 1)), Code::kMalformedJson);
  std::string objects;
  for (std::size_t i = 1; i < kMaxJsonDepth; ++i) objects += "{\"a\":";
  EXPECT_TRUE(parse_json(objects + "[0]" + std::string(kMaxJsonDepth - 1, '}')));
  EXPECT_EQ(refused(objects + "[[0]]" + std::string(kMaxJsonDepth - 1, '}')), Code::kMalformedJson);
}

TEST(Json, AMillionNestedArraysAreRefusedCleanly) {
  EXPECT_EQ(refused(nested(1'000'000)), Code::kMalformedJson);
  EXPECT_EQ(refused(std::string(1'000'000, '[')), Code::kMalformedJson);
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"\":";
  EXPECT_EQ(refused(objects), Code::kMalformedJson);
}

TEST(Json, TextsReachTheirLargestSizeAndNotBeyond) {
  EXPECT_TRUE(parse_json('"' + std::string(kMaxJsonBytes - 2, 'x') + '"'));
  EXPECT_EQ(refused('"' + std::string(kMaxJsonBytes - 1, 'x') + '"'), Code::kMalformedJson);
}

TEST(Json, RefusesAMemberNamedTwiceAtAnyDepth) {
  for (const char* text : {R"({"a":1,"a":2})", R"({"a":1,"b":{"c":1,"d":[{"x":1,"x":1}]}})",
                           R"({"":0,"":0})", R"({"a":1,"\u0061":2})", R"({"\u0061":1,"a":2})",
                           R"([{"n\/":1,"n/":2}])", R"({"\ud83d\ude00":1,"😀":2})",
                           R"({"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"a":0})",
                           R"({"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"\u0069":0})"})
    EXPECT_EQ(refused(text), Code::kDuplicateMember) << text;
}

TEST(Json, TheSameNameInDifferentObjectsIsFine) {
  EXPECT_TRUE(parse_json(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]})"));
  EXPECT_TRUE(parse_json(R"({"a":1,"A":2,"a ":3,"":4})"));
}

TEST(Json, FindsEscapedNames) {
  const JsonDocument document = parsed(R"({"x":1,"\u0061b":2})");
  EXPECT_EQ(document.root().find("ab")->as_int(), 2);
  EXPECT_EQ(document.root().members()[1].name, "ab");
}

TEST(Json, AHundredThousandMembersAreCheckedAndOneRepeatIsFound) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i)
    text += "\"name" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  const JsonDocument document = parsed(text + "\"last\":0}");
  EXPECT_EQ(document.root().members().size(), 100'001U);
  EXPECT_EQ(document.root().find("name99999")->as_int(), 99'999);
  EXPECT_EQ(refused(text + "\"name0\":0}"), Code::kDuplicateMember);
  EXPECT_EQ(refused(text + "\"\\u006eame77777\":0}"), Code::kDuplicateMember);
}

TEST(Json, KnowsUtf8) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("a\xc3\xa9\xf0\x9f\x98\x80"));
  EXPECT_FALSE(is_utf8("\xff"));
  EXPECT_FALSE(is_utf8("\xc3"));
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));
}

// A random document and what it must read as.
struct Maker {
  std::mt19937 random;
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  }
  void space(std::string& out) {
    while (below(4) == 0) out += " \t\r\n"[below(4)];
  }
  std::string text() {
    static const std::vector<std::string> kPieces = {
        "a", "\"", "\\", "\n", "é", "😀", "long piece of text", "/"};
    std::string made;
    for (std::size_t i = below(6); i > 0; --i) made += kPieces[below(kPieces.size())];
    return made;
  }
  void value(std::string& out, std::string& minified, int depth) {
    const std::size_t kind = below(depth > 4 ? 3 : 6);
    space(out);
    if (kind < 3) {
      const std::string scalar =
          kind == 0   ? std::to_string(static_cast<std::int64_t>(random()))
          : kind == 1 ? json_string(text())
                      : std::string(std::vector{"true", "false", "null", "-1.5e3"}[below(4)]);
      out += scalar;
      minified += scalar;
    } else {
      const bool is_object = kind == 5;
      const std::size_t count = below(14);
      out += is_object ? '{' : '[';
      minified += is_object ? '{' : '[';
      for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) out += ',', minified += ',';
        if (is_object) {
          const std::string name = json_string(text() + std::to_string(i));
          space(out);
          out += name;
          space(out);
          out += ':';
          minified += name + ":";
        }
        value(out, minified, depth + 1);
      }
      out += is_object ? '}' : ']';
      minified += is_object ? '}' : ']';
    }
    space(out);
  }
};

TEST(Json, RandomDocumentsMinifyToWhatTheyWereMadeOf) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Maker maker{std::mt19937(seed)};
  for (int i = 0; i < 300; ++i) {
    std::string text, minified;
    maker.value(text, minified, 0);
    auto document = parse_json(text);
    ASSERT_TRUE(document) << text << ": " << document.error().detail;
    ASSERT_EQ(document->root().minified(), minified);
    ASSERT_EQ(minify_json(minified), minified);
    // A text cut short is no document, unless what is left is a number or white space was cut.
    const std::string cut = minified.substr(0, maker.below(minified.size()));
    if (minified.front() == '{' || minified.front() == '[' || minified.front() == '"')
      ASSERT_EQ(refused(cut), Code::kMalformedJson);
  }
}

}  // namespace
}  // namespace reprise::wire
