#include "rt/tls.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/assert.h"
#include "rt/tls_socket.h"

namespace reprise::rt {

using boost::asio::ip::tcp;

struct TlsContext::Native {
  SSL_CTX* context = nullptr;
  ~Native() { SSL_CTX_free(context); }
};

TlsContext::TlsContext(std::unique_ptr<Native> native) : native_(std::move(native)) {}
TlsContext::~TlsContext() = default;

namespace {

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

Task<Result<std::unique_ptr<Socket>>> handshake(std::unique_ptr<TlsSocket> socket,
                                                CancelScope& scope, Deadline deadline) {
  Loop* loop = Loop::current();
  REPRISE_ASSERT(loop != nullptr);
  std::optional<Error> ended;
  const auto end = [&ended, &socket](Error why) {
    if (ended) return;
    ended = std::move(why);
    socket->plain().close();  // which ends the wait below
  };
  const CancelScope::Listener on_cancel(scope, [&end, &scope] { end(scope.reason()); });
  Timer timer(loop->timers());
  if (!deadline.is_never())
    timer.arm(deadline.at(), [&end] { end({Code::kDeadline, "the TLS handshake took too long"}); });
  for (;;) {
    if (ended) co_return fail(*ended);
    ERR_clear_error();
    const int outcome = SSL_do_handshake(socket->ssl());
    if (outcome == 1) co_return std::unique_ptr<Socket>(std::move(socket));
    const int reason = SSL_get_error(socket->ssl(), outcome);
    if (reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE) {
      const Error why = socket->failure(reason);
      co_return fail(Code::kIo, fmt::format("the TLS handshake failed: {}", why.detail));
    }
    const auto waited =
        co_await WaitFor(socket->plain(), reason == SSL_ERROR_WANT_READ ? tcp::socket::wait_read
                                                                        : tcp::socket::wait_write);
    if (!waited && !ended) co_return fail(waited.error());
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
                                                 std::unique_ptr<Socket> plain, CancelScope& scope,
                                                 Deadline deadline) {
  auto socket =
      std::make_unique<TlsSocket>(SSL_new(context->native().context), as_tcp(std::move(plain)));
  SSL_set_accept_state(socket->ssl());
  co_return co_await handshake(std::move(socket), scope, deadline);
}

Task<Result<std::unique_ptr<Socket>>> accept_tls(std::shared_ptr<TlsContext> context,
                                                 std::unique_ptr<Socket> plain) {
  CancelScope scope;
  co_return co_await accept_tls(std::move(context), std::move(plain), scope, Deadline::never());
}

Task<Result<std::unique_ptr<Socket>>> connect_tls(std::shared_ptr<TlsContext> context,
                                                  std::unique_ptr<Socket> plain,
                                                  std::string server_name, CancelScope& scope,
                                                  Deadline deadline) {
  auto socket =
      std::make_unique<TlsSocket>(SSL_new(context->native().context), as_tcp(std::move(plain)));
  SSL_set_connect_state(socket->ssl());
  // An IP address is matched against the certificate's addresses, a name against its names; only a
  // name is told to the server (RFC 6066, section 3).
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(socket->ssl()), server_name.c_str()) != 1) {
    SSL_set_tlsext_host_name(socket->ssl(), server_name.c_str());
    SSL_set1_host(socket->ssl(), server_name.c_str());
  }
  co_return co_await handshake(std::move(socket), scope, deadline);
}

Task<Result<std::unique_ptr<Socket>>> connect_tls(std::shared_ptr<TlsContext> context,
                                                  std::unique_ptr<Socket> plain,
                                                  std::string server_name) {
  CancelScope scope;
  co_return co_await connect_tls(std::move(context), std::move(plain), std::move(server_name),
                                 scope, Deadline::never());
}

}  // namespace reprise::rt
