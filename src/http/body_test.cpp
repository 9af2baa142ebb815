// Bodies that are not kept: requests whose handler takes them piece by piece, replies from a
// source.
#include <gtest/gtest.h>

#include "http/testing.h"

namespace reprise::http {
namespace {

using testing::RawClient;
using testing::RawResponse;
using testing::request_text;
using testing::TestServer;

std::string upload_head(std::uint64_t length, std::string_view headers = "") {
  return request_text("PUT", "/upload", fmt::format("Content-Length: {}\r\n{}", length, headers));
}

ServerOptions small_bodies() {
  ServerOptions options;
  options.parser.max_body_bytes = 1024;
  return options;
}

TEST(StreamedBody, MayBeLongerThanABodyThatIsKept) {
  TestServer server(small_bodies());
  RawClient client(server.port());
  const std::string body(1024 * 1024, 'b');
  client.send(upload_head(body.size()) + body);
  EXPECT_EQ(client.response().body, "1048576");
  // The connection goes on.
  client.send(request_text("PUT", "/upload", "", "small"));
  EXPECT_EQ(client.response().body, "5");
  client.send(upload_head(0));
  EXPECT_EQ(client.response().body, "0");
  // A route that keeps bodies still refuses long ones.
  client.send(request_text("POST", "/echo", "Content-Length: 1025\r\n"));
  EXPECT_EQ(client.response().status, 413);
}

TEST(StreamedBody, IsHandedOnBeforeItIsWhole) {
  TestServer server;
  RawClient client(server.port());
  client.send(upload_head(10) + "12345");
  EXPECT_TRUE(server.eventually([&] { return server.uploaded == 5; }));
  client.send("67890");
  EXPECT_EQ(client.response().body, "10");
}

TEST(StreamedBody, ComesInChunksToo) {
  TestServer server(small_bodies());
  RawClient client(server.port());
  const std::string head = request_text("PUT", "/upload", "Transfer-Encoding: chunked\r\n");
  const std::string chunk = "800\r\n" + std::string(0x800, 'c') + "\r\n";
  // Pipelined behind it: another request.
  client.send(head + chunk + chunk + "0\r\n\r\n" + request_text("PUT", "/upload", "", "next"));
  EXPECT_EQ(client.response().body, "4096");
  EXPECT_EQ(client.response().body, "4");
}

TEST(StreamedBody, HasItsOwnLimit) {
  TestServer server;
  RawClient announced(server.port());
  announced.send(upload_head(TestServer::kMaxUpload + 1));
  EXPECT_EQ(announced.response().status, 413);
  RawClient chunked(server.port());
  chunked.send(request_text("PUT", "/upload", "Transfer-Encoding: chunked\r\n") + "500000\r\n");
  chunked.send(std::string(TestServer::kMaxUpload, 'x'));
  EXPECT_TRUE(server.eventually([&] { return server.uploaded == TestServer::kMaxUpload; }));
  chunked.send("x");
  EXPECT_EQ(chunked.response().status, 413);
  EXPECT_TRUE(chunked.ends());
}

TEST(StreamedBody, IsContinuedOnlyWhenTheHandlerWantsIt) {
  TestServer server;
  RawClient wanted(server.port());
  wanted.send(upload_head(2, "Expect: 100-continue\r\n"));
  EXPECT_EQ(wanted.response().status, 100);
  wanted.send("ok");
  EXPECT_EQ(wanted.response().body, "2");

  RawClient unwanted(server.port());
  unwanted.send(
      request_text("PUT", "/upload?refuse=true", "Content-Length: 2\r\nExpect: 100-continue\r\n"));
  const RawResponse refused = unwanted.response();
  EXPECT_EQ(refused.status, 409);
  EXPECT_TRUE(refused.has("connection: close"));
  unwanted.finish_sending();
  EXPECT_TRUE(unwanted.ends());
}

TEST(StreamedBody, RefusedEarlyEndsInGoodOrder) {
  TestServer server;
  RawClient client(server.port());
  client.send(request_text("PUT", "/upload?refuse=true", "Content-Length: 1000000\r\n"));
  EXPECT_EQ(client.response().status, 409);
  // A client that goes on sending has its bytes read, so that it sees the answer and no reset.
  client.send(std::string(1'000'000, 'x'));
  client.finish_sending();
  EXPECT_TRUE(client.ends());
}

TEST(StreamedBody, ThatEndsTooSoonFails) {
  TestServer server;
  {
    RawClient client(server.port());
    client.send(upload_head(10) + "12345");
    EXPECT_TRUE(server.eventually([&] { return server.uploaded == 5; }));
    client.finish_sending();
    EXPECT_EQ(client.response().status, 400);
  }
  EXPECT_EQ(server.failed_uploads, 1);
  {
    RawClient client(server.port());
    client.send(upload_head(10) + "12345");
    EXPECT_TRUE(server.eventually([&] { return server.uploaded == 10; }));
  }
  EXPECT_TRUE(server.eventually([&] { return server.failed_uploads == 2; }));
}

TEST(StreamedBody, OfMalformedChunksFails) {
  TestServer server;
  RawClient client(server.port());
  client.send(request_text("PUT", "/upload", "Transfer-Encoding: chunked\r\n") + "zz\r\n");
  EXPECT_EQ(client.response().status, 400);
  EXPECT_TRUE(client.ends());
}

TEST(StreamedBody, MayTakeLongAsLongAsSomethingComes) {
  ServerOptions options;
  options.request_timeout = Millis{200};
  TestServer server(std::move(options));
  RawClient slow(server.port());
  slow.send(upload_head(8));
  const auto begin = std::chrono::steady_clock::now();
  // One byte whenever three quarters of the time have passed: longer than the timeout altogether.
  for (std::uint64_t i = 1; i <= 8; ++i) {
    const auto due = begin + i * Millis{100};
    EXPECT_TRUE(server.eventually([&] { return std::chrono::steady_clock::now() >= due; }));
    slow.send("x");
    EXPECT_TRUE(server.eventually([&] { return server.uploaded == i; }));
  }
  EXPECT_EQ(slow.response().body, "8");
  RawClient stalled(server.port());
  stalled.send(upload_head(8) + "x");
  EXPECT_EQ(stalled.response().status, 408);
  EXPECT_TRUE(server.eventually([&] { return server.failed_uploads == 1; }));
}

TEST(StreamedBody, UnderWayIsFinishedByADrain) {
  TestServer server;
  RawClient client(server.port());
  client.send(upload_head(4) + "ab");
  EXPECT_TRUE(server.eventually([&] { return server.uploaded == 2; }));
  server.begin_drain(Millis{10'000});
  client.send("cd");
  const RawResponse answer = client.response();
  EXPECT_EQ(answer.body, "4");
  EXPECT_TRUE(answer.has("connection: close"));
  EXPECT_TRUE(server.eventually([&] { return server.is_drained(); }));
}

TEST(StreamedBody, StalledIsCutOffByADrain) {
  TestServer server;
  RawClient client(server.port());
  client.send(upload_head(4) + "ab");
  EXPECT_TRUE(server.eventually([&] { return server.uploaded == 2; }));
  server.drain(Millis{50});
  EXPECT_EQ(server.failed_uploads, 1);
}

TEST(SourcedReply, IsSentWholeAndTheConnectionGoesOn) {
  TestServer server;
  RawClient client(server.port());
  client.send(request_text("GET", "/source") + request_text("HEAD", "/source"));
  const RawResponse answer = client.response();
  EXPECT_EQ(answer.body, std::string(TestServer::kBigBytes, 'x'));
  const RawResponse head = client.response(true);
  EXPECT_EQ(head.status, 200);
  EXPECT_TRUE(head.has(fmt::format("content-length: {}", TestServer::kBigBytes)));
}

TEST(SourcedReply, IsReadNoFasterThanItIsTaken) {
  TestServer server;
  RawClient client(server.port(), 4096);
  client.send(request_text("GET", "/source"));
  ASSERT_TRUE(client.read_until("\r\n\r\n"));
  // The kernel's buffers hold some; the rest waits for the client.
  std::uint64_t before = 0;
  EXPECT_TRUE(server.eventually([&] {
    const bool is_still = server.sourced > 0 && server.sourced == before;
    before = server.sourced;
    return is_still;
  }));
  EXPECT_LT(before, TestServer::kBigBytes);
  EXPECT_EQ(before % kSourceReadBytes, 0U);
}

TEST(SourcedReply, ThatFailsIsCutOffVisibly) {
  TestServer server;
  RawClient client(server.port());
  client.send(request_text("GET", "/source?cut=true"));
  EXPECT_EQ(client.response().status, 0) << "the body is shorter than it was said to be";
  EXPECT_LT(client.unread().size(), TestServer::kBigBytes);
}

}  // namespace
}  // namespace reprise::http
