// OutputLines: what a program prints, as lines, however much it prints.
//
// A line longer than kMaxOutputLineBytes is cut, and once the lines of a second come to
// kMaxOutputBytesPerSecond the others of that second are dropped and counted. So a program that
// prints without end costs the reading, not a log. The bytes of a line are passed on as they came,
// without the line's end ("\n" or "\r\n").
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "rt/timer_queue.h"

namespace reprise::rt {

class OutputLines {
 public:
  using OnLine = std::function<void(std::string_view line)>;
  explicit OutputLines(OnLine on_line) : on_line_(std::move(on_line)) {}

  void add(std::string_view bytes, Nanos now);
  // The output has ended: what follows the last line's end is a line too.
  void finish(Nanos now);
  // No line is passed on any more. May be called from within one.
  void stop() { is_stopped_ = true; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  void pass_on(std::string_view line, Nanos now);
  void keep(std::string_view part);

  const OnLine on_line_;
  std::string begun_;  // of the line whose end has not come yet
  bool is_begun_ = false;
  bool is_stopped_ = false;
  Nanos second_ends_{0};
  std::size_t passed_in_second_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace reprise::rt
