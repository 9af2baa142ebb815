// What happens without being asked: contexts of paused sessions go to sleep, and what stood open
// when the server last stopped is told to sleep.
#include <fmt/format.h>

#include "base/bytes.h"
#include "base/log.h"
#include "browser/service.h"
#include "browser/stored_browser.h"
#include "browser/timing.h"
#include "session/browser_rows.h"

namespace reprise::browser {

using model::ContextStatus;

rt::Task<> BrowserService::run(rt::CancelScope& scope) {
  for (const auto& [key, pool] : pools_) rt::spawn(background_, pool->run(scope));
  rt::spawn(background_, external_.run(scope));
  while (co_await rt::sleep_for(around_.loop, kSleepInterval, scope)) co_await put_to_sleep();
}

rt::Task<> BrowserService::put_to_sleep() {
  std::vector<Held> idle;
  for (const auto& [id, browser] : browsers_) {
    browser->note_state(false);
    const bool is_old = around_.loop.now() - browser->last_used() >= options_.hibernate_after;
    if (browser->is_taken_over()) continue;
    if (browser->is_open() && is_old && !browser->turns().is_taken() && !browser->has_clients())
      idle.push_back(browser);
  }
  for (const Held& browser : idle) {
    const auto view = co_await around_.sessions.get(browser->session());
    if (!view || view->state.status != model::Status::kPaused) continue;
    if (browser->turns().is_taken() || browser->has_clients() || browser->is_taken_over()) continue;
    const auto turn = co_await browser->turns().take(scope_);
    if (!turn) co_return;
    const auto slept = co_await browser->release(ContextStatus::kHibernated, "paused");
    if (slept) hibernated_.fetch_add(1, std::memory_order_relaxed);
  }
}

// Owned browsers die with the server, so whatever the rows call open is not.
rt::Task<Result<>> BrowserService::load() {
  for (const auto& [key, pool] : pools_)
    if (const auto swept = co_await pool->sweep(); !swept)
      log::warning("what an earlier server left could not be removed",
                   {{"pool", key}, {"detail", swept.error().detail}});
  REPRISE_CO_CHECK(co_await external_.load());
  const std::string prefix = session::context_status_prefix(ContextStatus::kOpen);
  std::string begin = prefix;
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto page, co_await around_.sessions.store_here().scan(
                                        {.begin = begin, .end = prefix_end(prefix)}));
    has_more = page.has_more;
    for (const auto& row : page.records) {
      begin = row.key + '\0';
      const auto id = session::id_of_browser_index(row.key);
      if (!id) continue;
      REPRISE_CO_TRY(const auto node,
                     co_await around_.sessions.store_here().get(session::node_key(*id)));
      if (!node) continue;
      REPRISE_CO_TRY(const auto place, session::decode_node(node->value));
      const auto marked = co_await mark_asleep(place.session, place.stream, model::ContextId{*id});
      if (!marked)
        log::warning("a context of before could not be marked",
                     {{"detail", marked.error().detail}});
    }
  }
  co_return co_await live_.load();
}

rt::Task<Result<>> BrowserService::mark_asleep(SessionId id, StreamId stream,
                                               model::ContextId context_id) {
  store::AsyncStore& store = around_.sessions.store_here();
  REPRISE_CO_TRY(const auto row, co_await store.get(session::context_row_key(stream, context_id)));
  if (!row) co_return Result<>{};
  REPRISE_CO_TRY(model::ContextFacts context, model::decode_context(row->value));
  context.status = ContextStatus::kHibernated;
  context.closed_at = around_.clock.now();
  context.reason = "the server stopped";
  session::RecordChange change{.events = {model::context_event(model::event_type::kContextClosed,
                                                               context, around_.clock.now())},
                               .add_records = {},
                               .stream = stream,
                               .visible_after = {},
                               .outlasts_reset = true};
  auto told =
      co_await around_.sessions.call(id, {.action = std::move(change), .wants_view = false});
  if (told) co_return Result<>{};
  if (told.error().code == Code::kSessionEnded)
    co_return co_await close_stored_browser(store, id, stream, around_.clock.now());
  // Deleted: the sweep removes its rows.
  if (told.error().code == Code::kSessionNotFound) co_return Result<>{};
  co_return fail(std::move(told).error());
}

}  // namespace reprise::browser
