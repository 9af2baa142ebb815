// Api: every route over the real services, on a loop and a store in memory; for tests and fuzzers.
//
//     Api api;
//     http::Reply reply = api.call(wire::Method::kPost, "/v1/sessions", R"({"app":"shop"})");
//
// A call runs until nothing is left to run, so its answer is there when it returns; one that
// streams has its frames in api.socket().taken.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/agents.h"
#include "api/apps.h"
#include "api/archives.h"
#include "api/artifacts.h"
#include "api/checkpoints.h"
#include "api/devtools.h"
#include "api/events.h"
#include "api/inputs.h"
#include "api/interactions.h"
#include "api/login.h"
#include "api/logs.h"
#include "api/page.h"
#include "api/session_list.h"
#include "api/sessions.h"
#include "api/subscriptions.h"
#include "api/system.h"
#include "api/tool_calls.h"
#include "api/webhooks.h"
#include "base/assert.h"
#include "base/ids.h"
#include "http/fake_socket.h"
#include "http/router.h"
#include "rt/gate.h"
#include "rt/manual_loop.h"
#include "rt/pool.h"
#include "session/janitor.h"
#include "session/service.h"
#include "store/committer.h"
#include "store/memory/memory_engine.h"
#include "store/store.h"
#include "wire/json.h"

