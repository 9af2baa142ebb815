#include "rt/tls.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "rt/tcp_socket.h"

namespace reprise::rt {

using boost::asio::ip::tcp;

struct TlsContext::Native {
  SSL_CTX* context = nullptr;
  ~Native() { SSL_CTX_free(context); }
};

TlsContext::TlsContext(std::unique_ptr<Native> native) : native_(std::move(native)) {}
TlsContext::~TlsContext() = default;

namespace {

std::string openssl_error() {
  char text[256] = "unknown error";
  const unsigned long code = ERR_get_error();
  if (code != 0) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return text;
}

Result<std::unique_ptr<TlsContext::Native>> make_context(const SSL_METHOD* method) {
  auto native = std::make_unique<TlsContext::Native>();
  native->context = SSL_CTX_new(method);
  if (native->context == nullptr) return fail(Code::kInternal, openssl_error());
  SSL_CTX_set_min_proto_version(native->context, TLS1_2_VERSION);
  SSL_CTX_set_mode(native->context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(native->context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  return native;
}

// OpenSSL works on the descriptor itself, which is non-blocking; where it wants to wait, Asio does
// the waiting.
class TlsSocket final : public Socket {
 public:
  TlsSocket(std::shared_ptr<TlsContext> context, std::unique_ptr<TcpSocket> plain)
      : context_(std::move(context)),
        plain_(std::move(plain)),
        ssl_(SSL_new(context_->native().context)) {
    REPRISE_ASSERT(ssl_ != nullptr);
    SSL_set_fd(ssl_, plain_->descriptor());
  }
  ~TlsSocket() override { SSL_free(ssl_); }

  SSL* ssl() { return ssl_; }
  TcpSocket& plain() { return *plain_; }

  void start_read(std::span<char> buffer, OnRead done) override {
    ERR_clear_error();
    std::size_t count = 0;
    if (SSL_read_ex(ssl_, buffer.data(), buffer.size(), &count) == 1)
      return finish_read(std::move(done), count);
    const int reason = SSL_get_error(ssl_, 0);
    if (reason == SSL_ERROR_ZERO_RETURN) return finish_read(std::move(done), std::size_t{0});
    if (reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE)
      return finish_read(std::move(done), fail(Code::kIo, openssl_error()));
    plain_->start_wait(
        reason == SSL_ERROR_WANT_READ ? tcp::socket::wait_read : tcp::socket::wait_write,
        [this, buffer, done = std::move(done)](Result<> ready) mutable {
          if (!ready) return done(fail(std::move(ready).error()));
          start_read(buffer, std::move(done));
        });
  }

  Result<std::size_t> try_write(std::span<const iovec> parts) override {
    std::size_t total = 0;
    for (const iovec& part : parts) {
      const auto* bytes = static_cast<const char*>(part.iov_base);
      std::size_t rest = part.iov_len;
      while (rest > 0) {
        ERR_clear_error();
        std::size_t count = 0;
        if (SSL_write_ex(ssl_, bytes, rest, &count) != 1) {
          const int reason = SSL_get_error(ssl_, 0);
          if (reason == SSL_ERROR_WANT_WRITE || reason == SSL_ERROR_WANT_READ) return total;
          return fail(Code::kIo, openssl_error());
        }
        bytes += count;
        rest -= count;
        total += count;
      }
    }
    return total;
  }

  void start_wait_writable(OnReady done) override { plain_->start_wait_writable(std::move(done)); }
  void shutdown_write() override {
    ERR_clear_error();
    SSL_shutdown(ssl_);
    plain_->shutdown_write();
  }
  void close() override { plain_->close(); }
  bool is_open() const override { return plain_->is_open(); }
  std::string peer_address() const override { return plain_->peer_address(); }
  std::size_t unsent_bytes() const override { return plain_->unsent_bytes(); }

 private:
  // Always in a later turn, as the plain socket does: callers need not expect to be re-entered.
  void finish_read(OnRead done, Result<std::size_t> outcome) {
    Loop* loop = Loop::current();
    REPRISE_ASSERT(loop != nullptr);
    loop->post([done = std::move(done), outcome = std::move(outcome)]() mutable {
      done(std::move(outcome));
    });
  }

  std::shared_ptr<TlsContext> context_;
  std::unique_ptr<TcpSocket> plain_;
  SSL* ssl_;
};

struct WaitFor {
  TcpSocket& socket;
  tcp::socket::wait_type kind;
  Result<> outcome{};
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    socket.start_wait(kind, [this, handle](Result<> result) {
      outcome = std::move(result);
      handle.resume();
    });
  }
  Result<> await_resume() { return std::move(outcome); }
};

Task<Result<std::unique_ptr<Socket>>> handshake(std::unique_ptr<TlsSocket> socket) {
  for (;;) {
    ERR_clear_error();
    const int outcome = SSL_do_handshake(socket->ssl());
    if (outcome == 1) co_return std::unique_ptr<Socket>(std::move(socket));
    const int reason = SSL_get_error(socket->ssl(), outcome);
    if (reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE)
      co_return fail(Code::kIo, fmt::format("the TLS handshake failed: {}", openssl_error()));
    REPRISE_CO_CHECK(co_await WaitFor(socket->plain(), reason == SSL_ERROR_WANT_READ
                                                           ? tcp::socket::wait_read
                                                           : tcp::socket::wait_write));
  }
}

std::unique_ptr<TcpSocket> as_tcp(std::unique_ptr<Socket> plain) {
  auto* tcp = dynamic_cast<TcpSocket*>(plain.get());
  REPRISE_ASSERT(tcp != nullptr);
  plain.release();
  return std::unique_ptr<TcpSocket>(tcp);
}

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::server(const std::string& certificate_file,
                                                       const std::string& key_file) {
  REPRISE_TRY(auto native, make_context(TLS_server_method()));
  if (SSL_CTX_use_certificate_chain_file(native->context, certificate_file.c_str()) != 1)
    return fail(Code::kBadParameter, fmt::format("cannot use the certificate '{}': {}",
                                                 certificate_file, openssl_error()));
  if (SSL_CTX_use_PrivateKey_file(native->context, key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    return fail(Code::kBadParameter,
                fmt::format("cannot use the key '{}': {}", key_file, openssl_error()));
  if (SSL_CTX_check_private_key(native->context) != 1)
    return fail(Code::kBadParameter, fmt::format("the key '{}' is not the certificate's: {}",
                                                 key_file, openssl_error()));
  return std::make_shared<TlsContext>(std::move(native));
}

Result<std::shared_ptr<TlsContext>> TlsContext::client(const std::string& authority_file) {
  REPRISE_TRY(auto native, make_context(TLS_client_method()));
  const int is_loaded =
      authority_file.empty()
          ? SSL_CTX_set_default_verify_paths(native->context)
          : SSL_CTX_load_verify_locations(native->context, authority_file.c_str(), nullptr);
  if (is_loaded != 1)
    return fail(Code::kBadParameter, fmt::format("cannot load authorities from '{}': {}",
                                                 authority_file, openssl_error()));
  SSL_CTX_set_verify(native->context, SSL_VERIFY_PEER, nullptr);
  return std::make_shared<TlsContext>(std::move(native));
}

Task<Result<std::unique_ptr<Socket>>> accept_tls(std::shared_ptr<TlsContext> context,
                                                 std::unique_ptr<Socket> plain) {
  auto socket = std::make_unique<TlsSocket>(std::move(context), as_tcp(std::move(plain)));
  SSL_set_accept_state(socket->ssl());
  co_return co_await handshake(std::move(socket));
}

Task<Result<std::unique_ptr<Socket>>> connect_tls(std::shared_ptr<TlsContext> context,
                                                  std::unique_ptr<Socket> plain,
                                                  std::string server_name) {
  auto socket = std::make_unique<TlsSocket>(std::move(context), as_tcp(std::move(plain)));
  SSL_set_connect_state(socket->ssl());
  SSL_set_tlsext_host_name(socket->ssl(), server_name.c_str());
  // An IP address is matched against the certificate's addresses, a name against its names.
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(socket->ssl()), server_name.c_str()) != 1)
    SSL_set1_host(socket->ssl(), server_name.c_str());
  co_return co_await handshake(std::move(socket));
}

}  // namespace reprise::rt
