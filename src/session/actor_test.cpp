#include "session/actor.h"

#include "session/testing.h"
#include "stream/tail.h"

namespace reprise::session {
namespace {

using stream::testing::count_lines;
using stream::testing::numbers;
using stream::testing::numbers_in;
using testing::code_of;
using testing::messages;
using testing::new_session;
using testing::Sessions;
using testing::TestOutlet;

constexpr auto kLost = store::MemoryEngine::Outcome::kLost;
constexpr auto kApplied = store::MemoryEngine::Outcome::kApplied;

// A reader of a session's stream on some loop, opened as the API opens one: subscribed, then
// looked.
rt::Task<bool> watch(SessionService& service, SessionId id, TestOutlet& outlet,
                     rt::CancelScope& scope) {
  const auto found = co_await service.get(id);
  REPRISE_ASSERT(found.has_value());
  stream::Tail tail(service.hub_here(), service.store_here(), outlet,
                    stream::testing::test_frames(),
                    {.stream = found->stream, .home = service.home_index(id)});
  REPRISE_ASSERT(co_await tail.subscribe());
  const auto view = co_await service.get(id);
  REPRISE_ASSERT(view.has_value());
  std::optional<std::string> end_reason;
  if (model::is_terminal(view->state.status)) end_reason = model::word(view->state.status);
  tail.set_replay(view->state.visible_after, view->state.head, std::move(end_reason));
  co_return (co_await tail.follow(scope)).has_value();
}

struct Watcher {
  Watcher(Sessions& in, SessionId id, std::size_t on_loop = 1)
      : sessions(in),
        loop(in.world.loop(on_loop)),
        outlet(loop),
        has_ended(in.start(watch(*in.service, id, outlet, scope), on_loop)) {}
  ~Watcher() {
    loop.post([this] { scope.cancel(); });
    sessions.world.settle();
  }
  Sessions& sessions;
  rt::ManualLoop& loop;
  TestOutlet outlet;
  rt::CancelScope scope;
  stream::testing::World::Place<bool> has_ended;
};

model::Command append_one(std::optional<Seq> expected = {}) {
  return model::Append{.events = messages(1), .expected_seq = expected};
}

Call idempotent(std::string key, std::string body, std::size_t count = 1) {
  return Call{.action = model::Command(
                  model::Append{.events = messages(count), .expected_seq = std::nullopt}),
              .claim = *stream::make_claim("append", key, body)};
}

TEST(OutputGate, NobodyIsToldBeforeTheWriteIsComplete) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  Watcher watcher(sessions, id);
  sessions.world.settle();
  const std::string before = watcher.outlet.text;
  auto good = sessions.start(sessions.service->call(id, Call{.action = append_one()}));
  // Refused on a state that is not durable yet: it would tell of the append before it.
  auto refused = sessions.start(sessions.service->call(id, Call{.action = append_one(Seq{1})}), 1);
  int writes = 0;
  sessions.world.hooked.on_written = [&] {
    ++writes;
    sessions.world.run_loops();
    EXPECT_FALSE(good->has_value());
    EXPECT_FALSE(refused->has_value());
    EXPECT_EQ(watcher.outlet.text, before);
  };
  sessions.world.settle();
  EXPECT_EQ(writes, 1);
  EXPECT_TRUE((*good)->has_value());
  EXPECT_EQ(code_of(**refused), Code::kWrongSequence);
  EXPECT_EQ(numbers_in(watcher.outlet.text), numbers(1, 2));
}

TEST(OutputGate, ReadsAnswerFromWhatIsDurable) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  sessions.world.is_holding_commits = true;
  auto appended = sessions.start(sessions.service->call(id, Call{.action = append_one()}));
  auto read = sessions.start(sessions.service->get(id));
  sessions.world.settle();
  ASSERT_TRUE(read->has_value());
  EXPECT_EQ((**read)->state.head, Seq{1});
  EXPECT_FALSE(appended->has_value());
}

