#include "session/webhooks/letter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/json_text.h"
#include "model/event.h"
#include "session/webhooks/limits.h"

namespace reprise::session {
namespace {

constexpr std::uint8_t kLetterFormat = 1;
constexpr std::size_t kRetryPrefixBytes = 2 + 16;
constexpr std::string_view kDeadLetterPrefix = "dl_";

std::string timed_key(WebhookId webhook, TimePoint at) {
  std::string key = retry_prefix(webhook);
  put_be64(key, static_cast<std::uint64_t>(std::max<std::int64_t>(at.ms, 0)));
  return key;
}

}  // namespace

std::optional<Letter> letter_for(WebhookId webhook, Seq place, const OutboxEntry& entry) {
  const auto promise = std::ranges::find(entry.promises, webhook, &OutboxEntry::Promise::webhook);
  if (promise == entry.promises.end()) return std::nullopt;
  Letter letter;
  letter.place = place;
  letter.told = promise->told;
  letter.session = entry.session;
  letter.name = entry.name;
  letter.seq = entry.seq;
  letter.event = entry.event;
  return letter;
}

std::string encode_letter(const Letter& letter) {
  std::string out(1, static_cast<char>(kLetterFormat));
  put_varint(out, letter.place.value);
  out.push_back(static_cast<char>(letter.told));
  put_varint(out, letter.attempts);
  put_varint(out, static_cast<std::uint64_t>(std::max<std::int64_t>(letter.failed_at.ms, 0)));
  put_varint(out, letter.status);
  put_text(out, letter.error);
  out += letter.session.view();
  put_text(out, letter.name);
  put_varint(out, letter.seq.value);
  out += letter.event;
  return out;
}

Result<Letter> decode_letter(std::string_view bytes) {
  ByteReader reader(bytes);
  std::uint8_t format = 0;
  std::uint8_t told = 0;
  std::uint64_t failed_at = 0;
  std::string_view session;
  Letter letter;
  if (!reader.byte(format) || format != kLetterFormat || !reader.varint(letter.place.value) ||
      !reader.byte(told) || told == 0 || told > static_cast<std::uint8_t>(Told::kStatus) ||
      !reader.varint(letter.attempts) || !reader.varint(failed_at) || failed_at > INT64_MAX ||
      !reader.varint(letter.status) || !reader.text(letter.error) || !reader.take(16, session) ||
      !reader.text(letter.name) || !reader.varint(letter.seq.value))
    return fail(Code::kCorrupt, "a webhook's letter does not decode");
  letter.told = static_cast<Told>(told);
  letter.failed_at.ms = static_cast<std::int64_t>(failed_at);
  letter.session = *SessionId::from_bytes(session);
  letter.event = reader.rest();
  return letter;
}

std::string retry_prefix(WebhookId webhook) { return "hr" + std::string(webhook.view()); }

std::string retry_key(WebhookId webhook, TimePoint due, Seq place) {
  std::string key = timed_key(webhook, due);
  put_be64(key, place.value);
  return key;
}

std::string retry_range_end(WebhookId webhook, TimePoint now) {
  return timed_key(webhook, now + Millis{1});
}

TimePoint due_of_key(std::string_view key) {
  if (key.size() < kRetryPrefixBytes + 8) return {};
  return {static_cast<std::int64_t>(get_be64(key.substr(kRetryPrefixBytes, 8)))};
}

std::string dead_prefix(WebhookId webhook) { return "hd" + std::string(webhook.view()); }

std::string dead_key(WebhookId webhook, Seq place) {
  std::string key = dead_prefix(webhook);
  put_be64(key, place.value);
  return key;
}

std::string dead_letter_id(Seq place) {
  return fmt::format("{}{}", kDeadLetterPrefix, place.value);
}

std::optional<Seq> place_of_dead_letter(std::string_view id) {
  if (!id.starts_with(kDeadLetterPrefix)) return std::nullopt;
  const std::string_view digits = id.substr(kDeadLetterPrefix.size());
  Seq place;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), place.value);
  // Each has one spelling.
  if (error != std::errc() || dead_letter_id(place) != id) return std::nullopt;
  return place;
}

std::string message_id(WebhookId webhook, const Letter& letter) {
  std::string what(webhook.view());
  what += letter.session.view();
  put_be64(what, letter.seq.value);
  constexpr std::size_t kIdBytes = 18;
  return "msg_" + to_base64url(sha256(what).substr(0, kIdBytes));
}

Result<std::string> message_body(std::string_view app, const Letter& letter) {
  REPRISE_TRY(const model::EntryView event, model::decode_entry(letter.event));
  std::string json = fmt::format(
      R"({{"type":"{}","timestamp":"{}","data":{{"app":{},"sessionId":"{}","key":{},"event":)",
      letter.told == Told::kStatus ? "session.status" : "session.event", format_time(event.at),
      json_string(app), letter.session.to_string(),
      letter.name.empty() ? "null" : json_string(std::string(app) + ':' + letter.name));
  model::append_event_json(json, letter.seq, event);
  return json + "}}";
}

std::optional<Millis> retry_delay_of(std::uint64_t attempts, double chance) {
  if (attempts == 0 || attempts > kWebhookRetryDelays.size()) return std::nullopt;
  const Millis delay = kWebhookRetryDelays[attempts - 1];
  return delay + Millis{static_cast<std::int64_t>(static_cast<double>(delay.count()) * chance / 5)};
}

}  // namespace reprise::session
