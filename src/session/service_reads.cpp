// What the service shows without changing anything: pages of events, lists, who watches.
#include <fmt/format.h>

#include <algorithm>

#include "model/event.h"
#include "session/keys.h"
#include "session/limits.h"
#include "session/service.h"

namespace reprise::session {

rt::Task<> SessionService::set_hooks(std::shared_ptr<const HookTable> hooks) {
  rt::Loop& origin = *loops_[here()];
  for (const auto& shard : shards_) {
    co_await rt::return_to(shard->loop());
    shard->set_hooks(hooks);
  }
  co_await rt::return_to(origin);
}
namespace {

// Collects entries of the wanted types.
class PageVisitor final : public store::EntryVisitor {
 public:
  PageVisitor(EventPage& page, const std::vector<std::string>& types, std::size_t limit)
      : page_(page), types_(types), limit_(limit) {}
  bool visit(Seq seq, std::string_view bytes) override {
    page_.next_after = seq;
    ++examined;
    size_ += bytes.size();
    if (is_wanted(bytes)) page_.entries.push_back({seq, std::string(bytes)});
    return page_.entries.size() < limit_ && size_ < kMaxEventPageBytes;
  }
  std::size_t examined = 0;

 private:
  bool is_wanted(std::string_view bytes) const {
    if (types_.empty()) return true;
    const auto entry = model::decode_entry(bytes);
    return entry && std::find(types_.begin(), types_.end(), entry->type) != types_.end();
  }
  EventPage& page_;
  const std::vector<std::string>& types_;
  const std::size_t limit_;
  std::size_t size_ = 0;
};

}  // namespace

rt::Task<Result<EventPage>> SessionService::events(SessionRef session, Seq after, std::size_t limit,
                                                   std::vector<std::string> types) {
  REPRISE_CO_TRY(const SessionView view, co_await get(std::move(session)));
  if (after > view.state.head)
    co_return fail(Code::kCursorBeyondHead, fmt::format("after is {} but the last event is {}",
                                                        after.value, view.state.head.value));
  limit = std::min(limit, kMaxEventPageLimit);
  EventPage page;
  page.head = view.state.head;
  page.next_after = std::max(after, view.state.visible_after);
  // A page may examine more entries than it returns; between chunks other work of the loop gets its
  // turn.
  for (std::size_t examined = 0; examined < kMaxExaminedRows && page.next_after < page.head;) {
    PageVisitor visitor(page, types, limit);
    REPRISE_CO_CHECK(co_await store_here().read({.stream = view.stream,
                                                 .after = page.next_after,
                                                 .limit = kMaxEventPageLimit,
                                                 .max_bytes = kMaxEventPageBytes},
                                                visitor));
    examined += visitor.examined;
    if (page.entries.size() >= limit || visitor.examined == 0) break;
    std::size_t bytes = 0;
    for (const auto& entry : page.entries) bytes += entry.bytes.size();
    if (bytes >= kMaxEventPageBytes) break;
    co_await rt::yield(*loops_[here()]);
  }
  page.head = std::max(page.head, page.next_after);
  page.has_more = page.next_after < page.head;
  co_return page;
}

rt::Task<Result<MonitorId>> SessionService::monitor_heads() {
  MonitorId id;
  for (std::size_t feed = 0; feed < kFeeds; ++feed) {
    REPRISE_CO_TRY(id.heads[feed], co_await store_here().head(feed_stream(feed)));
  }
  co_return id;
}

rt::Task<Result<ListResult>> SessionService::list(ListQuery query) {
  ListResult result;
  // The feeds' heads first: what changes while the list is made is told by the monitor that goes on
  // from them.
  REPRISE_CO_TRY(result.monitor_id, co_await monitor_heads());
  store::Store& store = store_;
  auto outcome = co_await store_here().blocking([&]() -> Result<> {
    REPRISE_TRY(result.page, list_sessions(store, query));
    REPRISE_TRY(result.counts, count_by_status(store, query.filter));
    return {};
  });
  REPRISE_CO_CHECK(std::move(outcome));
  std::vector<SessionId> ids;
  for (const StoredSession& session : result.page.sessions) ids.push_back(session.state.id);
  result.subscribers = co_await subscriber_counts(std::move(ids));
  co_return result;
}

rt::Task<std::vector<std::size_t>> SessionService::subscriber_counts(
    std::vector<SessionId> sessions) {
  rt::Loop& origin = *loops_[here()];
  std::vector<std::size_t> counts(sessions.size(), 0);
  for (std::size_t index = 0; index < loops_.size(); ++index) {
    const bool has_any = std::any_of(sessions.begin(), sessions.end(),
                                     [&](const SessionId& id) { return home_index(id) == index; });
    // A loop too busy to say leaves its counts at zero: they are a courtesy.
    if (!has_any || !co_await rt::switch_to(*loops_[index])) continue;
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      if (home_index(sessions[i]) != index) continue;
      if (const auto actor = shards_[index]->loaded(sessions[i]))
        counts[i] = actor->subscribers().connected();
    }
    co_await rt::return_to(origin);
  }
  co_return counts;
}

rt::Task<Result<std::vector<SubscriberView>>> SessionService::subscribers(SessionRef session) {
  REPRISE_CO_TRY(const SessionView view, co_await get(std::move(session)));
  rt::Loop& origin = *loops_[here()];
  Shard& shard = home(view.state.id);
  if (!co_await rt::switch_to(shard.loop())) co_return fail(home_is_busy());
  auto list = shard.actor(view.state.id)->subscribers().list();
  co_await rt::return_to(origin);
  co_return list;
}

}  // namespace reprise::session
