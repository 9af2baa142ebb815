// What is done at the start and from time to time: loading, trimming outboxes, sweeping.
#include <algorithm>

#include "base/bytes.h"
#include "base/log.h"
#include "session/webhooks/service_parts.h"

namespace reprise::session {
namespace {

// Of the entries up to a place, those that are promised to one webhook.
class CountPromises final : public store::EntryVisitor {
 public:
  CountPromises(WebhookId webhook, Seq until) : webhook_(webhook), until_(until) {}
  bool visit(Seq seq, std::string_view bytes) override {
    if (seq > until_) return false;
    at = seq;
    const auto entry = decode_outbox_entry(bytes);
    if (entry && letter_for(webhook_, seq, *entry)) ++count;
    return true;
  }
  Seq at;
  std::uint64_t count = 0;

 private:
  const WebhookId webhook_;
  const Seq until_;
};

}  // namespace

rt::Task<Result<>> WebhookService::load() {
  std::string begin = webhook_prefix();
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(
        const auto page,
        co_await store_.scan({.begin = begin, .end = prefix_end(webhook_prefix()), .limit = 256}));
    for (const auto& row : page.records) {
      REPRISE_CO_TRY(Webhook webhook, decode_webhook(row.value));
      const std::string app = webhook.app;
      if (!outboxes_.contains(app)) {
        REPRISE_CO_TRY(const auto stored, co_await store_.get(outbox_key(app)));
        const auto stream = stored ? StreamId::from_bytes(stored->value) : std::nullopt;
        if (!stream) co_return fail(Code::kCorrupt, "an app with webhooks has no outbox");
        add_outbox(app, *stream);
      }
      REPRISE_CO_TRY(const auto stored, co_await store_.get(position_key(webhook.id)));
      if (!stored) co_return fail(Code::kCorrupt, "a webhook has no position");
      REPRISE_CO_TRY(const WebhookPosition position, decode_position(stored->value));
      add_hook(*outboxes_[app], std::move(webhook), position);
    }
    has_more = page.has_more;
    if (has_more) begin = page.records.back().key + '\0';
  }
  REPRISE_CO_TRY(const auto removed, co_await store_.scan({.begin = removed_prefix(),
                                                           .end = prefix_end(removed_prefix()),
                                                           .limit = SIZE_MAX}));
  for (const auto& row : removed.records)
    to_sweep_.push_back(row.key.substr(removed_prefix().size()));
  co_await publish_table();
  co_return Result<>{};
}

rt::Task<> WebhookService::run(rt::CancelScope& scope) {
  while (!scope.is_cancelled()) {
    if (auto done = co_await tick(); !done)
      log::warning("webhooks could not be looked after", {{"detail", done.error().detail}});
    if (!co_await rt::sleep_for(home_, kWebhookTick, scope)) co_return;
  }
}

rt::Task<Result<>> WebhookService::tick() {
  std::vector<std::shared_ptr<Hook>> hooks;
  for (const auto& [app, outbox] : outboxes_)
    for (const auto& [name, hook] : outbox->hooks) hooks.push_back(hook);
  for (const auto& hook : hooks) {
    if (hook->must_settle_later) settle(hook);
    fetch_due(hook);
    read_on(hook);
  }
  Result<> outcome;
  for (std::string& id : std::exchange(to_sweep_, {})) {
    auto done = co_await sweep(id);
    if (done) continue;
    to_sweep_.push_back(std::move(id));
    outcome = std::move(done);
  }
  const TimePoint now = clock_.now();
  if (!looked_after_at_ || now - *looked_after_at_ >= kOutboxInterval || now < *looked_after_at_) {
    looked_after_at_ = now;
    if (auto done = co_await look_after_outboxes(); !done) outcome = std::move(done);
  }
  count_queues();
  co_return outcome;
}

void WebhookService::count_queues() {
  std::uint64_t lag = 0;
  std::uint64_t retried = 0;
  std::uint64_t dead = 0;
  for (const auto& [app, outbox] : outboxes_) {
    for (const auto& [name, hook] : outbox->hooks) {
      const Seq head = std::max(outbox->head, hook->read_to);
      lag += head.value - hook->stored.cursor.value;
      retried += hook->stored.retried;
      dead += hook->stored.dead;
    }
  }
  probe_.lag = lag;
  probe_.retried = retried;
  probe_.dead = dead;
  probe_.calls = calls_in_flight_;
}

