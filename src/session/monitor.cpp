#include "session/monitor.h"

#include <algorithm>

#include "base/assert.h"
#include "session/keys.h"
#include "session/limits.h"

namespace reprise::session {
namespace {

// Feed entries read at a time; a chunk is written as one piece.
constexpr std::size_t kFeedChunk = 256;

class Collector final : public store::EntryVisitor {
 public:
  bool visit(Seq seq, std::string_view bytes) override {
    entries.push_back({seq, std::string(bytes)});
    return true;
  }
  std::vector<store::StoredEntry> entries;
};

}  // namespace

struct Monitor::FeedSubscriber final : stream::Subscriber {
  FeedSubscriber(Monitor& of, std::size_t index) : monitor(of), feed(index) {}
  void on_batch(const stream::LiveBatch&) override { on_gap(); }
  void on_ephemeral(const stream::SharedBytes&) override {}
  void on_removed(std::string_view) override {}
  void on_gap() override {
    monitor.has_news_[feed] = true;
    monitor.changed_.notify();
  }
  Monitor& monitor;
  const std::size_t feed;
};

Monitor::Monitor(SessionService& service, stream::Outlet& outlet, const MonitorFrames& frames,
                 MonitorRequest request)
    : service_(service),
      hub_(service.hub_here()),
      outlet_(outlet),
      frames_(frames),
      request_(std::move(request)),
      changed_(hub_.loop()) {}

Monitor::~Monitor() {
  for (const auto& feed : feeds_)
    hub_.unsubscribe(feed_stream(feed->feed), service_.feed_home(feed->feed), *feed);
}

rt::Task<Result<>> Monitor::subscribe() {
  for (std::size_t feed = 0; feed < kFeeds; ++feed) {
    auto subscriber = std::make_unique<FeedSubscriber>(*this, feed);
    if (!co_await hub_.subscribe(feed_stream(feed), service_.feed_home(feed), *subscriber))
      co_return fail(Code::kOverloaded, "a loop has too much waiting");
    feeds_.push_back(std::move(subscriber));
  }
  if (request_.after) {
    // A position beyond the feeds is not one that this server gave.
    REPRISE_CO_TRY(const MonitorId heads, co_await service_.monitor_heads());
    for (std::size_t feed = 0; feed < kFeeds; ++feed)
      if (request_.after->heads[feed] > heads.heads[feed])
        co_return fail(Code::kBadCursor, "the monitor id is beyond what this server has told");
  }
  co_return Result<>{};
}

rt::Task<Result<bool>> Monitor::reaches_back() {
  for (std::size_t feed = 0; feed < kFeeds; ++feed) {
    const Seq after = request_.after->heads[feed];
    REPRISE_CO_TRY(const Seq head, co_await service_.store_here().head(feed_stream(feed)));
    if (after == head) continue;
    REPRISE_CO_TRY(const Seq first, co_await service_.store_here().first(feed_stream(feed)));
    if (first.value > after.value + 1) co_return false;
  }
  co_return true;
}

rt::Task<Result<>> Monitor::follow(rt::CancelScope& scope) {
  bool needs_snapshot = !request_.after;
  if (request_.after) {
    position_ = *request_.after;
    REPRISE_CO_TRY(const bool is_complete, co_await reaches_back());
    needs_snapshot = !is_complete;
  }
  heartbeat_due_ = rt::Deadline::after(hub_.loop(), request_.heartbeat_interval);
  is_too_late_ = needs_snapshot;
  // Every feed is looked at once an interval, news or not: a commit that failed and was written
  // after all was announced to nobody.
  rt::Deadline look_due = heartbeat_due_;
  has_news_.fill(true);
  for (;;) {
    if (look_due.has_passed(hub_.loop())) {
      has_news_.fill(true);
      look_due = rt::Deadline::after(hub_.loop(), request_.heartbeat_interval);
    }
    if (std::exchange(is_too_late_, false)) {
      REPRISE_CO_CHECK(co_await snapshot(scope));
      has_news_.fill(true);
    }
    bool has_more = true;
    while (has_more && !is_too_late_) {
      has_more = false;
      for (std::size_t feed = 0; feed < kFeeds; ++feed) {
        if (!std::exchange(has_news_[feed], false)) continue;
        REPRISE_CO_TRY(const bool more, co_await advance(feed, scope));
        has_news_[feed] = has_news_[feed] || more;
        has_more = has_more || has_news_[feed];
      }
    }
    if (is_too_late_ || std::find(has_news_.begin(), has_news_.end(), true) != has_news_.end())
      continue;
    // Changes that the filter leaves out wake this but write nothing: the heartbeat is due all the
    // same.
    if (!heartbeat_due_.has_passed(hub_.loop())) {
      auto woken = co_await changed_.wait(scope, heartbeat_due_);
      if (woken) continue;
      if (woken.error().code != Code::kDeadline) co_return woken;
    }
    auto frame = std::make_shared<std::string>();
    frames_.heartbeat(*frame, encode_monitor_id(position_));
    REPRISE_CO_CHECK(co_await push(std::move(frame), scope));
  }
}

rt::Task<Result<>> Monitor::push(std::shared_ptr<const std::string> frames,
                                 rt::CancelScope& scope) {
  REPRISE_CO_CHECK(co_await outlet_.wait_for_room(scope));
  outlet_.push(frames, 0);
  heartbeat_due_ = rt::Deadline::after(hub_.loop(), request_.heartbeat_interval);
  co_return Result<>{};
}

rt::Task<Result<>> Monitor::snapshot(rt::CancelScope& scope) {
  ListQuery query{
      .filter = request_.filter, .waiting_first = false, .limit = kMaxListLimit, .cursor = {}};
  bool is_first = true;
  do {
    REPRISE_CO_TRY(ListResult list, co_await service_.list(query));
    // Changes from before the first page on are told after the snapshot; some then repeat what a
    // row showed.
    if (is_first) position_ = list.monitor_id;
    is_first = false;
    auto frames = std::make_shared<std::string>();
    for (std::size_t i = 0; i < list.page.sessions.size(); ++i)
      frames_.session(*frames, list.page.sessions[i], list.subscribers[i], {});
    if (!frames->empty()) REPRISE_CO_CHECK(co_await push(std::move(frames), scope));
    query.cursor = list.page.next_cursor;
  } while (!query.cursor.empty());
  auto frame = std::make_shared<std::string>();
  frames_.snapshot_complete(*frame, encode_monitor_id(position_));
  co_return co_await push(std::move(frame), scope);
}

rt::Task<Result<bool>> Monitor::advance(std::size_t feed, rt::CancelScope& scope) {
  Collector collector;
  REPRISE_CO_CHECK(co_await service_.store_here().read({.stream = feed_stream(feed),
                                                        .after = position_.heads[feed],
                                                        .limit = kFeedChunk,
                                                        .max_bytes = 1 << 20},
                                                       collector));
  if (collector.entries.empty()) co_return false;
  if (collector.entries.front().seq > position_.heads[feed].next()) {
    is_too_late_ = true;
    co_return false;
  }
  std::vector<FeedEntry> changes;
  std::vector<SessionId> shown;
  for (const auto& entry : collector.entries) {
    REPRISE_CO_TRY(FeedEntry change, decode_feed_entry(entry.bytes));
    if (change.after) shown.push_back(change.id);
    changes.push_back(std::move(change));
  }
  const auto subscribers = co_await service_.subscriber_counts(shown);
  auto frames = std::make_shared<std::string>();
  std::size_t shown_index = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const FeedEntry& change = changes[i];
    position_.heads[feed] = collector.entries[i].seq;
    const bool matched = change.before && request_.filter.matches(*change.before);
    const bool matches = change.after && request_.filter.matches(filterable(change.after->state));
    const std::size_t watching = change.after ? subscribers[shown_index++] : 0;
    if (!matched && !matches) continue;
    const std::string id = encode_monitor_id(position_);
    if (matches)
      frames_.session(*frames, *change.after, watching, id);
    else if (change.after)
      frames_.removed(*frames, change.id, id);
    else
      frames_.deleted(*frames, change.id, id);
  }
  if (!frames->empty()) REPRISE_CO_CHECK(co_await push(std::move(frames), scope));
  // A chunk may be short without being the last.
  co_return true;
}

}  // namespace reprise::session
