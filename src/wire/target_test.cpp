#include "wire/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "wire/json.h"

namespace reprise::wire {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Target, SplitsAndDecodes) {
  const auto target = parse_target("/v1/a%2Fb/%C3%A9+x?limit=2&q=a+b%2B&flag&empty=&=v&x=1=2");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/v1/a%2Fb/%C3%A9+x");
  EXPECT_THAT(target->segments, ElementsAre("v1", "a/b", "\xc3\xa9+x"));
  EXPECT_THAT(target->query, ElementsAre(Pair("limit", "2"), Pair("q", "a b+"), Pair("flag", ""),
                                         Pair("empty", ""), Pair("", "v"), Pair("x", "1=2")));
}

TEST(Target, KeepsEmptyAndDottedSegments) {
  EXPECT_THAT(parse_target("/")->segments, ElementsAre(""));
  EXPECT_THAT(parse_target("//a/")->segments, ElementsAre("", "a", ""));
  EXPECT_THAT(parse_target("/a/../%2e%2e/.")->segments, ElementsAre("a", "..", "..", "."));
}

TEST(Target, EmptyParametersAreSkipped) {
  EXPECT_TRUE(parse_target("/a?")->query.empty());
  EXPECT_THAT(parse_target("/a?&&b=1&")->query, ElementsAre(Pair("b", "1")));
  EXPECT_THAT(parse_target("/a?b=?/")->query, ElementsAre(Pair("b", "?/")));
}

TEST(Target, TheAbsoluteFormLosesItsAuthority) {
  EXPECT_EQ(parse_target("http://h:80/v1/x?y=1")->path, "/v1/x");
  EXPECT_EQ(parse_target("HTTPS://h/a")->path, "/a");
  EXPECT_EQ(parse_target("http://h")->path, "/");
  EXPECT_THAT(parse_target("http://h?a=1")->query, ElementsAre(Pair("a", "1")));
}

TEST(Target, RefusesEverythingElse) {
  for (const char* text :
       {"",        "*",    "a",      "a/b",       "h:443",   "ftp://h/", "http:///a", "http:/a",
        "://a",    "/a b", "/a#b",   "/\xc3\xa9", "/%",      "/%4",      "/%zz",      "/a%00",
        "/?a=%00", "/?%",  "/?a=%1", "/%ff",      "/?a=%c3", "/%C3/%A9", "/a\tb",     "/\x7f"}) {
    const auto target = parse_target(text);
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().code, Code::kBadRequest) << text;
  }
}

TEST(Target, WhatIsEncodedIsDecodedAgain) {
  EXPECT_EQ(percent_encode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encode("a/b c\xc3\xa9+"), "a%2Fb%20c%C3%A9%2B");
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 1000; ++round) {
    std::string text;
    for (std::size_t i = random() % 12; i > 0; --i) text.push_back(static_cast<char>(random()));
    const std::string encoded = percent_encode(text);
    const auto target = parse_target("/x/" + encoded + "?k=" + encoded);
    const bool is_fine = is_utf8(text) && text.find('\0') == std::string::npos;
    ASSERT_EQ(target.has_value(), is_fine) << encoded;
    if (!is_fine) continue;
    ASSERT_THAT(target->segments, ElementsAre("x", text));
    ASSERT_THAT(target->query, ElementsAre(Pair("k", text)));
  }
}

}  // namespace
}  // namespace reprise::wire
