// What is new in the streams, and whom it concerns.
#include <algorithm>

#include "base/log.h"
#include "stream/limits.h"
#include "stream/subscription/glob.h"
#include "stream/subscription/service_parts.h"

namespace reprise::stream {
namespace {

// The stream that tells of a subscription's wakes would wake it for ever.
bool is_by_pattern(const SubscriptionConfig& config, const std::string& path) {
  return config.pattern && path != config.wake_stream && matches_glob(*config.pattern, path);
}

}  // namespace

void SubscriptionService::take_news(std::vector<News> news) {
  const std::size_t room = options_.max_news - std::min(options_.max_news, news_.size());
  if (news.size() > room) {
    probe_.lost_news += news.size() - room;
    has_lost_news_ = true;
    news.resize(room);
  }
  news_received_ += news.size();
  std::move(news.begin(), news.end(), std::back_inserter(news_));
  if (std::exchange(is_working_, true)) return;
  if (!rt::spawn(gate_, work_off_news())) is_working_ = false;
}

rt::Task<> SubscriptionService::work_off_news() {
  while (!news_.empty()) {
    std::vector<News> batch = std::exchange(news_, {});
    // Of many appends to a stream in a row only the last matters.
    std::unordered_map<std::string_view, std::size_t> last;
    for (std::size_t i = batch.size(); i-- > 0;) {
      const auto [later, is_first] = last.try_emplace(batch[i].path, i);
      if (is_first) continue;
      const bool is_older = !batch[i].is_removed && !batch[later->second].is_removed;
      if (is_older) {
        News& newer = batch[later->second];
        newer.tail = std::max(newer.tail, batch[i].tail);
        batch[i].is_merged = true;
      } else {
        later->second = i;
      }
    }
    for (const News& news : batch) {
      if (!news.is_merged) {
        if (auto taken = co_await take(news); !taken) {
          has_lost_news_ = true;
          log::warning("a subscription could not be brought up to date",
                       {{"stream", news.path}, {"detail", taken.error().detail}});
        }
      }
      ++news_taken_;
    }
    news_progress_.notify();
  }
  is_working_ = false;
}

rt::Task<> SubscriptionService::news_settled() {
  const std::uint64_t wanted = news_received_;
  while (is_working_ && news_taken_ < wanted)
    if (!co_await news_progress_.wait(calls_)) co_return;  // the server stops
}

const std::vector<std::shared_ptr<SubscriptionService::Entry>>& SubscriptionService::concerned(
    const std::string& path) {
  const auto known = concerned_.find(path);
  if (known != concerned_.end()) return known->second;
  if (concerned_.size() >= kMaxConcernedPaths) concerned_.clear();
  auto& entries = concerned_[path];
  for (const auto& [id, entry] : entries_) {
    const SubscriptionConfig& config = entry->subscription.config;
    // One that is being made has a configuration before it has links.
    if (entry->links.find(path) != nullptr || is_by_pattern(config, path) ||
        std::binary_search(config.streams.begin(), config.streams.end(), path))
      entries.push_back(entry);
  }
  return entries;
}

rt::Task<Result<>> SubscriptionService::take(News news) {
  const auto entries = concerned(news.path);
  Result<> outcome;
  for (const auto& entry : entries) {
    const auto held = co_await hold_entry(entry);
    if (!held) continue;  // it was deleted
    Result<> taken = co_await take_for(**held, news);
    // When everything is looked at, wakes follow together.
    if (taken && !news.is_doubtful) taken = co_await wake_if_due(entry);
    // One that cannot be told does not keep the others from it.
    if (!taken) outcome = std::move(taken);
  }
  co_return outcome;
}

rt::Task<Result<>> SubscriptionService::take_for(Entry& entry, const News& news) {
  const LinkTable::Row* row = entry.links.find(news.path);
  std::optional<SubscriptionLink> link;
  if (row != nullptr) link = row->link;
  std::optional<LogTail> now = LogTail{news.stream, news.tail};
  // News may come late, and another stream of that name be there by now: the store knows.
  const bool is_doubtful =
      news.is_removed || news.is_doubtful || (link && link->stream != news.stream);
  if (is_doubtful) {
    REPRISE_CO_TRY(now, co_await logs_.tail_in_store(news.path));
  }
  Subscription next = entry.subscription;
  if (link && (!now || link->stream != now->stream)) {
    // Nothing of another one is acknowledged, whatever the wake that is out told of this one.
    link->acked.reset();
    link->stream.reset();
    next.snapshot.erase(news.path);
    entry.links.forget_tail(news.path);
    if (!now && !link->is_explicit) link.reset();
  }
  const bool is_wanted = now && is_by_pattern(entry.subscription.config, news.path);
  if (is_wanted && !link) link = SubscriptionLink{};
  if (is_wanted) link->is_by_pattern = true;
  if (link && now) link->stream = now->stream;
  const bool has_changed = row != nullptr ? link != row->link : link.has_value();
  if (has_changed) {
    LinkChanges changes;
    changes.emplace(news.path, link);
    REPRISE_CO_CHECK(co_await save(entry, std::move(next), std::move(changes)));
  }
  if (now) entry.links.advance_tail(news.path, now->tail);
  co_return Result<>{};
}

}  // namespace reprise::stream
