// What proxies need of the parsers: CONNECT, interim responses, and whether a connection goes on.
#include <gtest/gtest.h>

#include "wire/http.h"
#include "wire/limits.h"

namespace reprise::wire {
namespace {

constexpr ParserLimits kProxy{.takes_connect = true};

TEST(HttpRequest, TakesConnectForProxies) {
  for (const char* target : {"example.com:443", "[::1]:8443", "127.0.0.1:1"}) {
    RequestParser parser(kProxy);
    const std::string head = fmt::format("CONNECT {} HTTP/1.1\r\nHost: {}\r\n\r\n", target, target);
    const auto used = parser.feed(head + "tunnelled");
    ASSERT_TRUE(used.has_value()) << target << ": " << used.error().detail;
    EXPECT_EQ(*used, head.size());
    ASSERT_TRUE(parser.is_complete());
    const Request request = parser.take();
    EXPECT_EQ(request.method_name, "CONNECT");
    EXPECT_EQ(request.method, Method::kOther);
    EXPECT_EQ(request.target, target);
    EXPECT_TRUE(request.body.empty());
  }
}

TEST(HttpRequest, ConnectHasNoBodyAndNoPath) {
  for (const char* text :
       {"CONNECT a:443 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n",
        "CONNECT a:443 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        "CONNECT a:443 HTTP/1.1\r\n\r\n"}) {
    RequestParser parser(kProxy);
    const auto fed = parser.feed(text);
    EXPECT_EQ(fed ? Code::kInternal : fed.error().code, Code::kMalformedHttp) << text;
  }
}

TEST(HttpRequest, AfterConnectWasTakenGetIsReadAsBefore) {
  RequestParser parser(kProxy);
  const std::string connect = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n";
  ASSERT_EQ(parser.feed(connect), connect.size());
  (void)parser.take();
  ASSERT_TRUE(parser.feed("GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n").has_value());
  EXPECT_EQ(parser.take().target, "http://a/b");
}

TEST(HttpResponse, TellsItsWordsAndWhetherTheConnectionGoesOn) {
  const auto read = [](std::string_view bytes) {
    ResponseParser parser;
    EXPECT_TRUE(parser.feed(bytes).has_value()) << bytes;
    return std::pair(parser.reason(), parser.keep_alive());
  };
  const auto said = [](const char* reason, bool goes_on) {
    return std::pair(std::string(reason), goes_on);
  };
  EXPECT_EQ(read("HTTP/1.1 200 All Right\r\nContent-Length: 0\r\n\r\n"), said("All Right", true));
  EXPECT_EQ(read("HTTP/1.1 204\r\n\r\n"), said("", true));
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
            said("OK", false));
  EXPECT_EQ(read("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"), said("OK", false));
  EXPECT_EQ(read("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"),
            said("OK", true));
  // It ends with the connection.
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\n\r\n"), said("OK", false));
}

TEST(HttpResponse, KeepsInterimResponsesForThoseWhoPassThemOn) {
  ResponseParser parser(ResponseOptions{.keeps_interim = true});
  ASSERT_TRUE(
      parser.feed("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n"
                  "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"));
  const auto first = parser.take_interim();
  const auto second = parser.take_interim();
  ASSERT_TRUE(first && second && !parser.take_interim());
  EXPECT_EQ(first->status, 100);
  EXPECT_EQ(second->status, 103);
  EXPECT_EQ(second->reason, "Early Hints");
  EXPECT_EQ(second->headers.get("link"), "<a>");
  EXPECT_EQ(parser.status(), 200);
  EXPECT_EQ(parser.body(), "hi");
}

TEST(HttpResponse, EndlessInterimResponsesAreRefused) {
  for (const bool keeps : {false, true}) {
    ResponseParser parser(ResponseOptions{.keeps_interim = keeps});
    for (std::size_t i = 0; i < kMaxInterimResponses; ++i)
      ASSERT_TRUE(parser.feed("HTTP/1.1 102 Processing\r\n\r\n"));
    const auto one_more = parser.feed("HTTP/1.1 102 Processing\r\n\r\n");
    EXPECT_EQ(one_more ? Code::kInternal : one_more.error().code, Code::kMalformedHttp);
  }
}

TEST(HttpResponse, BehindAGrantedConnectOtherBytesFollow) {
  ResponseParser granted(ResponseOptions{.is_connect_request = true});
  ASSERT_TRUE(granted.feed("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nabc"));
  EXPECT_TRUE(granted.is_complete());
  EXPECT_EQ(granted.body(), "abc");
  ResponseParser refused(ResponseOptions{.is_connect_request = true});
  ASSERT_TRUE(refused.feed("HTTP/1.1 407 No\r\nContent-Length: 3\r\n\r\nab"));
  EXPECT_FALSE(refused.is_complete());
  ASSERT_TRUE(refused.feed("c"));
  EXPECT_TRUE(refused.is_complete());
}

}  // namespace
}  // namespace reprise::wire
