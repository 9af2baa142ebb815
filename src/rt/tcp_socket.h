// TcpSocket: the plain socket, shared by socket.cpp and tls.cpp. Never included outside src/rt.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "rt/socket.h"

namespace reprise::rt {

Error io_error(const boost::system::error_code& error);
Error system_error(int number);  // of an errno

class TcpSocket final : public Socket {
 public:
  explicit TcpSocket(boost::asio::ip::tcp::socket socket);
  void start_read(std::span<char> buffer, OnRead done) override;
  void start_wait_writable(OnReady done) override;
  Result<std::size_t> try_write(std::span<const iovec> parts) override;
  void shutdown_write() override;
  void close() override;
  bool is_open() const override;
  std::string peer_address() const override;
  std::size_t unsent_bytes() const override;

  void start_wait(boost::asio::ip::tcp::socket::wait_type kind, OnReady done);
  int descriptor() { return socket_.native_handle(); }
  // Takes the connection out of this object, e.g. to move it to another loop.
  boost::asio::ip::tcp::socket& native() { return socket_; }

 private:
  boost::asio::ip::tcp::socket socket_;
};

}  // namespace reprise::rt
