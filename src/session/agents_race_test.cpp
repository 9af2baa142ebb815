// Workers that write with their leases while agents are lost, registered again and deleted, in an
// order that a seed chooses. Whatever happens: in a session's stream generations never go back,
// nothing of a generation follows the pause that its loss made, and each is appended by a write
// before which it was current.
#include "session/agents_testing.h"

namespace reprise::session {
namespace {

using testing::Crew;

constexpr std::size_t kWorkers = 4;
constexpr std::size_t kSessionsEach = 3;

std::string worker_name(std::size_t index) { return fmt::format("w{}", index); }

// Writes its generation into its session until it is fenced, then registers again, and so on.
rt::Task<std::size_t> write_on(Crew& crew, std::string agent, SessionId session,
                               std::uint64_t seed) {
  SeededRandom dice(seed);
  std::size_t accepted = 0;
  Generation lease;
  for (int step = 0; step < 60; ++step) {
    auto events = testing::messages(1, "message", fmt::to_string(lease.value));
    const auto answer = co_await crew.sessions.service->call(
        session, Call{.action = model::Command(
                          model::Append{.events = std::move(events), .expected_seq = {}}),
                      .lease = lease});
    if (answer) {
      ++accepted;
      continue;
    }
    REPRISE_ASSERT(answer.error().code == Code::kFenced, answer.error().detail);
    const std::uint64_t chance = dice.next_u64() % 8;
    if (chance == 0) (void)co_await crew.agents.remove(agent);
    if (chance > 4) {
      // Others of the same name may have registered meanwhile: then theirs is shown.
      const auto known = co_await crew.agents.get(agent);
      if (known && known->agent.generation > lease) {
        lease = known->agent.generation;
        continue;
      }
    }
    const auto put = co_await crew.agents.put(agent, 1);
    if (put) lease = put->agent.generation;
  }
  co_return accepted;
}

rt::Task<bool> look_now(Crew& crew) {
  co_await crew.agents.tick();
  co_return true;
}

void expect_generations_in_order(Crew& crew, SessionId id) {
  const SessionView view = *crew.sessions.get(id);
  const auto entries = crew.sessions.world.store.read(
      {.stream = view.stream, .after = {}, .limit = 100'000}, store::ReadMode::kBlocking);
  std::uint64_t newest = 0;
  std::optional<std::uint64_t> lost;
  for (const auto& stored : *entries) {
    const auto entry = *model::decode_entry(stored.bytes);
    if (entry.data.find("fell silent") != std::string_view::npos) lost = newest;
    if (entry.type != "message") continue;
    const std::uint64_t generation = std::stoull(std::string(entry.data));
    EXPECT_GE(generation, newest);
    if (lost) EXPECT_GT(generation, *lost);
    newest = generation;
  }
}

// Looks at the store after each of its writes: what a worker appended is of the generation that
// was current before that write. One that only began in it is known to nobody yet.
class Watch {
 public:
  Watch(Crew& crew, const std::vector<SessionId>& ids) : crew_(crew) {
    for (const SessionId id : ids) {
      const SessionView view = *crew.sessions.get(id);
      streams_.push_back({view.stream, view.state.owner_agent, view.state.head});
    }
    crew.sessions.world.hooked.on_written = [this] { look(); };
  }
  ~Watch() { crew_.sessions.world.hooked.on_written = {}; }

 private:
  struct Stream {
    StreamId id;
    std::string owner;
    Seq seen;
  };
  void look() {
    const auto& engine = *crew_.sessions.world.engine;
    for (Stream& stream : streams_) {
      store::Store& store = crew_.sessions.world.store;
      for (const auto& stored :
           *store.read({.stream = stream.id, .after = stream.seen}, store::ReadMode::kBlocking)) {
        stream.seen = stored.seq;
        const auto entry = *model::decode_entry(stored.bytes);
        if (entry.type != "message") continue;
        EXPECT_EQ(std::stoull(std::string(entry.data)), current_[stream.owner]);
      }
    }
    for (std::size_t i = 0; i < kWorkers; ++i) {
      const auto record = *engine.get(agent_key(worker_name(i)), store::ReadMode::kBlocking);
      const auto agent = record ? *model::decode_agent(record->value) : model::Agent{};
      current_[worker_name(i)] = agent.loss ? 0 : agent.generation.value;
    }
  }
  Crew& crew_;
  std::vector<Stream> streams_;
  std::map<std::string, std::uint64_t> current_;
};

TEST(AgentRaces, GenerationsNeverGoBackAndNothingFollowsALoss) {
  const std::uint64_t seed = stream::testing::test_seed();
  std::size_t losses = 0;
  std::size_t fenced = 0;
  std::size_t accepted = 0;
  for (std::uint64_t round = 0; round < 10; ++round) {
    Crew crew({}, nullptr, rt::ManualTime().now(), seed + round);
    SeededRandom dice(seed + round);
    std::vector<SessionId> ids;
    for (std::size_t i = 0; i < kWorkers * kSessionsEach; ++i)
      ids.push_back(crew.work(worker_name(i % kWorkers)));
    const Watch watch(crew, ids);
    std::vector<decltype(crew.sessions.start(write_on(crew, "", {}, 0)))> writers;
    // Two for each session.
    for (std::size_t i = 0; i < 2 * ids.size(); ++i)
      writers.push_back(crew.sessions.start(
          write_on(crew, worker_name(i % kWorkers), ids[i % ids.size()], dice.next_u64()),
          dice.next_u64() % 3));
    // Time passes between any two steps: everybody is silent, and soon lost.
    for (int i = 0; i < 400; ++i) {
      if (dice.next_u64() % 4 == 0) crew.sessions.world.time.advance(std::chrono::seconds{1});
      (void)crew.sessions.start(look_now(crew));
      for (std::uint64_t some = dice.next_u64() % 60; some > 0; --some) {
        const std::uint64_t pick = dice.next_u64() % 4;
        if (pick == 3)
          crew.sessions.world.committer.drain();
        else
          crew.sessions.world.loop(pick).run_one();
      }
    }
    crew.sessions.world.settle_shuffled(dice);
    for (const auto& writer : writers) accepted += writer->value();
    for (const SessionId id : ids) expect_generations_in_order(crew, id);
    losses += crew.agents.probe().losses;
    fenced += crew.sessions.service->probe().fenced;
  }
  // The rounds are worth something: there was much of everything.
  EXPECT_GT(accepted, 250U);
  EXPECT_GT(losses, 10U);
  EXPECT_GT(fenced, 250U);
}

}  // namespace
}  // namespace reprise::session
