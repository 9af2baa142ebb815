// Reading outboxes and calling receivers.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "session/webhooks/service_parts.h"

namespace reprise::session {
namespace {

constexpr int kGoneStatus = 410;

class Collect final : public store::EntryVisitor {
 public:
  bool visit(Seq seq, std::string_view bytes) override {
    entries.push_back({seq, std::string(bytes)});
    return true;
  }
  std::vector<store::StoredEntry> entries;
};

}  // namespace

void WebhookService::take_news(const std::vector<std::string>& apps) {
  for (const std::string& app : apps) {
    const auto found = outboxes_.find(app);
    if (found == outboxes_.end()) continue;
    // Before it is read: what comes later rings again.
    found->second->bell->has_rung = false;
    for (const auto& [name, hook] : found->second->hooks) {
      hook->has_more = true;
      read_on(hook);
    }
  }
}

bool WebhookService::wants_more(const Hook& hook) const {
  return !hook.is_removed && !hook.webhook.config.is_disabled && hook.has_more &&
         hook.unread.empty() && !hook.must_settle_later && !calls_.is_cancelled();
}

void WebhookService::read_on(const std::shared_ptr<Hook>& hook) {
  if (!hook->is_reading && wants_more(*hook)) rt::spawn(gate_, read_outbox(hook));
}

rt::Task<> WebhookService::read_outbox(std::shared_ptr<Hook> hook) {
  hook->is_reading = true;
  while (wants_more(*hook)) {
    // What is announced from now on sets it again.
    hook->has_more = false;
    const auto read = co_await read_page(*hook);
    if (!read) log::warning("an outbox could not be read", {{"detail", read.error().detail}});
    if (!read || !*read) continue;
    hook->has_more = true;
  }
  hook->is_reading = false;
  settle(hook);
  make_ready(hook);
  start_calls();
}

// Whether there was anything.
rt::Task<Result<bool>> WebhookService::read_page(Hook& hook) {
  Collect page;
  REPRISE_CO_CHECK(co_await store_.read({.stream = hook.outbox->stream,
                                         .after = hook.read_to,
                                         .limit = kOutboxPageEntries,
                                         .max_bytes = kOutboxPageBytes},
                                        page));
  if (hook.is_removed) co_return false;
  for (const auto& stored : page.entries) {
    hook.read_to = stored.seq;
    const auto entry = decode_outbox_entry(stored.bytes);
    if (!entry) {
      // One that is damaged does not hold up all that follow.
      log::error("an entry of an outbox is damaged",
                 {{"app", hook.webhook.app}, {"entry", stored.seq.value}});
      ++hook.changes.missed;
      ++probe_.missed;
      continue;
    }
    auto letter = letter_for(hook.webhook.id, stored.seq, *entry);
    if (!letter) continue;
    hook.unsettled.insert(stored.seq);
    hook.unread.push_back(std::move(*letter));
  }
  co_return !page.entries.empty();
}

std::size_t WebhookService::width_of(const Hook& hook) const {
  return hook.is_failing ? 1 : kMaxCallsPerWebhook;
}

bool WebhookService::can_call(const Hook& hook) const {
  // What comes of a call must be kept: not while that cannot be written.
  if (hook.is_removed || hook.webhook.config.is_disabled || hook.must_settle_later ||
      hook.calls >= width_of(hook))
    return false;
  return !hook.due.empty() || hook.may_call_unread(options_.max_retried);
}

void WebhookService::make_ready(const std::shared_ptr<Hook>& hook) {
  if (hook->is_ready || !can_call(*hook)) return;
  hook->is_ready = true;
  ready_.push_back(hook);
}

// One call of each in turn, so that none takes all.
void WebhookService::start_calls() {
  // A call may end at once and lead here again: whoever is here already goes on.
  if (is_starting_calls_) return;
  is_starting_calls_ = true;
  while (calls_in_flight_ < options_.max_calls && !ready_.empty() && !calls_.is_cancelled()) {
    const auto hook = std::move(ready_.front());
    ready_.pop_front();
    hook->is_ready = false;
    if (!can_call(*hook)) continue;
    Letter letter;
    std::string taken_from;
    // In turns: what is tried again must not keep what is new waiting, nor the other way round.
    hook->is_turn_of_due = !hook->due.empty() &&
                           (!hook->may_call_unread(options_.max_retried) || !hook->is_turn_of_due);
    if (hook->is_turn_of_due) {
      taken_from = std::move(hook->due.front().first);
      letter = std::move(hook->due.front().second);
      hook->due.pop_front();
    } else {
      letter = std::move(hook->unread.front());
      hook->unread.pop_front();
    }
    ++calls_in_flight_;
    ++hook->calls;
    make_ready(hook);
    // It cannot be refused: the gate closes after the scope is cancelled.
    rt::spawn(gate_, deliver(hook, std::move(letter), std::move(taken_from)));
    read_on(hook);
  }
  is_starting_calls_ = false;
}

rt::Task<Result<stream::WebhookReply>> WebhookService::call(Hook& hook, const Letter& letter) {
  const TimePoint now = clock_.now();
  const std::string id = message_id(hook.webhook.id, letter);
  stream::WebhookCall call{.url = hook.webhook.config.url, .headers = {}, .body = {}};
  REPRISE_CO_TRY(call.body, message_body(hook.webhook.app, letter));
  call.headers.emplace_back("webhook-id", id);
  call.headers.emplace_back("webhook-timestamp", fmt::format("{}", now.ms / 1000));
  call.headers.emplace_back("webhook-signature",
                            webhook_signature(hook.webhook, id, now, call.body));
  co_return co_await sender_.call(std::move(call), hook.scope);
}

rt::Task<> WebhookService::deliver(std::shared_ptr<Hook> hook, Letter letter,
                                   std::string taken_from) {
  const auto reply = co_await call(*hook, letter);
  --calls_in_flight_;
  --hook->calls;
  if (!hook->is_removed && !hook->scope.is_cancelled()) {
    note(hook, std::move(letter), taken_from, reply);
    settle(hook);
    fetch_due(hook);
    read_on(hook);
    make_ready(hook);
  }
  start_calls();
}

// What came of a call. It is written by settle().
void WebhookService::note(const std::shared_ptr<Hook>& hook, Letter letter,
                          const std::string& taken_from,
                          const Result<stream::WebhookReply>& reply) {
  const TimePoint now = clock_.now();
  Changes& changes = hook->changes;
  if (taken_from.empty()) {
    hook->unsettled.erase(letter.place);
  } else {
    changes.erases.push_back(taken_from);
    --changes.retried;
  }
  if (reply && reply->status >= 200 && reply->status < 300) {
    ++probe_.delivered;
    hook->is_failing = false;
    hook->last_error.clear();
    hook->delivered_at = now;
    return;
  }
  ++probe_.failed;
  hook->is_failing = true;
  letter.error = reply ? fmt::format("it answered {}", reply->status) : reply.error().detail;
  letter.status = reply ? static_cast<std::uint64_t>(reply->status) : 0;
  letter.failed_at = now;
  ++letter.attempts;
  hook->last_error = letter.error;
  const double chance = static_cast<double>(random_.next_u64() >> 11) * 0x1.0p-53;
  const WebhookId id = hook->webhook.id;
  if (const auto delay = retry_delay_of(letter.attempts, chance)) {
    changes.puts.push_back({.key = retry_key(id, now + *delay, letter.place),
                            .value = encode_letter(letter),
                            .only_if = {}});
    ++changes.retried;
  } else {
    ++probe_.given_up;
    changes.puts.push_back(
        {.key = dead_key(id, letter.place), .value = encode_letter(letter), .only_if = {}});
    ++changes.dead;
  }
  if (reply && reply->status == kGoneStatus) rt::spawn(gate_, disable(hook));
}

}  // namespace reprise::session
