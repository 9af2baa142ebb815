#include "stream/subscription/service.h"

#include <fmt/format.h>

#include "stream/limits.h"
#include "stream/subscription/messages.h"
#include "stream/subscription/service_parts.h"

namespace reprise::stream {
namespace {

std::unexpected<Error> no_such_subscription(std::string_view id) {
  return fail(Code::kNotFound, fmt::format("there is no subscription '{}'", id));
}

SubscriptionView view_of(const Subscription& subscription, const LinkTable& links, bool is_new) {
  SubscriptionView view{.subscription = subscription, .links = {}, .is_new = is_new};
  for (const auto& [path, row] : links.rows()) view.links.emplace(path, row.link);
  return view;
}

}  // namespace

SubscriptionService::SubscriptionService(rt::Loop& home, LogService& logs, store::AsyncStore& store,
                                         const Clock& clock, Random& random, WebhookSender& sender,
                                         SubscriptionOptions options)
    : home_(home),
      logs_(logs),
      store_(store),
      clock_(clock),
      random_(random),
      sender_(sender),
      options_(options),
      inbox_(home, options.max_news,
             [this](std::vector<News> news) { take_news(std::move(news)); }),
      news_progress_(home) {
  logs_.set_listener([this](const std::string& path, StreamId stream, Seq tail, LogChange change) {
    if (!has_any_.load(std::memory_order_relaxed)) return;
    if (inbox_.try_send(News{path, stream, tail, change == LogChange::kRemoved})) return;
    ++probe_.lost_news;
    has_lost_news_ = true;
  });
}

SubscriptionService::~SubscriptionService() { logs_.set_listener({}); }

template <typename T>
rt::Task<Result<T>> SubscriptionService::at_home(rt::Task<Result<T>> work) {
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(home_))
    co_return fail(Code::kOverloaded, "too much waits for the subscriptions");
  auto outcome = co_await std::move(work);
  co_await rt::return_to(origin);
  co_return outcome;
}

rt::Task<Result<SubscriptionView>> SubscriptionService::put(std::string id,
                                                            SubscriptionConfig config,
                                                            std::string base_url) {
  return at_home(put_here(std::move(id), std::move(config), std::move(base_url)));
}
rt::Task<Result<SubscriptionView>> SubscriptionService::get(std::string id) {
  return at_home(get_here(std::move(id)));
}
rt::Task<Result<>> SubscriptionService::remove(std::string id) {
  return at_home(remove_here(std::move(id)));
}
rt::Task<Result<>> SubscriptionService::add_streams(std::string id,
                                                    std::vector<std::string> paths) {
  return at_home(add_streams_here(std::move(id), std::move(paths)));
}
rt::Task<Result<>> SubscriptionService::remove_stream(std::string id, std::string path) {
  return at_home(remove_stream_here(std::move(id), std::move(path)));
}
rt::Task<Result<SubscriptionService::Claimed>> SubscriptionService::claim(std::string id,
                                                                          std::string worker) {
  return at_home(claim_here(std::move(id), std::move(worker)));
}
rt::Task<Result<bool>> SubscriptionService::acknowledge(std::string id, WakeClaim claim,
                                                        std::vector<Ack> acks, bool is_done) {
  return at_home(acknowledge_here(std::move(id), std::move(claim), std::move(acks), is_done));
}
rt::Task<Result<>> SubscriptionService::release(std::string id, WakeClaim claim) {
  return at_home(release_here(std::move(id), std::move(claim)));
}

rt::Task<Result<SubscriptionService::Held>> SubscriptionService::hold(std::string id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) co_return no_such_subscription(id);
  co_return co_await hold_entry(found->second);
}

rt::Task<Result<SubscriptionService::Held>> SubscriptionService::hold_entry(
    std::shared_ptr<Entry> entry) {
  rt::CancelScope scope;
  while (entry->is_busy) (void)co_await entry->is_free.wait(scope);
  if (entry->is_removed) co_return no_such_subscription(entry->subscription.id);
  co_return Held(std::move(entry));
}

