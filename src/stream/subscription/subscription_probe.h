// What the subscriptions count; read from any thread by /metrics.
#pragma once

#include <atomic>
#include <cstdint>

namespace reprise::stream {

struct SubscriptionProbe {
  std::atomic<std::uint64_t> subscriptions{0};
  std::atomic<std::uint64_t> wakes{0};
  std::atomic<std::uint64_t> told{0};         // webhooks answered well, wakes announced
  std::atomic<std::uint64_t> failed{0};       // webhooks and announcements that were not
  std::atomic<std::uint64_t> leases_over{0};  // that nobody gave back
  std::atomic<std::uint64_t> fenced{0};       // calls of earlier wakes
  std::atomic<std::uint64_t> lost_news{0};    // made up for by looking at every stream
  std::atomic<std::uint64_t> refused{0};      // there were too many subscriptions
};

}  // namespace reprise::stream
