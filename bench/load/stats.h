// What a load measures: latencies, processor time of both sides, and the JSON line it ends with.
//
// One thread uses all of this; nothing here locks.
#pragma once

#include <sys/types.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace reprise::load {

// CLOCK_MONOTONIC, the same clock in every process of this machine, so that an event can carry its
// send time. 10^15 is added: sixteen digits without leading zeros (so every event has the same
// size) that a double still holds exactly.
std::uint64_t now_ns();

// Processor time used so far, in seconds, by this process or (every thread of it) by another.
double own_cpu_seconds();
double cpu_seconds_of(pid_t pid);  // 0 for pid 0

// Counts durations in buckets 1/32 of a power of two wide, so a percentile is right to 3 % whatever
// its size.
class Histogram {
 public:
  void add(std::uint64_t nanoseconds) {
    ++counts_[bucket_of(nanoseconds)];
    ++total_;
    if (nanoseconds > max_) max_ = nanoseconds;
  }
  std::uint64_t total() const { return total_; }
  std::uint64_t max() const { return max_; }
  std::uint64_t percentile(double share) const;

 private:
  static constexpr std::size_t kStepBits = 5;
  static constexpr std::size_t kSteps = std::size_t{1} << kStepBits;
  static std::size_t bucket_of(std::uint64_t value) {
    if (value < kSteps) return static_cast<std::size_t>(value);
    const auto shift = static_cast<std::size_t>(std::bit_width(value)) - kStepBits - 1;
    return (shift << kStepBits) + static_cast<std::size_t>(value >> shift);
  }
  static std::uint64_t upper_edge(std::size_t bucket);

  std::array<std::uint64_t, (64 - kStepBits + 1) * kSteps> counts_{};
  std::uint64_t total_ = 0;
  std::uint64_t max_ = 0;
};

// One flat JSON object, printed as a line: what the harness reads.
class Report {
 public:
  void number(std::string_view name, double value);
  void text(std::string_view name, std::string_view value);
  // name + "P50Us", "P99Us", "P999Us", "MaxUs".
  void latency(std::string_view name, const Histogram& histogram);
  void print() const;

 private:
  void key(std::string_view name);
  std::string json_ = "{";
};

// Wall and processor time between its making and report().
class Stopwatch {
 public:
  explicit Stopwatch(pid_t server);
  double seconds() const;
  // seconds, serverCpuSeconds, loadCpuSeconds
  void stop();
  void report(Report& report) const;

 private:
  pid_t server_;
  std::uint64_t start_;
  std::uint64_t end_ = 0;
  double server_cpu_;
  double own_cpu_;
};

}  // namespace reprise::load
