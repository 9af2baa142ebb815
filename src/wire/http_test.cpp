#include "wire/http.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/limits.h"

namespace reprise::wire {
namespace {

const std::string kHost = "Host: a\r\n";

std::string show(const Request& request) {
  std::string text = request.method_name + " " + request.target + " 1." +
                     std::to_string(request.minor_version) +
                     (request.keep_alive ? " keep\n" : " close\n");
  for (const Header& header : request.headers)
    text += fmt::format("{}={}\n", header.name, header.value);
  return text + "[" + request.body + "]\n";
}

// Feeds the pieces one after the other, as a connection would, and tells what came of it.
std::string outcome(const std::vector<std::string_view>& pieces, ParserLimits limits = {}) {
  RequestParser parser(limits);
  std::string text;
  for (std::string_view piece : pieces) {
    while (!piece.empty()) {
      const auto used = parser.feed(piece);
      if (!used) return text + std::string(error_row(used.error().code).name);
      piece.remove_prefix(*used);
      if (parser.wants_continue()) text += "100\n";
      if (parser.is_complete()) text += show(parser.take());
    }
  }
  return text + (parser.has_started() ? "unfinished" : "");
}

Code refused(std::string_view bytes, ParserLimits limits = {}) {
  RequestParser parser(limits);
  const auto used = parser.feed(bytes);
  if (used) {
    ADD_FAILURE() << "accepted: " << bytes.substr(0, 300);
    return Code::kInternal;
  }
  const auto again = parser.feed("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_FALSE(again) << "a refusal must last";
  return used.error().code;
}

Request parsed(std::string_view bytes) {
  RequestParser parser;
  const auto used = parser.feed(bytes);
  EXPECT_TRUE(used) << used.error().detail;
  EXPECT_EQ(used.value_or(0), bytes.size());
  EXPECT_TRUE(parser.is_complete());
  return parser.is_complete() ? parser.take() : Request{};
}

const std::vector<std::string> kRequests = {
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "\r\nPOST /v1/sessions?x=%20 HTTP/1.1\r\nHost: a:8080\r\nX-Empty:\r\nX-Tab: \t b\tc "
    "\r\nContent-Length: 5\r\n\r\nhello",
    "PUT /c HTTP/1.1\r\nHOST: a\r\nTransfer-Encoding: "
    "Chunked\r\n\r\n5;x=\"y\"\r\nhello\r\n0A\r\n0123456789\r\n0\r\nTrailer: dropped\r\n\r\n",
    "DELETE /d HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "POST /e HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: "
    "close\r\n\r\nok",
};

TEST(HttpRequest, ReadsMethodTargetHeadersAndBody) {
  const Request request = parsed(kRequests[1]);
  EXPECT_EQ(request.method, Method::kPost);
  EXPECT_EQ(request.target, "/v1/sessions?x=%20");
  EXPECT_EQ(request.body, "hello");
  EXPECT_EQ(request.headers.get("host"), "a:8080");
  EXPECT_EQ(request.headers.get("x-empty"), "");
  EXPECT_EQ(request.headers.get("x-tab"), "b\tc");
  EXPECT_EQ(request.headers.get("none"), std::nullopt);
  EXPECT_TRUE(request.keep_alive);
}

TEST(HttpRequest, JoinsChunksAndDropsTrailers) {
  const Request request = parsed(kRequests[2]);
  EXPECT_EQ(request.body, "hello0123456789");
  EXPECT_EQ(request.headers.get("trailer"), std::nullopt);
}

TEST(HttpRequest, EverySplitIntoTwoFeedsGivesTheSame) {
  std::string all;
  for (const std::string& request : kRequests) {
    const std::string whole = outcome({request});
    all += whole;
    for (std::size_t at = 0; at <= request.size(); ++at)
      ASSERT_EQ(
          outcome({std::string_view(request).substr(0, at), std::string_view(request).substr(at)}),
          whole)
          << "split at " << at;
  }
  std::string pipelined;
  for (const std::string& request : kRequests) pipelined += request;
  EXPECT_EQ(outcome({pipelined}), all);
  for (std::size_t at = 0; at <= pipelined.size(); ++at)
    ASSERT_EQ(outcome({std::string_view(pipelined).substr(0, at),
                       std::string_view(pipelined).substr(at)}),
              all);
}

TEST(HttpRequest, StopsBehindARequestAndLeavesTheNext) {
  RequestParser parser;
  const std::string two = kRequests[0] + kRequests[0];
  EXPECT_FALSE(parser.has_started());
  EXPECT_EQ(parser.feed(two).value(), kRequests[0].size());
  EXPECT_TRUE(parser.has_started());
  EXPECT_EQ(parser.feed("more").value(), 0U);
  parser.take();
  EXPECT_FALSE(parser.has_started());
  EXPECT_FALSE(parser.is_complete());
  EXPECT_EQ(parser.feed(std::string_view(two).substr(kRequests[0].size())).value(),
            kRequests[0].size());
  EXPECT_TRUE(parser.is_complete());
}

TEST(HttpRequest, StopsForContinueOnce) {
  RequestParser parser;
  const std::string& request = kRequests[4];
  EXPECT_EQ(parser.feed(request).value(), request.size() - 2);
  EXPECT_TRUE(parser.is_header_complete());
  EXPECT_FALSE(parser.is_complete());
  EXPECT_EQ(parser.partial().target, "/e");
  EXPECT_TRUE(parser.wants_continue());
  EXPECT_FALSE(parser.wants_continue());
  EXPECT_EQ(parser.feed("ok").value(), 2U);
  EXPECT_EQ(parser.take().body, "ok");
}

TEST(HttpRequest, ExpectsNothingWithoutABodyOrInHttp10) {
  EXPECT_EQ(parsed("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n").body, "");
  EXPECT_EQ(parsed("POST / HTTP/1.0\r\nExpect: x\r\nContent-Length: 1\r\n\r\nb").body, "b");
  EXPECT_EQ(refused("GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n"), Code::kExpectationFailed);
}

TEST(HttpRequest, KeepsAliveAsAsked) {
  EXPECT_TRUE(parsed("GET / HTTP/1.1\r\nHost: a\r\n\r\n").keep_alive);
  EXPECT_FALSE(parsed("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n").keep_alive);
  EXPECT_FALSE(parsed("GET / HTTP/1.0\r\n\r\n").keep_alive);
  EXPECT_TRUE(parsed("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").keep_alive);
  EXPECT_FALSE(parsed("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n").keep_alive);
}

TEST(HttpRequest, KnowsMethodsAndTakesUnknownOnes) {
  EXPECT_EQ(parsed("PATCH / HTTP/1.1\r\nHost: a\r\n\r\n").method, Method::kPatch);
  for (const char* name : {"BREW", "PROPFIND", "SOURCE", "get", "DESCRIBE"}) {
    const Request request = parsed(std::string(name) + " / HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(request.method, Method::kOther);
    EXPECT_EQ(request.method_name, name);
  }
}

TEST(HttpRequest, AnUpgradeIsAPlainRequest) {
  const std::string upgrade =
      "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  EXPECT_EQ(outcome({upgrade + kRequests[0]}), show(parsed(upgrade)) + show(parsed(kRequests[0])));
}

TEST(HttpRequest, RefusesWhatCouldSmuggleARequest) {
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n";
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";
  const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
  for (const std::string& bytes : std::vector<std::string>{
           post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
           post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
           post + "Content-Length: 5, 5\r\n\r\nhello",
           post + "Content-Length: +5\r\n\r\nhello",
           post + "Content-Length: -1\r\n\r\nhello",
           post + "Content-Length: 0x5\r\n\r\nhello",
           post + "Content-Length: 5 5\r\n\r\nhello",
           post + "Content-Length:\r\n\r\nhello",
           post + "Content-Length: 99999999999999999999999\r\n\r\n",
           post + "Content-Length : 5\r\n\r\nhello",
           post + " Content-Length: 5\r\n\r\nhello",
           post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding: identity\r\n\r\n",
           post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding:\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding:\x0b"
                  "chunked\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
           post + "Transfer_Encoding\r\n: chunked\r\n\r\n",
           "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           get + "X: a\r\n folded\r\n\r\n",
           get + "X: a\r\n\tfolded\r\n\r\n",
           get + "X: a\n\r\n",
           get + "X: a\rTransfer-Encoding: chunked\r\n\r\n",
           get + "X:\rContent-Length: 5\r\n\r\nhello",
           get + "X: a\r\r\n\r\n",
           get + "\n",
           get + "\r\r\n",
           get + std::string("X: a\0b\r\n\r\n", 10),
           get + "X: a\x01\r\n\r\n",
           get + "X: a\x7f\r\n\r\n",
           get + "X\x80: a\r\n\r\n",
           get + ": a\r\n\r\n",
           get + "X\r\n\r\n",
           get + "X Y: a\r\n\r\n",
           get + "X(: a\r\n\r\n",
           get + "Host: a\r\n\r\n",
           get + "host: b\r\n\r\n",
           "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n",
           "GET / HTTP/1.1\r\n\r\n",
           "GET / HTTP/1.1\r\nX: y\r\n\r\n",
           chunked + "5\nhello\r\n0\r\n\r\n",
           chunked + "5\rXhello\r\n0\r\n\r\n",
           chunked + "5\r\nhello0\r\n\r\n",
           chunked + "5\r\nhello\n0\r\n\r\n",
           chunked + "5\r\nhelloXX0\r\n\r\n",
           chunked + "5\r\nhello\r\r\n0\r\n\r\n",
           chunked + "0x5\r\nhello\r\n0\r\n\r\n",
           chunked + "+5\r\nhello\r\n0\r\n\r\n",
           chunked + "-5\r\nhello\r\n0\r\n\r\n",
           chunked + " 5\r\nhello\r\n0\r\n\r\n",
           chunked + "5 \r\nhello\r\n0\r\n\r\n",
           chunked + "\r\nhello\r\n0\r\n\r\n",
           chunked + ";x\r\n",
           chunked + "5;a\nhello\r\n0\r\n\r\n",
           chunked + "fffffffffffffffff\r\n",
           chunked + "0\r\nX: y\n\r\n",
           chunked + "0\r\n X: y\r\n\r\n",
           chunked + "0\r\nX y\r\n\r\n",
       })
    EXPECT_EQ(refused(bytes), Code::kMalformedHttp) << bytes;
}

TEST(HttpRequest, RefusesMalformedRequestLines) {
  for (const std::string line :
       {"GET /", "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET / a HTTP/1.1", "GET / HTTP/1.1 ",
        " GET / HTTP/1.1", "GET\t/ HTTP/1.1", "G<T / HTTP/1.1", "GET / http/1.1", "GET / HTTP/11",
        "GET / HTTP/1.1x", "GET / ICE/1.0", "GET / RTSP/1.0", "GET /\xc3\xa9 HTTP/1.1",
        "CONNECT a:443 HTTP/1.1", "GET HTTP/1.1", "HTTP/1.1 200 OK",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKL / HTTP/1.1"})
    EXPECT_EQ(refused(line + "\r\n" + kHost + "\r\n"), Code::kMalformedHttp) << line;
  EXPECT_EQ(refused("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), Code::kMalformedHttp);
  EXPECT_EQ(refused("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), Code::kMalformedHttp);
}

TEST(HttpRequest, RefusesTlsAndLoneCrsAtOnce) {
  EXPECT_EQ(refused("\r\r"), Code::kMalformedHttp);
  EXPECT_EQ(refused("\r\n\r"), Code::kMalformedHttp);
  EXPECT_EQ(refused(std::string_view("\x16", 1)), Code::kMalformedHttp);
  EXPECT_EQ(refused("\r\r"), Code::kMalformedHttp);
}

TEST(HttpRequest, RefusesOtherVersions) {
  for (const char* version : {"HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "HTTP/3.0"})
    EXPECT_EQ(refused("GET / " + std::string(version) + "\r\nHost: a\r\n\r\n"),
              Code::kUnsupportedVersion);
  EXPECT_EQ(refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Code::kUnsupportedVersion);
}

TEST(HttpRequest, LimitsAreReachedAndNotPassed) {
  const ParserLimits limits{
      .max_target_bytes = 10, .max_header_bytes = 100, .max_headers = 3, .max_body_bytes = 8};
  const auto head = [](std::size_t target) {
    return "GET /" + std::string(target - 1, 'a') + " HTTP/1.1\r\n" + kHost;
  };
  const auto accepted = [&](const std::string& bytes) {
    return outcome({bytes}, limits).ends_with("]\n");
  };
  EXPECT_TRUE(accepted(head(10) + "\r\n"));
  EXPECT_EQ(refused(head(11) + "\r\n", limits), Code::kTargetTooLong);
  EXPECT_EQ(refused("GET /" + std::string(60, 'a'), limits), Code::kTargetTooLong);
  EXPECT_TRUE(accepted(head(1) + "X: " + std::string(100 - head(1).size() - 7, 'x') + "\r\n\r\n"));
  EXPECT_EQ(
      refused(head(1) + "X: " + std::string(100 - head(1).size() - 6, 'x') + "\r\n\r\n", limits),
      Code::kHeaderTooLarge);
  EXPECT_EQ(refused(head(1) + "X: " + std::string(100, 'x'), limits), Code::kHeaderTooLarge);
  EXPECT_TRUE(accepted(head(1) + "A: 1\r\nB: 2\r\n\r\n"));
  EXPECT_EQ(refused(head(1) + "A: 1\r\nB: 2\r\nC: 3\r\n\r\n", limits), Code::kHeaderTooLarge);
  EXPECT_TRUE(accepted(head(1) + "Content-Length: 8\r\n\r\n12345678"));
  EXPECT_EQ(refused(head(1) + "Content-Length: 9\r\n\r\n", limits), Code::kBodyTooLarge);
  const std::string chunked = head(1) + "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_TRUE(accepted(chunked + "4\r\n1234\r\n4\r\n5678\r\n0\r\n\r\n"));
  EXPECT_EQ(refused(chunked + "4\r\n1234\r\n5\r\n56789\r\n0\r\n\r\n", limits), Code::kBodyTooLarge);
}

TEST(HttpRequest, ChunkExtensionsAndTrailersAreBounded) {
  const std::string chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(
      parsed(chunked + "1;" + std::string(kMaxChunkLineBytes - 4, 'e') + "\r\nx\r\n0\r\n\r\n").body,
      "x");
  EXPECT_EQ(
      refused(chunked + "1;" + std::string(kMaxChunkLineBytes - 3, 'e') + "\r\nx\r\n0\r\n\r\n"),
      Code::kMalformedHttp);
  EXPECT_EQ(refused(chunked + "1;" + std::string(300, 'e')), Code::kMalformedHttp);
  std::string many = chunked;
  for (std::size_t i = 0; i < kMaxChunkExtensionBytes / 256; ++i)
    many += "1;" + std::string(250, 'e') + "\r\nx\r\n";
  EXPECT_EQ(parsed(many + "0\r\n\r\n").body.size(), 64U);
  for (int i = 0; i < 4; ++i) many += "1;" + std::string(250, 'e') + "\r\nx\r\n";
  EXPECT_EQ(refused(many), Code::kMalformedHttp);
  EXPECT_EQ(parsed(chunked + "0\r\nX: " + std::string(kMaxTrailerBytes - 7, 't') + "\r\n\r\n").body,
            "");
  EXPECT_EQ(refused(chunked + "0\r\nX: " + std::string(kMaxTrailerBytes - 4, 't') + "\r\n\r\n"),
            Code::kHeaderTooLarge);
}

// What came of a response: "status[body]" or the name of the error; "…" where it goes on.
std::string response(const std::vector<std::string_view>& pieces, bool is_head = false,
                     bool at_end = false, std::size_t max_body = 1000) {
  ResponseParser parser(is_head, max_body);
  for (const std::string_view piece : pieces)
    if (const auto fed = parser.feed(piece); !fed)
      return std::string(error_row(fed.error().code).name);
  if (at_end)
    if (const auto done = parser.finish(); !done)
      return std::string(error_row(done.error().code).name);
  if (!parser.is_header_complete()) return "…";
  return std::to_string(parser.status()) + "[" + parser.body() + "]" +
         (parser.is_complete() ? "" : "…");
}

TEST(HttpResponse, ReadsEveryFraming) {
  EXPECT_EQ(response({"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"}), "200[ok]");
  EXPECT_EQ(response({"HTTP/1.1 201\r\nContent-Length: 0\r\n\r\n"}), "201[]");
  EXPECT_EQ(response({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"}),
            "200[ok]");
  EXPECT_EQ(response({"HTTP/1.0 200 OK\r\n\r\nok"}), "200[ok]…");
  EXPECT_EQ(response({"HTTP/1.0 200 OK\r\n\r\nok"}, false, true), "200[ok]");
  EXPECT_EQ(response({"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"}, true), "200[]");
  EXPECT_EQ(response({"HTTP/1.1 204 No Content\r\n\r\n"}), "204[]");
  EXPECT_EQ(response({"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"}), "304[]");
  EXPECT_EQ(response({"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 200 "
                      "OK\r\nContent-Length: 1\r\n\r\nx"}),
            "200[x]");
  EXPECT_EQ(response({"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: "
                      "websocket\r\n\r\n\x81\x01x"}),
            "101[\x81\x01x]");
}

TEST(HttpResponse, EverySplitIntoTwoFeedsGivesTheSame) {
  const std::string bytes =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3;e\r\nabc\r\n2\r\nde\r\n0\r\nT: u\r\n\r\n";
  for (std::size_t at = 0; at <= bytes.size(); ++at)
    ASSERT_EQ(response({std::string_view(bytes).substr(0, at), std::string_view(bytes).substr(at)}),
              "200[abcde]");
}

TEST(HttpResponse, RefusesMalformedOnes) {
  for (const char* bytes :
       {"HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "\r\nHTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\n\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy", "HTTP/1.1 204 No\r\n\r\nx"})
    EXPECT_EQ(response({bytes}), "malformed_http") << bytes;
}

TEST(HttpResponse, AnEarlyEndIsTold) {
  for (const char* bytes :
       {"", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"})
    EXPECT_EQ(response({bytes}, false, true), "closed") << bytes;
}

TEST(HttpResponse, TheBodyHeldIsLimitedNotTheBodyRead) {
  EXPECT_EQ(response({"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n1234"}, false, false, 4),
            "200[1234]");
  EXPECT_EQ(response({"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345"}, false, false, 4),
            "body_too_large");
  EXPECT_EQ(response({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345"}, false,
                     false, 4),
            "body_too_large");
  ResponseParser parser(false, 4);
  ASSERT_TRUE(parser.feed("HTTP/1.1 200 OK\r\n\r\n"));
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(parser.feed("1234"));
    parser.body().clear();
  }
}

TEST(HttpResponse, HeadsAreLimited) {
  std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n";
  for (std::size_t i = 1; i < kMaxResponseHeaders; ++i) head += "A: b\r\n";
  EXPECT_EQ(response({head + "\r\n"}), "200[]");
  EXPECT_EQ(response({head + "A: b\r\n\r\n"}), "header_too_large");
  EXPECT_EQ(response({"HTTP/1.1 200 OK\r\nA: " + std::string(kMaxResponseHeadBytes, 'x')}),
            "header_too_large");
}

TEST(HttpResponse, WhatWeWriteIsReadBack) {
  Headers headers;
  headers.add("Content-Type", " text/plain ");
  std::string out;
  append_response_head(out, 200, headers, 2, true);
  EXPECT_EQ(out,
            "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\nconnection: "
            "keep-alive\r\n\r\n");
  EXPECT_EQ(response({out + "ok"}), "200[ok]");
  for (const ErrorRow& row : error_rows()) {
    std::string error;
    append_response_head(error, row.http_status, headers, 0, false);
    EXPECT_THAT(error, testing::HasSubstr("connection: close\r\n"));
    EXPECT_EQ(response({error}), std::to_string(row.http_status) + "[]");
    EXPECT_FALSE(reason_phrase(row.http_status).empty()) << row.http_status;
  }
  std::string interim;
  append_response_head(interim, 100, {}, std::nullopt, true);
  EXPECT_EQ(interim, "HTTP/1.1 100 Continue\r\n\r\n");
  std::string empty;
  append_response_head(empty, 204, {}, 0, true);
  EXPECT_EQ(empty, "HTTP/1.1 204 No Content\r\nconnection: keep-alive\r\n\r\n");
}

TEST(HttpResponse, WhoSendsUpgradeSaysSoInConnection) {
  Headers headers;
  headers.add("Upgrade", "websocket");
  std::string refused;
  append_response_head(refused, 426, headers, 0, false);
  EXPECT_THAT(refused, testing::HasSubstr("\r\nconnection: upgrade, close\r\n"));
  headers.add("Connection", "Upgrade");
  std::string switched;
  append_response_head(switched, 101, headers, std::nullopt, false);
  EXPECT_EQ(switched,
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: "
            "Upgrade\r\n\r\n");
}

TEST(HttpResponseDeathTest, AHeaderThatWouldSplitTheResponseIsOurBug) {
  Headers headers;
  headers.add("x", "a\r\nset-cookie: b");
  std::string out;
  EXPECT_DEATH(append_response_head(out, 200, headers, 0, true), "assertion failed");
  Headers names;
  names.add("x y", "a");
  EXPECT_DEATH(append_response_head(out, 200, names, 0, true), "assertion failed");
}

}  // namespace
}  // namespace reprise::wire