namespace reprise::api::testing {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

class Api {
 public:
  Api() {
    service_.emplace(std::vector<rt::Loop*>{&loop_}, store_, pool_, time_, random_,
                     session::ServiceOptions{});
    service_->observe(devtools_);
    janitor_.emplace(*service_);
    add_page_routes(router_);
    add_login_routes(router_, login_routes_);
    add_session_routes(router_, *service_);
    add_session_list_route(router_, *service_, Millis{15'000}, &devtools_);
    add_event_routes(router_, *service_);
    add_app_routes(router_, *service_);
    add_event_stream_route(router_, *service_, Millis{15'000}, &devtools_);
    add_devtools_routes(router_, devtools_, Millis{15'000});
    logs_.emplace(std::vector<rt::Loop*>{&loop_}, store_, service_->hubs(), pool_, time_, random_);
    log_routes_.emplace(LogRoutes{.logs = *logs_,
                                  .sessions = *service_,
                                  .long_poll_timeout = Millis{1'000},
                                  .heartbeat = Millis{15'000},
                                  .is_draining = is_draining});
    add_log_routes(router_, *log_routes_);
    interaction_routes_.emplace(InteractionRoutes{*service_, is_draining});
    add_interaction_routes(router_, *interaction_routes_);
    artifacts_.emplace(
        *service_, files_.blobs, pool_,
        session::ArtifactOptions{.max_artifact_bytes = 64 * 1024, .max_session_bytes = 256 * 1024});
    artifact_routes_.emplace(ArtifactRoutes{*service_, *artifacts_});
    add_artifact_routes(router_, *artifact_routes_);
    checkpoints_.emplace(*service_);
    checkpoint_routes_.emplace(CheckpointRoutes{*checkpoints_});
    add_checkpoint_routes(router_, *checkpoint_routes_);
    inputs_.emplace(*service_);
    input_routes_.emplace(InputRoutes{*inputs_, is_draining});
    add_input_routes(router_, *input_routes_);
    archives_.emplace(*service_, *artifacts_,
                      session::ArchiveOptions{.max_import_bytes = 1024 * 1024, .max_at_once = 2});
    archive_routes_.emplace(ArchiveRoutes{*service_, *archives_});
    add_archive_routes(router_, *archive_routes_);
    subscription_store_.emplace(store_, loop_, pool_);
    subscriptions_.emplace(loop_, *logs_, *subscription_store_, time_, random_, webhooks_);
    subscription_routes_.emplace(SubscriptionRoutes{*subscriptions_});
    add_subscription_routes(router_, *subscription_routes_);
    app_webhooks_.emplace(loop_, *service_, *subscription_store_, time_, random_, webhooks_);
    add_webhook_routes(router_, *app_webhooks_);
    agent_store_.emplace(store_, loop_, pool_);
    agents_.emplace(loop_, *service_, *agent_store_, time_);
    add_agent_routes(router_, *agents_);
    tool_calls_.emplace(*service_);
    tool_call_routes_.emplace(ToolCallRoutes{.calls = *tool_calls_, .redactor = redactor_});
    add_tool_call_routes(router_, *tool_call_routes_);
    add_audit_routes(router_, *tool_call_routes_);
    add_system_routes(router_, {.service = *service_,
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
                                .devtools = devtools_,
                                .probe = probe_,
                                .version = "test",
                                .started_at = time_.now(),
                                .is_draining = is_draining});
    socket_->room = 1 << 30;
    loop_.post([this] { rt::spawn(gate_, load()); });
    run();
  }
  ~Api() {
    scope_.cancel(Error{Code::kShuttingDown, "the test ends"});
    run();
    loop_.post([this] { rt::spawn(gate_, agents_->close()); });
    loop_.post([this] { rt::spawn(gate_, app_webhooks_->close()); });
    loop_.post([this] { rt::spawn(gate_, subscriptions_->close()); });
    loop_.post([this] { rt::spawn(gate_, logs_->close()); });
    loop_.post([this] { rt::spawn(gate_, artifacts_->close()); });
    loop_.post([this] { rt::spawn(gate_, service_->close()); });
    run();
    loop_.post([this] {
      streams_.clear();
      offered_ = {};
    });
    run();
  }

  http::Reply call(wire::Method method, std::string_view target, std::string body = {},
                   const HeaderList& headers = {}, const http::Principal& principal = anybody()) {
    http::Exchange exchange;
    exchange.request.method = method;
    exchange.request.body = std::move(body);
    for (const auto& [name, value] : headers) exchange.request.headers.add(name, value);
    exchange.principal = principal;
    exchange.request_id = "test";
    exchange.socket = socket_.get();
    exchange.flusher = &flusher_;
    auto parsed = wire::parse_target(target);
    if (!parsed) return http::problem(parsed.error(), "");
    exchange.target = std::move(*parsed);
    http::Match match = router_.find(method, exchange.target.segments);
    if (match.route == nullptr) return http::problem(Error{Code::kNotFound}, exchange.target.path);
    exchange.captured = std::move(match.captured);
    exchange.route = match.route;
    const bool is_observed = devtools_.is_recording();
    if (is_observed) exchange.subject = std::make_unique<http::RequestSubject>();
    std::optional<Result<http::Reply>> outcome;
    loop_.post([&] { rt::spawn(gate_, answer(*match.route, exchange, outcome)); });
    run();
    REPRISE_ASSERT(outcome.has_value());
    if (is_observed) devtools_.on_request(exchange, status_of(*outcome), 1'500);
    run();
    if (!*outcome) return http::problem(outcome->error(), exchange.target.path);
    // A stream belongs to the loop, the rest of the reply to whoever asked.
    loop_.post([&] { offered_ = std::exchange((*outcome)->stream, {}); });
    if ((*outcome)->source) loop_.post([&] { rt::spawn(gate_, read_source(**outcome)); });
    run();
    return std::move(**outcome);
  }
  http::Reply get(std::string_view target, const HeaderList& headers = {}) {
    return call(wire::Method::kGet, target, {}, headers);
  }
  http::Reply post(std::string_view target, std::string body, const HeaderList& headers = {}) {
    return call(wire::Method::kPost, target, std::move(body), headers);
  }

  // Lets the stream of the last reply run on.
  void follow(const http::Reply&) {
    loop_.post([this] {
      REPRISE_ASSERT(static_cast<bool>(offered_));
      streams_.push_back(std::exchange(offered_, {}));
      rt::spawn(gate_, streams_.back()(scope_));
    });
    run();
  }

  void run() {
    while (loop_.run_ready() > 0 || committer_.drain()) {
    }
  }
  void advance(Millis by) {
    loop_.advance(by);
    run();
  }
  const http::Router& router() const { return router_; }
  http::Router& router() { return router_; }
  rt::Loop& loop() { return loop_; }
  const Clock& clock() const { return time_; }
  http::testing::FakeSocket& socket() { return *socket_; }
  session::SessionService& service() { return *service_; }
  // Seconds pass, and who falls silent in them is lost.
  void pass(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      advance(Millis{1'000});
      loop_.post([this] { rt::spawn(gate_, agents_->tick()); });
      run();
    }
  }
  // Time passes, and webhooks are called again.
  void pass_for_webhooks(Millis time) {
    advance(time);
    loop_.post([this] { rt::spawn(gate_, look_after_webhooks()); });
    run();
  }
  session::ArtifactService& artifacts() { return *artifacts_; }
  session::ArchiveService& archives() { return *archives_; }
  // Everything that time or a sweep would do.
  void sweep() {
    loop_.post([this] { rt::spawn(gate_, sweep_once()); });
    run();
  }
  // Files of artifacts on the disk.
  std::size_t file_count() const {
    std::error_code ignored;
    std::size_t count = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(files_.directory, ignored))
      count += entry.is_regular_file() ? 1 : 0;
    return count;
  }
  store::MemoryEngine& engine() { return engine_; }

  DevtoolsFeed& devtools() { return devtools_; }
  // Lets go of one of the streams that follow().
  void end_streams() {
    scope_.cancel(Error{Code::kClosed, "the reader is gone"});
    run();
    loop_.post([this] { streams_.clear(); });
    run();
  }

  static http::Principal anybody() {
    return {.name = "anonymous", .scope = http::Scope::kAdmin, .apps = {}};
  }
  std::atomic<bool> is_draining{false};

 private:
  rt::Task<> sweep_once() {
    const auto swept = co_await janitor_->round();
    REPRISE_ASSERT(swept.has_value());
    const auto collected = co_await artifacts_->sweep();
    REPRISE_ASSERT(collected.has_value());
  }
  rt::Task<> look_after_webhooks() {
    const auto done = co_await app_webhooks_->tick();
    REPRISE_ASSERT(done.has_value());
  }
  rt::Task<> load() {
    const auto loaded = co_await subscriptions_->load();
    REPRISE_ASSERT(loaded.has_value());
    const auto webhooks = co_await app_webhooks_->load();
    REPRISE_ASSERT(webhooks.has_value());
    const auto agents = co_await agents_->load();
    REPRISE_ASSERT(agents.has_value());
  }
  // As a connection does: into the body.
  static rt::Task<> read_source(http::Reply& reply) {
    reply.body.resize(reply.source_bytes);
    if (reply.source_bytes > 0) {
      const auto count = co_await reply.source->read(reply.body);
      REPRISE_ASSERT(count && *count == reply.source_bytes);
    }
    reply.source.reset();
  }
  static int status_of(const Result<http::Reply>& outcome) {
    return outcome ? outcome->status : error_row(outcome.error().code).http_status;
  }
  static rt::Task<> answer(const http::Route& route, http::Exchange& exchange,
                           std::optional<Result<http::Reply>>& outcome) {
    outcome = co_await route.handler(exchange);
  }

  rt::ManualTime time_;
  rt::ManualLoop loop_{time_};
  store::MemoryEngine engine_;
  store::Committer committer_{engine_, [this] { return loop_.now(); }};
  store::Store store_{engine_, committer_};
  rt::InlinePool pool_;
  SeededRandom random_{7};
  http::Probe probe_;
  // A directory of its own, made when the first file is.
  struct Files {
    std::string directory =
        (std::filesystem::temp_directory_path() /
         fmt::format("reprise-api-{}-{}", ::getpid(), SystemRandom().next_u64()))
            .string();
    store::BlobFiles blobs{directory};
    Files() = default;
    ~Files() {
      std::error_code ignored;
      std::filesystem::remove_all(directory, ignored);
    }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;
  } files_;
  DevtoolsFeed devtools_{loop_, time_, random_};
  std::optional<session::SessionService> service_;
  std::optional<session::Janitor> janitor_;
  std::optional<session::ArtifactService> artifacts_;
  std::optional<ArtifactRoutes> artifact_routes_;
  std::optional<session::Checkpoints> checkpoints_;
  std::optional<CheckpointRoutes> checkpoint_routes_;
  std::optional<session::Inputs> inputs_;
  std::optional<InputRoutes> input_routes_;
  std::optional<session::ArchiveService> archives_;
  std::optional<ArchiveRoutes> archive_routes_;
  std::optional<stream::LogService> logs_;
  std::optional<LogRoutes> log_routes_;
  std::optional<InteractionRoutes> interaction_routes_;
  // Webhooks are not called here.
  struct NoWebhooks final : stream::WebhookSender {
    Result<> check(std::string_view) const override { return {}; }
    rt::Task<Result<stream::WebhookReply>> call(stream::WebhookCall, rt::CancelScope&) override {
      co_return fail(Code::kIo, "nobody is there");
    }
  } webhooks_;
  std::optional<store::AsyncStore> subscription_store_;
  std::optional<stream::SubscriptionService> subscriptions_;
  std::optional<SubscriptionRoutes> subscription_routes_;
  std::optional<session::WebhookService> app_webhooks_;
  std::optional<store::AsyncStore> agent_store_;
  std::optional<session::AgentService> agents_;
  const model::Redactor redactor_;
  std::optional<session::ToolCalls> tool_calls_;
  std::optional<ToolCallRoutes> tool_call_routes_;
  LoginRoutes login_routes_{.clock = time_};  // nobody needs to log in
  http::Router router_;
  std::unique_ptr<http::testing::FakeSocket> socket_ =
      std::make_unique<http::testing::FakeSocket>(loop_);
  http::Flusher flusher_{loop_};
  rt::CancelScope scope_;
  rt::Gate gate_;
  using Stream = std::move_only_function<rt::Task<>(rt::CancelScope&)>;
  Stream offered_;
  std::deque<Stream> streams_;
};

// The member of a JSON text, as it was written; empty if there is none.
inline std::string member(std::string_view json, std::string_view name) {
  const auto document = wire::parse_json(std::string(json));
  if (!document) return "not JSON";
  const auto found = document->root().find(name);
  return found ? std::string(found->minified()) : std::string();
}

inline std::string text_member(std::string_view json, std::string_view name) {
  const auto document = wire::parse_json(std::string(json));
  if (!document) return "not JSON";
  const auto found = document->root().find(name);
  return found ? found->as_string().value_or("not a text") : std::string();
}

}  // namespace reprise::api::testing
