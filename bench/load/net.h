// Loopback sockets and epoll for one thread.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace reprise::load {

// Ends the program with a message: a generator that cannot do its load has nothing to report.
[[noreturn]] void die(std::string_view message);

// As many descriptors as the system lets this process have.
void raise_descriptor_limit();

// Connected, non-blocking, without Nagle's delay.
int connect_loopback(std::uint16_t port);

// An epoll set whose entries are found by an index the caller gives.
class Poller {
 public:
  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  void add(int fd, std::uint64_t index, bool is_writing = false);
  void watch_writing(int fd, std::uint64_t index, bool is_writing);
  // Waits at most this long; a negative time means for ever.
  std::span<const epoll_event> wait(std::int64_t timeout_ns);

 private:
  int fd_;
  std::array<epoll_event, 1024> events_;
};

// Bytes on their way to a socket that may not take them all at once.
class Outbox {
 public:
  std::string& bytes() { return bytes_; }
  // Sends what fits. False when the socket is gone.
  bool flush(int fd);
  bool is_empty() const { return sent_ == bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t sent_ = 0;
};

// One read into a buffer shared by all sockets: {} when nothing is there now.
struct Received {
  std::string_view bytes;
  bool is_closed = false;
};
Received receive(int fd);

}  // namespace reprise::load
