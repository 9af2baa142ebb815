#include "server/serve.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "api/agents.h"
#include "api/apps.h"
#include "api/archives.h"
#include "api/artifacts.h"
#include "api/browsers.h"
#include "api/cdp.h"
#include "api/checkpoints.h"
#include "api/devtools.h"
#include "api/events.h"
#include "api/inputs.h"
#include "api/interactions.h"
#include "api/live.h"
#include "api/login.h"
#include "api/logs.h"
#include "api/mcp/browser_host.h"
#include "api/mcp/endpoint.h"
#include "api/page.h"
#include "api/pools.h"
#include "api/session_list.h"
#include "api/sessions.h"
#include "api/subscriptions.h"
#include "api/system.h"
#include "api/tool_calls.h"
#include "api/url_policies.h"
#include "api/webhooks.h"
#include "base/log.h"
#include "http/server.h"
#include "rt/pool.h"
#include "rt/real_loop.h"
#include "rt/resolver.h"
#include "rt/signals.h"
#include "server/browsers.h"
#include "server/limits.h"
#include "server/login_key.h"
#include "server/version.h"
#include "server/webhooks.h"
#include "session/archives.h"
#include "session/artifacts.h"
#include "session/janitor.h"
#include "session/service.h"
#include "session/webhooks/service.h"
#include "store/blob_files.h"
#include "store/commit_thread.h"
#include "store/rocksdb/rocksdb_engine.h"
#include "stream/log/service.h"

