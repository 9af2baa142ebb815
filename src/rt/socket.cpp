#include "rt/socket.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <charconv>

#include "base/assert.h"
#include "rt/asio_native.h"
#include "rt/descriptor.h"
#include "rt/tcp_socket.h"

namespace reprise::rt {

using boost::asio::ip::tcp;

TcpSocket::TcpSocket(tcp::socket socket) : StreamSocket(std::move(socket)) {
  boost::system::error_code ignored;
  native().set_option(tcp::no_delay(true), ignored);
}

std::string TcpSocket::peer_address() const {
  boost::system::error_code error;
  const auto peer = native().remote_endpoint(error);
  return error ? std::string{} : peer.address().to_string();
}

Result<> Socket::depart() { return fail(Code::kIo, "this socket stays on its loop"); }
Result<> Socket::arrive(RealLoop&) { return fail(Code::kIo, "this socket stays on its loop"); }

Task<Result<>> Socket::write(std::string_view bytes) {
  while (!bytes.empty() || held_bytes() > 0) {
    const iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    REPRISE_CO_TRY(const std::size_t sent, try_write({&part, 1}));
    bytes.remove_prefix(sent);
    if (sent == 0 && (!bytes.empty() || held_bytes() > 0))
      REPRISE_CO_CHECK(co_await wait_writable());
  }
  co_return Result<>{};
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  const auto bad = [&] {
    return fail(Code::kBadParameter,
                fmt::format("'{}' is not HOST:PORT, such as 127.0.0.1:7450", text));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return bad();
  std::string_view host = text.substr(0, colon);
  if (host.front() == '[') {
    if (host.size() < 3 || host.back() != ']') return bad();
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad();  // an IPv6 address needs its brackets
  }
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size()) return bad();
  return Endpoint{std::string(host), port};
}

bool is_loopback(std::string_view host) {
  if (host == "localhost") return true;
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  return !error && address.is_loopback();
}

namespace {

constexpr int kAcceptsPerTurn = 64;
constexpr std::chrono::milliseconds kPauseWithoutDescriptors{50};

class TcpListener final : public Listener {
 public:
  TcpListener(RealLoop& loop, tcp::acceptor acceptor, tcp protocol)
      : loop_(loop), acceptor_(std::move(acceptor)), protocol_(protocol), pause_(loop.timers()) {}

  Endpoint local() const override {
    boost::system::error_code error;
    const auto endpoint = acceptor_.local_endpoint(error);
    return {endpoint.address().to_string(), endpoint.port()};
  }

  void start(std::vector<RealLoop*> homes, OnSocket on_socket) override {
    REPRISE_ASSERT(!homes.empty());
    homes_ = std::move(homes);
    on_socket_ = std::make_shared<OnSocket>(std::move(on_socket));
    accept();
  }

  void stop() override {
    listening_.reset();
    pause_.cancel();
    boost::system::error_code ignored;
    acceptor_.close(ignored);
  }

 private:
  void accept() {
    acceptor_.async_wait(tcp::acceptor::wait_read, [this, listening = std::weak_ptr(listening_)](
                                                       const boost::system::error_code& error) {
      // It may be queued while the listener is stopped, or destroyed.
      if (error || listening.expired()) return;
      take_waiting();
    });
  }