rt::Task<Result<>> SubscriptionService::save(Entry& entry, Subscription next, LinkChanges changes) {
  store::Commit commit;
  if (!entry.is_stored || next != entry.subscription)
    commit.puts.push_back(
        {.key = subscription_key(next.id), .value = encode_subscription(next), .only_if = {}});
  for (const auto& [path, link] : changes) {
    if (link)
      commit.puts.push_back(
          {.key = link_key(next.id, path), .value = encode_link(*link), .only_if = {}});
    else
      commit.erases.push_back({.key = link_key(next.id, path), .only_if = {}});
  }
  if (commit.is_empty()) co_return Result<>{};
  REPRISE_CO_CHECK(co_await store_.commit(std::move(commit)));
  entry.is_stored = true;
  entry.subscription = std::move(next);
  entry.links.apply(changes);
  co_return Result<>{};
}

void SubscriptionService::count() {
  probe_.subscriptions = entries_.size();
  has_any_ = !entries_.empty();
  concerned_.clear();
}

void SubscriptionService::forget(const std::string& id) {
  const auto found = entries_.find(id);
  found->second->is_removed = true;
  entries_.erase(found);
  count();
}

rt::Task<Result<SubscriptionView>> SubscriptionService::put_here(std::string id,
                                                                 SubscriptionConfig config,
                                                                 std::string base_url) {
  while (entries_.contains(id)) {
    const auto held = co_await hold(id);
    if (!held) continue;  // it was deleted, or could not be stored
    Subscription next = (*held)->subscription;
    if (next.config != config)
      co_return fail(Code::kConflict,
                     fmt::format("the subscription '{}' is there with another configuration", id));
    next.base_url = std::move(base_url);
    REPRISE_CO_CHECK(co_await save(**held, std::move(next)));
    co_return view_of((*held)->subscription, (*held)->links, false);
  }
  if (entries_.size() >= options_.max_subscriptions) {
    ++probe_.refused;
    co_return fail(Code::kTooManyRequests,
                   fmt::format("there are {} subscriptions already", entries_.size()));
  }
  Subscription fresh;
  fresh.id = id;
  fresh.config = std::move(config);
  fresh.base_url = std::move(base_url);
  fresh.created_at = clock_.now();
  // From now on nothing that is appended is missed: news of it wait until this is stored.
  const Held held(std::make_shared<Entry>(home_, std::move(fresh)));
  entries_.emplace(id, held.entry());
  count();
  if (auto linked = co_await link_first(*held); !linked) {
    forget(id);
    co_return fail(std::move(linked).error());
  }
  co_return view_of(held->subscription, held->links, true);
}

rt::Task<Result<SubscriptionView>> SubscriptionService::get_here(std::string id) {
  REPRISE_CO_TRY(const Held held, co_await hold(std::move(id)));
  co_return view_of(held->subscription, held->links, false);
}

rt::Task<Result<>> SubscriptionService::remove_here(std::string id) {
  REPRISE_CO_TRY(const Held held, co_await hold(id));
  store::Commit commit;
  commit.erases.push_back({.key = subscription_key(id), .only_if = {}});
  for (const auto& [path, row] : held->links.rows())
    commit.erases.push_back({.key = link_key(id, path), .only_if = {}});
  REPRISE_CO_CHECK(co_await store_.commit(std::move(commit)));
  forget(id);
  co_return Result<>{};
}

rt::Task<Result<>> SubscriptionService::add_streams_here(std::string id,
                                                         std::vector<std::string> paths) {
  REPRISE_CO_TRY(const Held held, co_await hold(std::move(id)));
  NewLinks links;
  for (std::string& path : paths)
    REPRISE_CO_CHECK(co_await add_link(*held, std::move(path), true, links));
  REPRISE_CO_CHECK(co_await save(*held, held->subscription, std::move(links.changes)));
  concerned_.clear();
  // News that came until now have concerned nobody: what they told is looked up.
  for (const auto& [path, tail] : links.tails) {
    REPRISE_CO_TRY(const auto now, co_await logs_.tail_in_store(path));
    const LinkTable::Row* row = held->links.find(path);
    const bool is_same = now && row != nullptr && row->link.stream == now->stream;
    held->links.advance_tail(path, is_same ? now->tail : tail);
  }
  co_return co_await wake_if_due(held.entry());
}

rt::Task<Result<>> SubscriptionService::remove_stream_here(std::string id, std::string path) {
  REPRISE_CO_TRY(const Held held, co_await hold(std::move(id)));
  const LinkTable::Row* row = held->links.find(path);
  if (row == nullptr || !row->link.is_explicit) co_return Result<>{};
  std::optional<SubscriptionLink> left = row->link;
  left->is_explicit = false;
  if (!left->is_by_pattern) left.reset();
  REPRISE_CO_CHECK(co_await save(*held, held->subscription, {{path, left}}));
  concerned_.clear();
  co_return Result<>{};
}

