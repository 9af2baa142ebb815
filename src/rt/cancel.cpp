#include "rt/cancel.h"

#include "base/assert.h"

namespace reprise::rt {

CancelScope::CancelScope(CancelScope& parent) {
  parent_link_.emplace(parent, [this, &parent] { cancel(parent.reason()); });
}

CancelScope::~CancelScope() {
  while (first_ != nullptr) first_->unlink();
}

void CancelScope::cancel(Error reason) {
  if (reason_) return;
  reason_ = std::make_unique<Error>(std::move(reason));
  // A listener may destroy others: each is taken out before it is called.
  while (first_ != nullptr) {
    auto on_cancel = std::move(first_->on_cancel_);
    first_->unlink();
    on_cancel();
  }
}

CancelScope::Listener::Listener(CancelScope& scope, std::function<void()> on_cancel)
    : on_cancel_(std::move(on_cancel)) {
  if (scope.is_cancelled()) {
    on_cancel_();
    return;
  }
  scope_ = &scope;
  next_ = scope.first_;
  if (next_ != nullptr) next_->previous_ = this;
  scope.first_ = this;
}

CancelScope::Listener::~Listener() { unlink(); }

void CancelScope::Listener::unlink() {
  if (scope_ == nullptr) return;
  if (previous_ != nullptr)
    previous_->next_ = next_;
  else
    scope_->first_ = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  scope_ = nullptr;
  previous_ = next_ = nullptr;
}

// A waiting coroutine. It is resumed exactly once, by whichever of notify, cancel and deadline
// comes first; the two others find is_done.
struct Signal::Waiter {
  Signal& signal;
  CancelScope& scope;
  Deadline deadline;
  Result<> outcome{};
  bool is_done = false;
  std::coroutine_handle<> handle;
  Waiter* previous = nullptr;
  Waiter* next = nullptr;
  std::optional<CancelScope::Listener> listener;
  std::optional<Timer> timer;

  Waiter(Signal& to_wait_for, CancelScope& under, Deadline until)
      : signal(to_wait_for), scope(under), deadline(until) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  // A frame may be destroyed while it waits; the signal then forgets it.
  ~Waiter() {
    if (handle && !is_done) unlink();
  }

  bool await_ready() {
    if (!scope.is_cancelled()) return false;
    outcome = fail(scope.reason());
    return true;
  }
  void await_suspend(std::coroutine_handle<> waiting) {
    handle = waiting;
    previous = signal.last_;
    (previous != nullptr ? previous->next : signal.first_) = this;
    signal.last_ = this;
    ++signal.waiting_;
    listener.emplace(scope, [this] { finish(fail(scope.reason())); });
    if (!deadline.is_never()) {
      timer.emplace(signal.loop_.timers());
      timer->arm(deadline.at(), [this] { finish(fail(Code::kDeadline, "waited too long")); });
    }
  }
  Result<> await_resume() { return std::move(outcome); }

  void finish(Result<> result) {
    if (is_done) return;
    is_done = true;
    outcome = std::move(result);
    unlink();
    // Resumed in a later turn: whoever notifies is not re-entered in the middle of what it does.
    signal.loop_.post([this] { handle.resume(); });
  }

  void unlink() {
    (previous != nullptr ? previous->next : signal.first_) = next;
    (next != nullptr ? next->previous : signal.last_) = previous;
    --signal.waiting_;
  }
};

Signal::~Signal() { REPRISE_ASSERT(waiting_ == 0, waiting_); }

void Signal::notify() {
  while (first_ != nullptr) first_->finish({});
}

Task<Result<>> Signal::wait(CancelScope& scope, Deadline deadline) {
  Waiter waiter(*this, scope, deadline);
  co_return co_await waiter;
}

Task<Result<>> sleep_for(Loop& loop, Nanos duration, CancelScope& scope) {
  Signal never(loop);
  auto outcome = co_await never.wait(scope, Deadline::after(loop, duration));
  if (!outcome && outcome.error().code == Code::kDeadline) co_return Result<>{};
  co_return outcome;
}

}  // namespace reprise::rt
