#include "session/janitor.h"

#include "base/bytes.h"
#include "base/log.h"
#include "session/artifact_records.h"
#include "session/browser_rows.h"
#include "session/checkpoint_records.h"
#include "session/input_records.h"
#include "session/interactions.h"
#include "session/keys.h"
#include "session/limits.h"
#include "session/tool_call_rows.h"
#include "stream/idempotency.h"

namespace reprise::session {
namespace {

void keep_first(Result<>& first, Result<> next) {
  if (first && !next) first = std::move(next);
}

}  // namespace

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
  Result<> first;
  keep_first(first, co_await expire());
  keep_first(first, co_await retire());
  keep_first(first, co_await sweep_deleted());
  keep_first(first, co_await forget_idempotency_keys());
  // Feeds grow slowly beside what looking at all of them costs, and so do apps.
  if (const TimePoint now = service_.clock().now(); now >= next_trim_at_) {
    next_trim_at_ = now + kFeedTrimInterval;
    keep_first(first, co_await trim_feeds());
    keep_first(first, co_await retire_by_app());
  }
  co_return first;
}

rt::Task<Result<>> Janitor::work_off(std::string begin, std::string end, Handle handle) {
  Result<> first;
  for (;;) {
    REPRISE_CO_TRY(const auto page,
                   co_await service_.store_here().scan(
                       {.begin = begin, .end = end, .is_reverse = false, .limit = kJanitorBatch}));
    if (page.records.empty()) co_return first;
    keep_first(first, co_await (this->*handle)(page));
    if (!page.has_more) co_return first;
    // Past what was handled, also where that failed: nobody is held up by one bad record.
    begin = page.records.back().key + '\0';
    co_await rt::yield(service_.hub_here().loop());
  }
}

rt::Task<Result<>> Janitor::expire() {
  return work_off(expiry_range_begin(), expiry_range_end(service_.clock().now()),
                  &Janitor::expire_page);
}

rt::Task<Result<>> Janitor::expire_page(const store::ScanPage& page) {
  Result<> first;
  for (const auto& row : page.records) {
    const auto id = id_of_index_key(row.key);
    if (!id) {
      keep_first(first, fail(Code::kCorrupt, "an expiry key does not decode"));
      continue;
    }
    auto answer = co_await service_.call(*id, Call{.action = ExpireOrRefile{}});
    if (answer && (*answer)->view && model::is_terminal((*answer)->view->state.status)) ++expired_;
    if (!answer && answer.error().code != Code::kSessionNotFound)
      keep_first(first, fail(std::move(answer).error()));
  }
  co_return first;
}

rt::Task<Result<>> Janitor::retire() {
  const std::uint64_t retention = service_.options().retention_seconds;
  if (retention == 0) co_return Result<>{};
  retention_limit_ = service_.clock().now() - std::chrono::seconds(retention);
  co_return co_await work_off(ended_range_begin(), ended_range_end(retention_limit_),
                              &Janitor::retire_page);
}

rt::Task<Result<>> Janitor::retire_by_app() {
  Result<> first;
  std::string after;
  for (;;) {
    REPRISE_CO_TRY(const AppPage page, co_await service_.apps(after, kJanitorBatch));
    for (const App& app : page.apps) {
      if (!app.settings.retention_seconds) continue;
      retention_limit_ =
          service_.clock().now() - std::chrono::seconds(*app.settings.retention_seconds);
      keep_first(first, co_await work_off(app_ended_prefix(app.id),
                                          app_ended_range_end(app.id, retention_limit_),
                                          &Janitor::retire_page));
    }
    if (page.next.empty()) co_return first;
    after = page.next;
  }
}

rt::Task<Result<>> Janitor::retire_page(const store::ScanPage& page) {
  Result<> first;
  for (const auto& row : page.records) {
    const auto id = id_of_index_key(row.key);
    if (!id) {
      keep_first(first, fail(Code::kCorrupt, "an index key does not decode"));
      continue;
    }
    // Only if it is still ended: somebody may have reset it since the index was read.
    auto removed = co_await service_.remove(*id, Remove{.only_if_ended_by = retention_limit_});
    if (removed) ++retired_;
    if (removed || removed.error().code == Code::kSessionNotFound ||
        removed.error().code == Code::kConflict)
      continue;
    keep_first(first, std::move(removed));
  }
  co_return first;
}

rt::Task<Result<>> Janitor::sweep_deleted() {
  return work_off(deleted_prefix(), prefix_end(deleted_prefix()), &Janitor::sweep_page);
}

rt::Task<Result<>> Janitor::sweep_page(const store::ScanPage& page) {
  Result<> first;
  for (const auto& row : page.records) {
    const auto stream = stream_of_deleted_key(row.key);
    if (!stream) {
      keep_first(first, fail(Code::kCorrupt, "a key of a deleted stream does not decode"));
      continue;
    }
    auto swept = co_await sweep_stream(*stream);
    if (swept) ++swept_;
    keep_first(first, std::move(swept));
  }
  co_return first;
}

rt::Task<Result<>> Janitor::sweep_records(std::string prefix) {
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto page, co_await service_.store_here().scan({.begin = prefix,
                                                                         .end = prefix_end(prefix),
                                                                         .is_reverse = false,
                                                                         .limit = kJanitorBatch}));
    store::Commit commit;
    for (const auto& row : page.records) commit.erases.push_back({.key = row.key, .only_if = {}});
    has_more = page.has_more;
    if (!commit.is_empty())
      REPRISE_CO_CHECK(co_await service_.store_here().commit(std::move(commit)));
  }
  co_return Result<>{};
}

rt::Task<Result<>> Janitor::sweep_stream(StreamId stream) {
  REPRISE_CO_CHECK(co_await sweep_records(interaction_prefix(stream)));
  REPRISE_CO_CHECK(co_await sweep_records(tool_call_rows_prefix(stream)));
  REPRISE_CO_CHECK(co_await sweep_records(input_prefix(stream)));
  REPRISE_CO_CHECK(co_await sweep_records(input_order_prefix(stream)));
  REPRISE_CO_CHECK(co_await sweep_records(void_prefix(stream)));
  REPRISE_CO_CHECK(co_await sweep_checkpoints(service_.store_here(), stream));
  REPRISE_CO_CHECK(co_await sweep_artifacts(service_.store_here(), stream));
  REPRISE_CO_CHECK(co_await sweep_browser_rows(service_.store_here(), stream));
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
  return work_off(stream::expiry_range_begin(), stream::expiry_range_end(service_.clock().now()),
                  &Janitor::forget_page);
}

rt::Task<Result<>> Janitor::forget_page(const store::ScanPage& page) {
  store::Commit commit;
  for (const auto& row : page.records) {
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
    // The first before the head: what is appended between the two looks must not make the head the
    // smaller one.
    REPRISE_CO_TRY(const Seq first, co_await service_.store_here().first(stream));
    REPRISE_CO_TRY(const Seq head, co_await service_.store_here().head(stream));
    // Cut when an eighth too long, so that cuts are rare and large.
    if (first.value == 0 || head.value < first.value + kMaxFeedEntries + kMaxFeedEntries / 8)
      continue;
    store::Commit commit;
    commit.cuts.push_back({.stream = stream, .up_to = Seq{head.value - kMaxFeedEntries}});
    REPRISE_CO_CHECK(co_await service_.store_here().commit(std::move(commit)));
  }
  co_return Result<>{};
}

}  // namespace reprise::session
