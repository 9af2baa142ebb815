// The pure rules of webhooks: who is told of what, how it is signed, stored and tried again.
#include "session/webhooks/webhook.h"

#include "base/bytes.h"
#include "model/testing.h"
#include "session/testing.h"
#include "session/webhooks/letter.h"
#include "session/webhooks/limits.h"
#include "session/webhooks/outbox.h"

namespace reprise::session {
namespace {

using model::Status;
using testing::code_of;

std::string stored_event(std::string type = "message", std::string data = R"({"n":1})") {
  return model::encode_entry(
      {.type = std::move(type), .at = model::kStart, .data = std::move(data), .by = "ann"}, {});
}

Webhook sample_webhook() {
  SeededRandom random(3);
  WebhookId id;
  id.bytes.fill(7);
  return {.id = id,
          .app = "shop",
          .name = "audit",
          .config = {.url = "https://example.org/h",
                     .events = {"message", "*"},
                     .statuses = {Status::kFailed},
                     .description = "d",
                     .is_disabled = true},
          .is_gone = true,
          .secret = make_webhook_secret(random),
          .old_secret = make_webhook_secret(random),
          .old_secret_until = model::kStart + Millis{5},
          .created_at = model::kStart,
          .updated_at = model::kStart + Millis{9}};
}

Letter sample_letter() {
  return {.place = Seq{7},
          .told = Told::kStatus,
          .attempts = 3,
          .failed_at = model::kStart,
          .status = 503,
          .error = "it answered 503",
          .session = {},
          .name = "one",
          .seq = Seq{4},
          .event = stored_event()};
}

template <typename Decode>
void expect_cuts_refused(const std::string& bytes, std::size_t until, Decode decode) {
  for (std::size_t size = 0; size < until; ++size)
    EXPECT_EQ(code_of(decode(bytes.substr(0, size))), Code::kCorrupt) << size;
}

TEST(Webhook, IsToldOfAllStatusChangesIfItAsksForNothing) {
  const WebhookConfig config;
  for (const Status status : model::kStatuses)
    EXPECT_EQ(told_of(config, "status_change", status), Told::kStatus);
  EXPECT_EQ(told_of(config, "message", Status::kActive), Told::kNothing);
}

TEST(Webhook, IsToldOfTheEventsAndStatusesItAsksFor) {
  WebhookConfig config{.url = "", .events = {"message"}, .statuses = {}};
  EXPECT_EQ(told_of(config, "message", Status::kActive), Told::kEvent);
  EXPECT_EQ(told_of(config, "messages", Status::kActive), Told::kNothing);
  EXPECT_EQ(told_of(config, "status_change", Status::kFailed), Told::kNothing);
  config.statuses = {Status::kFailed};
  EXPECT_EQ(told_of(config, "status_change", Status::kFailed), Told::kStatus);
  EXPECT_EQ(told_of(config, "status_change", Status::kPaused), Told::kNothing);
  // Another event of a session that has failed is not its coming.
  EXPECT_EQ(told_of(config, "log", Status::kFailed), Told::kNothing);
  config.events = {"*"};
  EXPECT_EQ(told_of(config, "session_created", Status::kActive), Told::kEvent);
  EXPECT_EQ(told_of(config, "status_change", Status::kPaused), Told::kEvent);
  EXPECT_EQ(told_of(config, "status_change", Status::kFailed), Told::kStatus)
      << "once, as a status";
}

TEST(Webhook, HasAPlainName) {
  EXPECT_TRUE(check_webhook_name("to-Slack_2.x"));
  EXPECT_TRUE(check_webhook_name(std::string(kMaxWebhookNameBytes, 'a')));
  for (const std::string& name :
       {std::string(), std::string(kMaxWebhookNameBytes + 1, 'a'), std::string("a/b"),
        std::string("a b"), std::string("\xc3\xa4"), std::string("a\0b", 3)})
    EXPECT_EQ(code_of(check_webhook_name(name)), Code::kBadParameter) << name;
}

// The example of the Standard Webhooks specification.
TEST(Webhook, IsSignedAsStandardWebhooksSays) {
  Webhook webhook;
  constexpr std::string_view kSecret = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  webhook.secret = from_base64url(kSecret).value();
  EXPECT_EQ(secret_text(webhook.secret), "whsec_" + std::string(kSecret));
  const TimePoint at{1'614'265'330'999};
  constexpr std::string_view kId = "msg_p5jXN8AQM9LWM0D4loKWxJek";
  constexpr std::string_view kBody = R"({"test": 2432232314})";
  constexpr std::string_view kSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
  EXPECT_EQ(webhook_signature(webhook, kId, at, kBody), kSignature);
  // A secret that was replaced signs as well, until its time is over.
  webhook.old_secret = webhook.secret;
  webhook.secret = std::string(kWebhookSecretBytes, 'x');
  webhook.old_secret_until = at + Millis{1};
  const std::string both = webhook_signature(webhook, kId, at, kBody);
  EXPECT_TRUE(both.ends_with(" " + std::string(kSignature))) << both;
  webhook.old_secret_until = at;
  EXPECT_EQ(webhook_signature(webhook, kId, at, kBody), both.substr(0, both.find(' ')));
}

TEST(Webhook, SecretsAreLongAndNeverTheSame) {
  SystemRandom random;
  const std::string one = make_webhook_secret(random);
  EXPECT_EQ(one.size(), kWebhookSecretBytes);
  EXPECT_NE(one, make_webhook_secret(random));
}

TEST(WebhookCodec, GivesBackWhatWasStoredAndRefusesTheRest) {
  const Webhook webhook = sample_webhook();
  const std::string bytes = encode_webhook(webhook);
  EXPECT_EQ(*decode_webhook(bytes), webhook);
  expect_cuts_refused(bytes, bytes.size(), decode_webhook);
  EXPECT_EQ(code_of(decode_webhook(bytes + 'x')), Code::kCorrupt);
  Webhook many = webhook;
  many.config.events.assign(kMaxWebhookEvents, "log");
  EXPECT_EQ(*decode_webhook(encode_webhook(many)), many);
  many.config.events.emplace_back("log");
  EXPECT_EQ(code_of(decode_webhook(encode_webhook(many))), Code::kCorrupt);

  const WebhookPosition position{.cursor = Seq{9}, .retried = 2, .dead = 300, .missed = 1};
  const std::string place = encode_position(position);
  EXPECT_EQ(*decode_position(place), position);
  expect_cuts_refused(place, place.size(), decode_position);
  EXPECT_EQ(code_of(decode_position(place + 'x')), Code::kCorrupt);
}

TEST(OutboxCodec, GivesBackWhatWasPromisedAndToWhom) {
  OutboxEntry entry;
  entry.promises = {{sample_webhook().id, Told::kStatus}, {WebhookId{}, Told::kEvent}};
  entry.name = "one";
  entry.seq = Seq{4};
  entry.event = stored_event();
  const std::string bytes = encode_outbox_entry(entry);
  const auto decoded = decode_outbox_entry(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(encode_outbox_entry(*decoded), bytes);
  expect_cuts_refused(bytes, bytes.size() - entry.event.size(), decode_outbox_entry);
  const auto letter = letter_for(sample_webhook().id, Seq{8}, *decoded);
  ASSERT_TRUE(letter);
  EXPECT_EQ(letter->told, Told::kStatus);
  EXPECT_EQ(letter->place, Seq{8});
  SeededRandom random(99);
  EXPECT_FALSE(letter_for(WebhookId::make(model::kStart, random), Seq{8}, *decoded));
}

TEST(Letter, GivesBackWhatWasStored) {
  const Letter letter = sample_letter();
  const std::string bytes = encode_letter(letter);
  EXPECT_EQ(*decode_letter(bytes), letter);
  expect_cuts_refused(bytes, bytes.size() - letter.event.size(), decode_letter);
}

TEST(Letter, SaysWhatHappenedInWhichSession) {
  Letter letter = sample_letter();
  EXPECT_EQ(*message_body("shop", letter),
            R"({"type":"session.status","timestamp":")" + format_time(model::kStart) +
                R"(","data":{"app":"shop","sessionId":"00000000-0000-0000-0000-000000000000",)"
                R"("key":"shop:one","event":{"seq":4,"type":"message","at":")" +
                format_time(model::kStart) + R"(","data":{"n":1},"by":"ann"}}})");
  letter.name.clear();
  letter.told = Told::kEvent;
  const std::string body = *message_body("shop", letter);
  EXPECT_TRUE(body.starts_with(R"({"type":"session.event")")) << body;
  EXPECT_NE(body.find(R"("key":null)"), std::string::npos);
  letter.event = "rubbish";
  EXPECT_EQ(code_of(message_body("shop", letter)), Code::kCorrupt);
}