namespace reprise::server {
namespace {

// Threads for reads that wait for the disk.
constexpr std::size_t kPoolThreads = 2;
// Threads for files of sessions: a slow sync of one must not hold up those reads.
constexpr std::size_t kFileThreads = 2;

std::size_t loop_count(const Config& config) {
  if (config.threads > 0) return std::min(config.threads, kMaxThreads);
  // One core is left to the commit thread.
  const std::size_t cores = std::max<std::size_t>(rt::core_count(), 2);
  return std::min<std::size_t>(cores - 1, session::kFeeds);
}

// A reader needs a file descriptor: all that the system allows are asked for.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

Result<std::shared_ptr<const http::Tokens>> load_tokens(const Config& config) {
  if (config.tokens_file.empty()) return std::make_shared<const http::Tokens>();
  std::ifstream file(config.tokens_file, std::ios::binary);
  if (!file)
    return fail(Code::kBadParameter,
                fmt::format("cannot read the tokens file '{}'", config.tokens_file));
  std::string json{std::istreambuf_iterator<char>(file), {}};
  auto tokens = http::Tokens::parse(std::move(json));
  if (!tokens) {
    const Error& error = tokens.error();
    return fail(error.code,
                fmt::format("the tokens file '{}': {}{}", config.tokens_file, error.detail,
                            error.fields.empty() ? "" : " at " + error.fields.front().pointer));
  }
  return std::make_shared<const http::Tokens>(std::move(*tokens));
}

Result<std::shared_ptr<rt::TlsContext>> load_tls(const Config& config) {
  if (config.tls_cert.empty()) return std::shared_ptr<rt::TlsContext>();
  return rt::TlsContext::server(config.tls_cert, config.tls_key);
}

std::string listen_host(const Config& config) {
  const auto endpoint = rt::parse_endpoint(config.listen);
  return endpoint ? endpoint->host : std::string();
}

std::string url_of(const Config& config, const rt::Endpoint& bound) {
  const bool is_v6 = bound.host.find(':') != std::string::npos;
  return fmt::format("{}://{}:{}", config.tls_cert.empty() ? "http" : "https",
                     is_v6 ? '[' + bound.host + ']' : bound.host, bound.port);
}

// Everything the server is made of. Members are destroyed in reverse: what uses goes before what is
// used.
class Instance {
 public:
  Instance(const Config& config, std::unique_ptr<store::Engine> engine,
           std::shared_ptr<const http::Tokens> tokens, std::string login_key,
           std::shared_ptr<rt::TlsContext> tls)
      : config_(config),
        engine_(std::move(engine)),
        committer_(*engine_, [this] { return main_loop_.now(); }),
        commit_thread_(committer_),
        store_(*engine_, committer_),
        pool_(kPoolThreads),
        files_(config.data + "/blobs"),
        file_pool_(std::in_place, kFileThreads),
        webhooks_(main_loop_, webhook_options(config)) {
    loops_.push_back(&main_loop_);
    for (std::size_t i = 1; i < loop_count(config); ++i) {
      threads_.push_back(std::make_unique<rt::LoopThread>());
      loops_.push_back(&threads_.back()->loop());
    }
    devtools_.emplace(main_loop_, clock_, random_);
    service_.emplace(std::vector<rt::Loop*>(loops_.begin(), loops_.end()), store_, pool_, clock_,
                     random_,
                     session::ServiceOptions{
                         .max_loaded_per_loop = session::ServiceOptions{}.max_loaded_per_loop,
                         .retention_seconds = config.retention_seconds,
                         .is_strict_about_apps = config.strict_apps});
    service_->observe(*devtools_);
    janitor_.emplace(*service_);
    artifacts_.emplace(
        *service_, files_, *file_pool_,
        session::ArtifactOptions{.max_artifact_bytes = config.max_artifact_bytes,
                                 .max_session_bytes = config.max_session_artifact_bytes});
    logs_.emplace(std::vector<rt::Loop*>(loops_.begin(), loops_.end()), store_, service_->hubs(),
                  pool_, clock_, random_);
    log_routes_.emplace(api::LogRoutes{.logs = *logs_,
                                       .sessions = *service_,
                                       .long_poll_timeout = config.long_poll_timeout,
                                       .heartbeat = config.heartbeat,
                                       .is_tls = tls != nullptr,
                                       .is_draining = is_draining_});
    if (!tokens->empty())
      logins_ = std::make_shared<http::Logins>(std::move(login_key), *tokens, clock_, random_);
    login_routes_.emplace(
        api::LoginRoutes{.logins = logins_.get(), .clock = clock_, .is_tls = tls != nullptr});
    gatekeeper_.emplace(http::GatekeeperOptions{.listen_host = listen_host(config),
                                                .allowed_hosts = config.allowed_hosts,
                                                .cors_origins = config.cors_origins,
                                                .tokens = std::move(tokens),
                                                .logins = logins_,
                                                .is_tls = tls != nullptr});
    api::add_page_routes(router_);
    api::add_login_routes(router_, *login_routes_);
    api::add_session_routes(router_, *service_);
    api::add_session_list_route(router_, *service_, config.heartbeat, &*devtools_);
    api::add_event_routes(router_, *service_);
    api::add_app_routes(router_, *service_);
    api::add_event_stream_route(router_, *service_, config.heartbeat, &*devtools_);
    api::add_devtools_routes(router_, *devtools_, config.heartbeat);
    api::add_log_routes(router_, *log_routes_);
    interaction_routes_.emplace(api::InteractionRoutes{*service_, is_draining_});
    api::add_interaction_routes(router_, *interaction_routes_);
    artifact_routes_.emplace(api::ArtifactRoutes{*service_, *artifacts_});
    api::add_artifact_routes(router_, *artifact_routes_);
    checkpoints_.emplace(*service_);
    checkpoint_routes_.emplace(api::CheckpointRoutes{*checkpoints_});
    api::add_checkpoint_routes(router_, *checkpoint_routes_);
    inputs_.emplace(*service_);
    input_routes_.emplace(api::InputRoutes{*inputs_, is_draining_});
    api::add_input_routes(router_, *input_routes_);
    archives_.emplace(*service_, *artifacts_,
                      session::ArchiveOptions{.max_import_bytes = config.max_import_bytes});
    archive_routes_.emplace(api::ArchiveRoutes{*service_, *archives_});
    api::add_archive_routes(router_, *archive_routes_);
    subscription_store_.emplace(store_, main_loop_, pool_);
    subscriptions_.emplace(main_loop_, *logs_, *subscription_store_, clock_, random_, webhooks_);
    subscription_routes_.emplace(api::SubscriptionRoutes{*subscriptions_, tls != nullptr});
    api::add_subscription_routes(router_, *subscription_routes_);
    app_webhook_store_.emplace(store_, main_loop_, pool_);
    app_webhooks_.emplace(main_loop_, *service_, *app_webhook_store_, clock_, random_, webhooks_);
    api::add_webhook_routes(router_, *app_webhooks_);
    agent_store_.emplace(store_, main_loop_, pool_);
    agents_.emplace(main_loop_, *service_, *agent_store_, clock_);
    api::add_agent_routes(router_, *agents_);
    browsers_.emplace(main_loop_, outside_, *service_, *artifacts_, clock_, random_, redactor_,
                      browser_options(config));
    for (auto& pool : make_pools(main_loop_, *file_pool_, clock_, ports_, config))
      browsers_->add_pool(std::move(pool));
    browser_routes_.emplace(api::BrowserRoutes{*browsers_});
    api::add_browser_routes(router_, *browser_routes_);
    api::add_graph_routes(router_, *browser_routes_);
    api::add_live_routes(router_, *browser_routes_);
    api::add_graph_query_routes(router_, *browser_routes_);
    api::add_pool_routes(router_, *browser_routes_);
    api::add_url_policy_routes(router_, *service_);
    mcp_host_.emplace(*browsers_);
    mcp_.emplace(
        std::vector<rt::Loop*>(loops_.begin(), loops_.end()), *mcp_host_, clock_, random_,
        api::McpOptions{.server_version = std::string(kVersion), .heartbeat = config.heartbeat});
    api::add_mcp_routes(router_, *mcp_);
    cdp_routes_.emplace(api::CdpRoutes{*browsers_, random_, tls != nullptr});
    api::add_cdp_routes(router_, *cdp_routes_);
    tool_calls_.emplace(*service_);
    tool_call_routes_.emplace(api::ToolCallRoutes{.calls = *tool_calls_, .redactor = redactor_});
    api::add_tool_call_routes(router_, *tool_call_routes_);
    api::add_audit_routes(router_, *tool_call_routes_);
    api::add_system_routes(router_, {.service = *service_,
                                     .janitor = *janitor_,
                                     .logs = *logs_,
                                     .subscriptions = *subscriptions_,
                                     .webhooks = *app_webhooks_,
                                     .agents = *agents_,
                                     .tool_calls = *tool_calls_,
                                     .artifacts = *artifacts_,
                                     .checkpoints = *checkpoints_,
                                     .inputs = *inputs_,
                                     .archives = *archives_,
                                     .devtools = *devtools_,
                                     .probe = probe_,
                                     .version = std::string(kVersion),
                                     .started_at = clock_.now(),
                                     .is_draining = is_draining_,
                                     .mcp = &*mcp_,
                                     .browsers = &*browsers_,
                                     .proxies = &proxy_probe_});
    http::ServerOptions options;
    options.max_connections = config.max_connections;
    options.max_in_flight_per_loop = config.max_in_flight;
    options.idle_timeout = config.idle_timeout;
    options.request_timeout = config.request_timeout;
    options.parser.max_body_bytes = config.max_body_bytes;
    options.tls = std::move(tls);
    options.observer = &*devtools_;
    server_.emplace(loops_, router_, *gatekeeper_, std::move(options), probe_);
  }

