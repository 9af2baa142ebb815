#include "rt/stream_socket.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "rt/asio_native.h"

namespace reprise::rt {

Error io_error(const boost::system::error_code& error) {
  // Aborted: close() came while it waited. A bad descriptor: close() came before.
  if (error == boost::asio::error::operation_aborted || error == boost::asio::error::bad_descriptor)
    return Error{Code::kClosed, "the connection was closed"};
  return Error{Code::kIo, error.message()};
}

Error system_error(int number) { return io_error({number, boost::system::system_category()}); }

template <typename Protocol>
StreamSocket<Protocol>::StreamSocket(Native socket) : socket_(std::move(socket)) {
  boost::system::error_code ignored;
  socket_.native_non_blocking(true, ignored);
}

template <typename Protocol>
void StreamSocket<Protocol>::start_read(std::span<char> buffer, OnRead done) {
  socket_.async_read_some(
      boost::asio::buffer(buffer.data(), buffer.size()),
      [done = std::move(done)](const boost::system::error_code& error, std::size_t count) mutable {
        if (error == boost::asio::error::eof) return done(std::size_t{0});
        if (error) return done(fail(io_error(error)));
        done(count);
      });
}

template <typename Protocol>
void StreamSocket<Protocol>::start_wait(typename Native::wait_type kind, OnReady done) {
  socket_.async_wait(kind,
                     [done = std::move(done)](const boost::system::error_code& error) mutable {
                       if (error) return done(fail(io_error(error)));
                       done({});
                     });
}

template <typename Protocol>
void StreamSocket<Protocol>::start_wait_writable(OnReady done) {
  start_wait(Native::wait_write, std::move(done));
}

template <typename Protocol>
Result<std::size_t> StreamSocket<Protocol>::try_write(std::span<const iovec> parts) {
  msghdr message{};
  // sendmsg only reads the vector; its type just does not say so.
  message.msg_iov = const_cast<iovec*>(parts.data());
  // More than the system takes in one call is a short write, not an error.
  message.msg_iovlen = std::min<std::size_t>(parts.size(), IOV_MAX);
  for (;;) {
    const ssize_t sent = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) return std::size_t{0};
    return fail(system_error(errno));
  }
}

template <typename Protocol>
void StreamSocket<Protocol>::shutdown_write() {
  boost::system::error_code ignored;
  socket_.shutdown(Native::shutdown_send, ignored);
}

template <typename Protocol>
void StreamSocket<Protocol>::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

template <typename Protocol>
bool StreamSocket<Protocol>::is_open() const {
  return socket_.is_open();
}

template <typename Protocol>
std::size_t StreamSocket<Protocol>::unsent_bytes() const {
  int bytes = 0;
  if (::ioctl(const_cast<Native&>(socket_).native_handle(), SIOCOUTQ, &bytes) != 0) return 0;
  return static_cast<std::size_t>(bytes);
}

// Plain descriptors travel: a socket of one loop's context is not touched by another's thread.
template <typename Protocol>
Result<> StreamSocket<Protocol>::depart() {
  boost::system::error_code error;
  const int number = socket_.release(error);
  if (error) return fail(io_error(error));
  travelling_ = Descriptor(number);
  return {};
}

template <typename Protocol>
Result<> StreamSocket<Protocol>::arrive(RealLoop& loop) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(travelling_.number(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return fail(system_error(errno));
  typename Protocol::endpoint endpoint;
  std::memcpy(endpoint.data(), &address, std::min<std::size_t>(size, endpoint.capacity()));
  Native moved(loop.native().context);
  boost::system::error_code error;
  moved.assign(endpoint.protocol(), travelling_.number(), error);
  if (error) return fail(io_error(error));
  travelling_.release();
  socket_ = std::move(moved);
  return {};
}

template class StreamSocket<boost::asio::ip::tcp>;
template class StreamSocket<boost::asio::local::stream_protocol>;

}  // namespace reprise::rt