TEST(SessionActor, CallsThatWaitBecomeOneCommit) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  const auto batches = sessions.world.committer.probe().batches;
  std::vector<decltype(sessions.start(sessions.service->call(id, Call{})))> answers;
  for (int i = 0; i < 100; ++i)
    answers.push_back(sessions.start(sessions.service->call(id, Call{.action = append_one()})));
  sessions.world.settle();
  EXPECT_LE(sessions.world.committer.probe().batches - batches, 2U);
  std::set<std::uint64_t> seqs;
  for (const auto& answer : answers) seqs.insert((**answer).value()->first.value);
  EXPECT_EQ(seqs.size(), 100U);
}

TEST(SessionActor, CommitsOfSessionsCalledInOneTurnAreHandedOverTogether) {
  Sessions sessions;
  std::vector<SessionId> ids;
  while (ids.size() < 10) {
    const SessionId id = sessions.create().state.id;
    if (sessions.service->home_index(id) == 0) ids.push_back(id);
  }
  // What the commit thread would find when it is woken.
  std::vector<std::size_t> found;
  sessions.world.committer.set_wakeup([&] { found.push_back(sessions.world.committer.queued()); });
  for (const SessionId id : ids)
    (void)sessions.start(sessions.service->call(id, Call{.action = append_one()}));
  sessions.world.settle();
  EXPECT_EQ(found, std::vector<std::size_t>{ids.size()});
  for (const SessionId id : ids) EXPECT_EQ(sessions.get(id)->state.message_count, 1U);
  sessions.world.committer.set_wakeup({});
}

TEST(SessionActor, RefusesMoreCallsThanMayWait) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  sessions.world.is_holding_commits = true;
  auto first = sessions.start(sessions.service->call(id, Call{.action = append_one()}));
  sessions.world.settle();  // its commit is in flight; what follows waits
  std::vector<decltype(first)> waiting;
  for (std::size_t i = 0; i < kMaxQueuedPerSession; ++i)
    waiting.push_back(sessions.start(
        sessions.service->call(id, Call{.action = append_one(), .wants_view = false})));
  sessions.world.settle();
  EXPECT_FALSE(waiting.back()->has_value());
  auto over = sessions.start(sessions.service->call(id, Call{.action = append_one()}));
  sessions.world.settle();
  ASSERT_TRUE(over->has_value());
  EXPECT_EQ(code_of(**over), Code::kTooManyRequests);
  sessions.world.is_holding_commits = false;
  sessions.world.settle();
  for (const auto& one : waiting) EXPECT_TRUE((*one)->has_value());
  EXPECT_EQ(sessions.get(id)->state.head, Seq{2 + kMaxQueuedPerSession});
}

TEST(SessionActor, AFullDiskFailsTheCallAndTheNextOneAfterRecoveryIsRight) {
  for (const auto outcome : {kLost, kApplied}) {
    Sessions sessions;
    const SessionId id = sessions.create().state.id;
    Watcher watcher(sessions, id);
    sessions.world.settle();
    sessions.world.engine->fail_write(1, Code::kNoSpace, outcome);
    EXPECT_EQ(code_of(sessions.append(id)), Code::kNoSpace);
    EXPECT_EQ(sessions.get(id)->state.head, Seq{1});
    // Loaded before the store has found out what it wrote: nothing is decided on that.
    EXPECT_EQ(code_of(sessions.append(id)), Code::kNoSpace);
    sessions.recover();
    const auto next = sessions.append(id);
    ASSERT_TRUE(next) << next.error().detail;
    const std::uint64_t head = outcome == kApplied ? 3 : 2;
    EXPECT_EQ((*next)->last, Seq{head});
    const SessionView view = *sessions.get(id);
    EXPECT_EQ(view.state.message_count, head - 1);
    EXPECT_EQ(view.state, sessions.folded(view));
    EXPECT_EQ(numbers_in(watcher.outlet.text), numbers(1, head));
  }
}

