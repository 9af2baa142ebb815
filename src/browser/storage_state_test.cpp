#include "browser/storage_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "browser/limits.h"

namespace reprise::browser {
namespace {

Result<StorageState> parse(std::string json) {
  const auto document = wire::parse_json(std::move(json)).value();
  return parse_storage_state(document.root(), "/s");
}

std::string pointer_of(const Result<StorageState>& state) {
  return state ? "fine" : state.error().fields.empty() ? "" : state.error().fields.front().pointer;
}

TEST(StorageState, IsReadAsPlaywrightWritesIt) {
  const auto state = parse(R"({"cookies":[{"name":"a","value":"b","domain":".example.com",
    "path":"/x","expires":1800000000.5,"httpOnly":true,"secure":true,"sameSite":"None",
    "partitionKey":"https://top.example","_crHasCrossSiteAncestor":true}],
    "origins":[{"origin":"https://example.com:8443","localStorage":[{"name":"k","value":"v"}]}]})");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->cookies.front().expires, 1800000000.5);
  EXPECT_EQ(state->cookies.front().partition_site, "https://top.example");
  EXPECT_EQ(state->origins.front().items.front().value, "v");
  EXPECT_EQ(parse(storage_state_json(*state)), *state);
}

TEST(StorageState, EmptyOneIsFine) {
  EXPECT_EQ(parse("{}"), StorageState());
  EXPECT_EQ(storage_state_json({}), R"({"cookies":[],"origins":[]})");
}

