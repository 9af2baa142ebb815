// The server as clients see it, over real sockets.
#include "http/server.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "http/limits.h"
#include "http/testing.h"
#include "wire/json.h"

namespace reprise::http {
namespace {

using testing::RawClient;
using testing::RawResponse;
using testing::request_text;
using testing::TestServer;

std::string code_of(const RawResponse& response) {
  const auto document = wire::parse_json(response.body);
  if (!document) return "no problem document: " + response.body;
  const auto code = document->root().find("code");
  return code ? code->as_string().value_or("") : "no code";
}

ServerOptions with_small_bodies() {
  ServerOptions options;
  options.parser.max_body_bytes = 1024;
  return options;
}

TEST(Server, KeepsAConnectionForManyRequests) {
  TestServer server;
  RawClient client(server.port());
  for (int i = 0; i < 100; ++i) {
    const std::string body = "body " + std::to_string(i);
    ASSERT_TRUE(client.send(request_text("POST", "/echo", "", body)));
    const RawResponse answer = client.response();
    ASSERT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, body);
    EXPECT_TRUE(answer.has("connection: keep-alive"));
    EXPECT_TRUE(answer.has("x-request-id: "));
    EXPECT_TRUE(answer.has("x-content-type-options: nosniff"));
  }
  EXPECT_EQ(server.probe.connections_accepted, 1U);
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  TestServer server;
  RawClient client(server.port());
  std::string all;
  for (int i = 0; i < 500; ++i) all += request_text("POST", "/echo", "", std::to_string(i));
  ASSERT_TRUE(client.send(all));
  for (int i = 0; i < 500; ++i) ASSERT_EQ(client.response().body, std::to_string(i));
}

TEST(Server, AnswersInOrderAlsoWhenTheFirstTakesLonger) {
  TestServer server;
  RawClient client(server.port());
  ASSERT_TRUE(
      client.send(request_text("GET", "/hold") + request_text("POST", "/echo", "", "next")));
  ASSERT_TRUE(server.eventually([&] { return server.holding == 1; }));
  server.release();
  EXPECT_EQ(client.response().body, "{\"held\":true}");
  EXPECT_EQ(client.response().body, "next");
}

TEST(Server, ReadsHeadersAndBodiesOfAnySizeInAnyPieces) {
  TestServer server;
  RawClient client(server.port());
  for (const std::size_t header : {kSmallReadBytes - 200, kSmallReadBytes, 3 * kSmallReadBytes})
    for (const std::size_t body : {std::size_t{1}, kSmallReadBytes, kLargeReadBytes - 1,
                                   kLargeReadBytes + 1, std::size_t{5 * 1024 * 1024}}) {
      const std::string bytes = rt::numbered_bytes(body);
      ASSERT_TRUE(client.send(
          request_text("POST", "/echo", "X-Long: " + std::string(header, 'h') + "\r\n", bytes)));
      const RawResponse answer = client.response();
      ASSERT_EQ(answer.status, 200);
      ASSERT_TRUE(answer.body == bytes);
    }
  // Byte by byte.
  for (const char c : request_text("POST", "/echo", "", "slow"))
    ASSERT_TRUE(client.send(std::string_view(&c, 1)));
  EXPECT_EQ(client.response().body, "slow");
}

TEST(Server, ReadsChunkedBodies) {
  TestServer server;
  RawClient client(server.port());
  ASSERT_TRUE(client.send(request_text("POST", "/echo", "Transfer-Encoding: chunked\r\n") +
                          "3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\nTrailer: x\r\n\r\n" +
                          request_text("POST", "/echo", "", "next")));
  EXPECT_EQ(client.response().body, "abcdefg");
  EXPECT_EQ(client.response().body, "next");
}

TEST(Server, HeadHasTheHeaderOfGetAndNoBody) {
  TestServer server;
  RawClient client(server.port());
  ASSERT_TRUE(client.send(request_text("HEAD", "/big") + request_text("HEAD", "/nowhere") +
                          request_text("POST", "/echo", "", "next")));
  const RawResponse big = client.response(true);
  EXPECT_EQ(big.status, 200);
  EXPECT_TRUE(big.has(fmt::format("content-length: {}\r\n", TestServer::kBigBytes)));
  EXPECT_EQ(client.response(true).status, 404);
  EXPECT_EQ(client.response().body, "next");
}

TEST(Server, HeadOfAStreamEndsWithItsHeaderAndTheConnectionGoesOn) {
  TestServer server;
  RawClient client(server.port());
  ASSERT_TRUE(
      client.send(request_text("HEAD", "/stream") + request_text("POST", "/echo", "", "n")));
  const RawResponse head = client.response(true);
  EXPECT_EQ(head.status, 200);
  EXPECT_TRUE(head.has("content-type: text/event-stream"));
  EXPECT_FALSE(head.has("content-length"));
  EXPECT_EQ(client.response().body, "n");
  EXPECT_EQ(server.probe.streams_open, 0U);
}

TEST(Server, AStreamLastsUntilItsReaderLeaves) {
  TestServer server;
  {
    RawClient client(server.port());
    ASSERT_TRUE(client.send(request_text("GET", "/stream")));
    ASSERT_TRUE(client.read_until("data: hello\n\n"));
    EXPECT_EQ(server.probe.streams_open, 1U);
    // What a reader still sends is of no interest and does no harm.
    ASSERT_TRUE(client.send(request_text("POST", "/echo", "", "ignored")));
  }
  EXPECT_TRUE(server.eventually([&] { return server.probe.connections_open == 0; }));
  EXPECT_EQ(server.probe.streams_open, 0U);
}

TEST(Server, ClosesWhereTheClientAsksForIt) {
  TestServer server;
  for (const std::string& asked :
       {request_text("POST", "/echo", "Connection: close\r\n", "x"),
        std::string("POST /echo HTTP/1.0\r\nContent-Length: 1\r\n\r\nx")}) {
    RawClient client(server.port());
    ASSERT_TRUE(client.send(asked));
    const RawResponse answer = client.response();
    EXPECT_EQ(answer.body, "x");
    EXPECT_TRUE(answer.has("connection: close"));
    EXPECT_TRUE(client.ends());
  }
}

TEST(Server, AClientThatEndsItsSideStillGetsItsAnswer) {
  TestServer server;
  RawClient client(server.port());
  ASSERT_TRUE(client.send(request_text("GET", "/hold")));
  client.finish_sending();
  ASSERT_TRUE(server.eventually([&] { return server.holding == 1; }));
  server.release();
  EXPECT_EQ(client.response().body, "{\"held\":true}");
  EXPECT_TRUE(client.ends());
}

TEST(Server, ClosesPolitelyAfterTheLastRequestItTakes) {
  EXPECT_EQ(ServerOptions{}.max_requests_per_connection, kMaxRequestsPerConnection);
  ServerOptions options;
  options.max_requests_per_connection = 3;
  TestServer server(options);
  RawClient client(server.port());
  std::string all;
  for (int i = 0; i < 2000; ++i) all += request_text("POST", "/echo", "", std::to_string(i));
  ASSERT_TRUE(client.send(all));
  for (int i = 0; i < 3; ++i) {
    const RawResponse answer = client.response();
    ASSERT_EQ(answer.body, std::to_string(i));
    EXPECT_EQ(answer.has("connection: close"), i == 2);
  }
  EXPECT_TRUE(client.ends());  // and not by a reset, though much was left unread
}

TEST(Server, MalformedInputGetsAProblemAndTheConnectionIsClosed) {
  TestServer server;
  for (const auto& [bytes, status] : std::vector<std::pair<std::string, int>>{
           {"nonsense\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\n\r\n", 400},  // no Host
           {"GET / HTTP/1.1\nHost: localhost\n\n", 400},
           {"GET /?a=%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", 400},
           {"GET / HTTP/3.0\r\nHost: localhost\r\n\r\n", 505},
           {request_text("POST", "/echo", "Content-Length: 1\r\nContent-Length: 2\r\n"), 400},
           {request_text("POST", "/echo", "Expect: miracles\r\nContent-Length: 5\r\n"), 417},
           {request_text("GET", "/" + std::string(9000, 'a')), 414},
           {request_text("GET", "/", "X: " + std::string(40'000, 'a') + "\r\n"), 431}}) {
    RawClient client(server.port());
    ASSERT_TRUE(client.send(bytes));
    client.finish_sending();
    const RawResponse answer = client.response();
    EXPECT_EQ(answer.status, status) << bytes.substr(0, 60);
    EXPECT_TRUE(answer.has("content-type: application/problem+json"));
    EXPECT_TRUE(answer.has("connection: close"));
    EXPECT_TRUE(wire::parse_json(answer.body));
    EXPECT_TRUE(client.ends());
  }
}

TEST(Server, UnknownPathsMethodsAndTypesAreToldApart) {
  TestServer server;
  RawClient client(server.port());
  ASSERT_TRUE(client.send(request_text("GET", "/nowhere") + request_text("DELETE", "/echo") +
                          request_text("PROPFIND", "/big") +
                          request_text("GET", "/big", "Accept: text/html\r\n") +
                          request_text("OPTIONS", "/echo")));
  EXPECT_EQ(code_of(client.response()), "not_found");
  const RawResponse method = client.response();
  EXPECT_EQ(code_of(method), "method_not_allowed");
  EXPECT_TRUE(method.has("allow: POST, OPTIONS\r\n"));
  EXPECT_TRUE(client.response().has("allow: GET, HEAD, OPTIONS\r\n"));
  EXPECT_EQ(code_of(client.response()), "not_acceptable");
  const RawResponse options = client.response();
  EXPECT_EQ(options.status, 204);
  EXPECT_FALSE(options.has("content-length"));
}

TEST(Server, SendsContinueOnlyToARequestItWillTake) {
  TestServer server(with_small_bodies());
  const std::string expect = "Expect: 100-continue\r\n";
  {
    RawClient client(server.port());
    ASSERT_TRUE(client.send(request_text("POST", "/echo", expect + "Content-Length: 4\r\n")));
    EXPECT_EQ(client.response().status, 100);
    ASSERT_TRUE(client.send("body"));
    EXPECT_EQ(client.response().body, "body");
  }
  for (const auto& [head, code] : std::vector<std::pair<std::string, std::string>>{
           {request_text("POST", "/nowhere", expect + "Content-Length: 4\r\n"), "not_found"},
           {request_text("PUT", "/echo", expect + "Content-Length: 4\r\n"), "method_not_allowed"},
           {request_text("POST", "/echo", expect + "Content-Length: 1025\r\n"),
            "body_too_large"}}) {
    RawClient client(server.port());
    ASSERT_TRUE(client.send(head));
    const RawResponse answer = client.response();
    EXPECT_EQ(code_of(answer), code);
    EXPECT_TRUE(answer.has("connection: close"));
    EXPECT_TRUE(client.ends());
  }
}

TEST(Server, AStrangersBodyIsRefusedBeforeItHasCome) {
  auto tokens = Tokens::parse(
      fmt::format(R"({{"tokens":[{{"name":"a","sha256":"{}","scopes":["write"],"apps":["*"]}}]}})",
                  to_hex(sha256("secret"))));
  ASSERT_TRUE(tokens);
  TestServer server({}, {.tokens = std::make_shared<const Tokens>(std::move(*tokens))});
  RawClient stranger(server.port());
  ASSERT_TRUE(stranger.send(request_text("POST", "/echo", "Content-Length: 1000000\r\n")));
  const RawResponse answer = stranger.response();
  EXPECT_EQ(code_of(answer), "unauthorized");
  EXPECT_TRUE(answer.has("www-authenticate: Bearer"));
  RawClient known(server.port());
  ASSERT_TRUE(known.send(request_text("POST", "/echo", "Authorization: Bearer secret\r\n", "x")));
  EXPECT_EQ(known.response().body, "x");
}

TEST(Server, ARefusalReachesAClientThatIsStillSending) {
  TestServer server(with_small_bodies());
  RawClient client(server.port());
  ASSERT_TRUE(client.send(request_text("POST", "/echo", "Content-Length: 3000000\r\n")));
  // Nothing is read before all of it is sent, as simple clients do.
  ASSERT_TRUE(client.send(std::string(kMaxLingerBytes / 2, 'b')));
  EXPECT_EQ(code_of(client.response()), "body_too_large");
  EXPECT_TRUE(client.ends());
}

TEST(Server, AClientThatSendsOnAfterARefusalIsCutOff) {
  TestServer server(with_small_bodies());
  RawClient client(server.port());
  ASSERT_TRUE(client.send(request_text("POST", "/echo", "Content-Length: 1000000000\r\n")));
  const std::string piece(kMaxLingerBytes, 'b');
  bool is_open = true;
  for (int i = 0; i < 50 && is_open; ++i) is_open = client.send(piece);
  EXPECT_FALSE(is_open);
}

}  // namespace
}  // namespace reprise::http
