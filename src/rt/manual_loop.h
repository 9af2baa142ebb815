// ManualLoop: a loop for tests and simulations. Nothing runs until run_ready() is called, and time
// moves only by advance(). Several manual loops can share one ManualTime, so that one test stands
// for several threads.
//
// Threads: one; post() alone may be called from others, so that real commit threads can be used in
// tests.
#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "base/time.h"
#include "rt/loop.h"

namespace reprise::rt {

// Wall-clock and steady time that move together and only when told.
class ManualTime final : public Clock {
 public:
  explicit ManualTime(TimePoint start = TimePoint{1'700'000'000'000}) : now_ms_(start.ms) {}
  TimePoint now() const override { return {now_ms_.load()}; }
  Nanos steady() const { return std::chrono::milliseconds{now_ms_.load()}; }
  void advance(Millis by) { now_ms_ += by.count(); }

 private:
  std::atomic<std::int64_t> now_ms_;
};

class ManualLoop final : public Loop {
 public:
  explicit ManualLoop(ManualTime& time) : time_(time) {}

  void post(Function function) override;
  Nanos now() const override { return time_.steady(); }

  // Runs what is queued and every due timer, until nothing is left to run now. Returns how many
  // functions ran.
  std::size_t run_ready();
  // Runs one queued function; false if there is none. For simulations that interleave loops.
  bool run_one();
  bool has_ready() const;
  // Moves time in steps, so that each timer runs at its own time.
  void advance(Millis by);

 private:
  ManualTime& time_;
  mutable std::mutex mutex_;
  std::deque<Function> queue_;
};

}  // namespace reprise::rt
