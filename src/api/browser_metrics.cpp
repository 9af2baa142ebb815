#include "api/browser_metrics.h"

#include <fmt/format.h>

#include <utility>

#include "api/metrics_text.h"

namespace reprise::api {
namespace {

using browser::PoolReport;

void add_commands(MetricsPage& page, const browser::BrowserProbe& probe) {
  page.gauge("reprise_browser_sessions", "Sessions whose browser is in memory.", probe.sessions);
  page.counter("reprise_browser_commands_total", "Commands run.", probe.commands);
  page.counter("reprise_browser_failed_commands_total", "Commands that failed on the page.",
               probe.failed_commands);
  page.counter("reprise_browser_captures_total", "Commands of which a picture was kept.",
               probe.captures);
  page.counter("reprise_browser_states_kept_total", "Storage states kept.", probe.kept_states);
  page.counter("reprise_browser_hibernated_total", "Contexts of paused sessions put to sleep.",
               probe.hibernated);
}

// A metric of each pool, by its key: one without characters that would have to be escaped.
template <typename Number>
void add_by_pool(MetricsPage& page, const browser::BrowserReport& report, std::string_view name,
                 std::string_view kind, std::string_view help, Number number) {
  page.head(name, kind, help);
  for (const PoolReport& pool : report.pools)
    page.value(name, fmt::format("{{pool=\"{}\",kind=\"{}\"}}", pool.key, pool.kind),
               static_cast<double>(number(pool)));
}

std::uint64_t memory_of(const PoolReport& pool) {
  std::uint64_t bytes = 0;
  for (const auto& browser : pool.browsers) bytes += browser.memory_bytes;
  return bytes;
}

void add_pools(MetricsPage& page, const browser::BrowserReport& report) {
  page.gauge("reprise_browser_tabs", "Tabs open.", report.tabs);
  page.gauge("reprise_browser_sandboxed", "1 if browsers run in their sandbox.",
             report.is_sandboxed ? 1 : 0);
  const auto gauge = [&](std::string_view name, std::string_view help, auto number) {
    add_by_pool(page, report, name, "gauge", help, number);
  };
  const auto counter = [&](std::string_view name, std::string_view help, auto number) {
    add_by_pool(page, report, name, "counter", help, number);
  };
  gauge("reprise_pool_alive", "0 if the pool of another process fell silent.",
        [](const PoolReport& pool) { return pool.is_alive() ? 1 : 0; });
  gauge("reprise_pool_browsers", "Browsers that run.",
        [](const PoolReport& pool) { return pool.browsers.size(); });
  gauge("reprise_pool_contexts", "Contexts that have a place.",
        [](const PoolReport& pool) { return pool.contexts; });
  gauge("reprise_pool_max_contexts", "Places for contexts.",
        [](const PoolReport& pool) { return pool.max_contexts; });
  gauge("reprise_pool_waiting", "Callers in line for a place.",
        [](const PoolReport& pool) { return pool.waiting; });
  gauge("reprise_pool_memory_bytes", "What browsers take, shared pages counted once (PSS).",
        memory_of);
  counter("reprise_pool_started_total", "Browsers started.",
          [](const PoolReport& pool) { return pool.probe.started; });
  counter("reprise_pool_crashed_total", "Browsers that ended by themselves.",
          [](const PoolReport& pool) { return pool.probe.crashed; });
  counter("reprise_pool_recycled_total", "Browsers that got no new contexts any more.",
          [](const PoolReport& pool) { return pool.probe.recycled; });
  counter("reprise_pool_opened_total", "Contexts opened.",
          [](const PoolReport& pool) { return pool.probe.opened; });
  counter("reprise_pool_refused_total", "Contexts refused because the pool was full.",
          [](const PoolReport& pool) { return pool.probe.refused; });
}

void add_live(MetricsPage& page, const browser::LiveProbe& probe) {
  page.gauge("reprise_live_viewers", "Viewers of sessions' browsers.", probe.viewers);
  page.gauge("reprise_live_screencasts", "Tabs that are shown to somebody.", probe.screencasts);
  page.counter("reprise_live_pictures_total", "Pictures of tabs that were shown.", probe.pictures);
  page.counter("reprise_live_sent_total", "Pictures sent to viewers.", probe.sent);
  page.counter("reprise_live_skipped_total", "Pictures that a viewer was too slow for.",
               probe.skipped);
  page.counter("reprise_live_refused_total", "Viewers refused because a session had too many.",
               probe.refused);
  page.counter("reprise_take_overs_total", "Browsers that a person took over.", probe.take_overs);
}

void add_proxies(MetricsPage& page, const browser::ProxyProbe& probe) {
  page.gauge("reprise_proxies", "Contexts that have a proxy.", probe.proxies);
  page.gauge("reprise_proxy_connections", "Connections of pages.", probe.connections);
  page.counter("reprise_proxy_accepted_total", "Connections of pages accepted.", probe.accepted);
  page.counter("reprise_proxy_turned_away_total",
               "Connections refused because a context had too many.", probe.turned_away);
  page.counter("reprise_proxy_requests_total", "Plain requests of pages.", probe.requests);
  page.counter("reprise_proxy_tunnels_total", "Tunnels of pages.", probe.tunnels);
  page.counter("reprise_proxy_malformed_total", "Requests of pages that were malformed.",
               probe.malformed);
  page.counter("reprise_proxy_refused_total", "Requests of pages refused by a rule.",
               probe.refused);
  page.counter("reprise_proxy_failed_total", "Servers that could not be reached, or broke off.",
               probe.failed);
  page.counter("reprise_proxy_timeouts_total", "Connections closed for their silence.",
               probe.timed_out);
  page.counter("reprise_proxy_sent_bytes_total", "Bytes from pages to servers.", probe.bytes_up);
  page.counter("reprise_proxy_received_bytes_total", "Bytes from servers to pages.",
               probe.bytes_down);
}

}  // namespace

rt::Task<std::string> browser_metrics(browser::BrowserService& browsers,
                                      const browser::ProxyProbe* proxies) {
  MetricsPage page;
  add_commands(page, browsers.probe());
  add_live(page, browsers.live().probe());
  if (proxies != nullptr) add_proxies(page, *proxies);
  if (const auto report = co_await browsers.report()) add_pools(page, *report);
  co_return std::move(page.text);
}

}  // namespace reprise::api
