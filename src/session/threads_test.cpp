// The service on real loops with a commit thread, for the races that one thread cannot have (run
// under tsan).
#include "rt/test_loop.h"
#include "session/agents.h"
#include "session/testing.h"
#include "store/commit_thread.h"

namespace reprise::session {
namespace {

using testing::messages;
using testing::new_session;

constexpr std::size_t kLoops = 3;

class Threads : public ::testing::Test {
 protected:
  Threads() {
    for (std::size_t i = 0; i < kLoops; ++i) {
      threads.push_back(std::make_unique<rt::LoopThread>());
      loops.push_back(&threads.back()->loop());
    }
    commits = std::make_unique<store::CommitThread>(committer);
    service = std::make_unique<SessionService>(loops, store, *pool, clock, random,
                                               ServiceOptions{.max_loaded_per_loop = 4});
  }
  ~Threads() override {
    std::promise<bool> done;
    start(0, closed(), done);
    rt::await(done.get_future());
    settle();
    commits->stop();
    pool.reset();
    for (auto& thread : threads) thread->stop();
    service.reset();
  }

  template <typename T>
  void start(std::size_t loop, rt::Task<T> task, std::promise<T>& promise) {
    loops[loop]->post([&gate = gates[loop],
                       whole = std::make_shared<rt::Task<>>(fulfil(std::move(task), promise))] {
      rt::spawn(gate, std::move(*whole));
    });
  }
  template <typename T>
  T run(std::size_t loop, rt::Task<T> task) {
    std::promise<T> promise;
    start(loop, std::move(task), promise);
    return rt::await(promise.get_future());
  }
  // Everything posted so far has run, also what it posted.
  void settle() {
    for (int i = 0; i < 3; ++i)
      for (rt::Loop* loop : loops) rt::call_on(*loop, [] {});
  }

  store::MemoryEngine engine;
  store::Committer committer{
      engine,
      [] { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()); }};
  store::Store store{engine, committer};
  std::vector<std::unique_ptr<rt::LoopThread>> threads;
  std::vector<rt::Loop*> loops;
  std::unique_ptr<rt::ThreadPool> pool = std::make_unique<rt::ThreadPool>(2);
  SystemClock clock;
  SystemRandom random;
  std::array<rt::Gate, kLoops> gates;
  std::unique_ptr<store::CommitThread> commits;
  std::unique_ptr<SessionService> service;

