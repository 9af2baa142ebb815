#include "browser/proxy/proxy_request.h"

#include <gtest/gtest.h>

namespace reprise::browser {
namespace {

wire::Request parse(std::string_view text) {
  wire::RequestParser parser;
  const auto fed = parser.feed(text);
  EXPECT_TRUE(fed && parser.is_complete()) << text;
  return parser.take();
}

std::string passed_on(std::string_view headers, const NextHop& next = {}) {
  const wire::Request request =
      parse(fmt::format("GET http://a.example/b HTTP/1.1\r\nHost: c\r\n{}\r\n", headers));
  const auto asked = read_proxy_request(request);
  EXPECT_TRUE(asked.has_value());
  return head_for_server(request, *asked, BodyForm::kAsGiven, next);
}

const std::string kStart = "GET /b HTTP/1.1\r\nhost: a.example\r\n";

TEST(ProxyRequest, TakesTheHostFromTheUrlAlone) {
  EXPECT_EQ(passed_on(""), kStart + "\r\n");
  EXPECT_EQ(passed_on("", {.is_proxy = true, .authorization = "Basic x"}),
            "GET http://a.example/b HTTP/1.1\r\nhost: a.example\r\nproxy-authorization: Basic x"
            "\r\n\r\n");
}

TEST(ProxyRequest, FramingCannotBeTakenAway) {
  EXPECT_EQ(passed_on("Content-Length: 0\r\nConnection: content-length, host\r\n"),
            kStart + "content-length: 0\r\n\r\n");
  const wire::Request request =
      parse("POST http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
  const std::string head =
      head_for_server(request, *read_proxy_request(request), BodyForm::kChunked, {});
  EXPECT_TRUE(head.ends_with("transfer-encoding: chunked\r\n\r\n"));
  wire::Headers headers;
  headers.add("Content-Length", "5");
  headers.add("Connection", "content-length");
  headers.add("Transfer-Encoding", "gzip");
  EXPECT_EQ(head_for_client({200, "Fine", headers}, {}),
            "HTTP/1.1 200 Fine\r\ncontent-length: 5\r\nconnection: keep-alive\r\n\r\n");
}

TEST(ProxyRequest, OfHttp10NoExpectationIsPassedOn) {
  const wire::Request old =
      parse("POST http://a/ HTTP/1.0\r\nExpect: wonders\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(head_for_server(old, *read_proxy_request(old), BodyForm::kAsGiven, {}),
            "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n");
  EXPECT_EQ(passed_on("Expect: 100-continue\r\n"), kStart + "expect: 100-continue\r\n\r\n");
}

TEST(ProxyRequest, OnlyWebSocketIsAskedFor) {
  const auto wants = [](std::string_view method, std::string_view headers) {
    return read_proxy_request(
               parse(fmt::format("{} http://a/ HTTP/1.1\r\nHost: a\r\n{}\r\n", method, headers)))
        ->wants_websocket;
  };
  EXPECT_TRUE(wants("GET", "Connection: Upgrade\r\nUpgrade: websocket\r\n"));
  EXPECT_TRUE(wants("GET", "Connection: a,\tupgrade\r\nUpgrade: h2c, WebSocket\r\n"));
  EXPECT_FALSE(wants("GET", "Upgrade: websocket\r\n"));
  EXPECT_FALSE(wants("GET", "Connection: Upgrade\r\nUpgrade: h2c\r\n"));
  EXPECT_FALSE(wants("GET", "Connection: Upgraded\r\nUpgrade: websocket\r\n"));
  EXPECT_FALSE(wants("POST", "Connection: Upgrade\r\nUpgrade: websocket\r\n"));
}

TEST(ProxyRequest, ReportsAUrlWithoutItsSecrets) {
  const auto url = [](const std::string& target) {
    return read_proxy_request(parse("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n"))->url;
  };
  EXPECT_EQ(url("http://A.example:80/p?q=secret#x"), "http://a.example/p");
  EXPECT_EQ(url("http://a.example:8080"), "http://a.example:8080/");
  EXPECT_EQ(url("http://[::1]:81/p"), "http://[::1]:81/p");
  EXPECT_EQ(url("http://a/" + std::string(4000, 'x')).size(), 2048U);
}

TEST(ProxyRequest, NoPieceOfABodyEndsIt) {
  EXPECT_EQ(as_chunk(""), "");
  EXPECT_EQ(as_chunk(std::string(26, 'x')), "1a\r\n" + std::string(26, 'x') + "\r\n");
}

}  // namespace
}  // namespace reprise::browser
