#include "browser/external_pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/json_text.h"
#include "base/log.h"
#include "browser/limits.h"
#include "browser/timing.h"
#include "session/browser_rows.h"
#include "wire/json.h"

namespace reprise::browser {
namespace {

constexpr std::uint64_t kMissedBeats = 3;

std::unexpected<Error> no_such_pool(std::string_view key) {
  return fail(Code::kPoolNotFound, fmt::format("there is no pool '{}'", key));
}

}  // namespace

Result<> check_pool_key(std::string_view key) {
  const bool is_sound = std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
  if (is_sound && !key.empty() && key.size() <= kMaxPoolKeyBytes) return {};
  return fail(Code::kBadParameter,
              fmt::format("'{}' is no pool's key: 1 to {} letters, digits, '-', '_' or '.'", key,
                          kMaxPoolKeyBytes));
}

std::string encode_external_pool(const ExternalPoolFacts& facts) {
  return fmt::format(
      R"({{"maxContexts":{},"location":{},"heartbeatSeconds":{},"registeredAt":"{}",)"
      R"("staleSince":{}}})",
      facts.max_contexts, json_string(facts.location), facts.heartbeat_seconds,
      format_time(facts.registered_at),
      facts.stale_since ? fmt::format("\"{}\"", format_time(*facts.stale_since)) : "null");
}

Result<ExternalPoolFacts> decode_external_pool(std::string_view json) {
  const auto document = wire::parse_json(std::string(json));
  if (!document) return fail(Code::kCorrupt, "the record of a pool does not decode");
  const auto number = [&](std::string_view name) {
    const auto value = document->root().find(name);
    return value ? value->as_uint() : std::nullopt;
  };
  const auto text = [&](std::string_view name) {
    const auto value = document->root().find(name);
    return value ? value->as_string() : std::nullopt;
  };
  const auto time = [&](std::string_view name) -> std::optional<TimePoint> {
    const auto value = text(name);
    if (!value) return std::nullopt;
    const auto at = parse_time(*value);
    return at ? std::optional(*at) : std::nullopt;
  };
  const auto max_contexts = number("maxContexts");
  const auto location = text("location");
  const auto seconds = number("heartbeatSeconds");
  const auto registered_at = time("registeredAt");
  if (!max_contexts || !location || !seconds || !registered_at)
    return fail(Code::kCorrupt, "the record of a pool does not decode");
  return ExternalPoolFacts{.max_contexts = *max_contexts,
                           .location = *location,
                           .heartbeat_seconds = *seconds,
                           .registered_at = *registered_at,
                           .stale_since = time("staleSince")};
}

rt::Task<Result<>> ExternalPools::load() {
  const std::string prefix = session::external_pools_prefix();
  std::string begin = prefix;
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto page, co_await sessions_.store_here().scan(
                                        {.begin = begin, .end = prefix_end(prefix)}));
    has_more = page.has_more;
    for (const auto& row : page.records) {
      begin = row.key + '\0';
      Entry entry{.pool = {}, .heard_at = loop_.now()};
      REPRISE_CO_TRY(entry.pool.facts, decode_external_pool(row.value));
      pools_.insert_or_assign(row.key.substr(prefix.size()), std::move(entry));
    }
  }
  co_return Result<>{};
}

bool ExternalPools::is_silent(const Entry& entry) const {
  return loop_.now() - entry.heard_at >=
         std::chrono::seconds(kMissedBeats * entry.pool.facts.heartbeat_seconds);
}

ExternalPool ExternalPools::view(const Entry& entry) const {
  ExternalPool pool = entry.pool;
  pool.is_stale = pool.facts.stale_since.has_value() || is_silent(entry);
  return pool;
}

std::optional<ExternalPool> ExternalPools::get(const std::string& key) const {
  const auto found = pools_.find(key);
  if (found == pools_.end()) return std::nullopt;
  return view(found->second);
}

std::map<std::string, ExternalPool> ExternalPools::all() const {
  std::map<std::string, ExternalPool> views;
  for (const auto& [key, entry] : pools_) views.emplace(key, view(entry));
  return views;
}

