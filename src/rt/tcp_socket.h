// TcpSocket: the plain socket, shared by socket.cpp and tls.cpp. Never included outside src/rt.
#pragma once

#include "rt/stream_socket.h"

namespace reprise::rt {

class TcpSocket final : public StreamSocket<boost::asio::ip::tcp> {
 public:
  explicit TcpSocket(boost::asio::ip::tcp::socket socket);
  std::string peer_address() const override;
};

}  // namespace reprise::rt
