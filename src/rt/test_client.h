// RawClient: sends bytes as they are to a port of this machine and reads what comes back.
//
// Included by tests only.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace reprise::rt {

struct RawResponse {
  int status = 0;
  std::string head;  // with its last empty line, names in lower case as the server sends them
  std::string body;
  bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
};

// A blocking client of one connection; every wait has a deadline.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, int receive_buffer = 0) {
    descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer > 0)
      ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int outcome =
        ::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    EXPECT_EQ(outcome, 0);
  }
  ~RawClient() { ::close(descriptor_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // False if the server has closed meanwhile.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      if (!wait(POLLOUT)) return false;
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void finish_sending() { ::shutdown(descriptor_, SHUT_WR); }

  // The next response; status 0 if the connection ended before it was whole. An answer without a
  // length has its body read only if `until_end`.
  RawResponse response(bool is_head = false, bool until_end = false) {
    RawResponse answer;
    std::size_t end = 0;
    while ((end = input_.find("\r\n\r\n")) == std::string::npos)
      if (!receive()) return answer;
    answer.head = input_.substr(0, end + 4);
    input_.erase(0, end + 4);
    const int status = std::atoi(answer.head.substr(9, 3).c_str());
    std::size_t length = 0;
    if (const std::size_t at = answer.head.find("content-length: "); at != std::string::npos)
      length = std::strtoul(answer.head.c_str() + at + 16, nullptr, 10);
    if (!is_head && status >= 200)
      while (input_.size() < length)
        if (!receive()) return answer;
    if (until_end) {
      while (receive()) {
      }
      length = input_.size();
    }
    if (is_head || status < 200) length = 0;
    answer.body = input_.substr(0, length);
    input_.erase(0, length);
    answer.status = status;
    return answer;
  }
  // Reads until `text` has come; false if the connection ended first.
  bool read_until(std::string_view text) {
    while (input_.find(text) == std::string::npos)
      if (!receive()) return false;
    return true;
  }
  // Whether the server has ended the connection, and in good order: not by a reset.
  bool ends() {
    while (receive()) {
    }
    return is_ended_;
  }
  bool read_some() { return receive(); }
  const std::string& unread() const { return input_; }
  std::string take_unread() { return std::exchange(input_, {}); }
  void forget() { input_.clear(); }

 private:
  bool wait(short events) {
    pollfd waiting{descriptor_, events, 0};
    return ::poll(&waiting, 1, 30'000) == 1;
  }
  bool receive() {
    if (!wait(POLLIN)) return false;
    char piece[16 * 1024];
    const ssize_t count = ::recv(descriptor_, piece, sizeof piece, 0);
    is_ended_ = count == 0;
    if (count <= 0) return false;
    input_.append(piece, static_cast<std::size_t>(count));
    return true;
  }
  int descriptor_;
  std::string input_;
  bool is_ended_ = false;
};

}  // namespace reprise::rt
