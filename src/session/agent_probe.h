// What the agents count; read from any thread by /metrics and /v1/health.
#pragma once

#include <atomic>
#include <cstdint>

namespace reprise::session {

struct AgentProbe {
  std::atomic<std::uint64_t> alive{0};  // now
  std::atomic<std::uint64_t> lost{0};   // now
  std::atomic<std::uint64_t> registrations{0};
  std::atomic<std::uint64_t> heartbeats{0};
  std::atomic<std::uint64_t> losses{0};
  std::atomic<std::uint64_t> fenced{0};            // heartbeats of a generation that was stale
  std::atomic<std::uint64_t> refused{0};           // there were too many agents
  std::atomic<std::uint64_t> sessions_seen_to{0};  // paused, failed or kept after a loss
};

}  // namespace reprise::session
