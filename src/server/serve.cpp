#include "server/serve.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "api/events.h"
#include "api/session_list.h"
#include "api/sessions.h"
#include "api/system.h"
#include "base/log.h"
#include "http/server.h"
#include "rt/pool.h"
#include "rt/real_loop.h"
#include "rt/signals.h"
#include "server/limits.h"
#include "server/version.h"
#include "session/janitor.h"
#include "session/service.h"
#include "store/commit_thread.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace reprise::server {
namespace {

// Threads for reads that wait for the disk.
constexpr std::size_t kPoolThreads = 2;

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
           std::shared_ptr<const http::Tokens> tokens, std::shared_ptr<rt::TlsContext> tls)
      : config_(config),
        engine_(std::move(engine)),
        committer_(*engine_, [this] { return main_loop_.now(); }),
        commit_thread_(committer_),
        store_(*engine_, committer_),
        pool_(kPoolThreads) {
    loops_.push_back(&main_loop_);
    for (std::size_t i = 1; i < loop_count(config); ++i) {
      threads_.push_back(std::make_unique<rt::LoopThread>());
      loops_.push_back(&threads_.back()->loop());
    }
    service_.emplace(std::vector<rt::Loop*>(loops_.begin(), loops_.end()), store_, pool_, clock_,
                     random_,
                     session::ServiceOptions{
                         .max_loaded_per_loop = session::ServiceOptions{}.max_loaded_per_loop,
                         .retention_seconds = config.retention_seconds});
    janitor_.emplace(*service_);
    gatekeeper_.emplace(http::GatekeeperOptions{.listen_host = listen_host(config),
                                                .allowed_hosts = config.allowed_hosts,
                                                .cors_origins = config.cors_origins,
                                                .tokens = std::move(tokens),
                                                .is_tls = tls != nullptr});
    api::add_session_routes(router_, *service_);
    api::add_session_list_route(router_, *service_, config.heartbeat);
    api::add_event_routes(router_, *service_);
    api::add_event_stream_route(router_, *service_, config.heartbeat);
    api::add_system_routes(router_, {.service = *service_,
                                     .janitor = *janitor_,
                                     .probe = probe_,
                                     .version = std::string(kVersion),
                                     .started_at = clock_.now(),
                                     .is_draining = is_draining_});
    http::ServerOptions options;
    options.max_connections = config.max_connections;
    options.max_in_flight_per_loop = config.max_in_flight;
    options.idle_timeout = config.idle_timeout;
    options.request_timeout = config.request_timeout;
    options.parser.max_body_bytes = config.max_body_bytes;
    options.tls = std::move(tls);
    server_.emplace(loops_, router_, *gatekeeper_, std::move(options), probe_);
  }

  Result<> run() {
    REPRISE_TRY(const rt::Endpoint wanted, rt::parse_endpoint(config_.listen));
    REPRISE_TRY(const rt::Endpoint bound, server_->listen(wanted));
    rt::Signals signals(main_loop_, {SIGTERM, SIGINT}, [this](int number) {
      if (is_draining_.exchange(true)) {
        // Asked twice: the person is in a hurry. Nothing acknowledged is lost by leaving at once.
        log::warning("stopping at once", {{"signal", number}});
        _exit(1);
      }
      log::info("stopping", {{"signal", number}});
      rt::spawn(gate_, stop());
    });
    main_loop_.post([this, bound] {
      rt::spawn(background_gate_, tidy_up());
      server_->start();
      const std::string url = url_of(config_, bound);
      std::printf("listening on %s\n", url.c_str());
      std::fflush(stdout);
      log::info("listening", {{"url", url}, {"data", config_.data}, {"loops", loops_.size()}});
    });
    main_loop_.run();
    // No loop runs any more; what was submitted is still written before the store closes.
    for (auto& thread : threads_) thread->stop();
    commit_thread_.stop();
    log::info("stopped");
    return {};
  }

 private:
  rt::Task<> tidy_up() { co_await janitor_->run(background_); }

  // From the outside in: no new connections, streams told, requests answered; then the janitor, the
  // sessions' commits, and the loops. The commit thread and the store follow in run().
  rt::Task<> stop() {
    co_await server_->drain(config_.drain_timeout);
    background_.cancel();
    co_await background_gate_.empty();
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
  std::vector<std::unique_ptr<rt::LoopThread>> threads_;
  std::vector<rt::RealLoop*> loops_;
  std::atomic<bool> is_draining_{false};
  http::Probe probe_;
  std::optional<session::SessionService> service_;
  std::optional<session::Janitor> janitor_;
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
  Instance instance(config, std::move(engine), std::move(tokens), std::move(tls));
  return instance.run();
}

}  // namespace

int serve(const Config& config) {
  log::configure(config.log_level, config.log_format);
  // A peer that is gone is an error of one write, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  const auto outcome = start_and_run(config);
  if (outcome) return 0;
  std::fprintf(stderr, "reprise: %s\n", outcome.error().detail.c_str());
  return 1;
}

}  // namespace reprise::server
