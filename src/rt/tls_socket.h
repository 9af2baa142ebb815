// TlsSocket: the encrypted socket. Never included outside src/rt.
//
// OpenSSL reads and writes through a BIO of ours (not its own socket BIO, which would raise
// SIGPIPE, and would go on using the descriptor's number after close(), when it may already be
// another connection's).
//
// try_write promises that what it took will be sent and that the rest is forgotten. OpenSSL alone
// cannot: it encrypts a record, finds the kernel's buffer full, and wants the same bytes again. So
// the BIO holds the one record that did not fit, sends it as soon as it can, and nothing more is
// encrypted until then.
#pragma once

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rt/tcp_socket.h"

namespace reprise::rt {

// The oldest of OpenSSL's errors on this thread, as text; the others are dropped.
std::string openssl_error();

class TlsSocket final : public Socket {
 public:
  TlsSocket(SSL* ssl, std::unique_ptr<TcpSocket> plain);  // owns `ssl`
  ~TlsSocket() override;
  TlsSocket(const TlsSocket&) = delete;
  TlsSocket& operator=(const TlsSocket&) = delete;

  SSL* ssl() { return ssl_; }
  TcpSocket& plain() { return *plain_; }
  // Why a call of OpenSSL failed; nothing more can be sent or read after it.
  Error failure(int reason);

  void start_read(std::span<char> buffer, OnRead done) override;
  Result<std::size_t> try_write(std::span<const iovec> parts) override;
  void start_wait_writable(OnReady done) override;
  void shutdown_write() override;
  void close() override;
  bool is_open() const override { return plain_->is_open(); }
  std::string peer_address() const override { return plain_->peer_address(); }
  std::size_t unsent_bytes() const override { return plain_->unsent_bytes() + held_bytes(); }
  std::size_t held_bytes() const override { return held_.size(); }
  Result<> depart() override { return plain_->depart(); }
  Result<> arrive(RealLoop& loop) override { return plain_->arrive(loop); }

 private:
  void say_goodbye();
  std::size_t send_now(std::string_view bytes);
  void send_held();
  void send_held_when_writable();

  static const BIO_METHOD* bio_method();
  static int bio_write(BIO* bio, const char* data, std::size_t count, std::size_t* written);
  static int bio_read(BIO* bio, char* data, std::size_t count, std::size_t* read);
  static long bio_control(BIO* bio, int command, long number, void* pointer);

  std::unique_ptr<TcpSocket> plain_;
  SSL* ssl_;
  std::string held_;             // encrypted, and not yet taken by the kernel
  std::optional<Error> broken_;  // why the connection is
  bool has_failed_ = false;
  bool is_at_end_ = false;
  bool is_sending_held_ = false;
  bool is_shutdown_due_ = false;                                // when held_ has been sent
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what is queued on the loop
};

}  // namespace reprise::rt
