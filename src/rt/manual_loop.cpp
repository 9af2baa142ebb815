#include "rt/manual_loop.h"

namespace reprise::rt {

void ManualLoop::post(Function function) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(function));
}

bool ManualLoop::run_one() {
  Function next;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return false;
    next = std::move(queue_.front());
    queue_.pop_front();
  }
  const Turn turn(*this);
  next();
  return true;
}

bool ManualLoop::has_ready() const {
  const std::lock_guard lock(mutex_);
  return !queue_.empty();
}

std::size_t ManualLoop::run_ready() {
  std::size_t ran = 0;
  for (;;) {
    while (run_one()) ++ran;
    const auto due = timers_.next_due();
    if (!due || *due > now()) return ran;
    const Turn turn(*this);
    timers_.run_due(now());
    ++ran;
  }
}

void ManualLoop::advance(Millis by) {
  const Nanos end = now() + by;
  run_ready();
  for (auto due = timers_.next_due(); due && *due <= end; due = timers_.next_due()) {
    const auto step = std::chrono::ceil<Millis>(*due - now());
    time_.advance(std::max(step, Millis{0}));
    run_ready();
  }
  if (now() < end) time_.advance(std::chrono::duration_cast<Millis>(end - now()));
  run_ready();
}

}  // namespace reprise::rt
