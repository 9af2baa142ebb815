#include <gtest/gtest.h>

#include "model/decide.h"
#include "wire/json.h"
#include "wire/limits.h"

namespace reprise::model {
namespace {

std::string nested(std::size_t depth) {
  std::string text;
  for (std::size_t i = 1; i < depth; ++i) text += "{\"a\":";
  return text + "{}" + std::string(depth - 1, '}');
}

TEST(MergePatch, FollowsTheExamplesOfTheRfc) {
  // RFC 7396 appendix A, those between objects.
  struct Example {
    std::string_view target, patch, merged;
  };
  for (const Example& example : {
           Example{R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
           Example{R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
           Example{R"({"a":"b"})", R"({"a":null})", R"({})"},
           Example{R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
           Example{R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
           Example{R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
           Example{R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
           Example{R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
           Example{R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
           Example{R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
           Example{R"({"a":"foo"})", R"({"a":{"b":{"c":null,"d":1}}})", R"({"a":{"b":{"d":1}}})"},
       })
    EXPECT_EQ(merge_patch(example.target, example.patch).value(), example.merged) << example.patch;
}

TEST(MergePatch, FollowsTheExampleOfTheRfcsThirdSection) {
  const std::string_view target =
      R"({"title":"Goodbye!","author":{"givenName":"John","familyName":"Doe"},)"
      R"("tags":["example","sample"],"content":"This will be unchanged"})";
  const std::string_view patch =
      R"({"title":"Hello!","phoneNumber":"+01-123-456-7890","author":{"familyName":null},)"
      R"("tags":["example"]})";
  EXPECT_EQ(merge_patch(target, patch).value(),
            R"({"title":"Hello!","author":{"givenName":"John"},"tags":["example"],)"
            R"("content":"This will be unchanged","phoneNumber":"+01-123-456-7890"})");
}

TEST(MergePatch, NullsInsideArraysStay) {
  EXPECT_EQ(merge_patch("{}", R"({"a":[null,{"b":null}]})").value(), R"({"a":[null,{"b":null}]})");
}

TEST(MergePatch, WhatItLeavesAloneKeepsItsSpelling) {
  const std::string_view target =
      R"({"n":1.0e+2,"big":18446744073709551615,"s":"\u0041\/","o":{"x":0.10}})";
  EXPECT_EQ(merge_patch(target, "{}").value(), target);
  EXPECT_EQ(merge_patch(target, R"({"o":{"y":2.50}})").value(),
            R"({"n":1.0e+2,"big":18446744073709551615,"s":"\u0041\/","o":{"x":0.10,"y":2.50}})");
}

TEST(MergePatch, TheResultIsMinified) {
  EXPECT_EQ(merge_patch("{ \"a\" : [ 1 , 2 ] }", " { \"b\" : { \"c\" : \"x y\" } } ").value(),
            R"({"a":[1,2],"b":{"c":"x y"}})");
}

TEST(MergePatch, NamesAreComparedAsTheyReadNotAsTheyAreSpelt) {
  EXPECT_EQ(merge_patch(R"({"a":1,"b":2})", R"({"\u0061":null})").value(), R"({"b":2})");
  EXPECT_EQ(merge_patch(R"({"\u0061":1})", R"({"a":3})").value(), R"({"a":3})");
  EXPECT_EQ(merge_patch(R"({"":1,"\"\n":2})", R"({"":null})").value(), R"({"\"\n":2})");
}

TEST(MergePatch, OnlyObjectsAreMerged) {
  for (const std::string_view patch : {"[]", "1", "null", "\"x\""}) {
    const auto merged = merge_patch("{}", patch);
    ASSERT_FALSE(merged);
    EXPECT_EQ(merged.error().code, Code::kInvalid);
  }
  EXPECT_EQ(merge_patch("[]", "{}").error().code, Code::kInvalid);
  EXPECT_EQ(merge_patch("{}", "{").error().code, Code::kMalformedJson);
  EXPECT_EQ(merge_patch("{}", R"({"a":1,"a":2})").error().code, Code::kDuplicateMember);
}

TEST(MergePatch, TheDepthLimitBoundsIt) {
  const std::string deepest = nested(wire::kMaxJsonDepth);
  EXPECT_EQ(merge_patch(deepest, deepest).value(), deepest);
  EXPECT_EQ(merge_patch("{}", deepest).value(), deepest);
  EXPECT_FALSE(merge_patch("{}", nested(wire::kMaxJsonDepth + 1)));
}

TEST(MergePatch, LargeObjectsAreMergedInLinearTime) {
  // Ten thousand members each, all found: quadratic work would take minutes under the sanitizers.
  std::string target = "{";
  std::string patch = "{";
  for (int i = 0; i < 10'000; ++i) {
    target += fmt::format("{}\"key{}\":1", i == 0 ? "" : ",", i);
    patch += fmt::format("{}\"key{}\":null", i == 0 ? "" : ",", 9'999 - i);
  }
  EXPECT_EQ(merge_patch(target + "}", patch + "}").value(), "{}");
}

}  // namespace
}  // namespace reprise::model
