#include "net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace reprise::load {

void die(std::string_view message) {
  std::fprintf(stderr, "reprise_load: %.*s\n", static_cast<int>(message.size()), message.data());
  std::exit(1);
}

void raise_descriptor_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int connect_loopback(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die(std::string("socket: ") + std::strerror(errno));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    die(std::string("connect: ") + std::strerror(errno));
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  return fd;
}

Poller::Poller() : fd_(epoll_create1(EPOLL_CLOEXEC)), events_{} {
  if (fd_ < 0) die("epoll_create1 failed");
}

Poller::~Poller() { close(fd_); }

void Poller::add(int fd, std::uint64_t index, bool is_writing) {
  epoll_event event{};
  event.events = EPOLLIN | (is_writing ? EPOLLOUT : 0U);
  event.data.u64 = index;
  if (epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event) != 0) die("epoll_ctl failed");
}

void Poller::watch_writing(int fd, std::uint64_t index, bool is_writing) {
  epoll_event event{};
  event.events = EPOLLIN | (is_writing ? EPOLLOUT : 0U);
  event.data.u64 = index;
  if (epoll_ctl(fd_, EPOLL_CTL_MOD, fd, &event) != 0) die("epoll_ctl failed");
}

std::span<const epoll_event> Poller::wait(std::int64_t timeout_ns) {
  timespec timeout{};
  timeout.tv_sec = timeout_ns / 1'000'000'000;
  timeout.tv_nsec = timeout_ns % 1'000'000'000;
  const int count = epoll_pwait2(fd_, events_.data(), static_cast<int>(events_.size()),
                                 timeout_ns < 0 ? nullptr : &timeout, nullptr);
  if (count < 0 && errno != EINTR) die(std::string("epoll_pwait2: ") + std::strerror(errno));
  return {events_.data(), count < 0 ? 0U : static_cast<std::size_t>(count)};
}

bool Outbox::flush(int fd) {
  while (sent_ < bytes_.size()) {
    const auto count = send(fd, bytes_.data() + sent_, bytes_.size() - sent_, MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    sent_ += static_cast<std::size_t>(count);
  }
  bytes_.clear();
  sent_ = 0;
  return true;
}

Received receive(int fd) {
  static std::vector<char> buffer(256 * 1024);
  const auto count = recv(fd, buffer.data(), buffer.size(), 0);
  if (count > 0) return {{buffer.data(), static_cast<std::size_t>(count)}, false};
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  return {{}, true};
}

}  // namespace reprise::load
