// Socket: a connected byte stream, plain or TLS, and how to get one.
//
// Reading suspends; writing first tries at once, because a send almost always fits the kernel's
// buffer, and suspends only when it does not. try_write() alone is for the fan-out path: the hub
// writes to thousands of readers in one turn without a coroutine each.
//
// Threads: a socket belongs to the loop it was made on. At most one read and one wait_writable at a
// time.
#pragma once

#include <sys/uio.h>

#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "rt/cancel.h"
#include "rt/real_loop.h"
#include "rt/task.h"

namespace reprise::rt {

class Socket {
 public:
  using OnRead = std::move_only_function<void(Result<std::size_t>)>;
  using OnReady = std::move_only_function<void(Result<>)>;

  virtual ~Socket() = default;

  // The number of bytes read into `buffer`, which must not be empty; 0 at the end of the stream.
  // kClosed after close(), kIo for a reset.
  auto read_some(std::span<char> buffer) {
    struct Awaiter {
      Socket& socket;
      std::span<char> buffer;
      Result<std::size_t> outcome = 0;
      bool await_ready() const { return false; }
      void await_suspend(std::coroutine_handle<> handle) {
        socket.start_read(buffer, [this, handle](Result<std::size_t> result) {
          outcome = std::move(result);
          handle.resume();
        });
      }
      Result<std::size_t> await_resume() { return std::move(outcome); }
    };
    return Awaiter{*this, buffer};
  }

  // Waits until try_write may take more.
  auto wait_writable() {
    struct Awaiter {
      Socket& socket;
      Result<> outcome{};
      bool await_ready() const { return false; }
      void await_suspend(std::coroutine_handle<> handle) {
        socket.start_wait_writable([this, handle](Result<> result) {
          outcome = std::move(result);
          handle.resume();
        });
      }
      Result<> await_resume() { return std::move(outcome); }
    };
    return Awaiter{*this};
  }

  // Takes what fits now and returns how much that was; 0 if nothing does. What was taken will be
  // sent, what was not need not be offered again.
  virtual Result<std::size_t> try_write(std::span<const iovec> parts) = 0;
  // Sends all of it: the kernel has every byte when this returns.
  Task<Result<>> write(std::string_view bytes);

  virtual void start_read(std::span<char> buffer, OnRead done) = 0;
  virtual void start_wait_writable(OnReady done) = 0;
  // No more bytes from us; the peer may still send.
  virtual void shutdown_write() = 0;
  // Ends it; what waits is completed with kClosed. Idempotent.
  virtual void close() = 0;
  virtual bool is_open() const = 0;
  virtual std::string peer_address() const = 0;
  // Bytes the kernel holds that the peer has not taken; 0 where that cannot be told.
  virtual std::size_t unsent_bytes() const = 0;
  // Bytes taken by try_write that still wait in this process (a TLS record that did not fit the
  // kernel's buffer). They are sent without further calls, but close() drops them.
  virtual std::size_t held_bytes() const { return 0; }

  // Moves to another loop: depart() on the one it lives on, when nothing waits on it and nothing is
  // held; then, on the new one, arrive(). In between it is closed to everybody. kIo, and it stays
  // closed, where that does not work.
  virtual Result<> depart();
  virtual Result<> arrive(RealLoop& loop);
};

struct Endpoint {
  std::string host;  // an address or, for connect, a name
  std::uint16_t port = 0;
};
// "127.0.0.1:7450", "[::1]:0", "localhost:80".
Result<Endpoint> parse_endpoint(std::string_view text);
bool is_loopback(std::string_view host);

// Accepts connections for several loops in turn: each socket is made on the loop it will live on.
// (Not SO_REUSEPORT: with it, a second server started by mistake would share the port silently.)
class Listener {
 public:
  using OnSocket = std::function<void(RealLoop& home, std::unique_ptr<Socket>)>;

  static Result<std::unique_ptr<Listener>> bind(RealLoop& loop, const Endpoint& endpoint);
  virtual ~Listener() = default;  // on its loop, or after that has stopped
  virtual Endpoint local() const = 0;
  // Calls `on_socket` for each connection, on that connection's loop, until stop(). With too few
  // file descriptors it waits a little and goes on.
  virtual void start(std::vector<RealLoop*> homes, OnSocket on_socket) = 0;
  // On the listener's loop. A connection that was already on its way to another loop still arrives
  // there.
  virtual void stop() = 0;
};

// A connection to a server, for clients. Resolves the name on the calling thread (the command line
// has no other).
Task<Result<std::unique_ptr<Socket>>> connect(RealLoop& loop, Endpoint endpoint);
// The same with an end: a peer that drops what it gets would be waited for for minutes. kDeadline.
Task<Result<std::unique_ptr<Socket>>> connect(RealLoop& loop, Endpoint endpoint, CancelScope& scope,
                                              Deadline deadline);

}  // namespace reprise::rt
