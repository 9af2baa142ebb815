// What apps' webhooks count; read from any thread by /metrics.
#pragma once

#include <atomic>
#include <cstdint>

namespace reprise::session {

struct WebhookProbe {
  std::atomic<std::uint64_t> webhooks{0};
  std::atomic<std::uint64_t> delivered{0};
  std::atomic<std::uint64_t> failed{0};    // calls, each attempt counted
  std::atomic<std::uint64_t> given_up{0};  // letters that became dead
  std::atomic<std::uint64_t> dropped{0};   // dead letters that made room for newer ones
  std::atomic<std::uint64_t> missed{0};    // events a webhook was too far behind for
  std::atomic<std::uint64_t> gone{0};      // webhooks disabled because of a 410
  std::atomic<std::uint64_t> refused{0};   // there were too many webhooks
  std::atomic<std::uint64_t> calls{0};     // in flight
  std::atomic<std::uint64_t> lag{0};       // entries of outboxes that wait to be read
  std::atomic<std::uint64_t> retried{0};   // letters that wait to be tried again
  std::atomic<std::uint64_t> dead{0};      // dead letters kept
};

}  // namespace reprise::session
