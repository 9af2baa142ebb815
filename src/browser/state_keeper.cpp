#include "browser/state_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/log.h"
#include "browser/limits.h"
#include "browser/session_browser.h"
#include "browser/state_vault.h"
#include "browser/stored_browser.h"
#include "browser/timing.h"

namespace reprise::browser {
namespace {

// Where the context is gone, there is nothing to tell.
bool is_over(Code code) {
  return code == Code::kBrowserGone || code == Code::kBrowserError || code == Code::kCancelled;
}

}  // namespace

StateKeeper::StateKeeper(Surroundings& around, StreamId stream)
    : around_(around), stream_(stream), saved_at_(around.loop.now()), turns_(around.loop) {}

StateKeeper::~StateKeeper() = default;

void StateKeeper::know(std::vector<OriginStorage> origins) {
  for (OriginStorage& storage : origins) {
    if (storage.items.empty())
      known_.erase(storage.origin);
    else if (known_.size() < kMaxStateOrigins || known_.contains(storage.origin))
      known_[std::move(storage.origin)] = std::move(storage.items);
  }
}

rt::Task<Result<>> StateKeeper::put(Context& context, const StorageState& state) {
  const rt::Deadline deadline = rt::Deadline::after(around_.loop, kStatePatience);
  REPRISE_CO_CHECK(co_await context.set_cookies(state.cookies, deadline));
  REPRISE_CO_CHECK(co_await context.set_local_storage(state.origins, deadline));
  co_return Result<>{};
}

rt::Task<Result<std::string>> StateKeeper::restore(Context& context) {
  known_.clear();
  is_watching_ = true;
  is_forgotten_ = false;
  if (auto given = std::exchange(given_, std::nullopt)) {
    auto done = co_await put(context, *given);
    if (!done && done.error().code == Code::kToolFailed)
      co_return invalid("/storageState", done.error().detail);
    if (!done) co_return fail(std::move(done).error());
    know(std::move(given->origins));
    // Stored at once: the browser may crash before the first command.
    (void)co_await save(context);
    co_return std::string();
  }
  auto kept = co_await stored();
  Result<> done;
  if (kept)
    done = co_await put(context, *kept);
  else
    done = fail(kept.error());
  if (done) {
    know(std::move(kept->origins));
    co_return std::string();
  }
  // A browser that is gone is another matter than a state that is.
  if (done.error().code == Code::kBrowserGone) co_return fail(std::move(done).error());
  log::warning("a session's cookies and storage did not come back",
               {{"detail", done.error().detail}});
  co_return "without its cookies and storage: " + done.error().detail;
}

rt::Task<Result<StorageState>> StateKeeper::stored() {
  REPRISE_CO_TRY(auto sealed, co_await read_stored_state(around_.sessions.store_here(), stream_));
  if (!sealed) co_return StorageState();
  REPRISE_CO_TRY(std::string json, co_await around_.vault.unseal(stream_, std::move(*sealed)));
  REPRISE_CO_TRY(const auto document, wire::parse_json(std::move(json)));
  co_return parse_storage_state(document.root());
}

rt::Task<Result<StorageState>> StateKeeper::read(Context& context, bool is_complete) {
  const rt::Deadline deadline = rt::Deadline::after(around_.loop, kStatePatience);
  StorageState state;
  REPRISE_CO_TRY(auto origins, co_await context.local_storage(is_complete, deadline));
  know(std::move(origins));
  REPRISE_CO_TRY(state.cookies, co_await context.cookies(deadline));
  for (const auto& [origin, items] : known_)
    state.origins.push_back({.origin = origin, .items = items});
  co_return state;
}

rt::Task<Result<>> StateKeeper::save(Context& context) {
  if (!around_.vault.is_on()) co_return Result<>{};
  rt::CancelScope scope;
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await turns_.take(scope));
  if (is_forgotten_) co_return Result<>{};
  saved_at_ = around_.loop.now();
  REPRISE_CO_TRY(StorageState state, co_await read(context, !is_watched()));
  if (const std::size_t left = fit_storage_state(state, kMaxStorageStateBytes);
      left > 0 && !std::exchange(has_warned_, true))
    log::warning("a session's storage is too large to be kept whole", {{"origins", left}});
  std::string json = storage_state_json(state);
  std::string digest = sha256(json);
  if (digest == stored_digest_) co_return Result<>{};
  const std::size_t bytes = json.size();
  REPRISE_CO_TRY(std::string sealed, co_await around_.vault.seal(stream_, std::move(json)));
  REPRISE_CO_CHECK(
      co_await write_stored_state(around_.sessions.store_here(), stream_, std::move(sealed)));
  stored_digest_ = std::move(digest);
  stored_bytes_ = bytes;
  around_.vault.note_kept();
  co_return Result<>{};
}

