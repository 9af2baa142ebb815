// Loop: one thread's event loop, or a simulated one.
//
// Everything that belongs to a loop (sockets, timers, actors, hubs) is touched only from its
// thread. Other threads reach it with post(). Loop::current() is the loop whose turn it is.
//
//     co_await switch_to(other);       // continue there; false if its mailbox is full
//     co_await sleep_for(loop, 5s, scope);
#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <functional>
#include <optional>

#include "rt/task.h"
#include "rt/timer_queue.h"

namespace reprise::rt {

using Function = std::move_only_function<void()>;

class Loop {
 public:
  virtual ~Loop() = default;

  // Runs `function` on this loop, after what is queued. Any thread. For what was reserved or is
  // bounded elsewhere (completions, at most one per request in flight); new work from other threads
  // uses try_post.
  virtual void post(Function function) = 0;
  // The same, but refuses when kMaxPendingPosts are waiting: bounded work from outside.
  bool try_post(Function function);
  // The steady clock that timers of this loop use.
  virtual Nanos now() const = 0;

  TimerQueue& timers() { return timers_; }
  std::size_t pending_posts() const { return pending_posts_.load(std::memory_order_relaxed); }

  // The loop whose turn it is on this thread; nullptr outside.
  static Loop* current();
  bool is_current() const { return current() == this; }

 protected:
  // Marks this loop as the current one for a scope.
  class Turn {
   public:
    explicit Turn(Loop& loop);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Loop* previous_;
  };
  TimerQueue timers_;

 private:
  std::atomic<std::size_t> pending_posts_{0};
};

// Continues the coroutine on another loop. False, and still on this loop, if the other one's
// mailbox is full.
struct SwitchTo {
  Loop& target;
  bool is_accepted = true;
  bool await_ready() const { return target.is_current(); }
  bool await_suspend(std::coroutine_handle<> handle) {
    // Once the post is accepted the coroutine may already run elsewhere: `this` must not be touched
    // then.
    if (target.try_post([handle] { handle.resume(); })) return true;
    is_accepted = false;
    return false;
  }
  bool await_resume() const { return is_accepted; }
};
inline SwitchTo switch_to(Loop& target) { return SwitchTo{target}; }

// Goes back to where a coroutine came from; it cannot be refused.
struct ReturnTo {
  Loop& home;
  bool await_ready() const { return home.is_current(); }
  void await_suspend(std::coroutine_handle<> handle) {
    home.post([handle] { handle.resume(); });
  }
  void await_resume() const {}
};
inline ReturnTo return_to(Loop& home) { return ReturnTo{home}; }

// Lets everything queued on the loop run first.
struct Yield {
  Loop& loop;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    loop.post([handle] { handle.resume(); });
  }
  void await_resume() const {}
};
inline Yield yield(Loop& loop) { return Yield{loop}; }

}  // namespace reprise::rt
