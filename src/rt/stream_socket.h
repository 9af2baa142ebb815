// StreamSocket: what the plain sockets of this folder, TCP and local, have in common. Never
// included outside src/rt.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "rt/descriptor.h"
#include "rt/socket.h"

namespace reprise::rt {

Error io_error(const boost::system::error_code& error);
Error system_error(int number);  // of an errno

template <typename Protocol>
class StreamSocket : public Socket {
 public:
  using Native = typename Protocol::socket;

  explicit StreamSocket(Native socket);
  void start_read(std::span<char> buffer, OnRead done) final;
  void start_wait_writable(OnReady done) final;
  Result<std::size_t> try_write(std::span<const iovec> parts) final;
  void shutdown_write() final;
  void close() final;
  bool is_open() const final;
  std::size_t unsent_bytes() const final;
  Result<> depart() final;
  Result<> arrive(RealLoop& loop) final;

  void start_wait(typename Native::wait_type kind, OnReady done);
  int descriptor() { return socket_.native_handle(); }
  // Takes the connection out of this object, e.g. to move it to another loop.
  Native& native() { return socket_; }
  const Native& native() const { return socket_; }

 private:
  Native socket_;
  Descriptor travelling_;  // between two loops
};

extern template class StreamSocket<boost::asio::ip::tcp>;
extern template class StreamSocket<boost::asio::local::stream_protocol>;

}  // namespace reprise::rt
