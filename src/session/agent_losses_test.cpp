// Who is lost and when, what that does to sessions, and how it fences writes.
#include "session/agents_testing.h"
#include "stream/idempotency.h"

namespace reprise::session {
namespace {

using model::OnWorkerLost;
using model::PauseReason;
using model::Status;
using std::chrono::seconds;
using testing::code_of;
using testing::Crew;
using testing::messages;
using testing::new_session;
using Outcome = store::MemoryEngine::Outcome;

bool is_paused_by_loss(const model::SessionState& state) {
  return state.status == Status::kPaused && state.pause_reasons.contains(PauseReason::kWorkerLost);
}

// Commits wait until they are let through: what is decided in between is in the same batch.
class HeldCommits {
 public:
  explicit HeldCommits(Crew& crew) : crew_(crew) { crew_.sessions.world.is_holding_commits = true; }
  ~HeldCommits() {
    crew_.sessions.world.is_holding_commits = false;
    crew_.sessions.world.settle();
  }

 private:
  Crew& crew_;
};

TEST(AgentLoss, ComesAfterThreeMissedBeatsAndNotBefore) {
  Crew crew;
  crew.join("w", 5);
  crew.join("x", 5);
  crew.pass(14);
  EXPECT_TRUE(crew.beat("x"));
  EXPECT_FALSE(crew.is_lost("w"));
  crew.pass(1);
  EXPECT_TRUE(crew.is_lost("w"));
  EXPECT_EQ(crew.get("w")->agent.loss->at, crew.sessions.world.time.now());
  EXPECT_FALSE(crew.is_lost("x"));
  crew.pass(13);
  EXPECT_FALSE(crew.is_lost("x"));
  crew.pass(1);
  EXPECT_TRUE(crew.is_lost("x"));
  EXPECT_EQ(crew.agents.probe().losses, 2U);
  EXPECT_EQ(crew.agents.probe().lost, 2U);
  EXPECT_EQ(crew.agents.probe().alive, 0U);
}

TEST(AgentLoss, ARegistrationWithAShorterBeatIsLookedAtInTime) {
  Crew crew;
  crew.join("w", 3'600);
  crew.join("w", 1);
  crew.pass(3);
  EXPECT_TRUE(crew.is_lost("w"));
}

TEST(AgentLoss, HappensWhileTheServerRunsByItself) {
  Crew crew;
  crew.join("w", 1);
  rt::CancelScope scope;
  rt::Loop& home = crew.sessions.world.loop(0);
  home.post([&] { rt::spawn(crew.sessions.world.gate, crew.agents.run(scope)); });
  crew.sessions.world.settle();
  for (int i = 0; i < 50; ++i) crew.sessions.world.advance(Millis(kAgentInterval));
  EXPECT_TRUE(crew.is_lost("w"));
  home.post([&] { scope.cancel(); });
  crew.sessions.world.settle();
}

TEST(AgentLoss, TreatsEachSessionByItsPolicy) {
  Crew crew;
  crew.join("w", 1);
  const SessionId paused = crew.work("w");
  const SessionId failed = crew.work("w", OnWorkerLost::kFail);
  const SessionId kept = crew.work("w", OnWorkerLost::kKeep);
  const SessionId others = crew.work("w2");
  const SessionId ended = crew.work("w");
  ASSERT_TRUE(crew.sessions.command(ended, model::Close{}));
  const SessionId moved = crew.work("w");
  ASSERT_TRUE(crew.sessions.call(moved, MergePatch{.owner_agent = "w2"}));
  crew.pass(3);
  EXPECT_TRUE(is_paused_by_loss(crew.state(paused)));
  EXPECT_EQ(crew.state(failed).status, Status::kFailed);
  EXPECT_EQ(crew.state(failed).last_error, "workerLost");
  for (const SessionId id : {kept, others, moved})
    EXPECT_EQ(crew.state(id).status, Status::kActive);
  EXPECT_EQ(crew.state(ended).status, Status::kCompleted);
  EXPECT_TRUE(crew.get("w")->agent.loss->is_done);
}

TEST(AgentLoss, ASessionIsTakenOverByAnotherAgent) {
  Crew crew;
  const Generation first = crew.join("w", 1);
  const SessionId id = crew.work("w");
  ASSERT_TRUE(crew.append(id, first));
  crew.pass(3);
  EXPECT_EQ(code_of(crew.append(id, first)), Code::kFenced);
  const Generation second = crew.join("w2", 60);
  EXPECT_EQ(code_of(crew.append(id, second)), Code::kFenced);
  ASSERT_TRUE(crew.sessions.call(id, MergePatch{.owner_agent = "w2"}));
  ASSERT_TRUE(crew.sessions.command(id, model::Resume{}));
  EXPECT_EQ(crew.state(id).status, Status::kActive);
  EXPECT_TRUE(crew.append(id, second));
  // The first one comes back, registers, and still has nothing to say here.
  EXPECT_EQ(code_of(crew.append(id, crew.join("w"))), Code::kFenced);
  EXPECT_EQ(crew.sessions.service->probe().fenced, 3U);
}

TEST(Lease, HoldsForThePresentGenerationOfTheOwnerOnly) {
  Crew crew;
  const SessionId nobodys = crew.sessions.create().state.id;
  const SessionId unregistered = crew.work("w");
  EXPECT_EQ(code_of(crew.append(nobodys, {1})), Code::kFenced);
  EXPECT_EQ(code_of(crew.append(unregistered, {1})), Code::kFenced);
  const Generation first = crew.join("w");
  EXPECT_TRUE(crew.append(unregistered, first));
  const Generation second = crew.join("w");
  EXPECT_EQ(code_of(crew.append(unregistered, first)), Code::kFenced);
  EXPECT_EQ(code_of(crew.append(unregistered, second.next())), Code::kFenced);
  EXPECT_TRUE(crew.append(unregistered, second));
  ASSERT_TRUE(crew.remove("w"));
  EXPECT_EQ(code_of(crew.append(unregistered, second)), Code::kFenced);
  // Without a lease nothing is asked.
  EXPECT_TRUE(crew.sessions.append(unregistered));
}

TEST(Lease, IsAskedForByEveryKindOfWrite) {
  Crew crew;
  const Generation stale = crew.join("w");
  const Generation fresh = crew.join("w");
  auto& service = *crew.sessions.service;
  for (const Generation shown : {stale, fresh}) {
    const Code expected = shown == stale ? Code::kFenced : Code::kInternal;
    auto create = new_session();
    create.owner_agent = "w";
    EXPECT_EQ(code_of(crew.sessions.run(service.create(create, shown))), expected);
    create.name = "named";
    const auto made = crew.sessions.run(service.get_or_create(create, shown));
    EXPECT_EQ(code_of(made), expected);
    EXPECT_EQ(code_of(crew.sessions.run(service.get_or_create(create, shown))), expected);
    const SessionId id = made ? made->view.state.id : crew.work("w");
    const auto call = [&](Action action) {
      return code_of(
          crew.sessions.run(service.call(id, Call{.action = std::move(action), .lease = shown})));
    };
    EXPECT_EQ(call(model::Command(model::Pause{})), expected);
    EXPECT_EQ(call(model::Command(model::Pause{})), expected);  // changes nothing
    EXPECT_EQ(call(MergePatch{.metadata = "{\"a\":1}"}), expected);
    EXPECT_EQ(call(Touch{.is_explicit = true}), expected);
    EXPECT_EQ(code_of(crew.sessions.run(service.publish_ephemeral(id, messages(1), shown))),
              expected);
    EXPECT_EQ(code_of(crew.sessions.run(service.reset(id, "", shown))), expected);
    EXPECT_EQ(code_of(crew.sessions.run(service.remove(id, {}, shown))), expected);
  }
}

TEST(Lease, AWorkerMayHandItsSessionOverAndThenHasNoSay) {
  Crew crew;
  const Generation first = crew.join("w");
  crew.join("w2");
  const SessionId id = crew.work("w");
  // In one batch: the second write is decided on the owner that the first has made.
  auto handed = crew.sessions.start(crew.sessions.service->call(
      id, Call{.action = MergePatch{.owner_agent = "w2"}, .lease = first}));
  auto late = crew.append_later(id, first);
  crew.sessions.world.settle();
  EXPECT_TRUE((*handed)->has_value());
  EXPECT_EQ(code_of(**late), Code::kFenced);
}

TEST(Lease, ALossAheadInTheSameBatchRefusesTheWrite) {
  Crew crew;
  const Generation lease = crew.join("w", 1);
  const SessionId id = crew.work("w");
  decltype(crew.append_later(id, lease)) write;
  decltype(crew.sessions.start(crew.sessions.service->call(id, Call{}))) unleased;
  {
    const HeldCommits held(crew);
    crew.pass(3);  // the loss is on its way
    write = crew.append_later(id, lease);
    unleased = crew.sessions.start(crew.sessions.service->call(
        id,
        Call{.action = model::Command(model::Append{.events = messages(1), .expected_seq = {}})}));
    crew.sessions.world.settle();
    EXPECT_FALSE(write->has_value());
    EXPECT_FALSE(crew.is_lost("w"));  // not yet for anybody to see
  }
  EXPECT_EQ(code_of(**write), Code::kFenced);
  EXPECT_TRUE((*unleased)->has_value());  // it shared a commit with the other, and is made anyway
  EXPECT_TRUE(crew.is_lost("w"));
  const auto state = crew.state(id);
  EXPECT_EQ(state.message_count, 1U);
  EXPECT_TRUE(is_paused_by_loss(state));
}

TEST(Lease, AWriteAheadOfTheLossIsMade) {
  Crew crew;
  const Generation lease = crew.join("w", 1);
  const SessionId id = crew.work("w");
  decltype(crew.append_later(id, lease)) write;
  {
    const HeldCommits held(crew);
    write = crew.append_later(id, lease);
    crew.sessions.world.settle();
    crew.pass(3);
  }
  ASSERT_TRUE((*write)->has_value());
  EXPECT_EQ((***write)->last, Seq{2});
  EXPECT_TRUE(crew.is_lost("w"));
  EXPECT_EQ(crew.state(id).head, Seq{3});  // the pause follows it
  EXPECT_EQ(code_of(crew.append(id, lease)), Code::kFenced);
}

TEST(Lease, ARegistrationOrDeletionAheadInTheSameBatchRefusesWritesCreationsAndResets) {
  for (const bool is_deletion : {false, true}) {
    Crew crew;
    const Generation lease = crew.join("w");
    const SessionId id = crew.work("w");
    auto& service = *crew.sessions.service;
    auto create = new_session();
    create.owner_agent = "w";
    auto named = create;
    named.name = "named";
    decltype(crew.append_later(id, lease)) write;
    decltype(write) reset;
    decltype(crew.sessions.start(service.create(create, lease))) plain;
    decltype(plain) keyed;
    {
      const HeldCommits held(crew);
      if (is_deletion)
        (void)crew.sessions.start(crew.agents.remove("w"));
      else
        (void)crew.sessions.start(crew.agents.put("w", 15));
      crew.sessions.world.settle();
      write = crew.append_later(id, lease);
      plain = crew.sessions.start(service.create(create, lease));
      keyed = crew.sessions.start(service.create(named, lease));
      reset = crew.sessions.start(service.reset(id, "", lease));
      crew.sessions.world.settle();
      EXPECT_FALSE(write->has_value());
    }
    EXPECT_EQ(code_of(**write), Code::kFenced);
    EXPECT_EQ(code_of(**reset), Code::kFenced);
    EXPECT_EQ(code_of(**plain), Code::kFenced);
    EXPECT_EQ(code_of(**keyed), Code::kFenced);
    EXPECT_EQ(crew.sessions.list().page.sessions.size(), 1U);
  }
}

TEST(Lease, ARepetitionStillGetsItsFirstAnswerWhenTheLeaseHasGone) {
  Crew crew;
  const Generation lease = crew.join("w", 1);
  const SessionId id = crew.work("w");
  const auto repeated = [&](std::string key) {
    Call call = Crew::leased(lease);
    call.claim = *stream::make_claim("append", key, "body");
    return crew.sessions.run(crew.sessions.service->call(id, std::move(call)));
  };
  ASSERT_TRUE(repeated("k"));
  crew.pass(3);
  const auto again = repeated("k");
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ((*again)->last, Seq{2});
  EXPECT_EQ(code_of(repeated("other")), Code::kFenced);
}

TEST(AgentLoss, AHeartbeatThatComesWhileItIsBeingStoredIsToldHowThatEnded) {
  for (const bool is_stored : {true, false}) {
    Crew crew;
    const Generation lease = crew.join("w", 1);
    decltype(crew.sessions.start(crew.agents.heartbeat("w", lease))) beat;
    {
      const HeldCommits held(crew);
      crew.pass(3);
      beat = crew.sessions.start(crew.agents.heartbeat("w", lease), 1);
      crew.sessions.world.settle();
      EXPECT_FALSE(beat->has_value());
      if (!is_stored) crew.sessions.world.engine->fail_write(1, Code::kNoSpace, Outcome::kLost);
    }
    EXPECT_EQ(code_of(**beat), is_stored ? Code::kFenced : Code::kInternal);
    crew.sessions.recover();
    crew.look();
    EXPECT_EQ(crew.is_lost("w"), is_stored);
  }
}

TEST(AgentLoss, OfUnknownOutcomeIsFoundOutAndDealtWith) {
  for (const Outcome outcome : {Outcome::kLost, Outcome::kApplied}) {
    Crew crew;
    const Generation lease = crew.join("w", 1);
    const SessionId id = crew.work("w");
    crew.pass(2);
    crew.sessions.world.engine->fail_write(1, Code::kNoSpace, outcome);
    crew.pass(1);
    EXPECT_FALSE(crew.is_lost("w"));
    EXPECT_TRUE(crew.beat("w", lease));
    crew.sessions.recover();
    crew.pass(2);
    const bool is_written = outcome == Outcome::kApplied;
    EXPECT_EQ(crew.is_lost("w"), is_written);
    EXPECT_EQ(is_paused_by_loss(crew.state(id)), is_written);
    EXPECT_EQ(code_of(crew.beat("w", lease)), is_written ? Code::kFenced : Code::kInternal);
    EXPECT_EQ(code_of(crew.append(id, lease)), is_written ? Code::kFenced : Code::kInternal);
  }
}

TEST(AgentLoss, WaitsForAStoreThatCanWriteAndTheSessionsAreTriedAgain) {
  Crew crew;
  crew.join("w", 1);
  crew.join("x", 2);
  const SessionId id = crew.work("w");
  crew.pass(2);
  // The loss is written; what follows finds no room.
  crew.sessions.world.engine->fail_write(2, Code::kNoSpace, Outcome::kLost);
  crew.pass(1);
  EXPECT_TRUE(crew.is_lost("w"));
  EXPECT_FALSE(crew.get("w")->agent.loss->is_done);
  crew.sessions.world.engine->set_full(true);
  crew.pass(10);
  EXPECT_FALSE(crew.is_lost("x"));
  crew.sessions.world.engine->set_full(false);
  crew.sessions.recover();
  crew.pass(1 + kAgentRetryInterval.count());
  EXPECT_TRUE(crew.is_lost("x"));
  EXPECT_TRUE(crew.get("w")->agent.loss->is_done);
  EXPECT_TRUE(is_paused_by_loss(crew.state(id)));
}

TEST(AgentLoss, EveryAgentGetsItsFullTimeAgainAfterARestart) {
  Crew crew;
  const Generation lease = crew.join("w", 5);
  const SessionId id = crew.work("w");
  crew.pass(14);
  auto restarted = crew.restarted();
  EXPECT_EQ(restarted->get("w")->last_heartbeat_at, std::nullopt);
  restarted->pass(14);
  EXPECT_FALSE(restarted->is_lost("w"));
  EXPECT_TRUE(restarted->append(id, lease));  // its lease has outlived the server
  restarted->pass(1);
  EXPECT_TRUE(restarted->is_lost("w"));
  EXPECT_TRUE(is_paused_by_loss(restarted->state(id)));
  // The loss is durable.
  auto again = restarted->restarted();
  EXPECT_TRUE(again->is_lost("w"));
  EXPECT_EQ(code_of(again->beat("w", lease)), Code::kFenced);
  EXPECT_EQ(code_of(again->append(id, lease)), Code::kFenced);
}

TEST(AgentLoss, TimeThatTheServerSleptThroughDoesNotCount) {
  Crew crew;
  crew.join("w", 5);
  crew.sessions.world.time.advance(kMaxAgentLookDelay);
  crew.look();
  crew.sessions.world.time.advance(seconds{3'600});
  crew.look();
  EXPECT_FALSE(crew.is_lost("w"));
  crew.pass(12);
  EXPECT_FALSE(crew.is_lost("w"));
  crew.pass(1);
  EXPECT_TRUE(crew.is_lost("w"));
}

// Killed after each of its writes, the server finishes what a loss has begun.
TEST(AgentLoss, GoesOnAfterACrashAtAnyWrite) {
  Crew crew;
  crew.join("w", 1);
  std::vector<SessionId> ids;
  for (std::size_t i = 0; i < kJanitorBatch + 10; ++i)
    ids.push_back(crew.work("w", i % 3 == 0 ? OnWorkerLost::kFail : OnWorkerLost::kPause));
  std::vector<std::unique_ptr<store::MemoryEngine>> crashes;
  crew.sessions.world.hooked.on_written = [&] { crashes.push_back(crew.sessions.contents()); };
  crew.pass(3);
  crew.sessions.world.hooked.on_written = {};
  ASSERT_GT(crashes.size(), 5U);
  std::uint64_t seed = 100;
  for (auto& contents : crashes) {
    Crew next({}, std::move(contents), crew.sessions.world.time.now(), ++seed);
    EXPECT_TRUE(next.is_lost("w"));
    next.look();
    EXPECT_TRUE(next.get("w")->agent.loss->is_done);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto state = next.state(ids[i]);
      EXPECT_TRUE(i % 3 == 0 ? state.status == Status::kFailed : is_paused_by_loss(state));
      EXPECT_EQ(state.head, Seq{2});  // once, not twice
    }
  }
}

TEST(AgentLoss, ARegistrationWaitsUntilTheSessionsAreSeenTo) {
  Crew crew;
  crew.join("w", 1);
  const SessionId id = crew.work("w");
  decltype(crew.sessions.start(crew.agents.put("w", 15))) put;
  decltype(crew.sessions.start(crew.agents.remove("w"))) removal;
  {
    const HeldCommits held(crew);
    crew.pass(3);
    crew.sessions.world.committer.drain();  // the loss
    crew.sessions.world.run_loops();
    EXPECT_TRUE(crew.is_lost("w"));
    put = crew.sessions.start(crew.agents.put("w", 15), 2);
    removal = crew.sessions.start(crew.agents.remove("w"), 2);
    crew.sessions.world.settle();
    EXPECT_FALSE(put->has_value());
    crew.sessions.world.time.advance(kMaxWaitForLoss - seconds{1});
    crew.sessions.world.settle();
    EXPECT_FALSE(put->has_value());
    crew.sessions.world.time.advance(seconds{1});
    crew.sessions.world.settle();
    ASSERT_TRUE(put->has_value());
    EXPECT_EQ(code_of(**put), Code::kOverloaded);
    EXPECT_EQ(code_of(**removal), Code::kOverloaded);
    put = crew.sessions.start(crew.agents.put("w", 15), 2);
    crew.sessions.world.settle();
  }
  ASSERT_TRUE((*put)->has_value());
  EXPECT_FALSE(crew.is_lost("w"));
  EXPECT_TRUE(is_paused_by_loss(crew.state(id)));
  EXPECT_TRUE(crew.append(id, (**put)->agent.generation));
}

TEST(AgentLoss, ADeletedAgentLeavesItsSessionsAlone) {
  Crew crew;
  crew.join("w", 1);
  const SessionId id = crew.work("w");
  ASSERT_TRUE(crew.remove("w"));
  crew.pass(10);
  EXPECT_EQ(crew.state(id).status, Status::kActive);
}

TEST(AgentLoss, IsForgottenAfterAWhile) {
  Crew crew;
  crew.join("w", 1);
  crew.pass(3);
  auto later = std::make_unique<Crew>(
      AgentOptions{}, crew.sessions.contents(),
      crew.sessions.world.time.now() + Millis(kKeepLostAgents) - Millis{1'500}, 2);
  later->pass(1);
  EXPECT_TRUE(later->is_lost("w"));
  later->pass(1);
  EXPECT_EQ(code_of(later->get("w")), Code::kAgentNotFound);
  EXPECT_EQ(code_of(later->restarted()->get("w")), Code::kAgentNotFound);
}

TEST(AgentLoss, OfManyIsWorkedOffSomeAtATime) {
  Crew crew;
  const std::size_t count = kMaxLossesInFlight + kAgentsPerTurn + 1;
  for (std::size_t i = 0; i < count; ++i) crew.join(fmt::format("w{}", i), 1);
  std::vector<SessionId> ids;
  for (std::size_t i = 0; i < kMaxAgentsSeenToAtOnce * 3; ++i)
    ids.push_back(crew.work(fmt::format("w{}", i)));
  {
    const HeldCommits held(crew);
    crew.pass(3);
    EXPECT_EQ(crew.sessions.world.committer.queued(), kMaxLossesInFlight);
    crew.sessions.world.committer.drain();
    crew.sessions.world.run_loops();
    // Those who are seen to first wait for their commits, the others for them.
    EXPECT_LE(crew.sessions.world.committer.queued(), kMaxAgentsSeenToAtOnce);
  }
  crew.pass(1);
  EXPECT_EQ(crew.agents.probe().losses, count);
  for (const SessionId id : ids) EXPECT_TRUE(is_paused_by_loss(crew.state(id)));
}

TEST(AgentLoss, TenThousandSessionsAreSeenToWithoutHoldingOthersUp) {
  constexpr std::size_t kMany = 10'000;
  Crew crew;
  crew.join("w", 1);
  std::vector<SessionId> ids;
  for (std::size_t i = 0; i < kMany; ++i) ids.push_back(crew.work("w"));
  const SessionId other = crew.work("x");
  std::size_t most = 0;
  std::size_t rounds = 0;
  crew.sessions.world.is_holding_commits = true;
  crew.pass(3);
  decltype(crew.sessions.start(crew.sessions.service->call(other, Call{}))) append;
  for (; crew.sessions.world.committer.has_work(); ++rounds) {
    if (rounds % 10 == 5)
      append = crew.sessions.start(crew.sessions.service->call(
          other, Call{.action = model::Command(
                          model::Append{.events = messages(1), .expected_seq = {}})}));
    crew.sessions.world.run_loops();
    most = std::max(most, crew.sessions.world.committer.queued());
    crew.sessions.world.committer.drain();
    crew.sessions.world.run_loops();
    // Whoever comes in between is answered by the very next write.
    if (append) {
      EXPECT_TRUE(append->has_value());
      append.reset();
    }
  }
  EXPECT_LE(most, kMaxSessionsSeenToAtOnce + 1);
  EXPECT_GE(rounds, kMany / (kMaxSessionsSeenToAtOnce + 1));
  EXPECT_TRUE(crew.get("w")->agent.loss->is_done);
  EXPECT_EQ(crew.agents.probe().sessions_seen_to, kMany);
  for (const SessionId id : ids) ASSERT_TRUE(is_paused_by_loss(crew.state(id)));
}

}  // namespace
}  // namespace reprise::session
