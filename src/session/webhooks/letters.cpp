// Letters: what is written of calls, what is tried again, and what was given up.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/bytes.h"
#include "base/log.h"
#include "session/webhooks/service_parts.h"

namespace reprise::session {
namespace {

std::unexpected<Error> no_such_letter(Seq place) {
  return fail(Code::kNotFound, fmt::format("there is no dead letter '{}'", dead_letter_id(place)));
}

std::uint64_t changed(std::uint64_t count, std::int64_t by) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(static_cast<std::int64_t>(count) + by, 0));
}

// The dead letters of one commit may be more than are kept at all.
void drop_oldest(std::vector<store::RecordPut>& puts, const std::string& prefix,
                 std::size_t count) {
  std::vector<std::string> keys;
  for (const auto& put : puts)
    if (put.key.starts_with(prefix)) keys.push_back(put.key);
  std::ranges::sort(keys);
  keys.resize(std::min(count, keys.size()));
  std::erase_if(puts, [&](const auto& put) { return std::ranges::binary_search(keys, put.key); });
}

}  // namespace

void WebhookService::Changes::add(Changes more) {
  std::ranges::move(more.puts, std::back_inserter(puts));
  std::ranges::move(more.erases, std::back_inserter(erases));
  retried += more.retried;
  dead += more.dead;
  missed += more.missed;
}

rt::Task<WebhookService::LetterHold> WebhookService::hold_letters(std::shared_ptr<Hook> hook) {
  rt::CancelScope scope;
  while (hook->are_letters_held) (void)co_await hook->letters_are_free.wait(scope);
  co_return LetterHold(std::move(hook));
}

void WebhookService::settle(const std::shared_ptr<Hook>& hook) {
  if (hook->is_removed || hook->is_settling || !hook->must_settle()) return;
  hook->is_settling = true;
  if (!rt::spawn(gate_, settle_letters(hook))) hook->is_settling = false;
}

rt::Task<> WebhookService::settle_letters(std::shared_ptr<Hook> hook) {
  {
    const auto hold = co_await hold_letters(hook);
    // All that gathers while one commit is in flight becomes the next.
    while (!hook->is_removed && hook->must_settle()) {
      auto done = co_await commit_changes(*hook, {});
      hook->must_settle_later = !done;
      if (done) continue;
      log::warning("what became of a webhook's calls could not be stored",
                   {{"app", hook->webhook.app}, {"detail", done.error().detail}});
      break;
    }
    hook->is_settling = false;
  }
  if (hook->is_removed || hook->must_settle_later) co_return;
  read_on(hook);
  fetch_due(hook);
  make_ready(hook);
  start_calls();
}

// Whoever calls holds the letters. What waits to be written goes with it: the cursor must not pass
// what is not kept.
rt::Task<Result<>> WebhookService::commit_changes(Hook& hook, Changes changes) {
  Changes own = std::exchange(hook.changes, {});
  hook.retried_written = own.retried + changes.retried;
  WebhookPosition next = hook.stored;
  next.cursor = hook.reached();
  next.retried = changed(next.retried, own.retried + changes.retried);
  next.dead = changed(next.dead, own.dead + changes.dead);
  next.missed += own.missed + changes.missed;
  store::Commit commit;
  for (const Changes* some : {&own, &changes}) {
    for (const auto& put : some->puts) commit.puts.push_back(put);
    for (const auto& key : some->erases) commit.erases.push_back({.key = key, .only_if = {}});
  }
  std::uint64_t dropped = 0;
  Result<> outcome;
  if (next.dead > options_.max_dead) {
    dropped = next.dead - options_.max_dead;
    const std::string prefix = dead_prefix(hook.webhook.id);
    const auto oldest =
        co_await store_.scan({.begin = prefix, .end = prefix_end(prefix), .limit = dropped});
    if (!oldest) outcome = fail(oldest.error());
    const std::size_t found = oldest ? oldest->records.size() : 0;
    for (std::size_t i = 0; i < found; ++i)
      commit.erases.push_back({.key = oldest->records[i].key, .only_if = {}});
    drop_oldest(commit.puts, prefix, dropped - found);
    next.dead -= dropped;
  }
  commit.puts.push_back(
      {.key = position_key(hook.webhook.id), .value = encode_position(next), .only_if = {}});
  if (outcome) {
    auto committed = co_await store_.commit(std::move(commit));
    if (!committed) outcome = fail(std::move(committed).error());
  }
  hook.retried_written = 0;
  if (!outcome) {
    own.add(std::exchange(hook.changes, {}));
    hook.changes = std::move(own);
    co_return outcome;
  }
  hook.stored = next;
  probe_.dropped += dropped;
  if (own.dead > 0)
    log::warning("calls of a webhook were given up", {{"app", hook.webhook.app},
                                                      {"webhook", hook.webhook.name},
                                                      {"count", own.dead},
                                                      {"detail", hook.last_error}});
  const std::string prefix = retry_prefix(hook.webhook.id);
  for (const Changes* some : {&own, &changes}) {
    for (const auto& key : some->erases) hook.taken.erase(key);
    for (const auto& put : some->puts) {
      if (!put.key.starts_with(prefix)) continue;
      const TimePoint due = due_of_key(put.key);
      hook.next_due = std::min(hook.next_due.value_or(due), due);
    }
  }
  co_return outcome;
}

