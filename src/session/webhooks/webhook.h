// A webhook of an app: who is told of what, and how far that has come. Pure.
//
//     hw app NUL name   the webhook
//     ho app            the app's outbox: the id of its stream (session/webhooks/outbox.h)
//     hp id             the position: how far the webhook has read the outbox
//     hr id due seq     a call that failed, by when it is tried again (session/webhooks/letter.h)
//     hd id seq         a call that was given up
//     hx id             a webhook or an outbox that was removed, and is still to be swept
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/status.h"

namespace reprise::session {

// Never reused: one that is made anew under an old name is another.
using WebhookId = detail::UuidId<struct WebhookIdTag>;

struct WebhookConfig {
  std::string url;
  std::vector<std::string> events;  // types; "*" is all
  std::vector<model::Status> statuses;
  std::string description;
  bool is_disabled = false;
  friend bool operator==(const WebhookConfig&, const WebhookConfig&) = default;
};

struct Webhook {
  WebhookId id;
  std::string app;
  std::string name;
  WebhookConfig config;
  bool is_gone = false;  // disabled because its receiver said 410
  std::string secret;    // raw bytes
  std::string old_secret;
  TimePoint old_secret_until;
  TimePoint created_at;
  TimePoint updated_at;
  friend bool operator==(const Webhook&, const Webhook&) = default;
};

// What a webhook is told of an event; the numbers are stored.
enum class Told : std::uint8_t { kNothing = 0, kEvent = 1, kStatus = 2 };
// `after` is the session's status once the event has happened. An event that is asked for both as
// an event and as a status is told once, as a status.
Told told_of(const WebhookConfig& config, std::string_view type, model::Status after);

// 1 to kMaxWebhookNameBytes letters, digits and `_ . -`; kBadParameter.
Result<> check_webhook_name(std::string_view name);

inline constexpr std::size_t kWebhookSecretBytes = 24;
std::string make_webhook_secret(Random& random);
// As it is shown, once: whsec_ and base64.
std::string secret_text(std::string_view secret);
// The value of webhook-signature (Standard Webhooks): one signature by each secret that counts.
std::string webhook_signature(const Webhook& webhook, std::string_view message_id, TimePoint now,
                              std::string_view body);

// How far a webhook has come. All up to the cursor is dealt with: delivered, or kept as a letter.
struct WebhookPosition {
  Seq cursor;
  std::uint64_t retried = 0;  // letters that wait to be tried again
  std::uint64_t dead = 0;     // letters that were given up
  std::uint64_t missed = 0;   // what it was too far behind for
  friend bool operator==(const WebhookPosition&, const WebhookPosition&) = default;
};

std::string webhook_key(std::string_view app, std::string_view name);
std::string webhook_prefix();
std::string outbox_key(std::string_view app);
std::string position_key(WebhookId id);
// Of a webhook or an outbox.
std::string removed_prefix();
std::string removed_key(std::string_view id);

std::string encode_webhook(const Webhook& webhook);
std::string encode_position(const WebhookPosition& position);
// kCorrupt for bytes that the above cannot have written.
Result<Webhook> decode_webhook(std::string_view bytes);
Result<WebhookPosition> decode_position(std::string_view bytes);

}  // namespace reprise::session
