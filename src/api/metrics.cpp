#include "api/metrics.h"

#include <fmt/format.h>

#include <iterator>

namespace reprise::api {
namespace {

class Page {
 public:
  void head(std::string_view name, std::string_view kind, std::string_view help) {
    fmt::format_to(std::back_inserter(text), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, kind);
  }
  void value(std::string_view name, std::string_view labels, double number) {
    fmt::format_to(std::back_inserter(text), "{}{} {}\n", name, labels, number);
  }
  void counter(std::string_view name, std::string_view help, std::uint64_t number) {
    head(name, "counter", help);
    value(name, "", static_cast<double>(number));
  }
  void gauge(std::string_view name, std::string_view help, std::uint64_t number) {
    head(name, "gauge", help);
    value(name, "", static_cast<double>(number));
  }
  std::string text;
};

void add_http(Page& page, const http::Probe& probe) {
  page.counter("reprise_http_connections_total", "Connections accepted.",
               probe.connections_accepted);
  page.counter("reprise_http_connections_refused_total",
               "Connections refused: there were too many.", probe.connections_refused);
  page.gauge("reprise_http_connections", "Connections open.", probe.connections_open);
  page.gauge("reprise_http_streams", "Connections that stream.", probe.streams_open);
  page.counter("reprise_http_timeouts_total", "Requests that did not arrive in time.",
               probe.timed_out);
  page.counter("reprise_http_shed_total", "Requests refused because too many were being answered.",
               probe.shed);
  page.head("reprise_http_requests_total", "counter", "Requests by class of status.");
  for (std::size_t i = 1; i < probe.by_class.size(); ++i)
    page.value("reprise_http_requests_total", fmt::format("{{class=\"{}xx\"}}", i),
               static_cast<double>(probe.by_class[i].load()));
  page.head("reprise_http_request_seconds", "histogram", "From a whole request to its answer.");
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < http::kLatencyBounds.size(); ++i) {
    sum += probe.latency[i].load();
    page.value("reprise_http_request_seconds_bucket",
               fmt::format("{{le=\"{}\"}}", static_cast<double>(http::kLatencyBounds[i]) / 1e6),
               static_cast<double>(sum));
  }
  sum += probe.latency.back().load();
  page.value("reprise_http_request_seconds_bucket", "{le=\"+Inf\"}", static_cast<double>(sum));
  page.value("reprise_http_request_seconds_sum", "",
             static_cast<double>(probe.latency_sum_micros.load()) / 1e6);
  page.value("reprise_http_request_seconds_count", "", static_cast<double>(sum));
}

void add_store(Page& page, const store::Store& store) {
  const auto probe = store.probe();
  page.counter("reprise_store_commits_total", "Commits made durable.", probe.commits);
  page.counter("reprise_store_refused_total", "Commits whose conditions did not hold.",
               probe.refused);
  page.counter("reprise_store_batches_total", "Synced writes.", probe.batches);
  page.counter("reprise_store_failed_writes_total", "Writes that failed.", probe.failed_writes);
  page.counter("reprise_store_full_queue_total", "Commits refused because too many were waiting.",
               probe.rejected_full_queue);
  page.counter("reprise_store_bytes_total", "Bytes committed.", probe.bytes);
  page.gauge("reprise_store_queue", "Commits waiting.", probe.queued);
  page.head("reprise_store_write_seconds_total", "counter", "Time spent in synced writes.");
  page.value("reprise_store_write_seconds_total", "", static_cast<double>(probe.write_nanos) / 1e9);
  page.gauge("reprise_store_writable", "1 if the store takes writes.",
             store.state() == store::StoreState::kWritable ? 1 : 0);
  const auto statistics = store.statistics();
  page.gauge("reprise_store_disk_bytes", "Size of the data on disk.", statistics.bytes_on_disk);
  page.gauge("reprise_store_free_bytes", "Room left on its file system.", statistics.free_bytes);
  page.gauge("reprise_store_memory_bytes", "Memory of its caches and buffers.",
             statistics.memory_bytes);
}

}  // namespace

std::string metrics_page(const SystemContext& context) {
  Page page;
  add_http(page, context.probe);
  add_store(page, context.service.store());
  const auto shards = context.service.probe();
  page.counter("reprise_sessions_created_total", "Sessions created since start.", shards.created);
  page.gauge("reprise_sessions_loaded", "Sessions in memory.", shards.loaded);
  page.counter("reprise_session_loads_total", "Sessions looked up in the store.", shards.loads);
  page.counter("reprise_sessions_evicted_total", "Sessions dropped from memory.", shards.evicted);
  const auto hub = context.service.hub_probe();
  page.gauge("reprise_hub_subscribers", "Readers of streams and feeds.", hub.subscribers);
  page.counter("reprise_hub_batches_total", "Batches published to readers.", hub.batches);
  page.counter("reprise_hub_deliveries_total", "Batches handed to readers.", hub.deliveries);
  page.counter("reprise_hub_overflows_total", "Batches a busy loop could not take.", hub.overflows);
  const auto janitor = context.janitor.probe();
  page.counter("reprise_sessions_expired_total", "Sessions whose time had come.", janitor.expired);
  page.counter("reprise_sessions_retired_total", "Ended sessions removed after their retention.",
               janitor.retired);
  page.counter("reprise_streams_swept_total", "Streams of deleted sessions removed.",
               janitor.swept);
  return std::move(page.text);
}

}  // namespace reprise::api
