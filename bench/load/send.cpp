// What the kernel alone takes to deliver one frame to each of many loopback connections: one send
// each, by a process that does nothing else, to a child that only reads. The ceiling of every
// single-event fan-out on this machine.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "net.h"
#include "options.h"
#include "stats.h"

namespace reprise::load {
namespace {

// The frame around an event of --size bytes: id, data, type and time.
constexpr std::size_t kFrameExtra = 58;

std::uint16_t listen_on_loopback(int& listener) {
  listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, generic, size) != 0 || listen(listener, 4096) != 0 ||
      getsockname(listener, generic, &size) != 0)
    die("cannot listen");
  return ntohs(address.sin_port);
}

[[noreturn]] void read_for_ever(std::uint16_t port, std::uint64_t readers) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<int> sockets;
  Poller poller;
  for (std::uint64_t i = 0; i < readers; ++i) {
    sockets.push_back(connect_loopback(port));
    poller.add(sockets.back(), i);
  }
  for (;;)
    for (const auto& event : poller.wait(-1)) receive(sockets[event.data.u64]);
}

}  // namespace

void run_send(const Options& options) {
  int listener = -1;
  const std::uint16_t port = listen_on_loopback(listener);
  const pid_t child = fork();
  if (child == 0) read_for_ever(port, options.readers);
  std::vector<int> sockets;
  for (std::uint64_t i = 0; i < options.readers; ++i) {
    sockets.push_back(accept(listener, nullptr, nullptr));
    const int on = 1;
    setsockopt(sockets.back(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  const std::string frame(options.size + kFrameExtra, 'x');
  std::uint64_t frames = 0;
  Stopwatch watch(getpid());
  while (watch.seconds() < options.seconds) {
    for (const int fd : sockets)
      if (send(fd, frame.data(), frame.size(), MSG_NOSIGNAL) < 0) die("a reader is gone");
    frames += sockets.size();
  }
  watch.stop();
  Report out;
  out.number("readers", static_cast<double>(options.readers));
  out.number("deliveries", static_cast<double>(frames));
  out.number("perSecond", static_cast<double>(frames) / watch.seconds());
  watch.report(out);
  out.print();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace reprise::load
