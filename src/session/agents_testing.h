// What the tests of agents share: a service of agents over sessions whose loops a test turns by
// hand.
//
//     Crew crew;
//     const Generation first = crew.join("w");
//     crew.pass(45);                        // nobody beats: they are lost
//
// Included by *_test.cpp only.
#pragma once

#include "session/agents.h"
#include "session/testing.h"

namespace reprise::session::testing {

class Crew {
 public:
  // With the contents of another one's engine it is that one, restarted.
  explicit Crew(AgentOptions options = {}, std::unique_ptr<store::MemoryEngine> contents = nullptr,
                TimePoint start = rt::ManualTime().now(), std::uint64_t seed = 1)
      : sessions({}, std::move(contents), start, seed),
        agents(sessions.world.loop(0), *sessions.service, store, sessions.world.time, options) {
    const auto loaded = sessions.run(agents.load());
    REPRISE_ASSERT(loaded.has_value(), loaded.error().detail);
  }
  ~Crew() {
    sessions.world.hooked.on_written = {};
    sessions.world.is_holding_commits = false;
    sessions.run(closed());
  }

  Result<AgentView> put(std::string id, std::uint64_t heartbeat_seconds = 15) {
    return sessions.run(agents.put(std::move(id), heartbeat_seconds));
  }
  Generation join(std::string id, std::uint64_t heartbeat_seconds = 15) {
    const auto view = put(std::move(id), heartbeat_seconds);
    REPRISE_ASSERT(view.has_value(), view.error().detail);
    return view->agent.generation;
  }
  Result<AgentView> beat(std::string id, std::optional<Generation> shown = {}) {
    return sessions.run(agents.heartbeat(std::move(id), shown));
  }
  Result<AgentView> get(std::string id) { return sessions.run(agents.get(std::move(id))); }
  bool is_lost(std::string id) { return get(std::move(id))->agent.loss.has_value(); }
  Result<AgentPage> list(AgentQuery query = {}) {
    return sessions.run(agents.list(std::move(query)));
  }
  Result<> remove(std::string id) { return sessions.run(agents.remove(std::move(id))); }
  void look() {
    (void)sessions.start(ticked());
    sessions.world.settle();
  }
  void pass(std::int64_t seconds) {
    for (std::int64_t i = 0; i < seconds; ++i) {
      sessions.world.time.advance(std::chrono::seconds{1});
      look();
    }
  }

  SessionId work(std::string owner, model::OnWorkerLost policy = model::OnWorkerLost::kPause) {
    auto create = new_session();
    create.owner_agent = std::move(owner);
    create.on_worker_lost = policy;
    return sessions.create(std::move(create)).state.id;
  }
  model::SessionState state(SessionId id) { return sessions.get(id)->state; }
  auto append_later(SessionId id, Generation lease) {
    return sessions.start(sessions.service->call(id, leased(lease)));
  }
  Result<ActorAnswer> append(SessionId id, Generation lease) {
    return sessions.run(sessions.service->call(id, leased(lease)));
  }
  static Call leased(Generation lease) {
    return Call{.action = model::Command(
                    model::Append{.events = messages(1), .expected_seq = std::nullopt}),
                .lease = lease};
  }
  std::unique_ptr<Crew> restarted() {
    return std::make_unique<Crew>(AgentOptions{}, sessions.contents(), sessions.world.time.now(),
                                  sessions.random.next_u64());
  }

  Sessions sessions;
  store::AsyncStore store{sessions.world.store, sessions.world.loop(0), sessions.world.pool};
  AgentService agents;

 private:
  rt::Task<bool> ticked() {
    co_await agents.tick();
    co_return true;
  }
  rt::Task<bool> closed() {
    co_await agents.close();
    co_return true;
  }
};

}  // namespace reprise::session::testing