rt::Task<Result<>> WebhookService::look_after_outboxes() {
  const auto hold = co_await hold_config();
  Result<> outcome;
  for (const auto& [app, outbox] : outboxes_)
    if (auto done = co_await look_after(*outbox); !done) outcome = std::move(done);
  co_return outcome;
}

rt::Task<Result<>> WebhookService::look_after(Outbox& outbox) {
  // A commit whose outcome nobody knew rings no bell, and neither does one before the start.
  outbox.bell->has_rung = false;
  REPRISE_CO_TRY(outbox.head, co_await store_.head(outbox.stream));
  for (const auto& [name, hook] : outbox.hooks) {
    if (outbox.head.value > hook->reached().value + options_.max_lag)
      REPRISE_CO_CHECK(co_await move_up(hook, Seq{outbox.head.value - options_.max_lag}));
    if (outbox.head > hook->read_to) hook->has_more = true;
    read_on(hook);
  }
  co_return co_await trim(outbox);
}

// What a webhook is too far behind for is missed: an outbox does not grow for ever for one that
// does not read it.
rt::Task<Result<>> WebhookService::move_up(std::shared_ptr<Hook> hook, Seq floor) {
  if (hook->is_reading) co_return Result<>{};
  hook->is_reading = true;
  std::uint64_t missed = 0;
  while (!hook->unread.empty() && hook->unread.front().place <= floor) {
    hook->unsettled.erase(hook->unread.front().place);
    hook->unread.pop_front();
    ++missed;
  }
  Result<> outcome;
  while (outcome && hook->read_to < floor) {
    CountPromises counted(hook->webhook.id, floor);
    outcome = co_await store_.read({.stream = hook->outbox->stream,
                                    .after = hook->read_to,
                                    .limit = kOutboxPageEntries,
                                    .max_bytes = kOutboxPageBytes},
                                   counted);
    if (!outcome || counted.at == Seq{}) break;
    missed += counted.count;
    hook->read_to = counted.at;
  }
  hook->is_reading = false;
  if (missed > 0) {
    hook->changes.missed += missed;
    probe_.missed += missed;
    log::warning("a webhook was too far behind and missed events",
                 {{"app", hook->webhook.app}, {"webhook", hook->webhook.name}, {"missed", missed}});
  }
  settle(hook);
  co_return outcome;
}

rt::Task<Result<>> WebhookService::trim(Outbox& outbox) {
  Seq slowest = outbox.head;
  for (const auto& [name, hook] : outbox.hooks) slowest = std::min(slowest, hook->stored.cursor);
  if (slowest <= outbox.trimmed) co_return Result<>{};
  store::Commit commit;
  commit.cuts.push_back({.stream = outbox.stream, .up_to = slowest});
  REPRISE_CO_CHECK(co_await store_.commit(std::move(commit)));
  outbox.trimmed = slowest;
  co_return Result<>{};
}

rt::Task<Result<>> WebhookService::sweep_prefix(std::string prefix) {
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto page,
                   co_await store_.scan(
                       {.begin = prefix, .end = prefix_end(prefix), .limit = kWebhookSweepBatch}));
    store::Commit commit;
    for (const auto& row : page.records) commit.erases.push_back({.key = row.key, .only_if = {}});
    has_more = page.has_more;
    if (!commit.is_empty()) REPRISE_CO_CHECK(co_await store_.commit(std::move(commit)));
  }
  co_return Result<>{};
}

// The id is a webhook's or an outbox's: the one has letters, the other is a stream.
rt::Task<Result<>> WebhookService::sweep(std::string id) {
  const auto webhook = WebhookId::from_bytes(id);
  if (!webhook) co_return fail(Code::kCorrupt, "the key of a removed webhook does not decode");
  REPRISE_CO_CHECK(co_await sweep_prefix(retry_prefix(*webhook)));
  REPRISE_CO_CHECK(co_await sweep_prefix(dead_prefix(*webhook)));
  const StreamId stream{webhook->bytes};
  REPRISE_CO_TRY(const Seq head, co_await store_.head(stream));
  store::Commit commit;
  commit.erases.push_back({.key = position_key(*webhook), .only_if = {}});
  commit.erases.push_back({.key = removed_key(id), .only_if = {}});
  if (head > Seq{}) commit.cuts.push_back({.stream = stream, .up_to = head, .forget = true});
  REPRISE_CO_CHECK(co_await store_.commit(std::move(commit)));
  co_return Result<>{};
}

}  // namespace reprise::session
