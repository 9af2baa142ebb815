#include "rt/tls_socket.h"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/assert.h"
#include "rt/limits.h"

namespace reprise::rt {

using boost::asio::ip::tcp;

std::string openssl_error() {
  char text[256] = "unknown error";
  const unsigned long code = ERR_get_error();
  if (code != 0) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return text;
}

namespace {

constexpr std::size_t kRecordBytes = SSL3_RT_MAX_PLAIN_LENGTH;

Error closed() { return {Code::kClosed, "the connection was closed"}; }

// Walks through the parts in pieces of one record, so that many small parts make one record.
class Pieces {
 public:
  explicit Pieces(std::span<const iovec> parts) : parts_(parts) { skip_empty(); }

  // The next piece, empty at the end; it is put together in `gathered` if it spans parts.
  std::string_view next(std::span<char> gathered) {
    if (parts_.empty()) return {};
    if (parts_.size() == 1 || front().size() >= gathered.size()) return take(gathered.size());
    std::size_t size = 0;
    while (!parts_.empty() && size < gathered.size()) {
      const std::string_view piece = take(gathered.size() - size);
      std::ranges::copy(piece, gathered.begin() + static_cast<std::ptrdiff_t>(size));
      size += piece.size();
    }
    return {gathered.data(), size};
  }

 private:
  std::string_view front() const {
    return {static_cast<const char*>(parts_.front().iov_base) + taken_,
            parts_.front().iov_len - taken_};
  }
  std::string_view take(std::size_t most) {
    const std::string_view piece = front().substr(0, most);
    taken_ += piece.size();
    skip_empty();
    return piece;
  }
  void skip_empty() {
    while (!parts_.empty() && taken_ == parts_.front().iov_len) {
      parts_ = parts_.subspan(1);
      taken_ = 0;
    }
  }