rt::Task<Result<SubscriptionService::Claimed>> SubscriptionService::claim_here(std::string id,
                                                                               std::string worker) {
  co_await news_settled();
  REPRISE_CO_TRY(const Held held, co_await hold(std::move(id)));
  if (held->subscription.config.type != SubscriptionType::kPullWake)
    co_return fail(Code::kInvalid, "a webhook's subscription is told, not claimed");
  REPRISE_CO_CHECK(co_await end_lease_if_over(held.entry()));
  REPRISE_CO_CHECK(co_await wake_if_due(held.entry()));
  Subscription next = held->subscription;
  Claimed claimed{.holder = next.holder, .generation = next.generation};
  if (next.phase != Subscription::Phase::kWoken) {
    claimed.kind = next.phase == Subscription::Phase::kLeased ? Claimed::Kind::kHeldByAnother
                                                              : Claimed::Kind::kNothingPending;
    co_return claimed;
  }
  next.phase = Subscription::Phase::kLeased;
  next.holder = std::move(worker);
  next.lease_until = clock_.now() + Millis(next.config.lease_ttl_ms);
  next.retry_at.reset();
  // Whoever comes now is told of what is new now.
  next.snapshot = held->links.snapshot(kMaxStreamsTold);
  REPRISE_CO_CHECK(co_await save(*held, std::move(next)));
  const Subscription& one = held->subscription;
  claimed.holder = one.holder;
  claimed.wake_id = one.wake_id;
  claimed.token = token_for(one);
  claimed.streams = streams_of_wake(one, held->links);
  claimed.lease_ttl_ms = one.config.lease_ttl_ms;
  co_return claimed;
}

rt::Task<Result<bool>> SubscriptionService::acknowledge_here(std::string id, WakeClaim claim,
                                                             std::vector<Ack> acks, bool is_done) {
  REPRISE_CO_TRY(const Held held, co_await hold(std::move(id)));
  REPRISE_CO_CHECK(co_await end_lease_if_over(held.entry()));
  REPRISE_CO_CHECK(check_claim(held->subscription, claim));
  REPRISE_CO_TRY(LinkChanges changes, held->links.acknowledge(acks));
  Subscription next = held->subscription;
  if (is_done)
    stream::release(next);
  else
    next.lease_until = clock_.now() + Millis(next.config.lease_ttl_ms);
  REPRISE_CO_CHECK(co_await save(*held, std::move(next), std::move(changes)));
  REPRISE_CO_CHECK(co_await wake_if_due(held.entry()));
  co_return held->subscription.generation != claim.generation;
}

rt::Task<Result<>> SubscriptionService::release_here(std::string id, WakeClaim claim) {
  REPRISE_CO_TRY(const Held held, co_await hold(std::move(id)));
  REPRISE_CO_CHECK(co_await end_lease_if_over(held.entry()));
  REPRISE_CO_CHECK(check_claim(held->subscription, claim));
  Subscription next = held->subscription;
  stream::release(next);
  REPRISE_CO_CHECK(co_await save(*held, std::move(next)));
  co_return co_await wake_if_due(held.entry());
}

std::string SubscriptionService::token_for(const Subscription& subscription) const {
  return keys_.write_token({.subscription = subscription.id,
                            .generation = subscription.generation,
                            .expires_at = clock_.now() + kTokenLifetime});
}

Result<> SubscriptionService::check_claim(const Subscription& subscription,
                                          const WakeClaim& claim) {
  REPRISE_TRY(const WakeToken token, keys_.read_token(claim.token));
  if (token.subscription != subscription.id)
    return fail(Code::kUnauthorized, "the token is for another subscription");
  Result<> fence = check_fence(subscription, claim.generation, claim.wake_id);
  if (fence && token.generation != subscription.generation)
    fence = fail(Code::kFenced, "the token is of another wake");
  if (!fence) {
    ++probe_.fenced;
    return fence;
  }
  if (token.expires_at <= clock_.now()) return fail(Code::kForbidden, "the token has expired");
  return {};
}

rt::Task<> SubscriptionService::close() {
  has_any_ = false;
  calls_.cancel();
  gate_.close();
  co_await gate_.empty();
}

}  // namespace reprise::stream
