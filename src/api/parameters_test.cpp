#include "api/parameters.h"

#include <gtest/gtest.h>

namespace reprise::api {
namespace {

http::Exchange asking(std::string_view target) {
  http::Exchange exchange;
  exchange.target = *wire::parse_target(target);
  return exchange;
}

std::optional<Code> refusal(std::string_view query) {
  const auto filter = filter_parameters(asking("/v1/sessions?" + std::string(query)));
  return filter ? std::nullopt : std::optional(filter.error().code);
}

TEST(Parameters, ASessionIsNamedByItsIdOrItsKey) {
  const auto id = parse_session_ref("0193315e-8f6a-7c21-9d6e-0b5f8f0e4a11");
  ASSERT_TRUE(id);
  EXPECT_TRUE(std::holds_alternative<SessionId>(*id));
  const auto key = parse_session_ref("slack:C01:thread-9");
  ASSERT_TRUE(key);
  EXPECT_EQ(std::get<model::SessionKey>(*key), (model::SessionKey{"slack", "C01:thread-9"}));
  EXPECT_EQ(std::get<model::SessionKey>(*parse_session_ref("bare")).app, "default");
  for (const char* bad : {"", ":name", "app:", ":"})
    EXPECT_EQ(parse_session_ref(bad).error().code, Code::kBadKey) << bad;
}

TEST(Parameters, ANumberIsDigitsWithinItsRange) {
  EXPECT_EQ(*parse_number("n", "0", 0, 9), 0U);
  EXPECT_EQ(*parse_number("n", "18446744073709551615", 0, UINT64_MAX), UINT64_MAX);
  for (const char* bad : {"", "-1", "+1", "1.0", " 1", "1 ", "0x1", "10", "18446744073709551616"})
    EXPECT_EQ(parse_number("n", bad, 0, 9).error().code, Code::kBadParameter) << bad;
  EXPECT_EQ(parse_number("n", "0", 1, 9).error().code, Code::kBadParameter);
  EXPECT_EQ(number_parameter(asking("/?n=1&n=1"), "n", 0, 9).error().code, Code::kBadParameter);
  EXPECT_FALSE(*number_parameter(asking("/"), "n", 0, 9));
}

TEST(Parameters, ABooleanIsTrueOrFalse) {
  EXPECT_EQ(**boolean_parameter(asking("/?b=true"), "b"), true);
  EXPECT_EQ(**boolean_parameter(asking("/?b=false"), "b"), false);
  for (const char* bad : {"/?b", "/?b=1", "/?b=TRUE"})
    EXPECT_EQ(boolean_parameter(asking(bad), "b").error().code, Code::kBadParameter) << bad;
}

TEST(Parameters, AFilterTakesStatusesInAnyVocabulary) {
  const auto statuses = [](std::string_view query) {
    return filter_parameters(asking("/?" + std::string(query)))->statuses;
  };
  using enum model::Status;
  EXPECT_EQ(statuses("status=ACTIVE,FAILED"), (std::vector{kActive, kFailed}));
  // A foreign word stands for every status it is a word of.
  EXPECT_EQ(statuses("status=ended&vocabulary=browser"), (std::vector{kCompleted, kCancelled}));
  EXPECT_EQ(statuses("status=suspended"), (std::vector{kPaused}));
  EXPECT_TRUE(statuses("app=a").empty());
  for (const char* bad : {"status=", "status=asleep", "status=ACTIVE,,FAILED", "status=,ACTIVE"})
    EXPECT_EQ(refusal(bad), Code::kBadParameter) << bad;
}

TEST(Parameters, AFilterRefusesWhatCanMatchNothingByMistake) {
  for (const char* bad : {"app=", "graphId=", "ownerAgent=", "waiting=maybe", "createdAfter=today",
                          "createdBefore=", "vocabulary=klingon&status=ACTIVE", "app=a&app=b"})
    EXPECT_EQ(refusal(bad), Code::kBadParameter) << bad;
  const auto filter = filter_parameters(asking(
      "/?app=a&graphId=g&ownerAgent=o&q=pre&waiting=true&createdAfter=2026-11-15T18:13:02.117Z"
      "&createdBefore=2026-11-16T00:00:00Z"));
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->app, "a");
  EXPECT_EQ(filter->name_starts_with, "pre");
  EXPECT_TRUE(filter->only_waiting);
  EXPECT_LT(filter->created_after->ms, filter->created_before->ms);
}

TEST(Parameters, AFilterShowsOnlyTheAppsOfTheCaller) {
  http::Exchange exchange = asking("/");
  exchange.principal.apps = std::vector<std::string>{"shop"};
  EXPECT_EQ(filter_parameters(exchange)->allowed_apps, exchange.principal.apps);
}

TEST(Parameters, IfMatchIsARevisionOrCannotMatch) {
  const auto with = [](const char* value) {
    http::Exchange exchange;
    exchange.request.headers.add("If-Match", value);
    return if_match(exchange);
  };
  EXPECT_FALSE(*if_match(http::Exchange{}));
  EXPECT_FALSE(*with("*"));
  EXPECT_EQ(**with("\"7\""), 7U);
  for (const char* other : {"W/\"7\"", "\"seven\"", "\"\"", "\"7x\""})
    EXPECT_EQ(with(other).error().code, Code::kPreconditionFailed) << other;
}

}  // namespace
}  // namespace reprise::api
