#include "rt/gate.h"

#include "base/assert.h"

namespace reprise::rt {
namespace {

// A coroutine that owns itself: it runs to its end and frees its own frame.
struct Detached {
  struct promise_type {
    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* frame, std::size_t size) { free_frame(frame, size); }
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
  };
};

Detached run_inside(Gate& gate, Task<> task) {
  {
    // The task's frame goes before the gate is left: what it holds must not outlive the gate's
    // owner.
    Task<> running = std::move(task);
    co_await std::move(running);
  }
  gate.leave();
}

}  // namespace

Gate::~Gate() { REPRISE_ASSERT(inside_ == 0, inside_); }

bool Gate::try_enter() {
  if (is_closed_) return false;
  ++inside_;
  return true;
}

void Gate::leave() {
  REPRISE_ASSERT(inside_ > 0);
  if (--inside_ > 0) return;
  // A resumed waiter may destroy the gate.
  const auto waiting = std::exchange(waiting_, {});
  for (const auto handle : waiting) handle.resume();
}

bool spawn(Gate& gate, Task<> task) {
  if (!gate.try_enter()) return false;
  run_inside(gate, std::move(task));
  return true;
}

}  // namespace reprise::rt
