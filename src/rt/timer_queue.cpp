#include "rt/timer_queue.h"

namespace reprise::rt {

void Timer::arm(Nanos at, std::function<void()> due) {
  cancel();
  due_ = std::move(due);
  place_ = queue_.timers_.emplace(at, this);
  is_armed_ = true;
  if (queue_.timers_.begin() == place_ && queue_.on_earlier_) queue_.on_earlier_(at);
}

void Timer::cancel() {
  if (!is_armed_) return;
  queue_.timers_.erase(place_);
  is_armed_ = false;
  // What the callback holds may own this timer: it goes last, when nothing here is touched any
  // more.
  const auto dropped = std::exchange(due_, nullptr);
}

TimerQueue::~TimerQueue() {
  // A timer may outlive its loop (in a frame that never ran on, say): it finds itself disarmed.
  while (!timers_.empty()) timers_.begin()->second->cancel();
}

std::optional<Nanos> TimerQueue::next_due() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first;
}

void TimerQueue::run_due(Nanos now) {
  while (!timers_.empty() && timers_.begin()->first <= now) {
    Timer* timer = timers_.begin()->second;
    // The callback may destroy the timer or arm it anew: it is taken out first.
    auto due = std::move(timer->due_);
    timer->cancel();
    due();
  }
}

}  // namespace reprise::rt