TEST(SessionActor, AChangeOfUnknownOutcomeIsFoundOutBeforeTheNextCall) {
  for (const auto outcome : {kLost, kApplied}) {
    Sessions sessions;
    const SessionId id = sessions.create(new_session("one")).state.id;
    sessions.world.engine->fail_write(1, Code::kNoSpace, outcome);
    EXPECT_EQ(code_of(sessions.command(id, model::Pause{})), Code::kNoSpace);
    sessions.recover();
    ASSERT_TRUE(sessions.append(id));
    const SessionView view = *sessions.get(id);
    EXPECT_EQ(view.state.status,
              outcome == kApplied ? model::Status::kPaused : model::Status::kActive);
    EXPECT_EQ(view.state, sessions.folded(view));
    for (const model::Status status : model::kStatuses)
      EXPECT_EQ(sessions.counted(status), view.state.status == status ? 1 : 0);
  }
}

TEST(SessionActor, AStreamThatSomebodyElseWroteToIsLoadedAndTheCallDecidedAgain) {
  Sessions sessions;
  const SessionView view = sessions.create();
  for (int i = 0; i < 3; ++i) {
    // Another node appends to the session.
    store::Commit foreign;
    foreign.appends.push_back(
        {.stream = view.stream,
         .expected_head = {},
         .entries = {model::encode_entry(
             messages(1).front(),
             {.message_count = sessions.get(view.state.id)->state.message_count + 1})}});
    sessions.world.store.submit(std::move(foreign), [](store::CommitResult) {});
    const auto appended = sessions.append(view.state.id);
    ASSERT_TRUE(appended) << appended.error().detail;
    EXPECT_EQ((*appended)->last, Seq{static_cast<std::uint64_t>(3 + 2 * i)});
  }
  // What the caller itself expects is still refused.
  EXPECT_EQ(code_of(sessions.command(view.state.id, append_one(Seq{1}))), Code::kWrongSequence);
  const SessionView now = *sessions.get(view.state.id);
  EXPECT_EQ(now.state.message_count, 6U);
}

TEST(SessionActor, ARemovalOfUnknownOutcomeIsFoundOutToo) {
  Sessions sessions;
  const SessionId id = sessions.create(new_session("one")).state.id;
  Watcher watcher(sessions, id);
  sessions.world.settle();
  sessions.world.engine->fail_write(1, Code::kNoSpace, kApplied);
  EXPECT_EQ(code_of(sessions.run(sessions.service->remove(id))), Code::kNoSpace);
  sessions.recover();
  EXPECT_EQ(code_of(sessions.get(id)), Code::kSessionNotFound);
  EXPECT_TRUE(watcher.outlet.text.ends_with("Edeleted\n")) << watcher.outlet.text;
}

TEST(SessionActor, ADeadStoreRefusesWritesAndStillAnswersReads) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  sessions.world.engine->fail_write(1, Code::kStorage, kLost);
  EXPECT_EQ(code_of(sessions.append(id)), Code::kReadOnly);
  EXPECT_EQ(code_of(sessions.append(id)), Code::kReadOnly);
  EXPECT_EQ(sessions.get(id)->state.head, Seq{1});
  EXPECT_TRUE(sessions.sweep());  // the janitor has nothing to do
}

TEST(SessionActor, AReadThatFailsFailsTheCallAndNotTheSession) {
  Sessions sessions({.max_loaded_per_loop = 1});
  const SessionId id = sessions.create().state.id;
  for (int i = 0; i < 10; ++i) (void)sessions.create();  // out of memory
  sessions.world.engine->fail_reads(Code::kStorage);
  EXPECT_EQ(code_of(sessions.get(id)), Code::kStorage);
  sessions.world.engine->fail_reads(std::nullopt);
  EXPECT_TRUE(sessions.append(id));
}

// --- eviction ---

TEST(Shard, WhenTheLimitIsReachedEachCallStillReachesItsOwnSession) {
  // The oldest are busy, because somebody watches them: they are kept, and nobody gets another's.
  Sessions sessions({.max_loaded_per_loop = 2});
  std::vector<SessionId> ids;
  for (int i = 0; i < 24; ++i) {
    ids.push_back(sessions.create(new_session(fmt::format("s{}", i))).state.id);
    if (i < 9) ASSERT_TRUE(sessions.run(sessions.service->join(ids.back(), "alice", true)));
  }
  for (int round = 1; round <= 3; ++round) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ASSERT_TRUE(sessions.append(ids[i], i + 1));
      EXPECT_EQ(sessions.get(ids[i])->state.name, fmt::format("s{}", i));
    }
  }
  for (std::size_t i = 0; i < ids.size(); ++i)
    EXPECT_EQ(sessions.get(ids[i])->state.message_count, 3 * (i + 1)) << i;
  EXPECT_GT(sessions.service->probe().evicted, 0U);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(sessions.get(ids[i])->subscribers, 1U);
    sessions.service->leave(ids[i], "alice");
  }
  sessions.world.settle();
}

