// What the logs count; read from any thread by /metrics.
#pragma once

#include <atomic>
#include <cstdint>

namespace reprise::stream {

struct LogProbe {
  std::atomic<std::uint64_t> loaded{0};  // in memory
  std::atomic<std::uint64_t> evicted{0};
  std::atomic<std::uint64_t> created{0};
  std::atomic<std::uint64_t> removed{0};  // deleted or expired
  std::atomic<std::uint64_t> appends{0};
  std::atomic<std::uint64_t> refused{0};     // too many calls waited for one log
  std::atomic<std::uint64_t> lost_races{0};  // commits that found a record changed
};

}  // namespace reprise::stream
