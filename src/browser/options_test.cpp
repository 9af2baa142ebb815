#include "browser/options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "browser/limits.h"

namespace reprise::browser {
namespace {

Result<BrowserOptions> parse(const std::string& json) {
  const auto document = wire::parse_json(json);
  EXPECT_TRUE(document) << json;
  return parse_browser_options(document->root());
}

TEST(BrowserOptions, AreKeptAsTheyWereGiven) {
  const std::string json =
      R"({"poolKey":"p","viewport":{"width":800,"height":600,"deviceScaleFactor":2},)"
      R"("offline":true,)"
      R"("restore":false,"capture":"failures","userAgent":"u","locale":"de-CH",)"
      R"("timezoneId":"Europe/Zurich",)"
      R"("geolocation":{"latitude":47.5,"longitude":8.5,"accuracy":3},)"
      R"("permissions":["geolocation"],"extraHTTPHeaders":{"X-A":"b"}})";
  const auto options = parse(json);
  ASSERT_TRUE(options) << options.error().detail;
  EXPECT_EQ(browser_options_json(*options), json);
  EXPECT_EQ(options->context.viewport.scale, 2);
  EXPECT_EQ(browser_options_json(*parse(browser_options_json({}))), browser_options_json({}));
}

TEST(BrowserOptions, WhatIsWrongIsToldWithItsPlace) {
  const auto wrong = parse(R"({"viewport":{"width":0,"depth":1},"capture":"x","colour":1})");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::kInvalid);
  std::vector<std::string> pointers;
  for (const FieldError& field : wrong.error().fields) pointers.push_back(field.pointer);
  EXPECT_EQ(pointers, (std::vector<std::string>{"/viewport/width", "/viewport/depth", "/capture",
                                                "/colour"}));
  for (const char* bad :
       {R"({"geolocation":{"latitude":1}})", R"({"permissions":"all"})", R"({"offline":1})",
        R"({"extraHTTPHeaders":{"a b":"c"}})", R"({"extraHTTPHeaders":[]})",
        R"({"browserType":"netscape"})", R"({"viewport":7})", R"({"userAgent":7})"})
    EXPECT_EQ(parse(bad).error().code, Code::kInvalid) << bad;
  EXPECT_EQ(parse(R"({"browserType":"firefox"})").error().code, Code::kUnsupportedBrowser);
  EXPECT_TRUE(parse(R"({"browserType":"chromium","locale":null})"));
}

TEST(BrowserOptions, KeepAProxyWithoutItsPassword) {
  const auto options =
      parse(R"({"proxy":{"server":"http://ada:secret@proxy.example:3128","bypass":" a.b , .c "},)"
            R"("acceptDownloads":false})");
  ASSERT_TRUE(options) << options.error().detail;
  EXPECT_EQ(options->proxy->password, "secret");
  const std::string json = browser_options_json(*options);
  EXPECT_EQ(json.find("secret"), std::string::npos) << json;
  const auto again = parse(json);
  ASSERT_TRUE(again) << json;
  EXPECT_EQ(browser_options_json(*again), json);
  EXPECT_EQ(again->proxy->user, "ada");
  EXPECT_FALSE(again->context.accepts_downloads);
  EXPECT_FALSE(are_same(*options, *again));
  EXPECT_TRUE(are_same(*options, *options));
  EXPECT_TRUE(parse(R"({"storageState":{"cookies":[]}})")->storage_state);
  EXPECT_EQ(browser_options_json(*parse(R"({"storageState":{}})")), browser_options_json({}));
}

TEST(BrowserOptions, HaveLimits) {
  EXPECT_TRUE(parse(fmt::format(R"({{"viewport":{{"width":{}}}}})", kMaxViewport)));
  EXPECT_FALSE(parse(fmt::format(R"({{"viewport":{{"width":{}}}}})", kMaxViewport + 1)));
  const auto headers = [](std::size_t bytes) {
    return fmt::format(R"({{"extraHTTPHeaders":{{"a":"{}"}}}})", std::string(bytes, 'x'));
  };
  const std::size_t around = std::string(R"({"a":""})").size();
  EXPECT_TRUE(parse(headers(kMaxExtraHeaderBytes - around)));
  EXPECT_FALSE(parse(headers(kMaxExtraHeaderBytes - around + 1)));
}

}  // namespace
}  // namespace reprise::browser