  Result<> run() {
    REPRISE_CHECK(files_.clear_incoming());
    REPRISE_TRY(const rt::Endpoint wanted, rt::parse_endpoint(config_.listen));
    REPRISE_TRY(const rt::Endpoint bound, server_->listen(wanted));
    own_port_ = ports_.forbid(bound.port);  // a page must not reach the server that drives it
    rt::Signals signals(main_loop_, {SIGTERM, SIGINT}, [this](int number) {
      if (is_draining_.exchange(true)) {
        // Asked twice: the person is in a hurry. Nothing acknowledged is lost by leaving at once.
        log::warning("stopping at once", {{"signal", number}});
        _exit(1);
      }
      log::info("stopping", {{"signal", number}});
      rt::spawn(gate_, stop());
    });
    main_loop_.post([this, bound] { rt::spawn(background_gate_, open_doors(bound)); });
    main_loop_.run();
    // No loop runs any more; what was submitted is still written before the store closes.
    for (auto& thread : threads_) thread->stop();
    // A sync of a large file may outlast the drain: it ends while the loops it answers are there.
    file_pool_.reset();
    commit_thread_.stop();
    log::info("stopped");
    return {};
  }

 private:
  static void check_loaded(std::string_view what, const Result<>& loaded) {
    if (loaded) return;
    log::error("what is stored cannot be read",
               {{"what", what}, {"detail", loaded.error().detail}});
    std::fprintf(stderr, "reprise: %s\n", loaded.error().detail.c_str());
    _exit(1);
  }

