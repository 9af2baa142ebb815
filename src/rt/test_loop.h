// What the tests of this folder share: running a coroutine on a real loop and waiting for it with a
// deadline, and a connected pair of sockets.
//
//     TEST(Socket, Reads) { run_on_a_loop([](RealLoop& loop) { return reads(loop); }); }
//
// A test's coroutine owns its sockets, so that they are used and destroyed on their loop.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <future>
#include <memory>

#include "rt/cancel.h"
#include "rt/gate.h"
#include "rt/real_loop.h"
#include "rt/socket.h"

namespace reprise::rt {

inline constexpr std::chrono::seconds kPatience{60};

// The future's value. A test that waits in vain ends the program: its loop may use its variables.
template <typename T>
T await(std::future<T> future) {
  if (future.wait_for(kPatience) != std::future_status::ready) {
    fmt::print(stderr, "the test waited in vain\n");
    std::abort();
  }
  return future.get();
}

// Runs `function` on the loop and waits until it has.
inline void call_on(Loop& loop, std::function<void()> function) {
  std::promise<void> promise;
  loop.post([&promise, &function] {
    function();
    promise.set_value();
  });
  await(promise.get_future());
}

inline Task<> fulfil(Task<> task, std::promise<void>& promise) {
  co_await std::move(task);
  promise.set_value();
}

inline void run_on(RealLoop& loop, Task<> task) {
  Gate gate;
  std::promise<void> promise;
  loop.post([&gate, &promise, &task] { spawn(gate, fulfil(std::move(task), promise)); });
  await(promise.get_future());
  call_on(loop, [] {});  // by now the task has left the gate
}

inline void run_on_a_loop(Task<> (*test)(RealLoop&)) {
  LoopThread thread;
  run_on(thread.loop(), test(thread.loop()));
}

struct SocketPair {
  std::unique_ptr<Socket> client;
  std::unique_ptr<Socket> server;
};

// Two ends of a loopback connection, both on `loop`.
inline Task<SocketPair> connected_pair(RealLoop& loop) {
  auto listener = Listener::bind(loop, {"127.0.0.1", 0});
  REPRISE_ASSERT(listener.has_value());
  SocketPair pair;
  Signal arrived(loop);
  CancelScope scope;
  (*listener)->start({&loop}, [&](RealLoop&, std::unique_ptr<Socket> accepted) {
    pair.server = std::move(accepted);
    arrived.notify();
  });
  auto client = co_await connect(loop, (*listener)->local());
  REPRISE_ASSERT(client.has_value());
  pair.client = std::move(*client);
  if (!pair.server) {
    const auto waited = co_await arrived.wait(scope, Deadline::after(loop, kPatience));
    REPRISE_ASSERT(waited.has_value());
  }
  (*listener)->stop();
  co_return pair;
}

// Reads until the end of the stream, in pieces of `step`.
inline Task<Result<std::string>> read_to_end(Socket& socket, std::size_t step) {
  std::string all;
  std::string piece(step, '\0');
  for (;;) {
    REPRISE_CO_TRY(const std::size_t count, co_await socket.read_some(piece));
    if (count == 0) co_return all;
    all.append(piece, 0, count);
  }
}

// Reads exactly `count` bytes; fewer if the stream ends.
inline Task<Result<std::string>> read_exactly(Socket& socket, std::size_t count) {
  std::string all(count, '\0');
  std::size_t have = 0;
  while (have < count) {
    REPRISE_CO_TRY(const std::size_t got, co_await socket.read_some(std::span(all).subspan(have)));
    if (got == 0) break;
    have += got;
  }
  all.resize(have);
  co_return all;
}

inline Result<std::size_t> try_write(Socket& socket, std::string_view bytes) {
  const iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  return socket.try_write({&part, 1});
}

// Different at every place, so that a lost, repeated or moved byte shows.
inline std::string numbered_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1'664'525 + 1'013'904'223;  // the upper bits of this generator repeat late
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

}  // namespace reprise::rt
