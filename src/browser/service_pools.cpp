// Pools: which there are, of whom they are, and how they are.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "browser/service.h"

namespace reprise::browser {
namespace {

Error busy() { return Error{Code::kOverloaded, "the browsers' loop has too much waiting"}; }

PoolReport report_of(const std::string& key, const Pool& pool) {
  return {.key = key,
          .kind = std::string(pool.kind()),
          .heartbeat_at = pool.heartbeat_at(),
          .contexts = pool.contexts(),
          .max_contexts = pool.options().max_contexts,
          .waiting = pool.waiting(),
          .last_error = pool.last_error(),
          .browsers = pool.browsers(),
          .probe = pool.probe()};
}

PoolReport report_of(const std::string& key, const ExternalPool& pool) {
  return {.key = key,
          .kind = "external",
          .is_stale = pool.is_stale,
          .heartbeat_at = pool.heartbeat_at,
          .contexts = pool.contexts,
          .max_contexts = pool.facts.max_contexts,
          .waiting = pool.waiting,
          .last_error = pool.last_error,
          .is_external = true,
          .location = pool.facts.location,
          .heartbeat_seconds = pool.facts.heartbeat_seconds,
          .registered_at = pool.facts.registered_at,
          .stale_since = pool.facts.stale_since};
}

}  // namespace

rt::Task<Result<Pool*>> BrowserService::pool_of(const std::string& key) {
  const auto found = pools_.find(key);
  if (found != pools_.end()) co_return found->second.get();
  if (external_.contains(key))
    co_return fail(
        Code::kConflict,
        fmt::format("the pool '{}' belongs to another process: contexts in it are opened "
                    "there",
                    key));
  co_return fail(Code::kPoolNotFound, fmt::format("there is no pool '{}'", key));
}

BrowserReport BrowserService::report_here() const {
  BrowserReport report{.pools = {}, .is_sandboxed = options_.is_sandboxed};
  for (const auto& [key, pool] : pools_) report.pools.push_back(report_of(key, *pool));
  for (const auto& [key, pool] : external_.all()) report.pools.push_back(report_of(key, pool));
  std::ranges::sort(report.pools, {}, &PoolReport::key);
  for (const auto& [id, browser] : browsers_)
    if (browser->is_open()) report.tabs += browser->tabs().size();
  return report;
}

rt::Task<Result<BrowserReport>> BrowserService::report() {
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(around_.loop)) co_return fail(busy());
  BrowserReport report = report_here();
  co_await rt::return_to(origin);
  co_return report;
}

rt::Task<Result<std::optional<PoolReport>>> BrowserService::pool_report(std::string key) {
  REPRISE_CO_TRY(BrowserReport all, co_await report());
  const auto found = std::ranges::find(all.pools, key, &PoolReport::key);
  if (found == all.pools.end()) co_return std::optional<PoolReport>();
  co_return std::optional(std::move(*found));
}

// Work on a pool of another process, on the browsers' loop. One of our own has our configuration.
template <typename T>
rt::Task<Result<T>> BrowserService::at_pools(const std::string& key, rt::Task<Result<T>> work) {
  if (pools_.contains(key))
    co_return fail(Code::kConflict,
                   fmt::format("the pool '{}' is this server's own: its configuration says what it "
                               "is like",
                               key));
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(around_.loop)) co_return fail(busy());
  auto outcome = co_await std::move(work);
  co_await rt::return_to(origin);
  co_return outcome;
}

rt::Task<Result<bool>> BrowserService::put_pool(std::string key, ExternalPoolFacts facts) {
  co_return co_await at_pools(key, external_.put(key, std::move(facts)));
}
rt::Task<Result<>> BrowserService::beat_pool(std::string key, PoolBeat beat) {
  co_return co_await at_pools(key, external_.beat(key, std::move(beat)));
}
rt::Task<Result<>> BrowserService::remove_pool(std::string key) {
  co_return co_await at_pools(key, external_.remove(key));
}

}  // namespace reprise::browser
