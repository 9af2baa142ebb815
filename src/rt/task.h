// Task<T>: a coroutine that starts when it is awaited and resumes whoever awaits it.
//
//     Task<Result<Seq>> append(Event event) {
//       REPRISE_CO_TRY(Seq seq, co_await store_.commit(...));
//       co_return seq;
//     }
//
// Rules: parameters by value, or by reference to something that outlives the await; no coroutine
// lambda with captures; no exception leaves a Task (one that would ends the process: errors are
// values). A Task that nobody awaits is started with spawn() (rt/gate.h), which ties it to a Gate.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "rt/frame_pool.h"

// A coroutine marked so gets a frame of its own, freed when it ends. Without it clang may put the
// frame into that of the coroutine that awaits it, which is faster, but then a connection that
// streams for days keeps the memory of everything it did before (18 KiB measured instead of 1).
#define REPRISE_OWN_FRAME [[gnu::noinline]]

namespace reprise::rt {

template <typename T>
class Task;

namespace detail {

struct PromiseBase {
  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* frame, std::size_t size) { free_frame(frame, size); }

  std::coroutine_handle<> continuation = std::noop_coroutine();

  std::suspend_always initial_suspend() noexcept { return {}; }
  struct Final {
    bool await_ready() const noexcept { return false; }
    template <typename Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> handle) noexcept {
      return handle.promise().continuation;
    }
    void await_resume() const noexcept {}
  };
  Final final_suspend() noexcept { return {}; }
  [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
};

template <typename T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  template <typename U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() {
    REPRISE_ASSERT(value.has_value());
    return std::move(*value);
  }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() {}
  void take() {}
};

}  // namespace detail

template <typename T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  auto operator co_await() && noexcept {
    REPRISE_ASSERT(handle_ && !handle_.done());  // a task is awaited once, and not after a move
    struct Awaiter {
      Handle handle;
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
        handle.promise().continuation = awaiting;
        return handle;
      }
      T await_resume() { return handle.promise().take(); }
    };
    return Awaiter{handle_};
  }

 private:
  Handle handle_;
};

namespace detail {
template <typename T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}
}  // namespace detail

}  // namespace reprise::rt
