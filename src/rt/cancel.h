// CancelScope and Deadline: how a call is told to stop.
//
// A scope is cancelled once, with a reason; everything that waits under it returns that error.
// Scopes form a tree: cancelling a scope cancels its children. Both go down with the call:
//
//     Task<Result<Answer>> ask(Question question, CancelScope& scope, Deadline deadline);
//
// Threads: a scope belongs to one loop.
#pragma once

#include <chrono>
#include <coroutine>
#include <functional>
#include <memory>
#include <optional>

#include "base/error.h"
#include "rt/loop.h"

namespace reprise::rt {

class CancelScope {
 public:
  CancelScope() = default;
  explicit CancelScope(CancelScope& parent);
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

  void cancel(Error reason = Error{Code::kCancelled, "the call was cancelled"});
  bool is_cancelled() const { return reason_ != nullptr; }
  const Error& reason() const { return *reason_; }

  // Something that wants to know (and does not destroy the scope when told); it leaves the scope
  // when destroyed. Called at most once, at once if the scope is already cancelled.
  class Listener {
   public:
    Listener(CancelScope& scope, std::function<void()> on_cancel);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   private:
    friend class CancelScope;
    void unlink();
    CancelScope* scope_ = nullptr;
    Listener* previous_ = nullptr;
    Listener* next_ = nullptr;
    std::function<void()> on_cancel_;
  };

 private:
  std::unique_ptr<Error> reason_;  // on the heap: idle connections have scopes, few have reasons
  Listener* first_ = nullptr;
  std::optional<Listener> parent_link_;
};

// A moment on a loop's steady clock after which waiting is pointless.
class Deadline {
 public:
  static Deadline never() { return Deadline{Nanos::max()}; }
  // A duration too long for the clock is never.
  static Deadline after(const Loop& loop, Nanos duration) {
    const Nanos now = loop.now();
    return duration < Nanos::max() - now ? Deadline{now + duration} : never();
  }
  explicit Deadline(Nanos at) : at_(at) {}
  Nanos at() const { return at_; }
  bool is_never() const { return at_ == Nanos::max(); }
  bool has_passed(const Loop& loop) const { return loop.now() >= at_; }

 private:
  Nanos at_;
};

// Something to wait for, once or many times: notify() resumes all who wait, in the order in which
// they came. Belongs to one loop; nobody may be waiting when it is destroyed.
class Signal {
 public:
  explicit Signal(Loop& loop) : loop_(loop) {}
  ~Signal();
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  // Wakes everybody waiting now; they run in a later turn.
  void notify();
  // Waits for the next notify(); an error if the scope is cancelled or the deadline passes first.
  Task<Result<>> wait(CancelScope& scope, Deadline deadline = Deadline::never());
  std::size_t waiting() const { return waiting_; }

 private:
  struct Waiter;
  Loop& loop_;
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
  std::size_t waiting_ = 0;
};

// Ok after the duration; the scope's reason if it is cancelled before.
Task<Result<>> sleep_for(Loop& loop, Nanos duration, CancelScope& scope);

}  // namespace reprise::rt
