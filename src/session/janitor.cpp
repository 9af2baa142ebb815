#include "session/janitor.h"

#include "base/bytes.h"
#include "base/log.h"
#include "session/keys.h"
#include "session/limits.h"
#include "stream/idempotency.h"

namespace reprise::session {

rt::Task<> Janitor::run(rt::CancelScope& scope) {
  rt::Loop& loop = service_.hub_here().loop();
  while (!scope.is_cancelled()) {
    if (auto done = co_await round(); !done)
      log::warning("janitor could not finish its round",
                   {{"code", error_row(done.error().code).name}, {"detail", done.error().detail}});
    if (!co_await rt::sleep_for(loop, kJanitorInterval, scope)) co_return;
  }
}

rt::Task<Result<>> Janitor::round() {
  // A store that cannot write has nothing for the janitor to do; reads still treat what is past its
  // time as expired.
  if (service_.store().state() != store::StoreState::kWritable) co_return Result<>{};
  REPRISE_CO_CHECK(co_await expire());
  REPRISE_CO_CHECK(co_await retire());
  REPRISE_CO_CHECK(co_await sweep_deleted());
  REPRISE_CO_CHECK(co_await forget_idempotency_keys());
  co_return co_await trim_feeds();
}

rt::Task<Result<>> Janitor::expire() {
  const TimePoint now = service_.clock().now();
  REPRISE_CO_TRY(const auto due, co_await service_.store_here().scan({.begin = expiry_range_begin(),
                                                                      .end = expiry_range_end(now),
                                                                      .is_reverse = false,
                                                                      .limit = kJanitorBatch}));
  for (const auto& row : due.records) {
    const auto id = id_of_index_key(row.key);
    if (!id) co_return fail(Code::kCorrupt, "an expiry key does not decode");
    auto answer = co_await service_.call(*id, Call{.action = ExpireOrRefile{}});
    if (!answer && answer.error().code != Code::kSessionNotFound)
      co_return fail(std::move(answer).error());
    if (answer && (*answer)->view && model::is_terminal((*answer)->view->state.status)) ++expired_;
  }
  co_return Result<>{};
}

rt::Task<Result<>> Janitor::retire() {
  const std::uint64_t retention = service_.options().retention_seconds;
  if (retention == 0) co_return Result<>{};
  const TimePoint until = service_.clock().now() - std::chrono::seconds(retention);
  REPRISE_CO_TRY(const auto due, co_await service_.store_here().scan({.begin = ended_range_begin(),
                                                                      .end = ended_range_end(until),
                                                                      .is_reverse = false,
                                                                      .limit = kJanitorBatch}));
  for (const auto& row : due.records) {
    const auto id = id_of_index_key(row.key);
    if (!id) co_return fail(Code::kCorrupt, "an index key does not decode");
    auto removed = co_await service_.remove(*id);
    if (!removed && removed.error().code != Code::kSessionNotFound) co_return removed;
    ++retired_;
  }
  co_return Result<>{};
}

rt::Task<Result<>> Janitor::sweep_deleted() {
  REPRISE_CO_TRY(const auto due,
                 co_await service_.store_here().scan({.begin = deleted_prefix(),
                                                      .end = prefix_end(deleted_prefix()),
                                                      .is_reverse = false,
                                                      .limit = kJanitorBatch}));
  for (const auto& row : due.records) {
    const auto stream = stream_of_deleted_key(row.key);
    if (!stream) co_return fail(Code::kCorrupt, "a key of a deleted stream does not decode");
    REPRISE_CO_CHECK(co_await sweep_stream(*stream));
    ++swept_;
  }
  co_return Result<>{};
}

rt::Task<Result<>> Janitor::sweep_stream(StreamId stream) {
  const std::string prefix = stream::idempotency_prefix(stream);
  for (;;) {
    REPRISE_CO_TRY(const auto page, co_await service_.store_here().scan({.begin = prefix,
                                                                         .end = prefix_end(prefix),
                                                                         .is_reverse = false,
                                                                         .limit = kJanitorBatch}));
    store::Commit commit;
    for (const auto& row : page.records) stream::forget(commit, row.key, row.value);
    const bool is_last = !page.has_more;
    if (is_last) {
      REPRISE_CO_TRY(const Seq head, co_await service_.store_here().head(stream));
      commit.cuts.push_back({.stream = stream, .up_to = head, .forget = true});
      commit.erases.push_back({.key = deleted_key(stream), .only_if = {}});
    }
    REPRISE_CO_CHECK(co_await service_.store_here().commit(std::move(commit)));
    if (is_last) co_return Result<>{};
  }
}

rt::Task<Result<>> Janitor::forget_idempotency_keys() {
  const TimePoint now = service_.clock().now();
  REPRISE_CO_TRY(const auto due,
                 co_await service_.store_here().scan({.begin = stream::expiry_range_begin(),
                                                      .end = stream::expiry_range_end(now),
                                                      .is_reverse = false,
                                                      .limit = kJanitorBatch}));
  if (due.records.empty()) co_return Result<>{};
  store::Commit commit;
  for (const auto& row : due.records) {
    REPRISE_CO_TRY(std::string key, stream::record_of_expiry(row.key));
    REPRISE_CO_TRY(const auto record, co_await service_.store_here().get(std::move(key)));
    stream::forget_due(commit, row.key, record);
  }
  auto forgotten = co_await service_.store_here().commit(std::move(commit));
  // A key claimed anew at this very moment: the next round sees it as it is.
  if (!forgotten && forgotten.error().code != Code::kWrongVersion)
    co_return fail(std::move(forgotten).error());
  co_return Result<>{};
}

rt::Task<Result<>> Janitor::trim_feeds() {
  for (std::size_t feed = 0; feed < kFeeds; ++feed) {
    const StreamId stream = feed_stream(feed);
    REPRISE_CO_TRY(const Seq head, co_await service_.store_here().head(stream));
    REPRISE_CO_TRY(const Seq first, co_await service_.store_here().first(stream));
    // Cut when an eighth too long, so that cuts are rare and large.
    if (first.value == 0 || head.value - first.value < kMaxFeedEntries + kMaxFeedEntries / 8)
      continue;
    store::Commit commit;
    commit.cuts.push_back({.stream = stream, .up_to = Seq{head.value - kMaxFeedEntries}});
    REPRISE_CO_CHECK(co_await service_.store_here().commit(std::move(commit)));
  }
  co_return Result<>{};
}

}  // namespace reprise::session
