// IdleTimer: tells when nothing has happened for longer than it may. touch() is called for every
// piece that moves, and costs a look at the clock.
//
// Threads: belongs to its loop.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "rt/loop.h"
#include "rt/timer_queue.h"

namespace reprise::browser {

class IdleTimer {
 public:
  IdleTimer(rt::Loop& loop, std::function<void()> on_idle)
      : loop_(loop), timer_(loop.timers()), on_idle_(std::move(on_idle)) {}

  // From now on so long without a touch is too long.
  void allow(std::chrono::milliseconds limit) {
    limit_ = limit;
    touch();
    arm();
  }
  void touch() { last_ = loop_.now(); }
  void stop() { timer_.cancel(); }

 private:
  void arm() {
    timer_.arm(last_ + limit_, [this] {
      if (loop_.now() >= last_ + limit_)
        on_idle_();
      else
        arm();
    });
  }
  rt::Loop& loop_;
  rt::Timer timer_;
  std::function<void()> on_idle_;
  rt::Nanos last_{0};
  std::chrono::milliseconds limit_{0};
};

}  // namespace reprise::browser
