#include "rt/socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <climits>
#include <string>
#include <vector>

#include "rt/tcp_socket.h"
#include "rt/test_loop.h"

namespace reprise::rt {
namespace {

using std::chrono_literals::operator""ms;

constexpr std::size_t kMiB = 1024 * 1024;

Task<> write_all(Socket& socket, const std::string& bytes) {
  EXPECT_TRUE((co_await socket.write(bytes)).has_value());
  socket.shutdown_write();
}

Task<> store_read(Socket& socket, std::optional<Result<std::size_t>>& outcome) {
  char byte = 0;
  outcome = co_await socket.read_some({&byte, 1});
}

Task<> store_write(Socket& socket, const std::string& bytes, std::optional<Result<>>& outcome) {
  outcome = co_await socket.write(bytes);
}

// Closing with unread or unsent data dropped: the peer sees a reset.
void reset(Socket& socket) {
  dynamic_cast<TcpSocket&>(socket).native().set_option(boost::asio::socket_base::linger(true, 0));
  socket.close();
}

Task<> speak_both_ways(RealLoop& loop) {
  SocketPair pair = co_await connected_pair(loop);
  EXPECT_TRUE((co_await pair.client->write("question")).has_value());
  EXPECT_EQ(co_await read_exactly(*pair.server, 8), "question");
  EXPECT_TRUE((co_await pair.server->write("answer")).has_value());
  EXPECT_EQ(co_await read_exactly(*pair.client, 6), "answer");
  EXPECT_EQ(pair.server->peer_address(), "127.0.0.1");
  EXPECT_EQ(pair.server->held_bytes(), 0U);
}

TEST(Socket, SpeaksBothWays) { run_on_a_loop(speak_both_ways); }

// A listener whose queue is full takes no part in a handshake any more.
Task<> connect_to_the_silent(RealLoop& loop) {
  const int silent = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof where;
  auto* address = reinterpret_cast<sockaddr*>(&where);
  REPRISE_ASSERT(::bind(silent, address, length) == 0 && ::listen(silent, 0) == 0 &&
                 ::getsockname(silent, address, &length) == 0);
  const Endpoint endpoint{"127.0.0.1", ntohs(where.sin_port)};
  std::vector<std::unique_ptr<Socket>> queued;
  CancelScope scope;
  for (;;) {
    auto socket = co_await connect(loop, endpoint, scope, Deadline::after(loop, 100ms));
    if (!socket) {
      EXPECT_EQ(socket.error().code, Code::kDeadline);
      break;
    }
    queued.push_back(std::move(*socket));
  }
  EXPECT_FALSE(queued.empty());
  loop.post([&scope] { scope.cancel(); });
  const auto cancelled = co_await connect(loop, endpoint, scope, Deadline::never());
  EXPECT_EQ(cancelled ? Code::kInternal : cancelled.error().code, Code::kCancelled);
  ::close(silent);
}

TEST(Socket, ConnectingEndsAtItsDeadline) { run_on_a_loop(connect_to_the_silent); }

Task<> half_close(RealLoop& loop) {
  SocketPair pair = co_await connected_pair(loop);
  EXPECT_TRUE((co_await pair.client->write("all I have")).has_value());
  pair.client->shutdown_write();
  EXPECT_EQ(co_await read_to_end(*pair.server, 64), "all I have");
  EXPECT_TRUE((co_await pair.server->write("thank you")).has_value());
  pair.server->close();
  EXPECT_EQ(co_await read_to_end(*pair.client, 64), "thank you");
}

TEST(Socket, TheOtherDirectionGoesOnAfterShutdownWrite) { run_on_a_loop(half_close); }

Task<> large_write(RealLoop& loop) {
  SocketPair pair = co_await connected_pair(loop);
  const std::string bytes = numbered_bytes(16 * kMiB);
  Gate gate;
  spawn(gate, write_all(*pair.server, bytes));
  EXPECT_EQ(gate.inside(), 1U) << "more than the kernel takes at once";
  EXPECT_GT(pair.server->unsent_bytes(), 0U);
  const auto all = co_await read_to_end(*pair.client, 7'001);
  EXPECT_TRUE(all == bytes);
  co_await gate.empty();
}

TEST(Socket, ALargeWriteWaitsForASlowReaderAndLosesNothing) { run_on_a_loop(large_write); }

Task<> full_buffer(RealLoop& loop) {
  SocketPair pair = co_await connected_pair(loop);
  const std::string piece = numbered_bytes(64 * 1024);
  std::string taken;
  for (;;) {
    const auto count = try_write(*pair.server, piece);
    EXPECT_TRUE(count.has_value());
    if (count.value_or(0) == 0) break;
    taken.append(piece, 0, *count);
  }
  // What was refused may be forgotten, and something else offered.
  const auto read = co_await read_exactly(*pair.client, taken.size());
  EXPECT_TRUE(read == taken);
  EXPECT_TRUE((co_await pair.server->wait_writable()).has_value());
  EXPECT_EQ(try_write(*pair.server, "other"), 5U);
  EXPECT_EQ(co_await read_exactly(*pair.client, 5), "other");
}

TEST(Socket, TryWriteTakesWhatFitsAndNothingWhenFull) { run_on_a_loop(full_buffer); }

Task<> many_parts(RealLoop& loop) {
  SocketPair pair = co_await connected_pair(loop);
  std::string bytes = numbered_bytes(3 * IOV_MAX);
  std::vector<iovec> parts;
  for (char& byte : bytes) parts.push_back({&byte, 1});
  std::size_t sent = 0;
  while (sent < parts.size()) {
    const auto count = pair.server->try_write(std::span(parts).subspan(sent));
    EXPECT_TRUE(count.has_value());
    if (!count) co_return;
    sent += *count;
    if (*count == 0) EXPECT_TRUE((co_await pair.server->wait_writable()).has_value());
  }
  EXPECT_EQ(co_await read_exactly(*pair.client, bytes.size()), bytes);
  EXPECT_EQ(pair.server->try_write({}), 0U);
}

TEST(Socket, TakesMorePartsThanTheSystemDoesInOneCall) { run_on_a_loop(many_parts); }

Task<> reset_while_reading(RealLoop& loop) {
  SocketPair pair = co_await connected_pair(loop);
  Gate gate;
  std::optional<Result<std::size_t>> outcome;
  spawn(gate, store_read(*pair.server, outcome));
  reset(*pair.client);
  co_await gate.empty();
  EXPECT_TRUE(outcome.has_value());
  if (outcome) EXPECT_EQ(outcome->error().code, Code::kIo);
}

TEST(Socket, AResetByThePeerEndsAReadWithIo) { run_on_a_loop(reset_while_reading); }

Task<> reset_while_writing(RealLoop& loop) {
  SocketPair pair = co_await connected_pair(loop);
  const std::string bytes = numbered_bytes(16 * kMiB);
  Gate gate;
  std::optional<Result<>> outcome;
  spawn(gate, store_write(*pair.server, bytes, outcome));
  EXPECT_FALSE(outcome.has_value());
  reset(*pair.client);
  co_await gate.empty();
  EXPECT_TRUE(outcome && !*outcome);
  if (outcome && !*outcome) EXPECT_EQ(outcome->error().code, Code::kIo);
  const auto later = try_write(*pair.server, "more");  // and no SIGPIPE
  EXPECT_FALSE(later.has_value());
  if (!later) EXPECT_EQ(later.error().code, Code::kIo);
}

TEST(Socket, AResetByThePeerEndsAWriteWithIo) { run_on_a_loop(reset_while_writing); }

Task<> close_while_waiting(RealLoop& loop) {
  SocketPair pair = co_await connected_pair(loop);
  const std::string bytes = numbered_bytes(16 * kMiB);
  Gate gate;
  std::optional<Result<std::size_t>> read;
  std::optional<Result<>> written;
  spawn(gate, store_read(*pair.server, read));
  spawn(gate, store_write(*pair.server, bytes, written));
  pair.server->close();
  EXPECT_FALSE(read.has_value()) << "who closes is not re-entered";
  co_await gate.empty();
  EXPECT_TRUE(read && !*read && read->error().code == Code::kClosed);
  EXPECT_TRUE(written && !*written && written->error().code == Code::kClosed);
}

TEST(Socket, ClosingEndsWhatWaitsWithClosed) { run_on_a_loop(close_while_waiting); }

Task<> use_after_close(RealLoop& loop) {
  SocketPair pair = co_await connected_pair(loop);
  pair.server->close();
  pair.server->close();
  pair.server->shutdown_write();
  EXPECT_FALSE(pair.server->is_open());
  char byte = 0;
  EXPECT_EQ((co_await pair.server->read_some({&byte, 1})).error().code, Code::kClosed);
  EXPECT_EQ((co_await pair.server->wait_writable()).error().code, Code::kClosed);
  EXPECT_EQ((co_await pair.server->write("x")).error().code, Code::kClosed);
  EXPECT_EQ(pair.server->unsent_bytes(), 0U);
  EXPECT_EQ(pair.server->peer_address(), "");
}

TEST(Socket, EverythingAfterCloseIsClosed) { run_on_a_loop(use_after_close); }

Task<> destroy_while_reading(RealLoop& loop) {
  SocketPair pair = co_await connected_pair(loop);
  Gate gate;
  std::optional<Result<std::size_t>> outcome;
  spawn(gate, store_read(*pair.server, outcome));
  pair.server.reset();
  co_await gate.empty();
  EXPECT_TRUE(outcome && !*outcome && outcome->error().code == Code::kClosed);
}

TEST(Socket, DestroyingItEndsAReadWithClosed) { run_on_a_loop(destroy_while_reading); }

Task<> connect_to_nobody(RealLoop& loop) {
  Endpoint nobody;
  {
    const auto listener = Listener::bind(loop, {"127.0.0.1", 0});
    EXPECT_TRUE(listener.has_value());
    nobody = (*listener)->local();
  }
  const auto connected = co_await connect(loop, nobody);
  EXPECT_FALSE(connected.has_value());
  if (!connected) EXPECT_EQ(connected.error().code, Code::kIo);
}

TEST(Socket, ConnectingToAClosedPortIsAnError) { run_on_a_loop(connect_to_nobody); }

TEST(Endpoint, IsAHostAndAPort) {
  const auto v4 = parse_endpoint("127.0.0.1:7450");
  ASSERT_TRUE(v4.has_value());
  EXPECT_EQ(v4->host, "127.0.0.1");
  EXPECT_EQ(v4->port, 7450);
  const auto v6 = parse_endpoint("[::1]:0");
  ASSERT_TRUE(v6.has_value());
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->port, 0);
  for (const char* bad : {"", ":", ":80", "host", "host:", "host:x", "host:80x", "host:-1",
                          "host:65536", "::1:80", "[]:80", "[::1:80", "[:80", "host: 80"}) {
    const auto outcome = parse_endpoint(bad);
    ASSERT_FALSE(outcome.has_value()) << bad;
    EXPECT_EQ(outcome.error().code, Code::kBadParameter) << bad;
  }
}

TEST(Endpoint, KnowsWhatIsLoopback) {
  for (const char* host : {"localhost", "127.0.0.1", "127.9.9.9", "::1"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "example.org", ""})
    EXPECT_FALSE(is_loopback(host)) << host;
}

TEST(Listener, RefusesWhatIsNoAddressAndAPortThatIsTaken) {
  RealLoop loop;
  const auto name = Listener::bind(loop, {"example.org", 0});
  ASSERT_FALSE(name.has_value());
  EXPECT_EQ(name.error().code, Code::kBadParameter);
  const auto first = Listener::bind(loop, {"localhost", 0});
  ASSERT_TRUE(first.has_value());
  EXPECT_NE((*first)->local().port, 0);
  const auto second = Listener::bind(loop, (*first)->local());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Code::kIo);
}

Task<> greeted_by_each(RealLoop& loop, RealLoop& first, RealLoop& second) {
  auto listener = Listener::bind(loop, {"127.0.0.1", 0});
  EXPECT_TRUE(listener.has_value());
  (*listener)->start({&first, &second}, [&first](RealLoop& home, std::unique_ptr<Socket> accepted) {
    EXPECT_TRUE(home.is_current());
    EXPECT_EQ(try_write(*accepted, &home == &first ? "first" : "second"),
              &home == &first ? 5U : 6U);
  });
  for (int round = 0; round < 50; ++round)
    for (const char* greeting : {"first", "second"}) {
      auto client = co_await connect(loop, (*listener)->local());
      EXPECT_TRUE(client.has_value());
      if (!client) co_return;
      EXPECT_EQ(co_await read_to_end(**client, 64), greeting);
    }
}

TEST(Listener, GivesConnectionsToItsLoopsInTurn) {
  LoopThread accepting;
  LoopThread first;
  LoopThread second;
  run_on(accepting.loop(), greeted_by_each(accepting.loop(), first.loop(), second.loop()));
}

// However far an accept has come on its way through the loop, a listener may go.
Task<> destroy_soon_after_a_connection(RealLoop& loop) {
  for (int turns = 0; turns < 8; ++turns) {
    auto listener = Listener::bind(loop, {"127.0.0.1", 0});
    EXPECT_TRUE(listener.has_value());
    boost::asio::io_context elsewhere;
    boost::asio::ip::tcp::socket client(elsewhere);
    client.connect({boost::asio::ip::make_address("127.0.0.1"), (*listener)->local().port});
    (*listener)->start({&loop}, [](RealLoop&, std::unique_ptr<Socket>) {});
    for (int turn = 0; turn < turns / 2; ++turn) co_await yield(loop);
    if (turns % 2 == 0) (*listener)->stop();
    listener->reset();
    for (int turn = 0; turn < 8; ++turn) co_await yield(loop);
  }
}

TEST(Listener, MayBeDestroyedWhileAnAcceptIsQueued) {
  run_on_a_loop(destroy_soon_after_a_connection);
}

TEST(Listener, MayBeDestroyedAfterItsLoopHasStopped) {
  LoopThread thread;
  auto listener = Listener::bind(thread.loop(), {"127.0.0.1", 0});
  ASSERT_TRUE(listener.has_value());
  call_on(thread.loop(),
          [&] { (*listener)->start({&thread.loop()}, [](RealLoop&, std::unique_ptr<Socket>) {}); });
  thread.stop();
  listener->reset();
}

// The loops may end in either order, whatever is still on its way between them.
TEST(Listener, ConnectionsOnTheirWayToAStoppedLoopAreClosed) {
  LoopThread accepting;
  LoopThread home;  // destroyed first
  home.stop();
  auto listener = Listener::bind(accepting.loop(), {"127.0.0.1", 0});
  ASSERT_TRUE(listener.has_value());
  call_on(accepting.loop(), [&] {
    (*listener)->start({&home.loop()}, [](RealLoop&, std::unique_ptr<Socket>) { FAIL(); });
  });
  boost::asio::io_context elsewhere;
  boost::asio::ip::tcp::socket client(elsewhere);
  client.connect({boost::asio::ip::make_address("127.0.0.1"), (*listener)->local().port});
  call_on(accepting.loop(), [&] { listener->reset(); });
}

// All of the process's file descriptors, within a lowered limit.
class NoDescriptorsLeft {
 public:
  NoDescriptorsLeft() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit low = before_;
    low.rlim_cur = 128;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
    for (int fd; (fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken_.push_back(fd);
  }
  ~NoDescriptorsLeft() {
    for (const int fd : taken_) ::close(fd);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  NoDescriptorsLeft(const NoDescriptorsLeft&) = delete;
  NoDescriptorsLeft& operator=(const NoDescriptorsLeft&) = delete;

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

Task<> accept_without_descriptors(RealLoop& loop) {
  auto listener = Listener::bind(loop, {"127.0.0.1", 0});
  EXPECT_TRUE(listener.has_value());
  const auto client = co_await connect(loop, (*listener)->local());
  EXPECT_TRUE(client.has_value());
  Signal arrived(loop);
  CancelScope scope;
  std::unique_ptr<Socket> server;
  {
    const NoDescriptorsLeft none;
    (*listener)->start({&loop}, [&](RealLoop&, std::unique_ptr<Socket> accepted) {
      server = std::move(accepted);
      arrived.notify();
    });
    // The listener's pause is the only timer.
    const Deadline deadline = Deadline::after(loop, kPatience);
    while (loop.timers().size() == 0 && !deadline.has_passed(loop)) co_await yield(loop);
    EXPECT_EQ(loop.timers().size(), 1U);
    EXPECT_FALSE(server);
  }
  EXPECT_TRUE((co_await arrived.wait(scope, Deadline::after(loop, kPatience))).has_value());
  EXPECT_TRUE(server);
}

TEST(Listener, WithoutFileDescriptorsItWaitsAndGoesOn) {
  run_on_a_loop(accept_without_descriptors);
}

}  // namespace
}  // namespace reprise::rt
