#include "browser/chromium/traffic.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/json_text.h"
#include "browser/limits.h"

namespace reprise::browser::chromium {
namespace {

void tell(Traffic& traffic, std::string_view method, const std::string& params) {
  const auto document = wire::parse_json(params);
  ASSERT_TRUE(document) << params;
  EXPECT_TRUE(traffic.take(method, document->root()));
}

std::string request(std::string_view id, std::string_view type, std::string_view url = "http://x/",
                    std::string_view more = "") {
  return fmt::format(
      R"({{"requestId":"{}","type":"{}","request":{{"method":"GET","url":{},"headers":{{}}{}}}}})",
      id, type, json_string(url), more);
}

TEST(Traffic, WhatIsWaitedForIsCountedUntilItIsOver) {
  Traffic traffic;
  tell(traffic, "Network.requestWillBeSent", request("1", "Fetch"));
  tell(traffic, "Network.requestWillBeSent", request("2", "Image"));
  EXPECT_EQ(traffic.started(), 1U) << "nobody waits for pictures";
  EXPECT_EQ(traffic.in_flight_since(0), 1U);
  EXPECT_EQ(traffic.in_flight_since(1), 0U) << "it began before";
  tell(traffic, "Network.responseReceived",
       R"({"requestId":"1","response":{"status":404,"mimeType":"text/html","headers":{"a":"b"}}})");
  EXPECT_EQ(traffic.in_flight_since(0), 1U);
  tell(traffic, "Network.loadingFinished", R"({"requestId":"1"})");
  EXPECT_EQ(traffic.in_flight_since(0), 0U);
  EXPECT_EQ(traffic.requests().front().status, 404);
  EXPECT_TRUE(traffic.requests().front().is_done);
  tell(traffic, "Network.loadingFailed", R"({"requestId":"2","errorText":"net::ERR_FAILED"})");
  EXPECT_EQ(traffic.requests().back().error, "net::ERR_FAILED");
}

TEST(Traffic, ARedirectIsTwoRequests) {
  Traffic traffic;
  tell(traffic, "Network.requestWillBeSent", request("1", "Document", "http://x/a"));
  tell(traffic, "Network.requestWillBeSent",
       R"({"requestId":"1","type":"Document","redirectResponse":{"status":302,"headers":{}},)"
       R"("request":{"method":"GET","url":"http://x/b","headers":{}}})");
  ASSERT_EQ(traffic.requests().size(), 2U);
  EXPECT_EQ(traffic.requests()[0].status, 302);
  EXPECT_EQ(traffic.in_flight_since(0), 1U);
  tell(traffic, "Network.responseReceived",
       R"({"requestId":"1","response":{"status":200,"mimeType":"a/b","headers":{}}})");
  EXPECT_EQ(traffic.document_status("1"), 200);
  EXPECT_EQ(traffic.document_status("other"), 0);
}

TEST(Traffic, TheConsoleIsReadAsPeopleWould) {
  Traffic traffic;
  tell(traffic, "Runtime.consoleAPICalled",
       R"({"type":"warning","args":[{"type":"string","value":"a"},{"type":"number","value":1},)"
       R"({"type":"object","description":"Object"},{"type":"undefined"}],)"
       R"("stackTrace":{"callFrames":[{"url":"http://x/s.js","lineNumber":6}]}})");
  tell(traffic, "Runtime.exceptionThrown",
       R"({"exceptionDetails":{"url":"u","lineNumber":1,"text":"Uncaught",)"
       R"("exception":{"description":"Error: no"}}})");
  tell(traffic, "Log.entryAdded", R"({"entry":{"level":"error","text":"404","url":"u"}})");
  ASSERT_EQ(traffic.console().size(), 3U);
  EXPECT_EQ(traffic.console()[0].text, "a 1 Object undefined");
  EXPECT_EQ(traffic.console()[0].level, "warning");
  EXPECT_EQ(traffic.console()[0].place, "http://x/s.js:7");
  EXPECT_EQ(traffic.console()[1].text, "Error: no");
  EXPECT_EQ(traffic.console()[2].level, "error");
}

TEST(Traffic, ANewDocumentKeepsOnlyWhatIsUnderWay) {
  Traffic traffic;
  tell(traffic, "Network.requestWillBeSent", request("1", "Fetch"));
  tell(traffic, "Network.loadingFinished", R"({"requestId":"1"})");
  tell(traffic, "Network.requestWillBeSent", request("2", "Document"));
  tell(traffic, "Runtime.consoleAPICalled", R"({"type":"log","args":[]})");
  traffic.begin_document();
  ASSERT_EQ(traffic.requests().size(), 1U);
  EXPECT_EQ(traffic.requests().front().id, "2");
  EXPECT_TRUE(traffic.console().empty());
  traffic.give_up();
  EXPECT_EQ(traffic.in_flight_since(0), 0U);
}

TEST(Traffic, TheJournalGoesOnOverDocuments) {
  Traffic traffic;
  tell(traffic, "Network.requestWillBeSent",
       R"({"requestId":"1","type":"Fetch","timestamp":5.5,)"
       R"("request":{"method":"PUT","url":"http://x/a","headers":{"a":"b"}}})");
  tell(traffic, "Network.requestWillBeSent",
       R"({"requestId":"1","type":"Fetch","timestamp":6,"redirectResponse":{"status":307,)"
       R"("mimeType":"m","headers":{}},)"
       R"("request":{"method":"PUT","url":"http://x/b","headers":{}}})");
  tell(traffic, "Network.responseReceived",
       R"({"requestId":"1","response":{"status":500,"mimeType":"a/b","headers":{}}})");
  tell(traffic, "Network.loadingFinished", R"({"requestId":"1","timestamp":6.125})");
  tell(traffic, "Runtime.consoleAPICalled",
       R"({"type":"log","args":[{"type":"string","value":"bye"}]})");
  traffic.begin_document();
  EXPECT_TRUE(traffic.requests().empty());
  const PageJournal& journal = traffic.journal();
  const JournalPart part = journal.between({}, journal.mark());
  ASSERT_EQ(part.requests.size(), 2U);
  EXPECT_EQ(part.requests[0].status, 307);
  EXPECT_EQ(part.requests[0].duration, Millis{500});
  EXPECT_EQ(part.requests[1].method, "PUT");
  EXPECT_EQ(part.requests[1].url, "http://x/b");
  EXPECT_EQ(part.requests[1].kind, "fetch");
  EXPECT_EQ(part.requests[1].status, 500);
  EXPECT_EQ(part.requests[1].type, "a/b");
  EXPECT_EQ(part.requests[1].duration, Millis{125});
  ASSERT_EQ(part.console.size(), 1U);
  EXPECT_EQ(part.console.front().text, "bye");
}

TEST(Traffic, APageThatTalksAndLoadsWithoutEndIsRememberedUpToALimit) {
  Traffic traffic;
  for (std::size_t i = 0; i < kMaxKeptRequests + 5; ++i)
    tell(traffic, "Network.requestWillBeSent", request(std::to_string(i), "Fetch"));
  EXPECT_EQ(traffic.requests().size(), kMaxKeptRequests);
  EXPECT_EQ(traffic.in_flight_since(0), kMaxKeptRequests);
  for (std::size_t i = 0; i <= kMaxConsoleMessages; ++i)
    tell(traffic, "Runtime.consoleAPICalled",
         fmt::format(R"({{"type":"log","args":[{{"type":"number","value":{}}}]}})", i));
  EXPECT_LE(traffic.console().size(), kMaxConsoleMessages);
  EXPECT_EQ(traffic.console().back().text, fmt::to_string(kMaxConsoleMessages));
}

TEST(Traffic, LongTextsAreCutBetweenCharacters) {
  Traffic traffic;
  std::string url = "http://x/" + std::string(kMaxKeptUrlBytes, 'a');
  const std::string post =
      fmt::format(R"(,"postData":{})", json_string(std::string(kMaxKeptPostBytes + 1, 'p')));
  tell(traffic, "Network.requestWillBeSent", request("1", "Fetch", url, post));
  EXPECT_EQ(traffic.requests().front().url.size(), kMaxKeptUrlBytes + std::string("…").size());
  EXPECT_EQ(traffic.requests().front().post_data.size(),
            kMaxKeptPostBytes + std::string("…").size());
  const std::string headers = fmt::format(R"({{"a":"{}"}})", std::string(kMaxKeptHeaderBytes, 'h'));
  tell(traffic, "Network.responseReceived",
       fmt::format(R"({{"requestId":"1","response":{{"status":200,"mimeType":"t","headers":{}}}}})",
                   headers));
  EXPECT_EQ(traffic.requests().front().response_headers, "{}") << "too long to keep";
  std::string said;
  for (std::size_t i = 0; i < kMaxConsoleTextBytes; ++i) said += "ü";
  tell(traffic, "Runtime.consoleAPICalled",
       fmt::format(R"({{"type":"log","args":[{{"type":"string","value":{}}}]}})",
                   json_string(said)));
  EXPECT_LE(traffic.console().back().text.size(), kMaxConsoleTextBytes + std::string("…").size());
  EXPECT_TRUE(wire::is_utf8(traffic.console().back().text));
}

}  // namespace
}  // namespace reprise::browser::chromium
