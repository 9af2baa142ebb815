#include "stats.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace reprise::load {
namespace {

double seconds_of(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

std::uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1'000'000'000'000'000 + static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

double own_cpu_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

// The kernel's clock of another process counts nanoseconds; /proc/PID/stat has the same figure in
// ticks of 10 ms.
double cpu_seconds_of(pid_t pid) {
  clockid_t clock{};
  if (pid == 0 || clock_getcpuclockid(pid, &clock) != 0) return 0;
  return seconds_of(clock);
}

std::uint64_t Histogram::upper_edge(std::size_t bucket) {
  if (bucket < kSteps) return bucket;
  const auto shift = (bucket >> kStepBits) - 1;
  const auto step = (bucket & (kSteps - 1)) + kSteps;
  return ((static_cast<std::uint64_t>(step) + 1) << shift) - 1;
}

std::uint64_t Histogram::percentile(double share) const {
  if (total_ == 0) return 0;
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(total_)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    seen += counts_[bucket];
    if (seen >= wanted) return std::min(upper_edge(bucket), max_);
  }
  return max_;
}

void Report::key(std::string_view name) {
  if (json_.size() > 1) json_ += ',';
  json_ += '"';
  json_ += name;
  json_ += "\":";
}

void Report::number(std::string_view name, double value) {
  key(name);
  std::array<char, 64> digits{};
  std::snprintf(digits.data(), digits.size(), "%.10g", value);
  json_ += digits.data();
}

void Report::text(std::string_view name, std::string_view value) {
  key(name);
  json_ += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') json_ += '\\';
    json_ += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  json_ += '"';
}

void Report::latency(std::string_view name, const Histogram& histogram) {
  const auto micros = [](std::uint64_t value) { return static_cast<double>(value) / 1e3; };
  const std::string prefix(name);
  number(prefix + "P50Us", micros(histogram.percentile(0.50)));
  number(prefix + "P99Us", micros(histogram.percentile(0.99)));
  number(prefix + "P999Us", micros(histogram.percentile(0.999)));
  number(prefix + "MaxUs", micros(histogram.max()));
}

void Report::print() const {
  std::printf("%s}\n", json_.c_str());
  std::fflush(stdout);
}

Stopwatch::Stopwatch(pid_t server)
    : server_(server),
      start_(now_ns()),
      server_cpu_(cpu_seconds_of(server)),
      own_cpu_(own_cpu_seconds()) {}

double Stopwatch::seconds() const {
  return static_cast<double>((end_ == 0 ? now_ns() : end_) - start_) / 1e9;
}

void Stopwatch::stop() {
  end_ = now_ns();
  server_cpu_ = cpu_seconds_of(server_) - server_cpu_;
  own_cpu_ = own_cpu_seconds() - own_cpu_;
}

void Stopwatch::report(Report& report) const {
  report.number("seconds", seconds());
  report.number("serverCpuSeconds", server_cpu_);
  report.number("loadCpuSeconds", own_cpu_);
}

}  // namespace reprise::load