  // Accepts what waits, but lets the loop do other things in between. Plain descriptors go to the
  // other loops: a socket of a loop's context inside a completion on this loop would have to be
  // destroyed before that loop, whichever of the two stops first.
  void take_waiting() {
    for (int taken = 0; taken < kAcceptsPerTurn; ++taken) {
      Descriptor accepted(
          ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (accepted.is_valid()) {
        hand_over(std::move(accepted));
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        // Connections wait in the backlog until some are closed.
        pause_.arm(loop_.now() + kPauseWithoutDescriptors, [this] { accept(); });
        return;
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        break;
      }  // else it was the connection's own error (accept(2)): on to the next
    }
    accept();
  }

  void hand_over(Descriptor accepted) {
    RealLoop& home = *homes_[next_home_];
    next_home_ = (next_home_ + 1) % homes_.size();
    home.post([&home, on_socket = on_socket_, protocol = protocol_,
               accepted = std::move(accepted)]() mutable {
      tcp::socket socket(home.native().context);
      boost::system::error_code error;
      socket.assign(protocol, accepted.number(), error);
      if (error) return;
      accepted.release();
      (*on_socket)(home, std::make_unique<TcpSocket>(std::move(socket)));
    });
  }

  RealLoop& loop_;
  std::shared_ptr<bool> listening_ = std::make_shared<bool>(true);  // gone once stopped
  tcp::acceptor acceptor_;
  tcp protocol_;
  Timer pause_;
  std::vector<RealLoop*> homes_;
  std::size_t next_home_ = 0;
  std::shared_ptr<OnSocket> on_socket_;
};

}  // namespace

Result<std::unique_ptr<Listener>> Listener::bind(RealLoop& loop, const Endpoint& endpoint) {
  boost::system::error_code error;
  const std::string host = endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host;
  const auto address = boost::asio::ip::make_address(host, error);
  if (error)
    return fail(Code::kBadParameter,
                fmt::format("'{}' is not an IP address to listen on", endpoint.host));
  const tcp::endpoint where(address, endpoint.port);
  tcp::acceptor acceptor(loop.native().context);
  const auto refuse = [&] {
    return fail(Code::kIo, fmt::format("cannot listen on {}:{}: {}", endpoint.host, endpoint.port,
                                       error.message()));
  };
  acceptor.open(where.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(where, error);
  if (!error) acceptor.listen(4096, error);
  if (!error) acceptor.native_non_blocking(true, error);
  if (error) return refuse();
  return std::make_unique<TcpListener>(loop, std::move(acceptor), where.protocol());
}

Task<Result<std::unique_ptr<Socket>>> connect(RealLoop& loop, Endpoint endpoint) {
  CancelScope scope;
  co_return co_await connect(loop, std::move(endpoint), scope, Deadline::never());
}

Task<Result<std::unique_ptr<Socket>>> connect(RealLoop& loop, Endpoint endpoint, CancelScope& scope,
                                              Deadline deadline) {
  boost::system::error_code error;
  tcp::resolver resolver(loop.native().context);
  const auto found = resolver.resolve(endpoint.host, std::to_string(endpoint.port), error);
  if (error)
    co_return fail(Code::kIo,
                   fmt::format("cannot resolve '{}': {}", endpoint.host, error.message()));
  struct Connect {
    tcp::socket socket;
    const tcp::resolver::results_type& found;
    boost::system::error_code error{};
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> handle) {
      boost::asio::async_connect(
          socket, found,
          [this, handle](const boost::system::error_code& result, const tcp::endpoint&) {
            error = result;
            handle.resume();
          });
    }
    void await_resume() const {}
  };
  Connect connecting{tcp::socket(loop.native().context), found};
  bool is_late = false;
  const auto give_up = [&connecting] {
    boost::system::error_code ignored;
    connecting.socket.close(ignored);
  };
  if (scope.is_cancelled()) co_return fail(scope.reason());
  const CancelScope::Listener cancelled(scope, give_up);
  Timer timer(loop.timers());
  if (!deadline.is_never())
    timer.arm(deadline.at(), [&] {
      is_late = true;
      give_up();
    });
  co_await connecting;
  timer.cancel();
  if (scope.is_cancelled()) co_return fail(scope.reason());
  if (is_late)
    co_return fail(Code::kDeadline,
                   fmt::format("no connection to {}:{} in time", endpoint.host, endpoint.port));
  if (connecting.error)
    co_return fail(Code::kIo, fmt::format("cannot connect to {}:{}: {}", endpoint.host,
                                          endpoint.port, connecting.error.message()));
  co_return std::make_unique<TcpSocket>(std::move(connecting.socket));
}

}  // namespace reprise::rt