 private:
  template <typename T>
  static rt::Task<> fulfil(rt::Task<T> task, std::promise<T>& promise) {
    promise.set_value(co_await std::move(task));
  }
  rt::Task<bool> closed() {
    co_await service->close();
    co_return true;
  }
};

TEST_F(Threads, AThousandCallersOnThreeLoopsGetOneSession) {
  std::vector<std::promise<Result<GotOrCreated>>> answers(1'000);
  for (std::size_t i = 0; i < answers.size(); ++i)
    start(i % kLoops, service->get_or_create(new_session("one")), answers[i]);
  std::set<SessionId> ids;
  std::size_t created = 0;
  for (auto& answer : answers) {
    const auto got = rt::await(answer.get_future());
    ASSERT_TRUE(got) << got.error().detail;
    ids.insert(got->view.state.id);
    created += got->is_created ? 1 : 0;
  }
  EXPECT_EQ(ids.size(), 1U);
  EXPECT_EQ(created, 1U);
}

// A caller that works on sessions of others too: gets or creates, appends, sometimes closes.
rt::Task<std::size_t> work(SessionService& service, std::uint64_t seed, int steps) {
  SeededRandom dice(seed);
  std::size_t appended = 0;
  for (int step = 0; step < steps; ++step) {
    const std::string name = fmt::format("s{}", dice.next_u64() % 10);
    const auto got = co_await service.get_or_create(new_session(name));
    REPRISE_ASSERT(got.has_value(), got.error().detail);
    const SessionId id = got->view.state.id;
    const auto answer =
        co_await service.call(id, Call{.action = model::Command(model::Append{
                                           .events = messages(1), .expected_seq = std::nullopt})});
    if (answer) ++appended;
    // Nothing but the end of the session keeps an append from being stored.
    REPRISE_ASSERT(answer || answer.error().code == Code::kSessionEnded ||
                       answer.error().code == Code::kSessionNotFound,
                   answer ? "" : answer.error().detail);
    const std::uint64_t chance = dice.next_u64() % 20;
    if (chance == 0)
      (void)co_await service.call(id, Call{.action = model::Command(model::Close{})});
    if (chance == 1) (void)co_await service.reset(id, "");
    if (chance == 2) (void)co_await service.list({});
    if (chance == 3 && (co_await service.join(id, "client", true))) service.leave(id, "client");
  }
  co_return appended;
}

TEST_F(Threads, WhatIsAcknowledgedIsStoredAndSessionsStayWhole) {
  const std::uint64_t seed = stream::testing::test_seed();
  std::vector<std::promise<std::size_t>> answers(24);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    engine.set_cold(i % 2 == 0);
    start(i % kLoops, work(*service, seed + i, 60), answers[i]);
  }
  std::size_t acknowledged = 0;
  for (auto& answer : answers) acknowledged += rt::await(answer.get_future());
  settle();
  std::size_t stored = 0;
  ListQuery query{.limit = kMaxListLimit};
  const auto all = run(1, service->list(query));
  ASSERT_TRUE(all && all->page.next_cursor.empty());
  std::set<std::string> living;
  for (const StoredSession& session : all->page.sessions) {
    model::SessionState folded;
    for (const auto& entry : *store.read({.stream = session.stream, .after = {}, .limit = 100'000},
                                         store::ReadMode::kBlocking)) {
      const auto view = model::decode_entry(entry.bytes);
      ASSERT_TRUE(model::evolve(folded, entry.seq, *view));
      if (view->type == "message") ++stored;
    }
    EXPECT_EQ(folded.status, session.state.status);
    EXPECT_EQ(folded.head, session.state.head);
    if (model::is_living(folded.status)) EXPECT_TRUE(living.insert(folded.name).second);
  }
  EXPECT_EQ(stored, acknowledged);
}

// A worker that registers again and again, and shows the generation of its own last time.
rt::Task<std::size_t> work_as(AgentService& agents, SessionService& service, std::string agent,
                              SessionId session, int steps) {
  std::size_t appended = 0;
  Generation lease;
  for (int step = 0; step < steps; ++step) {
    if (step % 10 == 0) {
      const auto put = co_await agents.put(agent, 60);
      REPRISE_ASSERT(put.has_value(), put.error().detail);
      lease = put->agent.generation;
    }
    (void)co_await agents.heartbeat(agent, lease);
    const auto answer = co_await service.call(
        session, Call{.action = model::Command(model::Append{
                          .events = messages(1, "message", fmt::to_string(lease.value)),
                          .expected_seq = {}}),
                      .lease = lease});
    if (answer) ++appended;
    REPRISE_ASSERT(answer || answer.error().code == Code::kFenced);
    if (step % 20 == 7) (void)co_await agents.list({});
  }
  co_return appended;
}

rt::Task<bool> closed_agents(AgentService& agents) {
  co_await agents.close();
  co_return true;
}

TEST_F(Threads, LeasesOfWorkersThatPushEachOtherOutRiseInEveryStream) {
  store::AsyncStore agent_store(store, *loops[0], *pool);
  AgentService agents(*loops[0], *service, agent_store, clock);
  auto create = new_session();
  create.owner_agent = "w";
  const auto made = run(0, service->create(create));
  ASSERT_TRUE(made);
  std::vector<std::promise<std::size_t>> answers(9);
  for (std::size_t i = 0; i < answers.size(); ++i)
    start(i % kLoops, work_as(agents, *service, "w", (*made)->view.state.id, 60), answers[i]);
  std::size_t acknowledged = 0;
  for (auto& answer : answers) acknowledged += rt::await(answer.get_future());
  run(0, closed_agents(agents));
  settle();
  std::uint64_t newest = 0;
  std::size_t stored = 0;
  for (const auto& entry :
       *store.read({.stream = (*made)->view.stream, .after = {}, .limit = 100'000},
                   store::ReadMode::kBlocking)) {
    const auto event = *model::decode_entry(entry.bytes);
    if (event.type != "message") continue;
    const std::uint64_t generation = std::stoull(std::string(event.data));
    EXPECT_GE(generation, newest);
    newest = generation;
    ++stored;
  }
  EXPECT_EQ(stored, acknowledged);
  EXPECT_GT(stored, 0U);
}

}  // namespace
}  // namespace reprise::session