TEST(StorageState, SaysWhereItIsWrong) {
  EXPECT_EQ(pointer_of(parse("[]")), "/s");
  EXPECT_EQ(pointer_of(parse(R"({"cookies":{}})")), "/s/cookies");
  EXPECT_EQ(pointer_of(parse(R"({"cookies":[1]})")), "/s/cookies/0");
  EXPECT_EQ(pointer_of(parse(R"({"more":1})")), "/s/more");
  const auto cookie = [](std::string_view change) {
    return pointer_of(parse(fmt::format(
        R"({{"cookies":[{{"name":"a","value":"b","domain":"x.example",{}}}]}})", change)));
  };
  EXPECT_EQ(cookie(R"("path":"/")"), "fine");
  EXPECT_EQ(cookie(R"("path":"x")"), "/s/cookies/0/path");
  EXPECT_EQ(cookie(R"("expires":-2)"), "/s/cookies/0/expires");
  EXPECT_EQ(cookie(R"("sameSite":"no")"), "/s/cookies/0/sameSite");
  EXPECT_EQ(cookie(R"("url":"https://x.example")"), "/s/cookies/0/url");
  const auto origin = [](std::string_view name) {
    return pointer_of(parse(fmt::format(R"({{"origins":[{{"origin":"{}"}}]}})", name)));
  };
  EXPECT_EQ(origin("https://example.com"), "fine");
  EXPECT_EQ(origin("null"), "/s/origins/0/origin");
  EXPECT_EQ(origin("file:///etc"), "/s/origins/0/origin");
  EXPECT_EQ(pointer_of(parse(R"({"origins":[{"origin":"http://a"},{"origin":"http://a/"}]})")),
            "/s/origins/1/origin");
  EXPECT_EQ(pointer_of(parse(R"({"origins":[{"origin":"http://a","indexedDB":[]}]})")),
            "/s/origins/0/indexedDB");
}

TEST(StorageState, HasLimits) {
  const auto cookie = [](std::size_t bytes) {
    return pointer_of(parse(fmt::format(
        R"({{"cookies":[{{"name":"a","value":"{}","domain":"x"}}]}})", std::string(bytes, 'v'))));
  };
  EXPECT_EQ(cookie(kMaxCookieBytes - 1), "fine");
  EXPECT_EQ(cookie(kMaxCookieBytes), "/s/cookies/0/value");
  const auto many = [](std::string_view list, std::string_view element, std::size_t count) {
    std::string json = fmt::format(R"({{"{}":[)", list);
    for (std::size_t i = 0; i < count; ++i)
      json += (i == 0 ? "" : ",") + fmt::format(fmt::runtime(element), i);
    return pointer_of(parse(json + "]}"));
  };
  constexpr std::string_view kCookie = R"({{"name":"n{}","value":"","domain":"x"}})";
  EXPECT_EQ(many("cookies", kCookie, kMaxStateCookies), "fine");
  EXPECT_EQ(many("cookies", kCookie, kMaxStateCookies + 1), "/s/cookies");
  constexpr std::string_view kOrigin = R"({{"origin":"http://h{}"}})";
  EXPECT_EQ(many("origins", kOrigin, kMaxStateOrigins), "fine");
  EXPECT_EQ(many("origins", kOrigin, kMaxStateOrigins + 1), "/s/origins");
  const auto items = [](std::size_t count) {
    std::string json = R"({"origins":[{"origin":"http://a","localStorage":[)";
    for (std::size_t i = 0; i < count; ++i)
      json += (i == 0 ? "" : ",") + fmt::format(R"({{"name":"{}","value":""}})", i);
    return pointer_of(parse(json + "]}]}"));
  };
  EXPECT_EQ(items(kMaxStateItems), "fine");
  EXPECT_EQ(items(kMaxStateItems + 1), "/s/origins/0/localStorage");
  const std::string long_name(kMaxStateOriginBytes, 'a');
  EXPECT_EQ(
      pointer_of(parse(fmt::format(R"({{"origins":[{{"origin":"http://{}"}}]}})", long_name))),
      "/s/origins/0/origin");
  const std::string big = fmt::format(
      R"({{"origins":[{{"origin":"http://a","localStorage":[{{"name":"n","value":"{}"}}]}}]}})",
      std::string(kMaxStorageStateBytes, 'v'));
  EXPECT_EQ(parse(big).error().code, Code::kBodyTooLarge);
  // However much is wrong, so much is told.
  std::string wrong = R"({"cookies":[)";
  for (std::size_t i = 0; i <= kMaxStateErrors; ++i) wrong += i == 0 ? "1" : ",1";
  EXPECT_EQ(parse(wrong + "]}").error().fields.size(), kMaxStateErrors);
}

TEST(StorageState, LetsTheLargestOriginsGoWhereItDoesNotFit) {
  const auto origin = [](std::string name, std::size_t bytes) {
    return OriginStorage{.origin = std::move(name), .items = {{"k", std::string(bytes, 'v')}}};
  };
  StorageState state{
      .cookies = {{.name = "a", .domain = "x"}},
      .origins = {origin("http://a", 500), origin("http://b", 5'000), origin("http://c", 400)}};
  EXPECT_EQ(fit_storage_state(state, 100'000), 0U);
  EXPECT_EQ(fit_storage_state(state, 2'000), 1U);
  EXPECT_EQ(state.origins.size(), 2U);
  EXPECT_EQ(state.origins.back().origin, "http://c");
  EXPECT_EQ(state.cookies.size(), 1U);
}

TEST(StorageState, LargeOnesAreWrittenRarely) {
  EXPECT_LT(pause_after_state(1'000), std::chrono::milliseconds(10));
  EXPECT_EQ(pause_after_state(kStateBytesPerSecond), std::chrono::seconds(1));
  EXPECT_EQ(pause_after_state(kMaxStorageStateBytes), std::chrono::seconds(16));
}

TEST(StorageState, OriginsAreSpelledAsBrowsersSpellThem) {
  EXPECT_EQ(origin_of_url("HTTPS://Example.COM:443/a?b#c"), "https://example.com");
  EXPECT_EQ(origin_of_url("http://[::1]:8080/"), "http://[::1]:8080");
  EXPECT_EQ(origin_of_url("http://0x7f.1/"), "http://127.0.0.1");
  EXPECT_EQ(origin_of_url("about:blank"), "");
  EXPECT_EQ(origin_of_url("ws://example.com/"), "");
  EXPECT_EQ(origin_of_url(""), "");
}

}  // namespace
}  // namespace reprise::browser
