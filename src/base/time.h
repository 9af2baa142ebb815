// Time, passed in: nothing below src/server reads a clock by itself.
//
// TimePoint is wall-clock time in milliseconds, as events and records store it. Durations for
// waiting use std::chrono::steady_clock through the loop (rt/loop.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace reprise {

using Millis = std::chrono::milliseconds;

struct TimePoint {
  std::int64_t ms = 0;  // since 1970-01-01T00:00:00Z
  friend auto operator<=>(const TimePoint&, const TimePoint&) = default;
};

inline TimePoint operator+(TimePoint at, Millis by) { return {at.ms + by.count()}; }
inline TimePoint operator-(TimePoint at, Millis by) { return {at.ms - by.count()}; }
inline Millis operator-(TimePoint a, TimePoint b) { return Millis{a.ms - b.ms}; }

// RFC 3339 in UTC with milliseconds: 2026-11-15T18:13:02.117Z. Always 24 bytes.
std::string format_time(TimePoint at);
void append_time(std::string& out, TimePoint at);
// Accepts RFC 3339 with `Z` or an offset and up to nine digits of fraction (kept to milliseconds).
Result<TimePoint> parse_time(std::string_view text);

// A source of wall-clock time. Threads: now() may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
};

class SystemClock final : public Clock {
 public:
  TimePoint now() const override;
};

}  // namespace reprise
