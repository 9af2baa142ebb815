// Plain requests, in absolute form.
#include "browser/proxy/testing.h"

namespace reprise::browser {
namespace {

using testing::TestProxy;
using testing::TestServer;
using testing::web;

// A proxy and a web server behind it.
struct Plain {
  explicit Plain(ProxyOptions options = {})
      : proxy(std::move(options)), origin(proxy.loop(), web) {}
  std::string url(std::string_view path) const {
    return fmt::format("http://127.0.0.1:{}{}", origin.port(), path);
  }
  std::string get_text(std::string_view path, std::string_view headers = "") const {
    return TestProxy::get_text(url(path), headers);
  }
  std::string post_text(std::string_view path, std::string_view headers) const {
    return fmt::format("POST {} HTTP/1.1\r\nHost: a\r\n{}\r\n", url(path), headers);
  }
  TestProxy proxy;
  TestServer origin;
};

TEST(ProxyRequests, AreAnsweredByTheirServer) {
  Plain plain;
  const auto reply = plain.proxy.get(plain.url("/any?x=1"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "hello");
  EXPECT_TRUE(reply.has("x-reply: yes\r\n"));
  EXPECT_TRUE(plain.origin.last_head.starts_with("GET /any?x=1 HTTP/1.1\r\n"));
}

TEST(ProxyRequests, LoseWhatBelongsToOneConnection) {
  Plain plain;
  const auto reply = plain.proxy.ask(plain.get_text(
      "/a",
      "Connection: X-Mine, keep-alive\r\nX-Mine: 1\r\nProxy-Connection: keep-alive\r\n"
      "Proxy-Authorization: Basic eDp5\r\nTE: trailers\r\nCookie: a=b\r\nUpgrade: h2c\r\n"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(
      plain.origin.last_head,
      fmt::format("GET /a HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncookie: a=b\r\n", plain.origin.port()));
  for (const char* field : {"x-hop", "keep-alive: 5", "reprise-refused"})
    EXPECT_FALSE(reply.has(field)) << field;
}

TEST(ProxyRequests, KeepTheirConnectionsOnBothSides) {
  Plain plain;
  rt::RawClient client(plain.proxy.port());
  for (const char* path : {"/a", "/chunked", "/204", "/echo"}) {
    ASSERT_TRUE(client.send(plain.get_text(path)));
    if (std::string_view(path) == "/chunked") {
      ASSERT_TRUE(client.read_until("0\r\n\r\n"));
      EXPECT_TRUE(client.unread().ends_with("\r\n\r\n5\r\nabcde\r\n0\r\n\r\n")) << client.unread();
      client.forget();
      continue;
    }
    EXPECT_GE(client.response().status, 200) << path;
  }
  EXPECT_EQ(plain.origin.connections, 1);
  EXPECT_EQ(plain.origin.requests, 4);
  EXPECT_EQ(plain.proxy.probe.requests, 4U);
}

TEST(ProxyRequests, AreSentAgainWhenAKeptConnectionTurnsOutDead) {
  Plain plain;
  rt::RawClient client(plain.proxy.port());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(client.send(plain.get_text("/once")));
    EXPECT_EQ(client.response().body, "hello");
  }
  EXPECT_EQ(plain.origin.connections, 2);
}

// Nobody could tell whether it was received.
TEST(ProxyRequests, WithSideEffectsGetAConnectionOfTheirOwn) {
  Plain plain;
  rt::RawClient client(plain.proxy.port());
  ASSERT_TRUE(client.send(plain.get_text("/a")));
  EXPECT_EQ(client.response().status, 200);
  ASSERT_TRUE(client.send(plain.post_text("/echo", "Content-Length: 2\r\n") + "hi"));
  EXPECT_EQ(client.response().body, "hi");
  EXPECT_EQ(plain.origin.connections, 2);
}

TEST(ProxyRequests, StreamTheirBodies) {
  Plain plain;
  const std::string body(8 * 1024 * 1024, 'b');
  rt::RawClient client(plain.proxy.port());
  ASSERT_TRUE(client.send(
      plain.post_text("/count", fmt::format("Content-Length: {}\r\n", body.size())) + body));
  EXPECT_EQ(client.response().body, fmt::format("{}", body.size()));
  ASSERT_TRUE(client.send(plain.post_text("/count", "Transfer-Encoding: chunked\r\n")));
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(client.send(fmt::format("1000\r\n{}\r\n", std::string(4096, 'c'))));
  ASSERT_TRUE(client.send("0\r\nTrailer: x\r\n\r\n"));
  EXPECT_EQ(client.response().body, "409600");
  EXPECT_EQ(plain.proxy.probe.bytes_up, body.size() + 409'600);
}

// What a slow reader has not taken stays with the server: only buffers of a known size lie between.
TEST(ProxyRequests, ASlowReaderSlowsItsServer) {
  Plain plain;
  rt::RawClient client(plain.proxy.port(), 64 * 1024);
  ASSERT_TRUE(client.send(plain.get_text("/big")));
  ASSERT_TRUE(client.read_until("\r\n\r\n"));
  std::size_t received = client.unread().size();
  client.forget();
  std::size_t most = 0;
  while (received < testing::kBigBytes) {
    most = std::max<std::size_t>(
        most, plain.origin.sent - std::min<std::size_t>(plain.origin.sent, received));
    ASSERT_TRUE(client.read_some());
    received += client.unread().size();
    client.forget();
  }
  EXPECT_LT(most, testing::kBigBytes / 2);
}

TEST(ProxyRequests, PassOnInterimResponses) {
  Plain plain;
  rt::RawClient client(plain.proxy.port());
  ASSERT_TRUE(client.send(plain.get_text("/hints")));
  const auto hints = client.response();
  EXPECT_EQ(hints.status, 103);
  EXPECT_TRUE(hints.has("link: </a.css>\r\n"));
  EXPECT_EQ(client.response().body, "hinted");
}

TEST(ProxyRequests, LeaveTheExpectationToTheServer) {
  Plain plain;
  rt::RawClient client(plain.proxy.port());
  ASSERT_TRUE(
      client.send(plain.post_text("/echo", "Content-Length: 2\r\nExpect: 100-continue\r\n")));
  EXPECT_EQ(client.response().status, 100);
  ASSERT_TRUE(client.send("hi"));
  EXPECT_EQ(client.response().body, "hi");
}

TEST(ProxyRequests, HeadAndOldClientsAreAnsweredInTheirWay) {
  Plain plain;
  rt::RawClient client(plain.proxy.port());
  ASSERT_TRUE(
      client.send(fmt::format("HEAD {} HTTP/1.1\r\nHost: a\r\n\r\n", plain.url("/chunked"))));
  EXPECT_EQ(client.response(true).status, 200);
  ASSERT_TRUE(client.send(plain.get_text("/until-end")));
  ASSERT_TRUE(client.read_until("d\r\nuntil the end\r\n0\r\n\r\n"));
  EXPECT_NE(client.unread().find("transfer-encoding: chunked\r\n"), std::string::npos);
  rt::RawClient old(plain.proxy.port());
  ASSERT_TRUE(old.send(fmt::format("GET {} HTTP/1.0\r\n\r\n", plain.url("/chunked"))));
  const auto reply = old.response(false, true);
  EXPECT_EQ(reply.body, "abcde");
  EXPECT_FALSE(reply.has("transfer-encoding"));
}

TEST(ProxyRequests, AfterHeadAnAnswerOfOursHasItsBodyAgain) {
  Plain plain;
  rt::RawClient client(plain.proxy.port());
  ASSERT_TRUE(client.send(fmt::format("HEAD {} HTTP/1.1\r\nHost: a\r\n\r\n", plain.url("/a"))));
  EXPECT_EQ(client.response(true).status, 200);
  ASSERT_TRUE(client.send("nonsense\r\n\r\n"));
  const auto reply = client.response();
  EXPECT_EQ(reply.status, 400);
  EXPECT_FALSE(reply.body.empty());
}

TEST(ProxyRequests, AnAnswerBeforeTheWholeRequestReachesTheClient) {
  Plain plain;
  const std::string body(4 * 1024 * 1024, 'b');
  rt::RawClient client(plain.proxy.port());
  ASSERT_TRUE(client.send(
      plain.post_text("/early", fmt::format("Content-Length: {}\r\n", body.size())) + body));
  const auto reply = client.response();
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(reply.body, "no!");
  // The rest was read, so that the connection goes on.
  ASSERT_TRUE(client.send(plain.get_text("/a")));
  EXPECT_EQ(client.response().status, 200);
}

TEST(ProxyRequests, MalformedOnesAreAnsweredAndPassedOnToNobody) {
  Plain plain;
  const std::string host = "Host: a\r\n\r\n";
  for (const std::string& request :
       {"GET / HTTP/1.1\r\n" + host, "OPTIONS * HTTP/1.1\r\n" + host,
        "GET https://a/ HTTP/1.1\r\n" + host, "GET ftp://a/ HTTP/1.1\r\n" + host,
        "GET ws://a/ HTTP/1.1\r\n" + host, "GET http://u:p@a/ HTTP/1.1\r\n" + host,
        "GET http:///a HTTP/1.1\r\n" + host, "GET http://a:0/ HTTP/1.1\r\n" + host,
        "GET http://a%zz/ HTTP/1.1\r\n" + host, "CONNECT a HTTP/1.1\r\n" + host,
        "CONNECT a:99999 HTTP/1.1\r\n" + host,
        std::string("CONNECT a:1 HTTP/1.1\r\nContent-Length: 1\r\nHost: a\r\n\r\n"),
        std::string("GET http://a/ HTTP/1.1\r\n\r\n"), std::string("\x16\x03\x01 what"),
        "POST http://a/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n" + host}) {
    const auto reply = plain.proxy.ask(request);
    EXPECT_EQ(reply.status, 400) << request;
    EXPECT_TRUE(reply.has("reprise-failed: malformed_http\r\n")) << request;
  }
  EXPECT_EQ(plain.origin.connections, 0);
  EXPECT_EQ(plain.proxy.probe.malformed, 15U);
}

TEST(ProxyRequests, HaveHeadsOfALimitedSize) {
  Plain plain;
  const auto with_target = [&](std::size_t bytes) {
    std::string target = plain.url("/");
    target.resize(bytes, 'x');
    return plain.proxy.get(target).status;
  };
  EXPECT_EQ(with_target(kMaxProxyTargetBytes), 200);
  EXPECT_EQ(with_target(kMaxProxyTargetBytes + 1), 414);
  std::string headers;
  for (std::size_t i = 1; i < kMaxProxyHeaders; ++i) headers += fmt::format("x-{}: y\r\n", i);
  EXPECT_EQ(plain.proxy.ask(plain.get_text("/", headers)).status, 200);
  EXPECT_EQ(plain.proxy.ask(plain.get_text("/", headers + "x: y\r\n")).status, 431);
  const std::string large = fmt::format("x: {}\r\n", std::string(kMaxProxyHeadBytes, 'y'));
  EXPECT_EQ(plain.proxy.ask(plain.get_text("/", large)).status, 431);
}

// To the browser it is a request that failed, and no page of ours.
TEST(ProxyRequests, AServerThatIsNotThereAnswersNothing) {
  Plain plain;
  std::uint16_t free_port = 0;
  {
    TestServer closed(plain.proxy.loop(), web);
    free_port = closed.port();
  }
  const std::string url = fmt::format("http://127.0.0.1:{}/a", free_port);
  EXPECT_EQ(plain.proxy.outcome(url + "?token=secret"), "io");
  EXPECT_EQ(plain.proxy.failures, std::vector<std::string>{url + " io"});
  EXPECT_EQ(plain.proxy.outcome("http://nowhere.example/"), "io");
}

TEST(ProxyRequests, AServerThatBreaksOffIsTold) {
  Plain plain;
  for (const char* path : {"/nothing", "/garbage", "/407"}) {
    EXPECT_EQ(plain.proxy.get(plain.url(path)).status, 0) << path;
    plain.proxy.catch_up();
    EXPECT_EQ(plain.proxy.failures.size(), 1U) << path;
    plain.proxy.failures.clear();
  }
  // In the middle of a body there is only one way to say it.
  rt::RawClient client(plain.proxy.port());
  ASSERT_TRUE(client.send(plain.get_text("/cut")));
  EXPECT_EQ(client.response().status, 0);
  plain.proxy.catch_up();
  EXPECT_EQ(plain.proxy.failures.size(), 1U);
}

TEST(ProxyRequests, AClientThatLeavesTakesItsServersConnectionAlong) {
  Plain plain;
  {
    rt::RawClient waiting(plain.proxy.port());
    ASSERT_TRUE(waiting.send(plain.get_text("/hold")));
    rt::RawClient reading(plain.proxy.port());
    ASSERT_TRUE(reading.send(plain.get_text("/big")));
    rt::RawClient sending(plain.proxy.port());
    ASSERT_TRUE(sending.send(plain.post_text("/echo", "Content-Length: 100\r\n") + "half"));
    ASSERT_TRUE(plain.proxy.eventually([&] { return plain.origin.connections == 3; }));
  }
  EXPECT_TRUE(plain.proxy.eventually([&] { return plain.origin.ended == 3; }));
  EXPECT_TRUE(plain.proxy.eventually([&] { return (*plain.proxy).connections() == 0; }));
  EXPECT_TRUE(plain.proxy.failures.empty());
}

}  // namespace
}  // namespace reprise::browser
