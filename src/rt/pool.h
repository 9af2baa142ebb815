// Pool: a few threads for what blocks (cold reads, name resolution), so that loops never do.
//
//     auto page = co_await pool.run(loop, [&] { return engine.scan(request, ReadMode::kBlocking);
//     });
//
// run() answers kOverloaded when kMaxPoolQueue calls are waiting. Threads: any loop may call run();
// a pool is destroyed before the loops its calls return to.
#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "rt/loop.h"

namespace reprise::rt {

class Pool {
 public:
  virtual ~Pool() = default;
  // False if the queue is full or the pool has stopped.
  virtual bool submit(Function work) = 0;

  // Calls `work`, which returns a Result, on a thread of the pool, and continues on `home`.
  template <typename Work>
  auto run(Loop& home, Work work) {
    using R = decltype(work());
    struct Awaiter {
      Pool& pool;
      Loop& home;
      Work work;
      std::optional<R> outcome = std::nullopt;
      bool await_ready() const { return false; }
      bool await_suspend(std::coroutine_handle<> handle) {
        const bool is_accepted = pool.submit([this, handle] {
          outcome.emplace(work());
          home.post([handle] { handle.resume(); });
        });
        if (is_accepted) return true;
        outcome.emplace(fail(Code::kOverloaded, "too many reads are waiting for the disk"));
        return false;
      }
      R await_resume() { return std::move(*outcome); }
    };
    return Awaiter{*this, home, std::move(work)};
  }
};

// How many threads this machine runs at once; at least one.
std::size_t core_count();

// Real threads.
class ThreadPool final : public Pool {
 public:
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool() override;  // finishes what is queued
  bool submit(Function work) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// For tests and simulations: the work happens at once, on the calling thread.
class InlinePool final : public Pool {
 public:
  bool submit(Function work) override {
    work();
    return true;
  }
};

}  // namespace reprise::rt
