// Waking subscribers: webhooks and announcements, leases that end, and trying again.
#include <fmt/format.h>

#include "base/bytes.h"
#include "base/log.h"
#include "stream/limits.h"
#include "stream/subscription/messages.h"
#include "stream/subscription/service_parts.h"
#include "wire/json.h"

namespace reprise::stream {
namespace {

using Phase = Subscription::Phase;

std::string random_wake_id(Random& random) {
  std::string raw(12, '\0');
  random.fill(reinterpret_cast<unsigned char*>(raw.data()), raw.size());
  return "w_" + to_base64url(raw);
}

// Whether a webhook says that it has dealt with everything.
bool says_done(const WebhookReply& reply) {
  const auto answer = wire::parse_json(reply.body);
  const auto done = answer ? answer->root().find("done") : std::nullopt;
  return done && done->as_bool().value_or(false);
}

}  // namespace

rt::Task<Result<>> SubscriptionService::end_lease_if_over(const std::shared_ptr<Entry>& entry) {
  if (!is_lease_over(entry->subscription, clock_.now())) co_return Result<>{};
  Subscription next = entry->subscription;
  stream::release(next);
  REPRISE_CO_CHECK(co_await save(*entry, std::move(next)));
  ++probe_.leases_over;
  co_return co_await wake_if_due(entry);
}

rt::Task<Result<>> SubscriptionService::wake_if_due(const std::shared_ptr<Entry>& entry) {
  Subscription next = entry->subscription;
  if (next.phase != Phase::kIdle || !entry->links.has_pending()) co_return Result<>{};
  wake(next, entry->links.snapshot(kMaxStreamsTold), random_wake_id(random_));
  REPRISE_CO_CHECK(co_await save(*entry, std::move(next)));
  ++probe_.wakes;
  co_return co_await tell(entry);
}

bool SubscriptionService::must_be_told(const Entry& entry) const {
  const Subscription& one = entry.subscription;
  if (one.phase != Phase::kWoken || one.lease_until || entry.is_being_told) return false;
  if (entry.called == one.generation && clock_.now() < entry.not_before) return false;
  if (one.retry_at) return *one.retry_at <= clock_.now();
  return entry.announced != one.generation;
}

rt::Task<Result<>> SubscriptionService::tell(const std::shared_ptr<Entry>& entry) {
  if (!must_be_told(*entry)) co_return Result<>{};
  if (entry->subscription.config.type == SubscriptionType::kPullWake)
    co_return co_await announce(*entry);
  entry->is_being_told = true;
  to_call_.push_back(entry);
  call_next_webhooks();
  co_return Result<>{};
}

// Tells workers, through a stream, that there is something to claim.
rt::Task<Result<>> SubscriptionService::announce(Entry& entry) {
  AppendLog event;
  event.content_type = "application/json";
  event.body = wake_event(entry.subscription, clock_.now());
  const auto told = co_await logs_.append(entry.subscription.config.wake_stream, std::move(event));
  if (!told) {
    log::warning("a wake stream could not be written",
                 {{"subscription", entry.subscription.id}, {"detail", told.error().detail}});
    co_return co_await save(entry, failed_to_tell(entry));
  }
  ++probe_.told;
  entry.announced = entry.subscription.generation;
  Subscription next = entry.subscription;
  next.failures = 0;
  next.retry_at.reset();
  co_return co_await save(entry, std::move(next));
}

Subscription SubscriptionService::failed_to_tell(const Entry& entry) {
  Subscription next = entry.subscription;
  ++probe_.failed;
  ++next.failures;
  const double chance = static_cast<double>(random_.next_u64() >> 11) * 0x1.0p-53;
  next.retry_at = clock_.now() + retry_delay(next.failures, chance);
  return next;
}

void SubscriptionService::call_next_webhooks() {
  while (!to_call_.empty() && calls_in_flight_ < options_.max_webhooks_in_flight) {
    auto entry = std::move(to_call_.front());
    to_call_.pop_front();
    ++calls_in_flight_;
    // A task may end at once, and start the next.
    if (!rt::spawn(gate_, deliver(entry))) {
      --calls_in_flight_;
      entry->is_being_told = false;
    }
  }
}

rt::Task<> SubscriptionService::deliver(std::shared_ptr<Entry> entry) {
  // Another may have ended the wake while this waited for its turn.
  const std::uint64_t generation = entry->subscription.generation;
  Result<WebhookReply> reply = WebhookReply{};
  const bool is_due = !entry->is_removed && entry->subscription.phase == Phase::kWoken;
  if (is_due) {
    entry->called = generation;
    entry->not_before = clock_.now() + retry_delay(1, 0.0);
    WebhookCall call{
        .url = entry->subscription.config.webhook_url,
        .headers = {},
        .body = webhook_body(entry->subscription, entry->links, token_for(entry->subscription))};
    auto signature = keys_.sign_webhook(call.body, clock_.now());
    if (signature) {
      call.headers.emplace_back("Webhook-Signature", std::move(*signature));
      reply = co_await sender_.call(std::move(call), calls_);
    } else {
      reply = fail(std::move(signature).error());
    }
  }
  --calls_in_flight_;
  entry->is_being_told = false;
  call_next_webhooks();
  const auto held = co_await hold_entry(entry);
  if (!held || calls_.is_cancelled()) co_return;
  Result<> noted;
  // Somebody may have acknowledged it meanwhile.
  const bool is_still_out =
      entry->subscription.generation == generation && entry->subscription.phase == Phase::kWoken;
  if (is_due && is_still_out) noted = co_await note_reply(*entry, reply);
  if (noted) noted = co_await wake_if_due(entry);
  if (noted) noted = co_await tell(entry);
  if (!noted)
    log::warning("a webhook's answer could not be stored",
                 {{"subscription", entry->subscription.id}, {"detail", noted.error().detail}});
}

rt::Task<Result<>> SubscriptionService::note_reply(Entry& entry,
                                                   const Result<WebhookReply>& reply) {
  const bool is_taken = reply && reply->status >= 200 && reply->status < 300;
  // Its callback says that it was told, whatever became of the answer.
  if (!is_taken && entry.subscription.lease_until) co_return Result<>{};
  if (!is_taken) {
    Subscription next = failed_to_tell(entry);
    log::warning(
        "a webhook could not be called",
        {{"subscription", next.id},
         {"failures", next.failures},
         {"detail", reply ? fmt::format("it answered {}", reply->status) : reply.error().detail}});
    co_return co_await save(entry, std::move(next));
  }
  ++probe_.told;
  Subscription next = entry.subscription;
  next.failures = 0;
  next.retry_at.reset();
  if (!says_done(*reply)) {
    // Its callback may have come, and set a lease, before its answer.
    if (!next.lease_until) next.lease_until = clock_.now() + Millis(next.config.lease_ttl_ms);
    co_return co_await save(entry, std::move(next));
  }
  LinkChanges changes = entry.links.acknowledge_all(next.snapshot);
  stream::release(next);
  co_return co_await save(entry, std::move(next), std::move(changes));
}

rt::Task<> SubscriptionService::run(rt::CancelScope& scope) {
  const rt::CancelScope::Listener stopping(scope, [this] { is_stopping_ = true; });
  while (!scope.is_cancelled()) {
    if (auto done = co_await tick(); !done)
      log::warning("subscriptions could not be looked after", {{"detail", done.error().detail}});
    if (!co_await rt::sleep_for(home_, kSubscriptionTick, scope)) co_return;
  }
}

rt::Task<Result<>> SubscriptionService::tick() {
  const TimePoint now = clock_.now();
  if (has_lost_news_ && now - looked_at_everything_at_ >= kLookAtEverythingInterval)
    REPRISE_CO_CHECK(co_await look_at_everything());
  std::vector<std::shared_ptr<Entry>> due;
  for (const auto& [id, entry] : entries_) {
    const bool must_wake = entry->subscription.phase == Phase::kIdle && entry->links.has_pending();
    if (must_wake || is_lease_over(entry->subscription, now) || must_be_told(*entry))
      due.push_back(entry);
  }
  Result<> outcome;
  for (const auto& entry : due) {
    const auto held = co_await hold_entry(entry);
    if (!held) continue;
    Result<> done = co_await end_lease_if_over(entry);
    if (done) done = co_await wake_if_due(entry);
    if (done) done = co_await tell(entry);
    if (!done) outcome = std::move(done);
  }
  co_return outcome;
}

}  // namespace reprise::stream
