#include "api/metrics.h"

#include <fmt/format.h>

#include "api/mcp/endpoint.h"
#include "api/metrics_text.h"

namespace reprise::api {
namespace {

using Page = MetricsPage;

void add_http(Page& page, const http::Probe& probe) {
  page.counter("reprise_http_connections_total", "Connections accepted.",
               probe.connections_accepted);
  page.counter("reprise_http_connections_refused_total",
               "Connections refused: there were too many.", probe.connections_refused);
  page.gauge("reprise_http_connections", "Connections open.", probe.connections_open);
  page.gauge("reprise_http_streams", "Connections that stream.", probe.streams_open);
  page.gauge("reprise_http_websockets", "Connections that are WebSockets.", probe.websockets_open);
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

void add_logs(Page& page, const stream::LogProbe& probe) {
  page.gauge("reprise_logs_loaded", "Durable streams in memory.", probe.loaded);
  page.counter("reprise_logs_evicted_total", "Durable streams dropped from memory.", probe.evicted);
  page.counter("reprise_logs_created_total", "Durable streams created since start.", probe.created);
  page.counter("reprise_logs_removed_total", "Durable streams deleted or expired.", probe.removed);
  page.counter("reprise_log_appends_total", "Appends to durable streams.", probe.appends);
  page.counter("reprise_log_refused_total", "Calls refused because too many waited for a stream.",
               probe.refused);
  page.counter("reprise_log_races_total", "Commits to durable streams that came too late.",
               probe.lost_races);
}

void add_subscriptions(Page& page, const stream::SubscriptionProbe& probe) {
  page.gauge("reprise_subscriptions", "Subscriptions to streams.", probe.subscriptions);
  page.counter("reprise_subscriptions_refused_total",
               "Subscriptions refused because there were too many.", probe.refused);
  page.counter("reprise_wakes_total", "Wakes of subscriptions.", probe.wakes);
  page.counter("reprise_wakes_told_total", "Webhooks that answered well, and wakes announced.",
               probe.told);
  page.counter("reprise_wakes_failed_total", "Webhooks and announcements that failed.",
               probe.failed);
  page.counter("reprise_wakes_fenced_total", "Calls refused because another wake had come.",
               probe.fenced);
  page.counter("reprise_leases_over_total", "Leases that ended without being given back.",
               probe.leases_over);
  page.counter("reprise_subscription_news_lost_total",
               "News of streams that found no room; every stream is looked at then.",
               probe.lost_news);
}

void add_webhooks(Page& page, const session::WebhookProbe& probe) {
  page.gauge("reprise_webhooks", "Webhooks of apps.", probe.webhooks);
  page.counter("reprise_webhooks_refused_total", "Webhooks refused because there were too many.",
               probe.refused);
  page.counter("reprise_webhooks_gone_total", "Webhooks disabled because their receiver said 410.",
               probe.gone);
  page.counter("reprise_webhook_delivered_total", "Events that webhooks were told of.",
               probe.delivered);
  page.counter("reprise_webhook_failed_total", "Calls of webhooks that failed.", probe.failed);
  page.counter("reprise_webhook_dead_total", "Events given up after the last attempt.",
               probe.given_up);
  page.counter("reprise_webhook_dead_dropped_total", "Dead letters that made room for newer ones.",
               probe.dropped);
  page.counter("reprise_webhook_missed_total", "Events that a webhook was too far behind for.",
               probe.missed);
  page.gauge("reprise_webhook_calls", "Calls of webhooks under way.", probe.calls);
  page.gauge("reprise_webhook_queue", "Entries that webhooks have still to look at.", probe.lag);
  page.gauge("reprise_webhook_retrying", "Failed events that are tried again.", probe.retried);
  page.gauge("reprise_webhook_dead_letters", "Dead letters kept.", probe.dead);
}

void add_agents(Page& page, const session::AgentProbe& probe, std::uint64_t fenced_writes) {
  page.gauge("reprise_agents_alive", "Agents that beat.", probe.alive);
  page.gauge("reprise_agents_lost", "Agents that fell silent.", probe.lost);
  page.counter("reprise_agent_registrations_total", "Registrations of agents.",
               probe.registrations);
  page.counter("reprise_agent_heartbeats_total", "Heartbeats of agents.", probe.heartbeats);
  page.counter("reprise_agent_losses_total", "Agents declared lost.", probe.losses);
  page.counter("reprise_agents_refused_total", "Agents refused because there were too many.",
               probe.refused);
  page.counter("reprise_agent_sessions_seen_to_total",
               "Sessions treated by their onWorkerLost after a loss.", probe.sessions_seen_to);
  page.counter("reprise_fenced_total", "Writes and heartbeats refused for a stale generation.",
               probe.fenced + fenced_writes);
}

void add_tool_calls(Page& page, const session::ToolCallProbe& probe) {
  page.counter("reprise_tool_calls_started_total", "Tool calls started.", probe.started);
  page.counter("reprise_tool_calls_finished_total", "Tool calls finished.", probe.finished);
  page.counter("reprise_audits_verified_total", "Audits verified.", probe.verified);
  page.counter("reprise_audits_invalid_total", "Audits that were not as they had been written.",
               probe.invalid);
}

void add_artifacts(Page& page, const session::ArtifactService& artifacts) {
  const session::ArtifactProbe& probe = artifacts.probe();
  page.counter("reprise_artifact_uploads_total", "Versions of artifacts made.", probe.uploads);
  page.counter("reprise_artifact_unchanged_total", "Uploads that were the newest version already.",
               probe.unchanged);
  page.counter("reprise_artifact_upload_bytes_total", "Bytes of artifacts received.",
               probe.upload_bytes);
  page.counter("reprise_artifact_downloads_total", "Artifacts read.", probe.downloads);
  page.counter("reprise_artifact_download_bytes_total", "Bytes of artifacts read.",
               probe.download_bytes);
  page.counter("reprise_artifact_over_quota_total",
               "Uploads refused because the session's artifacts would take too much.",
               probe.over_quota);
  page.counter("reprise_artifact_transfers_refused_total",
               "Transfers refused because too many went on.", probe.refused_transfers);
  page.gauge("reprise_artifact_transfers", "Transfers that go on.", probe.transfers);
  page.counter("reprise_artifact_diffs_total", "Differences of versions told.", probe.diffs);
  page.counter("reprise_artifact_files_removed_total", "Files removed: nobody referred to them.",
               artifacts.files().removed());
}

void add_checkpoints(Page& page, const session::CheckpointProbe& probe) {
  page.counter("reprise_checkpoints_saved_total", "Versions of checkpoints saved.", probe.saved);
  page.counter("reprise_checkpoint_bytes_total", "Bytes of checkpoints saved.", probe.saved_bytes);
  page.counter("reprise_checkpoints_over_quota_total",
               "Checkpoints refused because the session had too many.", probe.over_quota);
}

void add_inputs(Page& page, const session::InputProbe& probe) {
  page.counter("reprise_inputs_total", "Inputs taken.", probe.submitted);
  page.counter("reprise_inputs_finished_total", "Inputs finished by their worker.", probe.finished);
  page.counter("reprise_inputs_interrupted_total", "Inputs interrupted by another.",
               probe.interrupted);
  page.counter("reprise_inputs_rolled_back_total", "Inputs rolled back by another.",
               probe.rolled_back);
  page.counter("reprise_inputs_cancelled_total", "Inputs cancelled while they waited.",
               probe.cancelled);
  page.counter("reprise_inputs_rejected_total", "Inputs rejected: the session was busy.",
               probe.rejected);
  page.counter("reprise_inputs_refused_total", "Inputs refused because too many waited.",
               probe.refused);
}

void add_archives(Page& page, const session::ArchiveProbe& probe) {
  page.counter("reprise_exports_total", "Sessions exported.", probe.exports);
  page.counter("reprise_export_bytes_total", "Bytes of exports sent.", probe.export_bytes);
  page.counter("reprise_imports_total", "Sessions imported.", probe.imports);
  page.counter("reprise_import_bytes_total", "Bytes of archives received.", probe.import_bytes);
  page.counter("reprise_imports_refused_total", "Archives that did not become a session.",
               probe.refused_imports);
  page.counter("reprise_imports_abandoned_total",
               "Imports that failed after something had been written; it is swept.",
               probe.abandoned);
  page.counter("reprise_archives_refused_total",
               "Exports and imports refused because too many went on.", probe.refused_at_once);
  page.gauge("reprise_archives", "Exports and imports that go on.", probe.at_once);
}

void add_devtools(Page& page, const DevtoolsProbe& probe) {
  page.gauge("reprise_devtools_listeners", "Listeners of the devtools feed.", probe.listeners);
  page.counter("reprise_devtools_events_total", "Things the devtools feed has numbered.",
               probe.told);
  page.counter("reprise_devtools_dropped_total",
               "Things that found no room on their way to the devtools feed.", probe.dropped);
  page.counter("reprise_devtools_refused_total",
               "Listeners of the devtools feed refused because there were too many.",
               probe.refused);
  page.counter("reprise_devtools_cut_total",
               "Listeners of the devtools feed cut off because they were too slow.", probe.cut);
}

void add_mcp(Page& page, const McpEndpoint& mcp) {
  const McpProbe& probe = mcp.probe();
  page.counter("reprise_mcp_calls_total", "Tools called over MCP.", probe.calls);
  page.counter("reprise_mcp_failed_total", "Calls over MCP that failed.", probe.failed);
  page.counter("reprise_mcp_cancelled_total", "Calls over MCP that their client gave up.",
               probe.cancelled);
  page.counter("reprise_mcp_refused_total", "Calls over MCP refused because too many were running.",
               probe.refused);
  page.gauge("reprise_mcp_running", "Calls over MCP that are running.", probe.running);
  const McpSessionProbe& sessions = mcp.session_probe();
  page.gauge("reprise_mcp_sessions", "Transport sessions of MCP clients.", sessions.open);
  page.counter("reprise_mcp_sessions_opened_total", "Transport sessions opened.", sessions.opened);
  page.counter("reprise_mcp_sessions_expired_total", "Transport sessions gone for idleness.",
               sessions.expired);
  page.counter("reprise_mcp_sessions_ended_total", "Transport sessions that their client ended.",
               sessions.ended);
  page.counter("reprise_mcp_sessions_refused_total",
               "Transport sessions refused because there were too many.", sessions.refused);
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
  add_logs(page, context.logs.probe());
  add_subscriptions(page, context.subscriptions.probe());
  add_webhooks(page, context.webhooks.probe());
  add_agents(page, context.agents.probe(), shards.fenced);
  add_tool_calls(page, context.tool_calls.probe());
  add_artifacts(page, context.artifacts);
  add_checkpoints(page, context.checkpoints.probe());
  add_inputs(page, context.inputs.probe());
  add_archives(page, context.archives.probe());
  add_devtools(page, context.devtools.probe());
  if (context.mcp != nullptr) add_mcp(page, *context.mcp);
  return std::move(page.text);
}

}  // namespace reprise::api