rt::Task<Result<>> StateKeeper::replace(Context& context, StorageState state) {
  REPRISE_CO_TRY(StorageState before, co_await read(context));
  // Origins that the new state does not name are emptied.
  std::vector<OriginStorage> origins = state.origins;
  for (const OriginStorage& old : before.origins) {
    const bool stays = std::ranges::any_of(
        state.origins, [&](const OriginStorage& one) { return one.origin == old.origin; });
    if (!stays) origins.push_back({.origin = old.origin, .items = {}});
  }
  const rt::Deadline deadline = rt::Deadline::after(around_.loop, kStatePatience);
  REPRISE_CO_CHECK(co_await context.clear_cookies(deadline));
  auto done = co_await put(context, {.cookies = state.cookies, .origins = std::move(origins)});
  if (!done) {
    for (const OriginStorage& one : state.origins) {
      const bool was_there = std::ranges::any_of(
          before.origins, [&](const OriginStorage& old) { return one.origin == old.origin; });
      if (!was_there) before.origins.push_back({.origin = one.origin, .items = {}});
    }
    (void)co_await context.clear_cookies(rt::Deadline::after(around_.loop, kStatePatience));
    (void)co_await put(context, before);
    co_return done;
  }
  known_.clear();
  know(std::move(state.origins));
  co_return Result<>{};
}

rt::Task<Result<>> StateKeeper::forget() {
  // Behind a save that is under way, and before any that waits.
  is_forgotten_ = true;
  rt::CancelScope scope;
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await turns_.take(scope));
  known_.clear();
  given_.reset();
  stored_digest_.clear();
  stored_bytes_ = 0;
  co_return co_await erase_stored_state(around_.sessions.store_here(), stream_);
}

void StateKeeper::note_change(const std::shared_ptr<Context>& context) {
  if (!is_watching_ || !around_.vault.is_on() || context == nullptr) return;
  if (std::exchange(is_scheduled_, true)) return;
  rt::spawn(gate_, save_later(context));
}

void StateKeeper::note_time(const std::shared_ptr<Context>& context) {
  if (around_.loop.now() - saved_at_ >= kStateInterval) note_change(context);
}

rt::Task<> StateKeeper::save_later(std::weak_ptr<Context> context) {
  const auto slept =
      co_await rt::sleep_for(around_.loop, kStateDelay + pause_after_state(stored_bytes_), *scope_);
  is_scheduled_ = false;
  const auto held = context.lock();
  if (!slept || held == nullptr) co_return;
  const auto saved = co_await save(*held);
  if (saved || is_over(saved.error().code) || std::exchange(has_warned_, true)) co_return;
  log::warning("a session's cookies and storage could not be kept",
               {{"detail", saved.error().detail}});
}

rt::Task<> StateKeeper::stop() {
  is_watching_ = false;
  scope_->cancel();
  co_await gate_.empty();
  scope_ = std::make_unique<rt::CancelScope>();
}

}  // namespace reprise::browser
