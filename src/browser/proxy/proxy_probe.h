// What the contexts' proxies count together; read from any thread by /metrics.
#pragma once

#include <atomic>
#include <cstdint>

namespace reprise::browser {

struct ProxyProbe {
  std::atomic<std::uint64_t> proxies{0};      // contexts that have one now
  std::atomic<std::uint64_t> connections{0};  // open now
  std::atomic<std::uint64_t> accepted{0};     // connections, ever
  std::atomic<std::uint64_t> turned_away{0};  // connections, because a context had too many
  std::atomic<std::uint64_t> requests{0};     // plain ones
  std::atomic<std::uint64_t> tunnels{0};
  std::atomic<std::uint64_t> malformed{0};  // requests
  std::atomic<std::uint64_t> refused{0};    // by a rule
  std::atomic<std::uint64_t> failed{0};     // the server could not be reached, or broke off
  std::atomic<std::uint64_t> timed_out{0};  // connections closed for their silence
  std::atomic<std::uint64_t> bytes_up{0};   // of bodies and tunnels, to servers
  std::atomic<std::uint64_t> bytes_down{0};
};

}  // namespace reprise::browser
