// Calls and answers over a fixed set of keep-alive connections, one call at a time on each.
//
// Closed loop (rate 0): every connection sends its next call when it has its answer. Open loop:
// calls are due at fixed moments whatever the server does; a call that finds no free connection
// waits, and its latency counts from the moment it was due, so that a stall is seen by everyone it
// would have held up.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "options.h"
#include "stats.h"

namespace reprise::load {

struct CallPlan {
  // Writes one call; `index` counts from 0.
  std::function<void(std::string& out, std::uint64_t index)> write;
  // Sees the body of every good HTTP answer; may be empty.
  std::function<void(std::string_view body)> answered;
  std::uint64_t answers_per_call = 1;  // Redis pipelines
};

struct CallResult {
  std::uint64_t calls = 0;   // answered well
  std::uint64_t errors = 0;  // answered otherwise
  std::string first_error;
  Histogram latencies;
};

CallResult run_calls(const Options& options, const CallPlan& plan, Stopwatch& watch);

}  // namespace reprise::load
