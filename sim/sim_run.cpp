// Looks for a seed under which a promise is broken.
//
//     sim_run                                  a few seeds from 1 on
//     sim_run --seeds 10000 --steps 3000       more of them, and longer
//     sim_run --seed 4711                      that one again
//
// A failure prints its seed; with the same --steps it happens again. Exit status 1 if any failed.
#include <fmt/format.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "base/log.h"
#include "sim/world.h"

namespace {

volatile std::sig_atomic_t current_seed = 0;

// An assertion ends the process: the seed is printed all the same.
void on_abort(int) {
  std::fprintf(stderr, "aborted at seed %ld\n", static_cast<long>(current_seed));
}

bool parse(std::string_view text, std::uint64_t& value) {
  const auto end = text.data() + text.size();
  return std::from_chars(text.data(), end, value).ptr == end && !text.empty();
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t first = 1;
  std::uint64_t seeds = 0;
  std::uint64_t steps = 2'000;
  bool is_understood = argc % 2 == 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    std::uint64_t* value = flag == "--seed"    ? &first
                           : flag == "--seeds" ? &seeds
                           : flag == "--steps" ? &steps
                                               : nullptr;
    is_understood = is_understood && value != nullptr && parse(argv[i + 1], *value);
    if (flag == "--seed" && seeds == 0) seeds = 1;
  }
  if (!is_understood) {
    fmt::print(stderr, "usage: sim_run [--seed FIRST] [--seeds COUNT] [--steps STEPS]\n");
    return 2;
  }
  if (seeds == 0) seeds = 100;
  reprise::log::configure(reprise::log::Level::kOff, reprise::log::Format::kText);
  std::signal(SIGABRT, on_abort);
  std::uint64_t failed = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    current_seed = static_cast<std::sig_atomic_t>(seed);
    const auto broken = reprise::sim::World(seed, {.steps = steps}).run();
    if (!broken) continue;
    ++failed;
    fmt::print("{}\n  again: sim_run --seed {} --steps {}\n", *broken, seed, steps);
  }
  fmt::print("{} passed, {} failed\n", seeds - failed, failed);
  return failed == 0 ? 0 : 1;
}