TEST(Letter, HasOneIdForAllAttempts) {
  Letter letter = sample_letter();
  const WebhookId webhook = sample_webhook().id;
  const std::string id = message_id(webhook, letter);
  EXPECT_TRUE(id.starts_with("msg_")) << id;
  letter.attempts = 9;
  letter.place = Seq{100};
  EXPECT_EQ(message_id(webhook, letter), id);
  EXPECT_NE(message_id(WebhookId{}, letter), id);
  letter.seq = Seq{5};
  EXPECT_NE(message_id(webhook, letter), id);
}

TEST(Letter, IsTriedAgainLaterAndLaterAndThenGivenUp) {
  for (std::size_t i = 0; i < kWebhookRetryDelays.size(); ++i) {
    const Millis delay = kWebhookRetryDelays[i];
    EXPECT_EQ(retry_delay_of(i + 1, 0.0), delay);
    EXPECT_GT(*retry_delay_of(i + 1, 0.5), delay);
    EXPECT_LT(*retry_delay_of(i + 1, 0.999), delay + delay / 5);
  }
  EXPECT_FALSE(retry_delay_of(kWebhookRetryDelays.size() + 1, 0.0));
}

TEST(Letter, StandsInTheStoreByWhenItIsDue) {
  const WebhookId webhook = sample_webhook().id;
  const TimePoint now = model::kStart;
  const std::string key = retry_key(webhook, now, Seq{3});
  EXPECT_EQ(due_of_key(key), now);
  EXPECT_LT(key, retry_range_end(webhook, now));
  EXPECT_GE(retry_key(webhook, now + Millis{1}, Seq{0}), retry_range_end(webhook, now));
  EXPECT_EQ(place_of_dead_letter(dead_letter_id(Seq{12})), Seq{12});
  for (const char* id : {"", "dl_", "dl_x", "dl_012", "12", "dl_12x", "dl_99999999999999999999"})
    EXPECT_FALSE(place_of_dead_letter(id)) << id;
}

}  // namespace
}  // namespace reprise::session