  std::span<const iovec> parts_;
  std::size_t taken_ = 0;  // of the first part
};

// Always in a later turn, as the plain socket does: callers need not expect to be re-entered.
void finish_read(Socket::OnRead done, Result<std::size_t> outcome) {
  Loop* loop = Loop::current();
  REPRISE_ASSERT(loop != nullptr);
  loop->post([done = std::move(done), outcome = std::move(outcome)]() mutable {
    done(std::move(outcome));
  });
}

TlsSocket& socket_of(BIO* bio) { return *static_cast<TlsSocket*>(BIO_get_data(bio)); }

}  // namespace

TlsSocket::TlsSocket(SSL* ssl, std::unique_ptr<TcpSocket> plain)
    : plain_(std::move(plain)), ssl_(ssl) {
  REPRISE_ASSERT(ssl_ != nullptr);
  BIO* bio = BIO_new(bio_method());
  REPRISE_ASSERT(bio != nullptr);
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
}

TlsSocket::~TlsSocket() { SSL_free(ssl_); }

Error TlsSocket::failure(int reason) {
  has_failed_ = true;
  if (reason == SSL_ERROR_SYSCALL && broken_) return *broken_;
  return {Code::kIo, openssl_error()};
}

void TlsSocket::start_read(std::span<char> buffer, OnRead done) {
  if (!is_open()) return finish_read(std::move(done), fail(closed()));
  ERR_clear_error();
  std::size_t count = 0;
  if (SSL_read_ex(ssl_, buffer.data(), buffer.size(), &count) == 1)
    return finish_read(std::move(done), count);
  const int reason = SSL_get_error(ssl_, 0);
  if (reason == SSL_ERROR_ZERO_RETURN) return finish_read(std::move(done), std::size_t{0});
  if (reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE)
    return finish_read(std::move(done), fail(failure(reason)));
  plain_->start_wait(
      reason == SSL_ERROR_WANT_READ ? tcp::socket::wait_read : tcp::socket::wait_write,
      [this, alive = std::weak_ptr(alive_), buffer,
       done = std::move(done)](Result<> ready) mutable {
        if (!ready) return done(fail(std::move(ready).error()));
        // The socket may have been destroyed while this was queued.
        if (alive.expired()) return done(fail(closed()));
        start_read(buffer, std::move(done));
      });
}

Result<std::size_t> TlsSocket::try_write(std::span<const iovec> parts) {
  if (!is_open()) return fail(closed());
  send_held();
  if (broken_) return fail(*broken_);
  std::size_t total = 0;
  std::array<char, kRecordBytes> gathered;
  Pieces pieces(parts);
  while (held_.empty()) {
    const std::string_view record = pieces.next(gathered);
    if (record.empty()) break;
    ERR_clear_error();
    std::size_t count = 0;
    // It never has to wait: nothing is held, and the BIO takes a whole record.
    if (SSL_write_ex(ssl_, record.data(), record.size(), &count) != 1)
      return fail(failure(SSL_get_error(ssl_, 0)));
    REPRISE_ASSERT(count == record.size(), count, record.size());
    total += count;
  }
  return total;
}

void TlsSocket::start_wait_writable(OnReady done) { plain_->start_wait_writable(std::move(done)); }

void TlsSocket::shutdown_write() {
  say_goodbye();
  if (held_.empty())
    plain_->shutdown_write();
  else
    is_shutdown_due_ = true;
}

void TlsSocket::close() {
  if (!is_open()) return;
  say_goodbye();
  plain_->close();
  held_.clear();
}

// close_notify, once, and only where the protocol allows it.
void TlsSocket::say_goodbye() {
  if (has_failed_ || SSL_is_init_finished(ssl_) == 0) return;
  if ((SSL_get_shutdown(ssl_) & SSL_SENT_SHUTDOWN) != 0) return;
  ERR_clear_error();
  SSL_shutdown(ssl_);
}

// Sends from `bytes` what fits; 0 if nothing does or the connection is broken.
std::size_t TlsSocket::send_now(std::string_view bytes) {
  const iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  auto sent = plain_->try_write({&part, 1});
  if (sent) return *sent;
  broken_ = std::move(sent).error();
  return 0;
}

void TlsSocket::send_held() {
  while (!held_.empty()) {
    const std::size_t sent = send_now(held_);
    if (broken_) held_.clear();
    if (sent == 0) return;
    held_.erase(0, sent);
  }
  if (std::exchange(is_shutdown_due_, false)) plain_->shutdown_write();
}

void TlsSocket::send_held_when_writable() {
  if (std::exchange(is_sending_held_, true)) return;
  plain_->start_wait_writable([this, alive = std::weak_ptr(alive_)](Result<> ready) {
    if (!ready || alive.expired()) return;
    is_sending_held_ = false;
    send_held();
    if (!held_.empty()) send_held_when_writable();
  });
}

int TlsSocket::bio_write(BIO* bio, const char* data, std::size_t count, std::size_t* written) {
  TlsSocket& self = socket_of(bio);
  BIO_clear_retry_flags(bio);
  if (!self.held_.empty() && self.held_.size() + count > kMaxTlsHeldBytes) {
    BIO_set_retry_write(bio);
    return 0;
  }
  std::string_view bytes(data, count);
  if (self.held_.empty()) bytes.remove_prefix(self.send_now(bytes));
  if (self.broken_) return 0;
  if (!bytes.empty()) {
    self.held_.append(bytes);
    self.send_held_when_writable();
  }
  *written = count;
  return 1;
}

int TlsSocket::bio_read(BIO* bio, char* data, std::size_t count, std::size_t* read) {
  TlsSocket& self = socket_of(bio);
  BIO_clear_retry_flags(bio);
  for (;;) {
    const ssize_t received = ::recv(self.plain_->descriptor(), data, count, MSG_DONTWAIT);
    if (received > 0) {
      *read = static_cast<std::size_t>(received);
      return 1;
    }
    if (received < 0 && errno == EINTR) continue;
    if (received == 0)
      self.is_at_end_ = true;
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
      BIO_set_retry_read(bio);
    else
      self.broken_ = system_error(errno);
    return 0;
  }
}

long TlsSocket::bio_control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return socket_of(bio).is_at_end_ ? 1 : 0;
  return 0;
}

const BIO_METHOD* TlsSocket::bio_method() {
  static const BIO_METHOD* const made = [] {
    BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    REPRISE_ASSERT(method != nullptr);
    BIO_meth_set_write_ex(method, bio_write);
    BIO_meth_set_read_ex(method, bio_read);
    BIO_meth_set_ctrl(method, bio_control);
    return method;
  }();
  return made;
}

}  // namespace reprise::rt
