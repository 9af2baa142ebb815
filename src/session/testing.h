// What the tests of src/session share: the service over loops that a test turns by hand.
//
//     Sessions sessions;                                   // three loops, an engine in memory
//     const SessionView made = sessions.create({.name = "one"});
//     EXPECT_EQ(sessions.code(sessions.append(made.state.id, 1)), Code::kSessionEnded);
//
// Included by *_test.cpp only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/event.h"
#include "session/janitor.h"
#include "session/keys.h"
#include "session/limits.h"
#include "session/monitor.h"
#include "session/service.h"
#include "stream/testing.h"

namespace reprise::session::testing {

using stream::testing::TestOutlet;
using stream::testing::World;

inline model::Create new_session(std::string name = "", std::string app = "app") {
  model::Create create;
  create.app = std::move(app);
  create.name = std::move(name);
  create.status = model::Status::kActive;
  return create;
}

inline std::vector<model::Event> messages(std::size_t count, std::string type = "message",
                                          std::string data = "{}") {
  return std::vector<model::Event>(
      count, model::Event{.type = std::move(type), .at = {}, .data = std::move(data), .by = {}});
}

// Three loops, one engine. A second one over a copy of the first one's engine is a restart.
class Sessions {
 public:
  explicit Sessions(ServiceOptions options = {},
                    std::unique_ptr<store::MemoryEngine> contents = nullptr,
                    TimePoint start = rt::ManualTime().now(), std::uint64_t seed = 1)
      : world(3, std::move(contents)), random(seed) {
    world.time.advance(start - world.time.now());
    service = std::make_unique<SessionService>(world.loops(), world.store, world.pool, world.time,
                                               random, options);
    janitor = std::make_unique<Janitor>(*service);
  }
  ~Sessions() {
    world.is_holding_commits = false;
    world.run(closed());
  }

  template <typename T>
  T run(rt::Task<T> task) {
    return world.run(std::move(task));
  }
  template <typename T>
  auto start(rt::Task<T> task, std::size_t loop = 0) {
    return world.start(world.loop(loop), std::move(task));
  }

  SessionView create(model::Create create = new_session()) {
    auto created = run(service->create(std::move(create)));
    REPRISE_ASSERT(created.has_value(), created.error().detail);
    return (*created)->view;
  }
  Result<SessionView> get(SessionRef session) { return run(service->get(std::move(session))); }
  Result<ActorAnswer> call(SessionId id, Action action) {
    return run(service->call(id, Call{.action = std::move(action)}));
  }
  Result<ActorAnswer> command(SessionId id, model::Command command) {
    return call(id, Action(std::move(command)));
  }
  Result<ActorAnswer> append(SessionId id, std::size_t count = 1) {
    return command(id, model::Append{.events = messages(count), .expected_seq = {}});
  }
  ListResult list(ListQuery query = {}) {
    auto result = run(service->list(std::move(query)));
    REPRISE_ASSERT(result.has_value(), result.error().detail);
    return std::move(*result);
  }
  // What the commit thread does while the store is full: asks for room from time to time.
  void recover() {
    world.time.advance(std::chrono::seconds{2});
    world.committer.tick();
  }
  Result<> sweep() { return run(janitor->round()); }
  std::unique_ptr<store::MemoryEngine> contents() const { return world.engine->copy(); }

  // A session's state by its whole history, from nothing.
  model::SessionState folded(const SessionView& view) {
    model::SessionState state;
    const auto entries = world.store.read(
        {.stream = view.stream, .after = {}, .limit = 1'000'000, .max_bytes = 1 << 30},
        store::ReadMode::kBlocking);
    for (const auto& entry : *entries) {
      const auto folded = model::evolve(state, entry.seq, *model::decode_entry(entry.bytes));
      EXPECT_TRUE(folded) << folded.error().detail;
    }
    return state;
  }
  std::vector<store::ScannedRecord> records() {
    return world.store
        .scan({.begin = {}, .end = {}, .limit = 10'000'000}, store::ReadMode::kBlocking)
        ->records;
  }
  std::int64_t counted(model::Status status, std::string app = "", std::string graph = "") {
    return *world.store.counter(counter_key(app, graph, status), store::ReadMode::kBlocking);
  }

  World world;
  SeededRandom random;
  std::unique_ptr<SessionService> service;
  std::unique_ptr<Janitor> janitor;

 private:
  rt::Task<bool> closed() {
    co_await service->close();
    co_return true;
  }
};

// kInternal stands for "it did not fail".
template <typename T>
Code code_of(const Result<T>& result) {
  return result ? Code::kInternal : result.error().code;
}

// One line a frame, and the id that came with it.
class TestMonitorFrames final : public MonitorFrames {
 public:
  void session(std::string& out, const StoredSession& session, std::size_t,
               std::string_view id) const override {
    out += fmt::format("S {} {} {}\n", session.state.name, model::word(session.state.status), id);
  }
  void snapshot_complete(std::string& out, std::string_view id) const override {
    out += fmt::format("C {}\n", id);
  }
  void removed(std::string& out, SessionId session, std::string_view id) const override {
    out += fmt::format("R {} {}\n", session.to_string(), id);
  }
  void deleted(std::string& out, SessionId session, std::string_view id) const override {
    out += fmt::format("D {} {}\n", session.to_string(), id);
  }
  void heartbeat(std::string& out, std::string_view id) const override {
    out += fmt::format("H {}\n", id);
  }
};

}  // namespace reprise::session::testing
