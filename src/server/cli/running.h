// Running: a started task whose owner may drop it, and run_to_end(), which drives a loop for one.
//
//     rt::RealLoop loop;
//     int status = run_to_end(loop, command(loop));
//
// A Gate waits for its tasks; the command line must also be able to give up on one (a connection
// that the network never answers). A dropped task's operations may still be queued on the loop, so
// it may be dropped only when the loop does not run any more.
#pragma once

#include <coroutine>
#include <optional>
#include <utility>

#include "rt/real_loop.h"
#include "rt/task.h"

namespace reprise::server::cli {

class Running {
 public:
  struct promise_type {
    Running get_return_object() {
      return Running(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
  };

  Running(Running&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Running& operator=(Running&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Running() {
    if (handle_) handle_.destroy();
  }

  // Runs the task up to its first wait.
  static Running start(rt::Task<> task) { co_await std::move(task); }

 private:
  explicit Running(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

namespace detail {
template <typename T>
rt::Task<> finish_into(rt::RealLoop& loop, rt::Task<T> task, std::optional<T>& outcome) {
  outcome.emplace(co_await std::move(task));
  loop.stop();
}
}  // namespace detail

// Runs the loop on this thread until the task has ended. Once per loop.
template <typename T>
T run_to_end(rt::RealLoop& loop, rt::Task<T> task) {
  std::optional<T> outcome;
  std::optional<Running> running;
  loop.post([&] {
    running.emplace(Running::start(detail::finish_into(loop, std::move(task), outcome)));
  });
  loop.run();
  return std::move(*outcome);
}

}  // namespace reprise::server::cli