void WebhookService::fetch_due(const std::shared_ptr<Hook>& hook) {
  if (hook->is_removed || hook->webhook.config.is_disabled || hook->is_fetching ||
      hook->must_settle_later || !hook->due.empty() || calls_.is_cancelled() ||
      hook->calls >= width_of(*hook) || !hook->next_due || clock_.now() < *hook->next_due)
    return;
  rt::spawn(gate_, fetch_letters(hook));
}

rt::Task<> WebhookService::fetch_letters(std::shared_ptr<Hook> hook) {
  hook->is_fetching = true;
  const auto fetched = co_await fetch_page(*hook);
  hook->is_fetching = false;
  if (!fetched) {
    log::warning("a webhook's letters could not be read", {{"detail", fetched.error().detail}});
    hook->next_due = TimePoint{};
    co_return;
  }
  settle(hook);
  make_ready(hook);
  start_calls();
}

rt::Task<Result<>> WebhookService::fetch_page(Hook& hook) {
  const WebhookId id = hook.webhook.id;
  const TimePoint now = clock_.now();
  const std::string end = retry_range_end(id, now);
  // What is written while this looks sets it again.
  hook.next_due.reset();
  // No more than can be called at once: letters may be large. Those that are taken are still there
  // until what became of them is written.
  const std::size_t wanted = width_of(hook) - std::min(hook.calls, width_of(hook));
  REPRISE_CO_TRY(const auto page, co_await store_.scan({.begin = retry_prefix(id),
                                                        .end = end,
                                                        .limit = wanted + hook.taken.size() + 1}));
  for (const auto& row : page.records) {
    if (hook.taken.contains(row.key)) continue;
    auto letter = decode_letter(row.value);
    if (letter) {
      hook.taken.insert(row.key);
      hook.due.emplace_back(row.key, std::move(*letter));
      continue;
    }
    log::error("a webhook's letter is damaged", {{"app", hook.webhook.app}});
    hook.taken.insert(row.key);
    hook.changes.erases.push_back(row.key);
    --hook.changes.retried;
    ++hook.changes.missed;
    ++probe_.missed;
  }
  std::optional<TimePoint> next;
  if (page.has_more) {
    next = now;
  } else {
    REPRISE_CO_TRY(
        const auto later,
        co_await store_.scan({.begin = end, .end = prefix_end(retry_prefix(id)), .limit = 1}));
    if (!later.records.empty()) next = due_of_key(later.records.front().key);
  }
  if (next) hook.next_due = std::min(hook.next_due.value_or(*next), *next);
  co_return Result<>{};
}

rt::Task<Result<DeadLetterPage>> WebhookService::dead_letters_here(std::string app,
                                                                   std::string name, Seq after,
                                                                   std::size_t limit) {
  REPRISE_CO_TRY(const auto hook, find(app, name));
  const std::string prefix = dead_prefix(hook->webhook.id);
  REPRISE_CO_TRY(const auto rows,
                 co_await store_.scan({.begin = dead_key(hook->webhook.id, after.next()),
                                       .end = prefix_end(prefix),
                                       .limit = limit}));
  DeadLetterPage page;
  for (const auto& row : rows.records) {
    REPRISE_CO_TRY(auto letter, decode_letter(row.value));
    page.letters.push_back(std::move(letter));
  }
  if (rows.has_more) page.next = page.letters.back().place;
  co_return page;
}

rt::Task<Result<>> WebhookService::redeliver_here(std::string app, std::string name, Seq place) {
  REPRISE_CO_TRY(const auto hook, find(app, name));
  {
    const auto hold = co_await hold_letters(hook);
    const WebhookId id = hook->webhook.id;
    if (hook->is_removed) co_return no_such_letter(place);
    REPRISE_CO_TRY(const auto record, co_await store_.get(dead_key(id, place)));
    if (!record) co_return no_such_letter(place);
    REPRISE_CO_TRY(Letter letter, decode_letter(record->value));
    letter.attempts = 0;
    Changes changes;
    changes.erases.push_back(dead_key(id, place));
    changes.puts.push_back(
        {.key = retry_key(id, clock_.now(), place), .value = encode_letter(letter), .only_if = {}});
    changes.dead = -1;
    changes.retried = 1;
    REPRISE_CO_CHECK(co_await commit_changes(*hook, std::move(changes)));
  }
  fetch_due(hook);
  co_return Result<>{};
}

rt::Task<Result<>> WebhookService::remove_dead_here(std::string app, std::string name, Seq place) {
  REPRISE_CO_TRY(const auto hook, find(app, name));
  const auto hold = co_await hold_letters(hook);
  const std::string key = dead_key(hook->webhook.id, place);
  REPRISE_CO_TRY(const auto record, co_await store_.get(key));
  if (!record || hook->is_removed) co_return no_such_letter(place);
  Changes changes;
  changes.erases.push_back(key);
  changes.dead = -1;
  co_return co_await commit_changes(*hook, std::move(changes));
}

}  // namespace reprise::session
