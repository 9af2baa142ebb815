// How subscriptions and their links come to be known: at the start, when one is made, and after
// news were lost.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/log.h"
#include "stream/subscription/glob.h"
#include "stream/subscription/service_parts.h"

namespace reprise::stream {

rt::Task<Result<>> SubscriptionService::load_keys() {
  REPRISE_CO_TRY(const auto stored, co_await store_.get(subscription_keys_key()));
  std::string secret(SubscriptionKeys::kSecretBytes, '\0');
  if (stored) {
    if (stored->value.size() != secret.size())
      co_return fail(Code::kCorrupt, "the keys of the subscriptions do not decode");
    secret = stored->value;
  } else {
    random_.fill(reinterpret_cast<unsigned char*>(secret.data()), secret.size());
    store::Commit commit;
    commit.puts.push_back({.key = subscription_keys_key(), .value = secret, .only_if = {}});
    // Without room to write, what is signed until the next start is signed with keys of its own.
    if (auto kept = co_await store_.commit(std::move(commit)); !kept)
      log::warning("the keys of subscriptions could not be stored",
                   {{"detail", kept.error().detail}});
  }
  REPRISE_CO_TRY(keys_, SubscriptionKeys::from(secret));
  co_return Result<>{};
}

rt::Task<Result<>> SubscriptionService::load() {
  REPRISE_CO_CHECK(co_await load_keys());
  std::string begin = first_subscription_key();
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(
        const auto page,
        co_await store_.scan({.begin = begin, .end = last_subscription_key(), .limit = 256}));
    for (const auto& row : page.records) {
      REPRISE_CO_TRY(Subscription stored, decode_subscription(row.value));
      const std::string id = stored.id;
      const auto entry = std::make_shared<Entry>(home_, std::move(stored));
      entry->is_stored = true;
      entries_.emplace(id, entry);
      REPRISE_CO_CHECK(co_await load_links(*entry));
    }
    has_more = page.has_more;
    if (has_more) begin = page.records.back().key + '\0';
  }
  count();
  // A store that cannot be written now is no reason not to start: it is looked again later.
  if (auto looked = co_await look_at_everything(); !looked)
    log::warning("subscriptions could not be brought up to date",
                 {{"detail", looked.error().detail}});
  co_return Result<>{};
}

rt::Task<Result<>> SubscriptionService::load_links(Entry& entry) {
  const std::string prefix = link_prefix(entry.subscription.id);
  std::string begin = prefix;
  std::string end = prefix;
  end.back() = '\1';
  LinkChanges links;
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto page,
                   co_await store_.scan({.begin = begin, .end = end, .limit = 1'000}));
    for (const auto& row : page.records) {
      REPRISE_CO_TRY(links[row.key.substr(prefix.size())], decode_link(row.value));
    }
    has_more = page.has_more;
    if (has_more) begin = page.records.back().key + '\0';
  }
  entry.links.apply(links);
  co_return Result<>{};
}

rt::Task<Result<>> SubscriptionService::look_at_everything() {
  looked_at_everything_at_ = clock_.now();
  has_lost_news_ = false;
  std::set<std::string> paths;
  std::set<std::string> prefixes;
  for (const auto& [id, entry] : entries_) {
    for (const auto& [path, row] : entry->links.rows()) paths.insert(path);
    const auto& pattern = entry->subscription.config.pattern;
    if (pattern) prefixes.emplace(literal_prefix(*pattern));
  }
  Result<> outcome;
  for (const std::string& prefix : prefixes) {
    const auto found = co_await logs_.paths_matching(
        prefix, [this](std::string_view path) { return concerns_anybody(std::string(path)); });
    if (found)
      paths.insert(found->begin(), found->end());
    else
      outcome = fail(found.error());
  }
  for (const std::string& path : paths) {
    if (is_stopping_) break;
    // One that fails does not keep the others from it.
    auto taken = co_await take({.path = path, .stream = {}, .tail = {}, .is_doubtful = true});
    if (!taken) outcome = std::move(taken);
  }
  if (!outcome) has_lost_news_ = true;
  co_return outcome;
}

// A stream that is there is linked at its tail; one that comes later, before its first append.
rt::Task<Result<>> SubscriptionService::add_link(const Entry& entry, std::string path,
                                                 bool is_explicit, NewLinks& links) {
  const LinkTable::Row* row = entry.links.find(path);
  const bool is_new = row == nullptr && !links.changes.contains(path);
  auto& link = links.changes.try_emplace(path, row != nullptr ? row->link : SubscriptionLink{})
                   .first->second;
  (is_explicit ? link->is_explicit : link->is_by_pattern) = true;
  if (!is_new) co_return Result<>{};
  REPRISE_CO_TRY(const auto tail, co_await logs_.tail_in_store(path));
  if (tail) {
    link->acked = tail->tail;
    link->stream = tail->stream;
    links.tails.emplace(path, tail->tail);
  }
  co_return Result<>{};
}

rt::Task<Result<>> SubscriptionService::link_first(Entry& entry) {
  const SubscriptionConfig& config = entry.subscription.config;
  NewLinks links;
  for (const std::string& path : config.streams)
    REPRISE_CO_CHECK(co_await add_link(entry, path, true, links));
  if (config.pattern) {
    REPRISE_CO_TRY(const auto paths,
                   co_await logs_.paths_matching(std::string(literal_prefix(*config.pattern)),
                                                 [&config](std::string_view path) {
                                                   return path != config.wake_stream &&
                                                          matches_glob(*config.pattern, path);
                                                 }));
    for (const std::string& path : paths)
      REPRISE_CO_CHECK(co_await add_link(entry, path, false, links));
  }
  REPRISE_CO_CHECK(co_await save(entry, entry.subscription, std::move(links.changes)));
  for (const auto& [path, tail] : links.tails) entry.links.advance_tail(path, tail);
  co_return Result<>{};
}

}  // namespace reprise::stream
