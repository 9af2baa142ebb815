// A letter: one event on its way to one webhook. It is in the outbox until its first call; one that
// failed is a record of its own until it is delivered or given up.
//
//     byte     1          the version
//     varint   place      its number in the outbox
//     byte     told       what the webhook is told (Told)
//     varint   attempts   calls that failed
//     varint   failed_at  the last of them
//     varint   status     what it answered; 0: nothing
//     text     error      why the last call failed
//     bytes    session    16
//     text     name       the session's
//     varint   seq        the event's number in its session
//     bytes    event      as stored, to the end
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "session/webhooks/outbox.h"
#include "session/webhooks/webhook.h"

namespace reprise::session {

struct Letter {
  Seq place;
  Told told = Told::kEvent;
  std::uint64_t attempts = 0;
  TimePoint failed_at;
  std::uint64_t status = 0;
  std::string error;
  SessionId session;
  std::string name;
  Seq seq;
  std::string event;
  friend bool operator==(const Letter&, const Letter&) = default;
};

// What an outbox's entry says to one webhook; none if it is for others.
std::optional<Letter> letter_for(WebhookId webhook, Seq place, const OutboxEntry& entry);

std::string encode_letter(const Letter& letter);
// kCorrupt for bytes that encode_letter cannot have written.
Result<Letter> decode_letter(std::string_view bytes);

std::string retry_prefix(WebhookId webhook);
std::string retry_key(WebhookId webhook, TimePoint due, Seq place);
// All that is due by then stands before it.
std::string retry_range_end(WebhookId webhook, TimePoint now);
// When the letter under a key of retry_key() is due.
TimePoint due_of_key(std::string_view key);
std::string dead_prefix(WebhookId webhook);
std::string dead_key(WebhookId webhook, Seq place);
// How a dead letter is named outside, and the other way round.
std::string dead_letter_id(Seq place);
std::optional<Seq> place_of_dead_letter(std::string_view id);

// The same for every attempt to tell one webhook of one event.
std::string message_id(WebhookId webhook, const Letter& letter);
// The body of its calls; kCorrupt if the event does not decode.
Result<std::string> message_body(std::string_view app, const Letter& letter);

// How long to wait after so many failed calls, with `chance` in [0, 1) as its jitter: up to a fifth
// longer. None: it is given up.
std::optional<Millis> retry_delay_of(std::uint64_t attempts, double chance);

}  // namespace reprise::session
