#include "browser/command_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "browser/limits.h"
#include "wire/json.h"

namespace reprise::browser {
namespace {

const model::Redactor& redactor() {
  static const model::Redactor made;
  return made;
}

CommandLog said(std::string text) {
  CommandLog log;
  log.part.console.push_back(
      {.level = "info", .text = std::move(text), .place = "http://x/a.js:7"});
  return log;
}

JournalRequest asked(std::string url) {
  return {.method = "GET", .url = std::move(url), .kind = "fetch", .type = {}, .error = {}};
}

TEST(CommandLog, IsReadAsItWasSaidAndAsked) {
  CommandLog log = said("hello \"you\"");
  log.part.requests.push_back(asked("http://x/a?page=2"));
  log.part.requests.push_back({.method = "POST",
                               .url = "http://x/b",
                               .kind = "xhr",
                               .status = 201,
                               .type = "text/html",
                               .error = "net::ERR_ABORTED",
                               .duration = Millis{12}});
  log.part.lost_requests = 3;
  EXPECT_EQ(
      command_log_json(log, redactor()),
      R"({"console":[{"level":"info","text":"hello \"you\"","place":"http://x/a.js:7"}],)"
      R"("consoleOmitted":0,"requests":[{"method":"GET","url":"http://x/a?page=2","kind":"fetch",)"
      R"("status":null,"type":null,"error":null,"durationMs":null},{"method":"POST",)"
      R"("url":"http://x/b","kind":"xhr","status":201,"type":"text/html",)"
      R"("error":"net::ERR_ABORTED","durationMs":12}],"requestsOmitted":3})");
}

TEST(CommandLog, HoldsNoSecretsWhereverTheyStand) {
  CommandLog log = said("logging in with password=hunter2");
  log.part.console.front().place = "http://x/a.js?access_token=hunter2:7";
  log.part.requests.push_back(asked("http://u:hunter2@x/?q=shoes&api_key=hunter2&page=2"));
  log.part.requests.push_back(asked("http://x/#access_token=hunter2"));
  const std::string json = command_log_json(log, redactor());
  EXPECT_EQ(json.find("hunter2"), std::string::npos) << json;
  EXPECT_NE(json.find("q=shoes"), std::string::npos) << json;
  EXPECT_NE(json.find("page=2"), std::string::npos) << json;
}

TEST(CommandLog, TellsNothingThatMayHoldWhatWasTypedAndNobodyMayRead) {
  CommandLog log = said("so far it is tr0u");
  log.part.console.front().place = "http://x:80/tr0u/a.js?q=tr0u:7";
  log.part.requests.push_back(asked("https://x/check/tr0u%204?q=tr0u"));
  log.part.requests.push_back(asked("https://x?tr0u"));
  log.part.requests.push_back(asked("data:text/plain,tr0u"));
  log.part.requests.push_back(asked("tr0u"));
  log.hides_text = true;
  const std::string json = command_log_json(log, redactor());
  EXPECT_EQ(json.find("tr0u"), std::string::npos) << json;
  for (const std::string_view kept :
       {R"("level":"info","text":"[redacted]","place":"http://x:80[redacted]")",
        R"("url":"https://x[redacted]","kind":"fetch")", R"("url":"data:[redacted]")",
        R"("url":"[redacted]")"})
    EXPECT_NE(json.find(kept), std::string::npos) << kept << " in " << json;
}

TEST(CommandLog, LongTextsAreCutAfterTheirSecretsAreGone) {
  const std::string before(kMaxLoggedTextBytes - 12, 'x');
  const std::string json =
      command_log_json(said(before + " Bearer abcdefghijklmnopqr"), redactor());
  EXPECT_EQ(json.find("abc"), std::string::npos) << json;
  const std::string whole(kMaxLoggedTextBytes, 'y');
  EXPECT_NE(command_log_json(said(whole), redactor()).find(whole + '"'), std::string::npos);
  EXPECT_EQ(command_log_json(said(whole + 'y'), redactor()).find(whole), std::string::npos);
  CommandLog log;
  log.part.requests.push_back(asked("data:text/html," + std::string(500, 'z')));
  EXPECT_LT(command_log_json(log, redactor()).size(), 400U);
}

TEST(CommandLog, KeepsTheNewestOfMoreThanThereIsRoomFor) {
  CommandLog log;
  constexpr std::size_t kMany = 500;
  for (std::size_t i = 0; i < kMany; ++i) {
    log.part.console.push_back(
        {.level = "info", .text = fmt::format("{} {}", i, std::string(500, 'm')), .place = ""});
    log.part.requests.push_back(asked(fmt::format("http://x/{}/{}", i, std::string(500, 'u'))));
  }
  log.part.lost_messages = 7;
  const std::string json = command_log_json(log, redactor());
  EXPECT_LE(json.size(), kMaxCommandLogBytes + 100);
  EXPECT_GE(json.size(), kMaxCommandLogBytes * 9 / 10);
  const auto document = wire::parse_json(json);
  ASSERT_TRUE(document);
  const auto console = document->root().find("console")->elements();
  EXPECT_TRUE(console.back().find("text")->as_string()->starts_with("499 "));
  EXPECT_EQ(document->root().find("consoleOmitted")->as_double(),
            static_cast<double>(kMany - console.size() + 7));
  const auto requests = document->root().find("requests")->elements();
  EXPECT_EQ(document->root().find("requestsOmitted")->as_double(),
            static_cast<double>(kMany - requests.size()));
}

}  // namespace
}  // namespace reprise::browser