TEST(Shard, KeepsAsManySessionsInMemoryAsTheLimitSays) {
  static_assert(ServiceOptions{}.max_loaded_per_loop == kMaxLoadedPerLoop);
  Sessions sessions({.max_loaded_per_loop = 10});
  for (int i = 0; i < 200; ++i) (void)sessions.create();
  EXPECT_LE(sessions.service->probe().loaded, 30U);
  EXPECT_GE(sessions.service->probe().loaded, 20U);
  EXPECT_EQ(sessions.service->probe().evicted + sessions.service->probe().loaded, 200U);
}

TEST(Shard, ForgetsTheLongestUnusedSessionBeyondItsLimit) {
  testing::World world(1);
  stream::Hubs hubs(world.loops());
  store::AsyncStore async(world.store, world.loop(0), world.pool);
  SeededRandom random(1);
  Shard shard(async, hubs.at(0), world.time, random, kMaxLoadedPerLoop);
  const SessionId first = SessionId::make(world.time.now(), random);
  (void)shard.actor(first);
  for (std::size_t i = 1; i < kMaxLoadedPerLoop; ++i)
    (void)shard.actor(SessionId::make(world.time.now(), random));
  EXPECT_EQ(shard.probe().loaded, kMaxLoadedPerLoop);
  EXPECT_EQ(shard.probe().evicted, 0U);
  (void)shard.actor(SessionId::make(world.time.now(), random));
  EXPECT_EQ(shard.probe().loaded, kMaxLoadedPerLoop);
  EXPECT_EQ(shard.probe().evicted, 1U);
  EXPECT_EQ(shard.loaded(first), nullptr);
}

TEST(Shard, ASessionThatIsCalledBeforeItsCreatorKnowsHasOneActor) {
  Sessions sessions;
  sessions.create(new_session("other"));  // the app's first: it makes the app
  auto created = sessions.start(sessions.service->create(new_session("one")));
  testing::World::Place<Result<GotOrCreated>> found;
  // The write is visible; its completion has not come back to the session's loop yet.
  sessions.world.hooked.on_written = [&] {
    if (found) return;
    found = sessions.start(sessions.service->get_or_create(new_session("one")), 1);
    sessions.world.run_loops();
  };
  sessions.world.settle();
  ASSERT_TRUE((**created).has_value());
  ASSERT_TRUE((**found).has_value());
  EXPECT_FALSE((**found)->is_created);
  const SessionId id = (**found)->view.state.id;
  EXPECT_EQ(id, (**created).value()->view.state.id);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(sessions.append(id));
  EXPECT_EQ(sessions.service->probe().loaded, 2U);
}

// --- readers ---

TEST(SessionStream, AReaderThatComesWhileTheEndIsInFlightIsToldOfIt) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  sessions.world.is_holding_commits = true;
  auto closed =
      sessions.start(sessions.service->call(id, Call{.action = model::Command(model::Close{})}));
  sessions.world.settle();
  Watcher watcher(sessions, id);
  sessions.world.settle();
  EXPECT_EQ(watcher.outlet.text, "1:" + watcher.outlet.text.substr(2));
  EXPECT_EQ(count_lines(watcher.outlet.text, "R"), 1U);
  sessions.world.is_holding_commits = false;
  sessions.world.settle();
  EXPECT_EQ(numbers_in(watcher.outlet.text), numbers(1, 2));
  EXPECT_TRUE(watcher.outlet.text.ends_with("ECOMPLETED\n")) << watcher.outlet.text;
  EXPECT_EQ(watcher.has_ended->value(), true);
}

