#include "server/pool_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "browser/external_pools.h"
#include "server/limits.h"

namespace reprise::server {
namespace {

constexpr std::array kKinds = {PoolKind::kHeadlessShell, PoolKind::kChromium, PoolKind::kDedicated};

std::unexpected<Error> bad(std::string detail) {
  return fail(Code::kBadParameter, std::move(detail));
}

Result<std::uint32_t> number_of(std::string_view name, std::string_view text, std::uint32_t most) {
  std::uint32_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < 1 || number > most)
    return bad(fmt::format("{}={} is not a number between 1 and {}", name, text, most));
  return number;
}

bool is_option(std::string_view name) {
  return name == "browsers" || name == "contexts" || name == "path";
}

Result<> set_option(PoolSetting& pool, std::string_view name, std::string_view value) {
  if (name == "browsers") {
    REPRISE_TRY(pool.browsers, number_of(name, value, kMaxPoolBrowsers));
  } else if (name == "contexts") {
    REPRISE_TRY(pool.contexts, number_of(name, value, kMaxPoolContexts));
  } else {
    pool.path = value;
  }
  return {};
}

Result<PoolSetting> begin_pool(std::string_view key, std::string_view kind) {
  if (const auto checked = browser::check_pool_key(key); !checked)
    return bad(checked.error().detail);
  for (const PoolKind known : kKinds)
    if (word(known) == kind)
      return PoolSetting{.key = std::string(key),
                         .kind = known,
                         .browsers = std::nullopt,
                         .contexts = std::nullopt,
                         .path = {}};
  return bad(
      fmt::format("'{}' is no kind of pool: there are headless-shell, chromium, dedicated", kind));
}

Result<> check_pool(const PoolSetting& pool) {
  if (pool.kind == PoolKind::kDedicated && pool.browsers && pool.contexts &&
      pool.browsers != pool.contexts)
    return bad(
        fmt::format("the pool '{}' has a browser for each context: give one of browsers and "
                    "contexts",
                    pool.key));
  return {};
}

}  // namespace

std::string_view word(PoolKind kind) {
  switch (kind) {
    case PoolKind::kHeadlessShell: return "headless-shell";
    case PoolKind::kChromium: return "chromium";
    case PoolKind::kDedicated: return "dedicated";
  }
  return "";
}

Result<std::vector<PoolSetting>> parse_pool_settings(const std::vector<std::string>& texts) {
  std::vector<PoolSetting> pools;
  for (std::string_view rest : texts) {
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
      const std::size_t equals = part.find('=');
      if (equals == std::string_view::npos)
        return bad(fmt::format("'{}' is not KEY=KIND, browsers=N, contexts=N or path=FILE", part));
      const std::string_view name = part.substr(0, equals);
      const std::string_view value = part.substr(equals + 1);
      if (is_option(name)) {
        if (pools.empty()) return bad(fmt::format("'{}' is of no pool", part));
        REPRISE_CHECK(set_option(pools.back(), name, value));
        continue;
      }
      if (std::ranges::find(pools, name, &PoolSetting::key) != pools.end())
        return bad(fmt::format("the pool '{}' is there twice", name));
      REPRISE_TRY(auto pool, begin_pool(name, value));
      pools.push_back(std::move(pool));
    }
  }
  for (const PoolSetting& pool : pools) REPRISE_CHECK(check_pool(pool));
  return pools;
}

}  // namespace reprise::server
