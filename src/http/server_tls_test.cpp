// The server over TLS: handshakes end in time, and the last bytes before a close arrive.
#include <gtest/gtest.h>

#include "http/server.h"
#include "http/testing.h"
#include "rt/test_certificate.h"

namespace reprise::http {
namespace {

using rt::certificate;
using testing::RawClient;
using testing::request_text;
using testing::TestServer;

ServerOptions encrypted() {
  ServerOptions options;
  options.tls =
      rt::TlsContext::server(certificate().certificate_file(), certificate().key_file()).value();
  return options;
}

// Sends a request and reads until the server ends the connection.
rt::Task<> ask(rt::RealLoop& loop, std::uint16_t port, std::string request,
               Result<std::string>& answer) {
  auto plain = co_await rt::connect(loop, {"127.0.0.1", port});
  REPRISE_ASSERT(plain.has_value());
  auto socket =
      co_await rt::connect_tls(rt::TlsContext::client(certificate().certificate_file()).value(),
                               std::move(*plain), "127.0.0.1");
  REPRISE_ASSERT(socket.has_value());
  const auto sent = co_await (*socket)->write(request);
  REPRISE_ASSERT(sent.has_value());
  answer = co_await rt::read_to_end(**socket, 1000);
  (*socket)->close();
}

TEST(ServerOverTls, TheLastAnswerIsWholeThoughItsReaderIsSlow) {
  TestServer server(encrypted());
  rt::LoopThread client;
  Result<std::string> answer;
  rt::run_on(client.loop(), ask(client.loop(), server.port(),
                                request_text("GET", "/big", "Connection: close\r\n"), answer));
  ASSERT_TRUE(answer);
  const std::size_t head = answer->find("\r\n\r\n");
  EXPECT_EQ(answer->size() - head - 4, TestServer::kBigBytes);
}

TEST(ServerOverTls, AClientThatNeverShakesHandsIsClosedInTime) {
  ServerOptions options = encrypted();
  options.request_timeout = Millis{150};
  TestServer server(options);
  RawClient silent(server.port());
  RawClient stopped(server.port());
  ASSERT_TRUE(stopped.send("\x16\x03\x01"));  // a record's first bytes, and no more
  EXPECT_TRUE(silent.ends());
  EXPECT_TRUE(stopped.ends());
  EXPECT_TRUE(server.eventually([&] { return server.probe.connections_open == 0; }));
}

TEST(ServerOverTls, APlainRequestIsNotAnswered) {
  TestServer server(encrypted());
  RawClient plain(server.port());
  ASSERT_TRUE(plain.send(request_text("GET", "/big")));
  EXPECT_EQ(plain.response().status, 0);
}

TEST(ServerOverTls, ADrainDoesNotWaitForHandshakes) {
  TestServer server(encrypted());
  RawClient silent(server.port());
  ASSERT_TRUE(server.eventually([&] { return server.probe.connections_open == 1; }));
  server.drain(Millis{60'000});
  EXPECT_EQ(server.probe.connections_open, 0U);
  EXPECT_TRUE(silent.ends());
}

}  // namespace
}  // namespace reprise::http
