// Timers in order of their time, independent of what drives them: the real loop asks for the next
// due time and sleeps until then, the manual loop moves its clock there.
//
// Threads: a queue and its timers belong to one loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace reprise::rt {

using Nanos = std::chrono::nanoseconds;  // on a loop's steady clock

class TimerQueue;

// A one-shot timer that can be armed again. Destroying it disarms it, so a callback never outlives
// its owner.
class Timer {
 public:
  explicit Timer(TimerQueue& queue) : queue_(queue) {}
  ~Timer() { cancel(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Calls `due` on the loop at `at` or a little later; replaces an earlier arming.
  void arm(Nanos at, std::function<void()> due);
  void cancel();
  bool is_armed() const { return is_armed_; }

 private:
  friend class TimerQueue;
  TimerQueue& queue_;
  std::function<void()> due_;
  std::multimap<Nanos, Timer*>::iterator place_;
  bool is_armed_ = false;
};

class TimerQueue {
 public:
  TimerQueue() = default;
  ~TimerQueue();
  TimerQueue(const TimerQueue&) = delete;
  TimerQueue& operator=(const TimerQueue&) = delete;

  std::optional<Nanos> next_due() const;
  // Runs every timer due at `now`, including ones that those arm for a time already past.
  void run_due(Nanos now);
  std::size_t size() const { return timers_.size(); }
  // Called when a timer becomes the earliest one.
  void set_on_earlier(std::function<void(Nanos)> on_earlier) {
    on_earlier_ = std::move(on_earlier);
  }

 private:
  friend class Timer;
  std::multimap<Nanos, Timer*> timers_;
  std::function<void(Nanos)> on_earlier_;
};

}  // namespace reprise::rt
