// A subscription: who is woken when streams have something new. Pure.
//
// A subscription is idle, or a wake is out: a webhook is being told, or a worker has been asked to
// come (pull-wake), or holds a lease. Each wake has a new generation and id; what an older one says
// is refused, so that of two workers that both believe to be at work only one can acknowledge.
//
// How far it has got in each of its streams is kept beside it (stream/subscription/links.h): there
// may be many, and most changes concern one.
//
//     S id             the subscription
//     S NUL            the keys that webhooks and tokens are signed with
//     T id NUL path    a link to a stream
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"

namespace reprise::stream {

enum class SubscriptionType : std::uint8_t { kWebhook, kPullWake };

struct SubscriptionConfig {
  SubscriptionType type = SubscriptionType::kWebhook;
  std::optional<std::string> pattern;
  std::vector<std::string> streams;  // sorted, each once
  std::string webhook_url;
  std::string wake_stream;
  std::uint64_t lease_ttl_ms = 30'000;
  std::optional<std::string> description;
  friend bool operator==(const SubscriptionConfig&, const SubscriptionConfig&) = default;
};

struct Subscription {
  enum class Phase : std::uint8_t { kIdle, kWoken, kLeased };

  std::string id;
  SubscriptionConfig config;
  std::string base_url;  // where this server is reached: callbacks are told below it
  TimePoint created_at;
  std::uint64_t generation = 0;
  Phase phase = Phase::kIdle;
  std::string wake_id;
  std::string holder;                    // of the lease
  std::optional<TimePoint> lease_until;  // kLeased, or a webhook that was told and has not ended
  std::map<std::string, Seq> snapshot;   // what the wake told of, and the tails it told
  std::uint32_t failures = 0;            // to tell of a wake, in a row
  std::optional<TimePoint> retry_at;
  friend bool operator==(const Subscription&, const Subscription&) = default;
};

std::string encode_subscription(const Subscription& subscription);
Result<Subscription> decode_subscription(std::string_view bytes);

std::string subscription_key(std::string_view id);
std::string subscription_keys_key();
// Every subscription is in [first, last).
std::string first_subscription_key();
std::string last_subscription_key();

// Starts a wake for what is in `snapshot`; only while idle.
void wake(Subscription& subscription, std::map<std::string, Seq> snapshot, std::string wake_id);
// kFenced unless generation and id are those of the wake that is out.
Result<> check_fence(const Subscription& subscription, std::uint64_t generation,
                     std::string_view wake_id);
// The wake is over.
void release(Subscription& subscription);

bool is_lease_over(const Subscription& subscription, TimePoint now);

// 1 s, doubled with each failure up to 60, and up to a fifth more or less; `chance` is in [0, 1).
Millis retry_delay(std::uint32_t failures, double chance);

}  // namespace reprise::stream
