#include "stream/subscription/subscription.h"

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"

namespace reprise::stream {
namespace {

constexpr std::uint8_t kFormat = 1;

void put_optional_text(std::string& out, const std::optional<std::string>& text) {
  put_varint(out, text ? 1 : 0);
  if (text) put_text(out, *text);
}

void put_optional_time(std::string& out, std::optional<TimePoint> at) {
  put_varint(out, at ? 1 + static_cast<std::uint64_t>(std::max<std::int64_t>(at->ms, 0)) : 0);
}

bool read_optional_text(ByteReader& reader, std::optional<std::string>& text) {
  std::uint64_t is_there = 0;
  if (!reader.varint(is_there) || is_there > 1) return false;
  return is_there == 0 || reader.text(text.emplace());
}

bool read_time(ByteReader& reader, TimePoint& at) {
  std::uint64_t value = 0;
  if (!reader.varint(value) || value > INT64_MAX) return false;
  at.ms = static_cast<std::int64_t>(value);
  return true;
}

bool read_optional_time(ByteReader& reader, std::optional<TimePoint>& at) {
  TimePoint value;
  if (!read_time(reader, value)) return false;
  if (value.ms > 0) at = TimePoint{value.ms - 1};
  return true;
}

bool read_config(ByteReader& reader, SubscriptionConfig& config, std::size_t most) {
  std::uint64_t type = 0;
  std::uint64_t streams = 0;
  bool is_sound = reader.varint(type) && type <= 1 && read_optional_text(reader, config.pattern) &&
                  reader.varint(streams) && streams <= most;
  config.type = static_cast<SubscriptionType>(type);
  for (std::uint64_t i = 0; is_sound && i < streams; ++i)
    is_sound = reader.text(config.streams.emplace_back());
  return is_sound && reader.text(config.webhook_url) && reader.text(config.wake_stream) &&
         reader.varint(config.lease_ttl_ms) && read_optional_text(reader, config.description);
}

bool read_snapshot(ByteReader& reader, std::map<std::string, Seq>& snapshot, std::size_t most) {
  std::uint64_t count = 0;
  bool is_sound = reader.varint(count) && count <= most;
  for (std::uint64_t i = 0; is_sound && i < count; ++i) {
    std::string path;
    Seq tail;
    is_sound = reader.text(path) && reader.varint(tail.value);
    snapshot.emplace(std::move(path), tail);
  }
  return is_sound;
}

}  // namespace

std::string encode_subscription(const Subscription& one) {
  std::string out(1, static_cast<char>(kFormat));
  put_text(out, one.id);
  put_varint(out, static_cast<std::uint64_t>(one.config.type));
  put_optional_text(out, one.config.pattern);
  put_varint(out, one.config.streams.size());
  for (const std::string& path : one.config.streams) put_text(out, path);
  put_text(out, one.config.webhook_url);
  put_text(out, one.config.wake_stream);
  put_varint(out, one.config.lease_ttl_ms);
  put_optional_text(out, one.config.description);
  put_text(out, one.base_url);
  put_varint(out, static_cast<std::uint64_t>(std::max<std::int64_t>(one.created_at.ms, 0)));
  put_varint(out, one.generation);
  put_varint(out, static_cast<std::uint64_t>(one.phase));
  put_text(out, one.wake_id);
  put_text(out, one.holder);
  put_optional_time(out, one.lease_until);
  put_varint(out, one.snapshot.size());
  for (const auto& [path, tail] : one.snapshot) {
    put_text(out, path);
    put_varint(out, tail.value);
  }
  put_varint(out, one.failures);
  put_optional_time(out, one.retry_at);
  return out;
}

Result<Subscription> decode_subscription(std::string_view bytes) {
  ByteReader reader(bytes);
  Subscription one;
  std::uint8_t format = 0;
  std::uint64_t phase = 0;
  std::uint64_t failures = 0;
  const bool is_sound =
      reader.byte(format) && format == kFormat && reader.text(one.id) &&
      read_config(reader, one.config, bytes.size()) && reader.text(one.base_url) &&
      read_time(reader, one.created_at) && reader.varint(one.generation) && reader.varint(phase) &&
      phase <= 2 && reader.text(one.wake_id) && reader.text(one.holder) &&
      read_optional_time(reader, one.lease_until) &&
      read_snapshot(reader, one.snapshot, bytes.size()) && reader.varint(failures) &&
      failures <= UINT32_MAX && read_optional_time(reader, one.retry_at) && reader.at_end();
  if (!is_sound) return fail(Code::kCorrupt, "a subscription's record does not decode");
  one.phase = static_cast<Subscription::Phase>(phase);
  one.failures = static_cast<std::uint32_t>(failures);
  return one;
}

std::string subscription_key(std::string_view id) { return "S" + std::string(id); }
std::string subscription_keys_key() { return std::string("S\0", 2); }
std::string first_subscription_key() { return subscription_keys_key() + '\0'; }
std::string last_subscription_key() { return "T"; }

void wake(Subscription& subscription, std::map<std::string, Seq> snapshot, std::string wake_id) {
  REPRISE_ASSERT(subscription.phase == Subscription::Phase::kIdle);
  ++subscription.generation;
  subscription.phase = Subscription::Phase::kWoken;
  subscription.wake_id = std::move(wake_id);
  subscription.snapshot = std::move(snapshot);
}

Result<> check_fence(const Subscription& subscription, std::uint64_t generation,
                     std::string_view wake_id) {
  if (subscription.phase != Subscription::Phase::kIdle && generation == subscription.generation &&
      wake_id == subscription.wake_id)
    return {};
  return fail(Code::kFenced, "another wake has come since, or this one is over");
}

void release(Subscription& subscription) {
  subscription.phase = Subscription::Phase::kIdle;
  subscription.holder.clear();
  subscription.lease_until.reset();
  subscription.retry_at.reset();
  subscription.snapshot.clear();
}

bool is_lease_over(const Subscription& subscription, TimePoint now) {
  return subscription.lease_until && *subscription.lease_until <= now;
}

Millis retry_delay(std::uint32_t failures, double chance) {
  constexpr std::int64_t kFirstMs = 1'000;
  constexpr std::int64_t kMostMs = 60'000;
  const std::uint32_t doublings = std::min<std::uint32_t>(failures > 0 ? failures - 1 : 0, 10);
  const std::int64_t base = std::min(kFirstMs << doublings, kMostMs);
  const double jitter = 0.8 + 0.4 * chance;
  return Millis{static_cast<std::int64_t>(static_cast<double>(base) * jitter)};
}

}  // namespace reprise::stream
