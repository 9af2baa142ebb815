// Api: every route over the real services, on a loop and a store in memory; for tests and fuzzers.
//
//     Api api;
//     http::Reply reply = api.call(wire::Method::kPost, "/v1/sessions", R"({"app":"shop"})");
//
// A call runs until nothing is left to run, so its answer is there when it returns; one that
// streams has its frames in api.socket().taken.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/events.h"
#include "api/session_list.h"
#include "api/sessions.h"
#include "api/system.h"
#include "base/assert.h"
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
    janitor_.emplace(*service_);
    add_session_routes(router_, *service_);
    add_session_list_route(router_, *service_, Millis{15'000});
    add_event_routes(router_, *service_);
    add_event_stream_route(router_, *service_, Millis{15'000});
    add_system_routes(router_, {.service = *service_,
                                .janitor = *janitor_,
                                .probe = probe_,
                                .version = "test",
                                .started_at = time_.now(),
                                .is_draining = is_draining});
    socket_->room = 1 << 30;
  }
  ~Api() {
    scope_.cancel(Error{Code::kShuttingDown, "the test ends"});
    run();
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
    std::optional<Result<http::Reply>> outcome;
    loop_.post([&] { rt::spawn(gate_, answer(*match.route, exchange, outcome)); });
    run();
    REPRISE_ASSERT(outcome.has_value());
    if (!*outcome) return http::problem(outcome->error(), exchange.target.path);
    // A stream belongs to the loop, the rest of the reply to whoever asked.
    loop_.post([&] { offered_ = std::exchange((*outcome)->stream, {}); });
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
  http::testing::FakeSocket& socket() { return *socket_; }
  session::SessionService& service() { return *service_; }
  store::MemoryEngine& engine() { return engine_; }

  static http::Principal anybody() {
    return {.name = "anonymous", .scope = http::Scope::kAdmin, .apps = {}};
  }
  std::atomic<bool> is_draining{false};

 private:
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
  std::optional<session::SessionService> service_;
  std::optional<session::Janitor> janitor_;
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