TEST(SessionStream, AnEntryInFlightWhenAReaderComesIsNotMissed) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  sessions.world.is_holding_commits = true;
  auto appended = sessions.start(sessions.service->call(id, Call{.action = append_one()}));
  sessions.world.settle();
  Watcher watcher(sessions, id);
  sessions.world.settle();
  sessions.world.is_holding_commits = false;
  sessions.world.settle();
  EXPECT_EQ(numbers_in(watcher.outlet.text), numbers(1, 2));
}

TEST(SessionStream, IsEndedByDeletionAndByExpiryAndCarriesEphemeralEvents) {
  Sessions sessions;
  auto create = new_session("one");
  create.ttl_seconds = 60;
  const SessionId expiring = sessions.create(create).state.id;
  const SessionId deleted = sessions.create().state.id;
  Watcher first(sessions, expiring, 0);
  Watcher second(sessions, deleted, 2);
  sessions.world.settle();
  ASSERT_TRUE(sessions.run(sessions.service->publish_ephemeral(deleted, messages(2, "typing"))));
  EXPECT_EQ(count_lines(second.outlet.text, "~"), 2U);
  EXPECT_EQ(sessions.get(deleted)->state.head, Seq{1});
  ASSERT_TRUE(sessions.run(sessions.service->remove(deleted)));
  EXPECT_TRUE(second.outlet.text.ends_with("Edeleted\n"));
  sessions.world.time.advance(std::chrono::seconds{61});
  ASSERT_TRUE(sessions.sweep());
  EXPECT_TRUE(first.outlet.text.ends_with("ECANCELLED\n")) << first.outlet.text;
  EXPECT_EQ(code_of(sessions.run(sessions.service->publish_ephemeral(expiring, messages(1)))),
            Code::kSessionEnded);
}

// --- idempotency ---

TEST(Idempotency, TheSameCallAgainGivesTheFirstAnswerAndStoresNothing) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  const auto first = sessions.run(sessions.service->call(id, idempotent("key", "body", 3)));
  EXPECT_EQ((*first)->last, Seq{4});
  ASSERT_TRUE(sessions.append(id));
  const auto again = sessions.run(sessions.service->call(id, idempotent("key", "body", 3)));
  EXPECT_EQ((*again)->first, Seq{2});
  EXPECT_EQ((*again)->last, Seq{4});
  EXPECT_EQ(sessions.get(id)->state.head, Seq{5});
  EXPECT_EQ(code_of(sessions.run(sessions.service->call(id, idempotent("key", "other", 3)))),
            Code::kIdempotencyMismatch);
  // Also when the session has ended: the key is looked at before anything else.
  ASSERT_TRUE(sessions.command(id, model::Close{}));
  EXPECT_EQ((*sessions.run(sessions.service->call(id, idempotent("key", "body"))))->last, Seq{4});
}

TEST(Idempotency, ARepetitionOfACallInFlightWaitsForIt) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  sessions.world.is_holding_commits = true;
  std::vector<decltype(sessions.start(sessions.service->call(id, Call{})))> answers;
  for (std::size_t i = 0; i < 20; ++i)
    answers.push_back(sessions.start(sessions.service->call(id, idempotent("key", "body")), i % 3));
  auto other = sessions.start(sessions.service->call(id, idempotent("key", "other")));
  sessions.world.settle();
  for (const auto& answer : answers) EXPECT_FALSE(answer->has_value());
  sessions.world.is_holding_commits = false;
  sessions.world.settle();
  for (const auto& answer : answers) EXPECT_EQ((**answer).value()->last, Seq{2});
  EXPECT_EQ(sessions.get(id)->state.head, Seq{2});
  EXPECT_EQ(code_of(**other), Code::kIdempotencyMismatch);
}

TEST(Idempotency, ACallThatWasRefusedOrFailedMayBeTriedAgain) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  Call refused = idempotent("key", "body");
  std::get<model::Append>(std::get<model::Command>(refused.action)).expected_seq = Seq{9};
  EXPECT_EQ(code_of(sessions.run(sessions.service->call(id, refused))), Code::kWrongSequence);
  sessions.world.engine->fail_write(1, Code::kNoSpace, kLost);
  EXPECT_EQ(code_of(sessions.run(sessions.service->call(id, idempotent("key", "body")))),
            Code::kNoSpace);
  sessions.recover();
  EXPECT_EQ((*sessions.run(sessions.service->call(id, idempotent("key", "body"))))->last, Seq{2});
}