  // What must be known before the first call is read, and then the server answers.
  rt::Task<> open_doors(rt::Endpoint bound) {
    // First of all: before anything happens to a session, the janitor's doing included, it must be
    // known whom to tell.
    check_loaded("webhooks", co_await app_webhooks_->load());
    rt::spawn(background_gate_, tidy_up());
    rt::spawn(background_gate_, tidy_up_logs());
    rt::spawn(background_gate_, tidy_up_artifacts());
    rt::spawn(background_gate_, tidy_up_imports());
    check_loaded("subscriptions", co_await subscriptions_->load());
    check_loaded("agents", co_await agents_->load());
    check_loaded("browsers", co_await browsers_->load());
    rt::spawn(background_gate_, look_after_browsers());
    rt::spawn(background_gate_, watch_agents());
    rt::spawn(background_gate_, call_webhooks());
    server_->start();
    const std::string url = url_of(config_, bound);
    std::printf("listening on %s\n", url.c_str());
    std::fflush(stdout);
    log::info("listening", {{"url", url}, {"data", config_.data}, {"loops", loops_.size()}});
    co_await subscriptions_->run(background_);
  }
  rt::Task<> call_webhooks() { co_await app_webhooks_->run(background_); }
  rt::Task<> watch_agents() { co_await agents_->run(background_); }
  rt::Task<> look_after_browsers() { co_await browsers_->run(background_); }
  rt::Task<> tidy_up_logs() { co_await logs_->run_janitor(background_); }
  rt::Task<> tidy_up_artifacts() { co_await artifacts_->run(background_); }
  rt::Task<> tidy_up_imports() { co_await archives_->run(background_); }
  rt::Task<> tidy_up() { co_await janitor_->run(background_); }

  // From the outside in: no new connections, streams told, requests answered; then the janitor, the
  // sessions' commits, and the loops. The commit thread and the store follow in run().
  rt::Task<> stop() {
    archives_->stop_after(config_.drain_timeout);
    co_await server_->drain(config_.drain_timeout);
    background_.cancel();
    co_await background_gate_.empty();
    co_await browsers_->close();
    co_await mcp_->close();  // calls that nobody waits for any more have failed with the browsers
    co_await agents_->close();
    co_await app_webhooks_->close();
    co_await subscriptions_->close();
    co_await logs_->close();
    co_await artifacts_->close();
    co_await service_->close();
    main_loop_.stop();
  }

