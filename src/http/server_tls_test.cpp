// The server over TLS: handshakes end in time, and the last bytes before a close arrive.
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <filesystem>

#include "http/server.h"
#include "http/testing.h"

namespace reprise::http {
namespace {

using testing::RawClient;
using testing::request_text;
using testing::TestServer;

// A self-signed certificate for 127.0.0.1 in a temporary directory.
class Certificate {
 public:
  Certificate() {
    std::string pattern = (std::filesystem::temp_directory_path() / "reprise-http-XXXXXX").string();
    REPRISE_ASSERT(::mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* made = X509_new();
    X509_set_version(made, 2);
    X509_gmtime_adj(X509_getm_notBefore(made), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made), 3600);
    X509_set_pubkey(made, key);
    X509_EXTENSION* names =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
    X509_add_ext(made, names, -1);
    X509_EXTENSION_free(names);
    REPRISE_ASSERT(X509_sign(made, key, EVP_sha256()) > 0);
    BIO* file = BIO_new_file(chain().c_str(), "w");
    REPRISE_ASSERT(PEM_write_bio_X509(file, made) == 1);
    BIO_free(file);
    file = BIO_new_file(this->key().c_str(), "w");
    REPRISE_ASSERT(PEM_write_bio_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
    BIO_free(file);
    X509_free(made);
    EVP_PKEY_free(key);
  }
  ~Certificate() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;
  std::string chain() const { return (directory_ / "chain.pem").string(); }
  std::string key() const { return (directory_ / "key.pem").string(); }

 private:
  std::filesystem::path directory_;
};

const Certificate& certificate() {
  static const Certificate made;
  return made;
}

ServerOptions encrypted() {
  ServerOptions options;
  options.tls = rt::TlsContext::server(certificate().chain(), certificate().key()).value();
  return options;
}

// Sends a request and reads until the server ends the connection.
rt::Task<> ask(rt::RealLoop& loop, std::uint16_t port, std::string request,
               Result<std::string>& answer) {
  auto plain = co_await rt::connect(loop, {"127.0.0.1", port});
  REPRISE_ASSERT(plain.has_value());
  auto socket = co_await rt::connect_tls(rt::TlsContext::client(certificate().chain()).value(),
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
