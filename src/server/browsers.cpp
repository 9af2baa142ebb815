#include "server/browsers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "browser/chromium/browser.h"
#include "browser/proxy/context_proxy.h"
#include "server/pool_settings.h"

namespace reprise::server {
namespace {

// Browsers run as another user, who may not pass through the data directory. One for each data
// directory, so that a server finds what it left behind itself, and nobody else's.
std::filesystem::path directory_of(const Config& config) {
  if (!config.browser_dir.empty()) return std::filesystem::absolute(config.browser_dir);
  std::error_code ignored;
  const auto data = std::filesystem::weakly_canonical(config.data, ignored);
  return std::filesystem::path("/tmp") /
         fmt::format("reprise-{}", to_hex(sha256(data.string())).substr(0, 16));
}

// How many contexts a pool has places for, unless it says; all of a browser takes three times the
// memory, and a browser for each context ten times.
std::uint32_t default_contexts(PoolKind kind, const Config& config) {
  switch (kind) {
    case PoolKind::kHeadlessShell: return config.pool_contexts;
    case PoolKind::kChromium: return std::min<std::uint32_t>(config.pool_contexts, 100);
    case PoolKind::kDedicated: return std::min<std::uint32_t>(config.pool_contexts, 20);
  }
  return config.pool_contexts;
}

browser::PoolOptions pool_options(const PoolSetting& setting, const Config& config) {
  browser::PoolOptions options{.key = setting.key, .kind = std::string(word(setting.kind))};
  options.max_contexts = setting.contexts.value_or(default_contexts(setting.kind, config));
  options.max_browsers = setting.browsers.value_or(config.pool_browsers);
  if (setting.kind == PoolKind::kDedicated) {
    // A browser whose only context has gone is not used again.
    if (setting.browsers) options.max_contexts = *setting.browsers;
    options.max_browsers = options.max_contexts;
    options.recycle_after_contexts = 1;
  }
  options.max_contexts_per_browser =
      (options.max_contexts + options.max_browsers - 1) / options.max_browsers;
  options.max_clients_per_browser = config.pool_clients;
  return options;
}

browser::chromium::LaunchOptions launch_options(const PoolSetting& setting, const Config& config) {
  browser::chromium::LaunchOptions launch;
  const bool is_full = setting.kind == PoolKind::kChromium;
  launch.kind = is_full ? browser::chromium::BinaryKind::kChromium
                        : browser::chromium::BinaryKind::kHeadlessShell;
  launch.binary = setting.path;
  if (setting.path.empty() && !is_full) launch.binary = config.browser_path;
  launch.is_sandboxed = !config.browser_no_sandbox;
  launch.wants_port = config.pool_clients > 0;  // for clients of the DevTools protocol
  for (const std::string_view flag : browser::kProxyBrowserFlags)
    launch.extra_arguments.emplace_back(flag);
  return launch;
}

}  // namespace

browser::BrowserServiceOptions browser_options(const Config& config) {
  return {.hibernate_after = Millis{static_cast<std::int64_t>(config.hibernate_seconds) * 1000},
          .takeover_grace = config.takeover_grace,
          .state_key_file = state_key_file(config),
          .is_sandboxed = !config.browser_no_sandbox};
}

std::vector<std::unique_ptr<browser::Pool>> make_pools(rt::RealLoop& loop, rt::Pool& pool,
                                                       const Clock& clock,
                                                       browser::ForbiddenPorts& ports,
                                                       const Config& config) {
  auto settings = parse_pool_settings(config.pools);
  REPRISE_ASSERT(settings.has_value());  // check(config) has seen them
  const std::string default_key = browser::PoolOptions{}.key;
  if (std::ranges::find(*settings, default_key, &PoolSetting::key) == settings->end())
    settings->push_back({.key = default_key,
                         .kind = PoolKind::kHeadlessShell,
                         .browsers = std::nullopt,
                         .contexts = std::nullopt,
                         .path = {}});
  const auto home = std::make_shared<browser::chromium::ProfileHome>(loop, directory_of(config));
  std::vector<std::unique_ptr<browser::Pool>> pools;
  for (const PoolSetting& setting : *settings) {
    auto driver = std::make_unique<browser::chromium::ChromiumDriver>(
        loop, pool,
        browser::chromium::DriverOptions{
            .launch = launch_options(setting, config), .home = home, .ports = &ports});
    pools.push_back(std::make_unique<browser::Pool>(loop, clock, std::move(driver),
                                                    pool_options(setting, config)));
  }
  return pools;
}

}  // namespace reprise::server