rt::Task<Result<>> ExternalPools::save(std::string key, ExternalPoolFacts facts) {
  store::Commit commit;
  commit.puts.push_back({.key = session::external_pools_prefix() + key,
                         .value = encode_external_pool(facts),
                         .only_if = {}});
  REPRISE_CO_CHECK(co_await sessions_.store_here().commit(std::move(commit)));
  co_return Result<>{};
}

rt::Task<Result<bool>> ExternalPools::put(std::string key, ExternalPoolFacts facts) {
  rt::CancelScope never;
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await writing_.take(never));
  const auto known = pools_.find(key);
  const bool is_new = known == pools_.end();
  if (is_new && pools_.size() >= kMaxExternalPools)
    co_return fail(Code::kTooManyRequests,
                   fmt::format("{} pools are registered, which is the most", pools_.size()));
  facts.registered_at = is_new ? clock_.now() : known->second.pool.facts.registered_at;
  REPRISE_CO_CHECK(co_await save(key, facts));
  Entry& entry = pools_[key];
  entry.pool.facts = std::move(facts);
  entry.pool.heartbeat_at = clock_.now();
  entry.heard_at = loop_.now();
  co_return is_new;
}

rt::Task<Result<>> ExternalPools::beat(std::string key, PoolBeat beat) {
  auto found = pools_.find(key);
  if (found == pools_.end()) co_return no_such_pool(key);
  if (found->second.pool.facts.stale_since) {
    rt::CancelScope never;
    REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await writing_.take(never));
    found = pools_.find(key);
    if (found == pools_.end()) co_return no_such_pool(key);
    ExternalPoolFacts facts = found->second.pool.facts;
    facts.stale_since.reset();
    REPRISE_CO_CHECK(co_await save(key, facts));
    found->second.pool.facts.stale_since.reset();
  }
  ExternalPool& pool = found->second.pool;
  found->second.heard_at = loop_.now();
  pool.heartbeat_at = clock_.now();
  if (beat.contexts) pool.contexts = *beat.contexts;
  if (beat.waiting) pool.waiting = *beat.waiting;
  if (beat.last_error) pool.last_error = std::move(*beat.last_error);
  co_return Result<>{};
}

rt::Task<Result<>> ExternalPools::remove(std::string key) {
  rt::CancelScope never;
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await writing_.take(never));
  if (!pools_.contains(key)) co_return no_such_pool(key);
  store::Commit commit;
  commit.erases.push_back({.key = session::external_pools_prefix() + key, .only_if = {}});
  REPRISE_CO_CHECK(co_await sessions_.store_here().commit(std::move(commit)));
  pools_.erase(key);
  co_return Result<>{};
}

rt::Task<> ExternalPools::run(rt::CancelScope& scope) {
  while (co_await rt::sleep_for(loop_, kStaleInterval, scope)) {
    std::vector<std::string> silent;
    for (const auto& [key, entry] : pools_)
      if (!entry.pool.facts.stale_since && is_silent(entry)) silent.push_back(key);
    for (const std::string& key : silent) {
      const auto marked = co_await mark_stale(key);
      if (marked) continue;
      log::warning("a pool that fell silent could not be marked",
                   {{"pool", key}, {"detail", marked.error().detail}});
      break;  // the store does not write: the next round tries again
    }
  }
}

rt::Task<Result<>> ExternalPools::mark_stale(std::string key) {
  rt::CancelScope never;
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await writing_.take(never));
  const auto found = pools_.find(key);
  if (found == pools_.end() || !is_silent(found->second)) co_return Result<>{};
  ExternalPoolFacts facts = found->second.pool.facts;
  facts.stale_since = clock_.now();
  REPRISE_CO_CHECK(co_await save(key, facts));
  // One that has beaten meanwhile is marked all the same: its next beat takes that back.
  found->second.pool.facts.stale_since = facts.stale_since;
  log::warning("a pool fell silent", {{"pool", key}});
  co_return Result<>{};
}

}  // namespace reprise::browser
