// What the HTTP layer counts; read from any thread by /metrics.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace reprise::http {

// Upper bounds of the latency histogram, in microseconds.
inline constexpr std::array<std::uint64_t, 14> kLatencyBounds = {
    100,    250,    500,     1'000,   2'500,     5'000,     10'000,
    25'000, 50'000, 100'000, 250'000, 1'000'000, 5'000'000, 30'000'000};

struct Probe {
  std::atomic<std::uint64_t> connections_accepted{0};
  std::atomic<std::uint64_t> connections_refused{0};
  std::atomic<std::uint64_t> connections_open{0};
  std::atomic<std::uint64_t> streams_open{0};
  std::atomic<std::uint64_t> websockets_open{0};
  std::atomic<std::uint64_t> timed_out{0};
  std::atomic<std::uint64_t> shed{0};  // answered 503 because too much was in flight
  std::array<std::atomic<std::uint64_t>, 6> by_class{};  // 1xx to 5xx; [0] is malformed
  std::array<std::atomic<std::uint64_t>, kLatencyBounds.size() + 1> latency{};
  std::atomic<std::uint64_t> latency_sum_micros{0};

  void count_request(int status, std::uint64_t micros) {
    by_class[static_cast<std::size_t>(status / 100) % by_class.size()].fetch_add(
        1, std::memory_order_relaxed);
    std::size_t bucket = 0;
    while (bucket < kLatencyBounds.size() && micros > kLatencyBounds[bucket]) ++bucket;
    latency[bucket].fetch_add(1, std::memory_order_relaxed);
    latency_sum_micros.fetch_add(micros, std::memory_order_relaxed);
  }
};

}  // namespace reprise::http