  const Config config_;
  SystemClock clock_;
  SystemRandom random_;
  rt::RealLoop main_loop_;
  std::unique_ptr<store::Engine> engine_;
  store::Committer committer_;
  store::CommitThread commit_thread_;
  store::Store store_;
  rt::ThreadPool pool_;
  store::BlobFiles files_;
  std::optional<rt::ThreadPool> file_pool_;
  Webhooks webhooks_;
  std::vector<std::unique_ptr<rt::LoopThread>> threads_;
  std::vector<rt::RealLoop*> loops_;
  std::atomic<bool> is_draining_{false};
  http::Probe probe_;
  std::optional<api::DevtoolsFeed> devtools_;
  std::optional<session::SessionService> service_;
  std::optional<session::Janitor> janitor_;
  std::optional<session::ArtifactService> artifacts_;
  std::optional<api::ArtifactRoutes> artifact_routes_;
  std::optional<session::Checkpoints> checkpoints_;
  std::optional<api::CheckpointRoutes> checkpoint_routes_;
  std::optional<session::Inputs> inputs_;
  std::optional<api::InputRoutes> input_routes_;
  std::optional<session::ArchiveService> archives_;
  std::optional<api::ArchiveRoutes> archive_routes_;
  std::optional<stream::LogService> logs_;
  std::optional<api::LogRoutes> log_routes_;
  std::optional<api::InteractionRoutes> interaction_routes_;
  std::optional<store::AsyncStore> subscription_store_;
  std::optional<stream::SubscriptionService> subscriptions_;
  std::optional<api::SubscriptionRoutes> subscription_routes_;
  std::optional<store::AsyncStore> app_webhook_store_;
  std::optional<session::WebhookService> app_webhooks_;
  std::optional<store::AsyncStore> agent_store_;
  std::optional<session::AgentService> agents_;
  const model::Redactor redactor_{redaction_rules(config_)};
  rt::SystemResolver resolver_{pool_};
  browser::ForbiddenPorts ports_;
  browser::ProxyProbe proxy_probe_;
  browser::Outside outside_{main_loop_, resolver_, ports_, proxy_probe_};
  browser::ForbiddenPorts::Hold own_port_;
  std::optional<browser::BrowserService> browsers_;
  std::optional<api::BrowserRoutes> browser_routes_;
  std::optional<api::BrowserToolHost> mcp_host_;
  std::optional<api::McpEndpoint> mcp_;
  std::optional<api::CdpRoutes> cdp_routes_;
  std::optional<session::ToolCalls> tool_calls_;
  std::optional<api::ToolCallRoutes> tool_call_routes_;
  std::shared_ptr<http::Logins> logins_;  // none without tokens
  std::optional<api::LoginRoutes> login_routes_;
  http::Router router_;
  std::optional<http::Gatekeeper> gatekeeper_;
  std::optional<http::Server> server_;
  rt::CancelScope background_;
  rt::Gate background_gate_;
  rt::Gate gate_;
};

Result<> start_and_run(const Config& config) {
  REPRISE_CHECK(check(config));
  REPRISE_TRY(auto tokens, load_tokens(config));
  REPRISE_TRY(auto tls, load_tls(config));
  raise_descriptor_limit();
  store::RocksDbOptions options;
  options.block_cache_bytes = std::size_t{config.block_cache_mb} << 20;
  REPRISE_TRY(auto engine, store::RocksDbEngine::open(config.data + "/store", options));
  std::string login_key;
  if (!tokens->empty()) {
    SystemRandom random;
    REPRISE_TRY(login_key, load_login_key(config.data, random));
  }
  Instance instance(config, std::move(engine), std::move(tokens), std::move(login_key),
                    std::move(tls));
  return instance.run();
}

}  // namespace

int serve(const Config& config) {
  log::configure(config.log_level, config.log_format);
  // A peer that is gone is an error of one write, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  // A name server that is silent holds up a look-up, and a stop, for seconds and not for a minute.
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread runs yet.
  setenv("RES_OPTIONS", "timeout:2 attempts:2", 0);
  const auto outcome = start_and_run(config);
  if (outcome) return 0;
  std::fprintf(stderr, "reprise: %s\n", outcome.error().detail.c_str());
  return 1;
}

}  // namespace reprise::server