TEST(Idempotency, ACallOfUnknownOutcomeIsNotDoneTwice) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  sessions.world.engine->fail_write(1, Code::kNoSpace, kApplied);
  EXPECT_EQ(code_of(sessions.run(sessions.service->call(id, idempotent("key", "body")))),
            Code::kNoSpace);
  EXPECT_EQ(code_of(sessions.run(sessions.service->call(id, idempotent("key", "body")))),
            Code::kNoSpace);
  sessions.recover();
  EXPECT_EQ((*sessions.run(sessions.service->call(id, idempotent("key", "body"))))->last, Seq{2});
  EXPECT_EQ(sessions.get(id)->state.head, Seq{2});
}

TEST(Idempotency, SurvivesARestart) {
  Sessions before;
  const SessionId id = before.create().state.id;
  ASSERT_TRUE(before.run(before.service->call(id, idempotent("key", "body"))));
  Sessions after({}, before.contents(), before.world.time.now());
  EXPECT_EQ((*after.run(after.service->call(id, idempotent("key", "body"))))->last, Seq{2});
  EXPECT_EQ(after.get(id)->state.head, Seq{2});
}

// --- the record is a fold of the stream ---

TEST(SessionProperty, ARecordLoadedAnewIsTheFoldOfItsWholeStream) {
  SeededRandom random(stream::testing::test_seed());
  Sessions sessions({.max_loaded_per_loop = 2});
  std::vector<SessionId> ids;
  const auto pick = [&](std::uint64_t below) { return random.next_u64() % below; };
  for (int step = 0; step < 1'500; ++step) {
    if (ids.size() < 12) {
      auto create = new_session(fmt::format("s{}", step), fmt::format("app{}", pick(3)));
      if (pick(2) == 0) create.ttl_seconds = 20 + pick(100);
      if (pick(4) == 0) create.max_lifetime_seconds = 200 + pick(1'000);
      ids.push_back(sessions.create(create).state.id);
    }
    const SessionId id = ids[pick(ids.size())];
    switch (pick(12)) {
      case 0: (void)sessions.command(id, model::Pause{}); break;
      case 1: (void)sessions.command(id, model::Resume{}); break;
      case 2: (void)sessions.command(id, model::Close{}); break;
      case 3: (void)sessions.run(sessions.service->reset(id, "again")); break;
      case 4:
        (void)sessions.call(id, MergePatch{.metadata = fmt::format("{{\"n\":{}}}", step)});
        break;
      case 5:
        (void)sessions.call(id, MergePatch{.owner_agent = fmt::format("agent{}", pick(3))});
        break;
      case 6:
        (void)sessions.call(id, MergePatch{.ttl_seconds = std::optional(10 + pick(60))});
        break;
      case 7: (void)sessions.sweep(); break;
      case 8: sessions.world.time.advance(Millis{pick(30'000)}); break;
      default: (void)sessions.append(id, 1 + pick(5));
    }
    const auto view = sessions.get(id);
    ASSERT_TRUE(view) << view.error().detail;
    ASSERT_EQ(view->state, sessions.folded(*view)) << "step " << step;
    if (step % 50 == 0) {
      // Nothing but the store: the same states, and indexes and counters that agree with them.
      Sessions restarted({}, sessions.contents(), sessions.world.time.now());
      std::map<model::Status, std::int64_t> recount;
      for (const SessionId& one : ids) {
        const auto loaded = restarted.get(one);
        ASSERT_EQ(loaded->state, sessions.get(one)->state) << "step " << step;
        ++recount[loaded->state.status];
      }
      for (const model::Status status : model::kStatuses) {
        EXPECT_EQ(restarted.counted(status), recount[status]) << "step " << step;
        const auto rows = restarted.list({.filter = {.statuses = {status}}}).page.sessions;
        EXPECT_EQ(static_cast<std::int64_t>(rows.size()), recount[status]) << "step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace reprise::session
