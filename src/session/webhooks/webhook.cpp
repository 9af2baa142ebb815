#include "session/webhooks/webhook.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/sign.h"
#include "model/event.h"
#include "session/webhooks/limits.h"

namespace reprise::session {
namespace {

constexpr std::uint8_t kWebhookFormat = 1;
constexpr std::uint8_t kPositionFormat = 1;

void put_time(std::string& out, TimePoint at) {
  put_varint(out, static_cast<std::uint64_t>(std::max<std::int64_t>(at.ms, 0)));
}

bool get_time(ByteReader& reader, TimePoint& at) {
  std::uint64_t ms = 0;
  if (!reader.varint(ms) || ms > INT64_MAX) return false;
  at.ms = static_cast<std::int64_t>(ms);
  return true;
}

void put_flag(std::string& out, bool flag) { out.push_back(flag ? '\1' : '\0'); }

bool get_flag(ByteReader& reader, bool& flag) {
  std::uint8_t byte = 0;
  if (!reader.byte(byte) || byte > 1) return false;
  flag = byte == 1;
  return true;
}

bool get_events(ByteReader& reader, std::vector<std::string>& events) {
  std::uint64_t count = 0;
  if (!reader.varint(count) || count > kMaxWebhookEvents) return false;
  events.resize(count);
  return std::ranges::all_of(events, [&](std::string& type) { return reader.text(type); });
}

bool get_statuses(ByteReader& reader, std::vector<model::Status>& statuses) {
  std::uint64_t count = 0;
  if (!reader.varint(count) || count > model::kStatuses.size()) return false;
  for (; count > 0; --count) {
    std::uint8_t status = 0;
    if (!reader.byte(status) || status >= model::kStatuses.size()) return false;
    statuses.push_back(static_cast<model::Status>(status));
  }
  return true;
}

bool get_config(ByteReader& reader, WebhookConfig& config) {
  return reader.text(config.url) && get_events(reader, config.events) &&
         get_statuses(reader, config.statuses) && reader.text(config.description) &&
         get_flag(reader, config.is_disabled);
}

}  // namespace

Told told_of(const WebhookConfig& config, std::string_view type, model::Status after) {
  if (type == model::event_type::kStatusChange) {
    const bool is_for_all = config.events.empty() && config.statuses.empty();
    if (is_for_all || std::ranges::find(config.statuses, after) != config.statuses.end())
      return Told::kStatus;
  }
  const bool is_asked_for = std::ranges::any_of(
      config.events, [type](std::string_view asked) { return asked == "*" || asked == type; });
  return is_asked_for ? Told::kEvent : Told::kNothing;
}

Result<> check_webhook_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  };
  if (!name.empty() && name.size() <= kMaxWebhookNameBytes && std::ranges::all_of(name, is_allowed))
    return {};
  return fail(
      Code::kBadParameter,
      fmt::format("a webhook's name has 1 to {} letters, digits and _ . -", kMaxWebhookNameBytes));
}

std::string make_webhook_secret(Random& random) {
  std::string secret(kWebhookSecretBytes, '\0');
  random.fill(reinterpret_cast<unsigned char*>(secret.data()), secret.size());
  return secret;
}

std::string secret_text(std::string_view secret) { return "whsec_" + to_base64(secret); }

std::string webhook_signature(const Webhook& webhook, std::string_view message_id, TimePoint now,
                              std::string_view body) {
  const std::string signed_text = fmt::format("{}.{}.{}", message_id, now.ms / 1000, body);
  std::string value = "v1," + to_base64(hmac_sha256(webhook.secret, signed_text));
  if (!webhook.old_secret.empty() && now < webhook.old_secret_until)
    value += " v1," + to_base64(hmac_sha256(webhook.old_secret, signed_text));
  return value;
}

// Neither an app's id nor a webhook's name holds control characters.
std::string webhook_key(std::string_view app, std::string_view name) {
  std::string key = "hw" + std::string(app);
  key.push_back('\0');
  key += name;
  return key;
}
std::string webhook_prefix() { return "hw"; }
std::string outbox_key(std::string_view app) { return "ho" + std::string(app); }
std::string position_key(WebhookId id) { return "hp" + std::string(id.view()); }
std::string removed_prefix() { return "hx"; }
std::string removed_key(std::string_view id) { return "hx" + std::string(id); }

std::string encode_webhook(const Webhook& webhook) {
  std::string out(1, static_cast<char>(kWebhookFormat));
  out += webhook.id.view();
  put_text(out, webhook.app);
  put_text(out, webhook.name);
  put_text(out, webhook.config.url);
  put_varint(out, webhook.config.events.size());
  for (const std::string& type : webhook.config.events) put_text(out, type);
  put_varint(out, webhook.config.statuses.size());
  for (const model::Status status : webhook.config.statuses)
    out.push_back(static_cast<char>(status));
  put_text(out, webhook.config.description);
  put_flag(out, webhook.config.is_disabled);
  put_flag(out, webhook.is_gone);
  put_text(out, webhook.secret);
  put_text(out, webhook.old_secret);
  put_time(out, webhook.old_secret_until);
  put_time(out, webhook.created_at);
  put_time(out, webhook.updated_at);
  return out;
}

Result<Webhook> decode_webhook(std::string_view bytes) {
  ByteReader reader(bytes);
  std::uint8_t format = 0;
  std::string_view id;
  Webhook webhook;
  if (!reader.byte(format) || format != kWebhookFormat || !reader.take(16, id) ||
      !reader.text(webhook.app) || !reader.text(webhook.name) ||
      !get_config(reader, webhook.config) || !get_flag(reader, webhook.is_gone) ||
      !reader.text(webhook.secret) || !reader.text(webhook.old_secret) ||
      !get_time(reader, webhook.old_secret_until) || !get_time(reader, webhook.created_at) ||
      !get_time(reader, webhook.updated_at) || !reader.at_end())
    return fail(Code::kCorrupt, "a webhook's record does not decode");
  webhook.id = *WebhookId::from_bytes(id);
  return webhook;
}

std::string encode_position(const WebhookPosition& position) {
  std::string out(1, static_cast<char>(kPositionFormat));
  put_varint(out, position.cursor.value);
  put_varint(out, position.retried);
  put_varint(out, position.dead);
  put_varint(out, position.missed);
  return out;
}

Result<WebhookPosition> decode_position(std::string_view bytes) {
  ByteReader reader(bytes);
  std::uint8_t format = 0;
  WebhookPosition position;
  if (!reader.byte(format) || format != kPositionFormat || !reader.varint(position.cursor.value) ||
      !reader.varint(position.retried) || !reader.varint(position.dead) ||
      !reader.varint(position.missed) || !reader.at_end())
    return fail(Code::kCorrupt, "a webhook's position does not decode");
  return position;
}

}  // namespace reprise::session
