#include "session/service.h"

#include "session/testing.h"

namespace reprise::session {
namespace {

using testing::code_of;
using testing::messages;
using testing::new_session;
using testing::Sessions;

TEST(SessionService, CreatesGetsAppendsAndReads) {
  Sessions sessions;
  const SessionView made = sessions.create(new_session("one"));
  EXPECT_EQ(made.state.head, Seq{1});
  EXPECT_EQ(sessions.get(model::SessionKey{"app", "one"})->state.id, made.state.id);
  const auto appended = sessions.append(made.state.id, 3);
  EXPECT_EQ((*appended)->first, Seq{2});
  EXPECT_EQ((*appended)->last, Seq{4});
  const SessionView now = *sessions.get(made.state.id);
  EXPECT_EQ(now.state.message_count, 3U);
  EXPECT_EQ(now.state.head, Seq{4});
  EXPECT_EQ(now.revision, made.revision);  // appends leave the etag alone
  EXPECT_EQ(code_of(sessions.get(model::SessionKey{"app", "two"})), Code::kSessionNotFound);
  EXPECT_EQ(code_of(sessions.get(SessionId{})), Code::kSessionNotFound);
}

TEST(SessionService, AKeyHeldByALivingSessionIsTaken) {
  Sessions sessions;
  const SessionView first = sessions.create(new_session("one"));
  EXPECT_EQ(code_of(sessions.run(sessions.service->create(new_session("one")))), Code::kKeyTaken);
  ASSERT_TRUE(sessions.command(first.state.id, model::Close{}));
  const SessionView second = sessions.create(new_session("one"));
  EXPECT_NE(second.state.id, first.state.id);
  EXPECT_EQ(sessions.get(model::SessionKey{"app", "one"})->state.id, second.state.id);
  EXPECT_EQ(sessions.get(first.state.id)->state.status, model::Status::kCompleted);
  EXPECT_EQ(code_of(sessions.run(sessions.service->reset(first.state.id, ""))), Code::kKeyTaken);
}

TEST(SessionService, AThousandCallersThatRaceForAKeyGetOneSession) {
  Sessions sessions;
  std::vector<decltype(sessions.start(sessions.service->get_or_create(new_session())))> answers;
  for (std::size_t i = 0; i < 1'000; ++i)
    answers.push_back(sessions.start(sessions.service->get_or_create(new_session("one")), i % 3));
  sessions.world.settle_shuffled(sessions.random);
  std::set<SessionId> ids;
  std::size_t created = 0;
  for (const auto& answer : answers) {
    ASSERT_TRUE(answer->has_value() && (*answer)->has_value());
    ids.insert((**answer)->view.state.id);
    created += (**answer)->is_created ? 1 : 0;
  }
  EXPECT_EQ(ids.size(), 1U);
  EXPECT_EQ(created, 1U);
  EXPECT_EQ(sessions.counted(model::Status::kActive), 1);
  EXPECT_EQ(sessions.service->probe().created, 1U);
  EXPECT_EQ(sessions.service->probe().loaded, 1U);  // losers leave no actor behind
}

TEST(SessionService, GetOrCreateTouchesWhatItFindsAndReplacesWhatHasEnded) {
  Sessions sessions;
  auto create = new_session("one");
  create.ttl_seconds = 60;
  const auto first = sessions.run(sessions.service->get_or_create(create));
  EXPECT_TRUE(first->is_created);
  sessions.world.time.advance(std::chrono::seconds{50});
  const auto found = sessions.run(sessions.service->get_or_create(create));
  EXPECT_FALSE(found->is_created);
  EXPECT_EQ(found->view.state.last_activity_at, sessions.world.time.now());
  // Past its time, without a janitor: it is expired all the same.
  sessions.world.time.advance(std::chrono::seconds{60});
  const auto next = sessions.run(sessions.service->get_or_create(create));
  EXPECT_TRUE(next->is_created);
  const SessionView old = *sessions.get(first->view.state.id);
  EXPECT_EQ(old.state.status, model::Status::kCancelled);
  EXPECT_EQ(old.state.last_error, "expired");
}

TEST(SessionService, ResetAndCreateThatRaceForAKeyNeverLeaveTwoLivingHolders) {
  const std::uint64_t seed = stream::testing::test_seed();
  for (std::uint64_t round = 0; round < 60; ++round) {
    Sessions sessions({}, nullptr, rt::ManualTime().now(), seed + round);
    std::vector<SessionId> all;
    for (int i = 0; i < 3; ++i) {
      all.push_back(sessions.create(new_session("one")).state.id);
      ASSERT_TRUE(sessions.command(all.back(), model::Close{}));
    }
    for (std::size_t i = 0; i < 4; ++i) {
      (void)sessions.start(sessions.service->create(new_session("one")), i % 3);
      (void)sessions.start(sessions.service->get_or_create(new_session("one")), (i + 1) % 3);
      (void)sessions.start(sessions.service->reset(all[i % 3], ""), (i + 2) % 3);
      (void)sessions.start(sessions.service->remove(all[(i + 1) % 3]), i % 3);
    }
    sessions.world.settle_shuffled(sessions.random);
    const auto living =
        sessions.list({.filter = {.statuses = {model::Status::kActive}}}).page.sessions;
    ASSERT_EQ(living.size(), 1U) << "seed " << seed + round;
    EXPECT_EQ(sessions.get(model::SessionKey{"app", "one"})->state.id, living[0].state.id);
  }
}

TEST(SessionService, AKeyIsNotFreeWhileAResetThatIsStoredHasNotBeenAcknowledged) {
  Sessions sessions;
  const SessionId id = sessions.create(new_session("one")).state.id;
  ASSERT_TRUE(sessions.command(id, model::Close{}));
  // The store has the reset and the key's new record; the session's actor has not heard of it yet.
  decltype(sessions.start(sessions.service->get_or_create(new_session()))) got;
  sessions.world.hooked.on_written = [&] {
    sessions.world.hooked.on_written = nullptr;
    got = sessions.start(sessions.service->get_or_create(new_session("one")));
    sessions.world.run_loops();
  };
  ASSERT_TRUE(sessions.run(sessions.service->reset(id, "")));
  ASSERT_TRUE(got && got->has_value() && (*got)->has_value());
  EXPECT_FALSE((**got)->is_created);
  EXPECT_EQ((**got)->view.state.id, id);
}

TEST(SessionService, TooManyLostRacesForAKeyAreToldToComeBack) {
  // Somebody is faster every time: whenever the key has been read, its record is written.
  for (const int faster : {kMaxKeyRaces, kMaxKeyRaces - 1}) {
    Sessions sessions;
    int races = 0;
    const std::string key = name_key({"app", "one"});
    sessions.world.hooked.on_get = [&](std::string_view read) {
      if (read != key || sessions.world.loop(0).current() == nullptr || races == faster) return;
      ++races;
      store::Commit commit;
      commit.puts.push_back({.key = key, .value = std::string(SessionId{}.view()), .only_if = {}});
      sessions.world.store.submit(std::move(commit), [](store::CommitResult) {});
    };
    const auto created = sessions.run(sessions.service->create(new_session("one")));
    EXPECT_EQ(races, faster);
    EXPECT_EQ(code_of(created), faster == kMaxKeyRaces ? Code::kOverloaded : Code::kInternal);
  }
}

TEST(SessionService, RemovingASessionFreesItsKey) {
  Sessions sessions;
  const SessionView first = sessions.create(new_session("one"));
  ASSERT_TRUE(sessions.run(sessions.service->remove(first.state.id)));
  EXPECT_EQ(code_of(sessions.get(first.state.id)), Code::kSessionNotFound);
  EXPECT_EQ(code_of(sessions.get(model::SessionKey{"app", "one"})), Code::kSessionNotFound);
  EXPECT_EQ(code_of(sessions.append(first.state.id)), Code::kSessionNotFound);
  EXPECT_EQ(code_of(sessions.run(sessions.service->remove(first.state.id))),
            Code::kSessionNotFound);
  EXPECT_EQ(sessions.run(sessions.service->get_or_create(new_session("one")))->is_created, true);
}

TEST(SessionService, PagesOfEventsAreBoundedAndShowNothingTwice) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(sessions.append(id, kMaxEventPageLimit / 2));
  // Asked for more than a page may have: the most there may be.
  const auto page = sessions.run(sessions.service->events(id, {0}, kMaxEventPageLimit + 1));
  EXPECT_EQ(page->entries.size(), kMaxEventPageLimit);
  EXPECT_TRUE(page->has_more);
  const auto rest =
      sessions.run(sessions.service->events(id, page->next_after, kMaxEventPageLimit));
  EXPECT_EQ(rest->entries.size(), kMaxEventPageLimit / 2 + 1);
  EXPECT_EQ(rest->entries.front().seq, page->next_after.next());
  EXPECT_FALSE(rest->has_more);
  EXPECT_EQ(sessions.run(sessions.service->events(id, {0}))->entries.size(),
            kDefaultEventPageLimit);
  EXPECT_EQ(code_of(sessions.run(sessions.service->events(id, {rest->head.value + 1}))),
            Code::kCursorBeyondHead);
  EXPECT_TRUE(sessions.run(sessions.service->events(id, rest->head))->entries.empty());
}

TEST(SessionService, APageOfEventsHoldsAtMostSoManyBytesAlsoWithAFilter) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  const std::string large = '"' + std::string(1 << 20, 'x') + '"';
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(sessions.command(
        id, model::Append{.events = messages(1, "log", large), .expected_seq = {}}));
  for (const std::vector<std::string>& types : {std::vector<std::string>{}, {"log"}}) {
    const auto page = sessions.run(sessions.service->events(id, {0}, 100, types));
    std::size_t bytes = 0;
    for (const auto& entry : page->entries) bytes += entry.bytes.size();
    EXPECT_GE(bytes, kMaxEventPageBytes);
    EXPECT_LE(bytes, kMaxEventPageBytes + large.size() + 100);
    EXPECT_TRUE(page->has_more);
  }
}

TEST(SessionService, AFilterOfTypesLooksAtALimitedNumberOfEvents) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  for (std::size_t i = 0; i < kMaxExaminedRows / 1'000 + 1; ++i)
    ASSERT_TRUE(sessions.append(id, 1'000));
  ASSERT_TRUE(
      sessions.command(id, model::Append{.events = messages(1, "log"), .expected_seq = {}}));
  const auto page = sessions.run(sessions.service->events(id, {1}, 10, {"log"}));
  EXPECT_TRUE(page->entries.empty());
  EXPECT_EQ(page->next_after, Seq{1 + kMaxExaminedRows});
  EXPECT_TRUE(page->has_more);
  const auto rest = sessions.run(sessions.service->events(id, page->next_after, 10, {"log"}));
  EXPECT_EQ(rest->entries.size(), 1U);
}

TEST(SessionService, ResetHidesHistoryFromReadersAndKeepsTheNumbers) {
  Sessions sessions;
  const SessionId id = sessions.create(new_session("one")).state.id;
  ASSERT_TRUE(sessions.append(id, 5));
  ASSERT_TRUE(sessions.command(id, model::Close{}));
  ASSERT_TRUE(sessions.run(sessions.service->reset(id, "again")));
  const SessionView view = *sessions.get(id);
  EXPECT_EQ(view.state.status, model::Status::kActive);
  EXPECT_EQ(view.state.message_count, 0U);
  const auto page = sessions.run(sessions.service->events(id, {0}));
  ASSERT_EQ(page->entries.size(), 1U);
  EXPECT_EQ(page->entries[0].seq, Seq{8});
  EXPECT_EQ((*sessions.append(id))->first, Seq{9});
}

TEST(SessionService, AfterItIsClosedCallsAreRefused) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  auto closing = [](SessionService& service) -> rt::Task<bool> {
    co_await service.close();
    co_return true;
  };
  ASSERT_TRUE(sessions.run(closing(*sessions.service)));
  EXPECT_EQ(code_of(sessions.append(id)), Code::kShuttingDown);
  EXPECT_EQ(code_of(sessions.run(sessions.service->create(new_session()))), Code::kShuttingDown);
}

// --- who watches ---

TEST(Subscribers, AreCountedAndNamedOnesAreRemembered) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  ASSERT_TRUE(sessions.run(sessions.service->join(id, "alice", true)));
  ASSERT_TRUE(sessions.run(sessions.service->join(id, "alice", true)));
  ASSERT_TRUE(sessions.run(sessions.service->join(id, "anonymous-1", false)));
  EXPECT_EQ(sessions.get(id)->subscribers, 2U);
  EXPECT_EQ(sessions.list().subscribers, (std::vector<std::size_t>{2}));
  for (const char* client : {"alice", "alice", "anonymous-1"}) {
    sessions.service->leave(id, client);
    sessions.world.settle();
  }
  EXPECT_EQ(sessions.get(id)->subscribers, 0U);
  const auto known = sessions.run(sessions.service->subscribers(id));
  ASSERT_EQ(known->size(), 1U);
  EXPECT_EQ((*known)[0].client_id, "alice");
  EXPECT_EQ((*known)[0].connections, 0U);
}

TEST(Subscribers, ThereIsAMostOfThemAndWhoIsAwayMakesRoom) {
  Subscribers subscribers;
  const TimePoint now{1};
  for (std::size_t i = 0; i < kMaxSubscribersPerSession; ++i)
    ASSERT_TRUE(subscribers.connect(fmt::format("client {}", i), true, now));
  EXPECT_EQ(code_of(subscribers.connect("one more", true, now)), Code::kTooManyRequests);
  EXPECT_TRUE(subscribers.connect("client 7", true, now));  // a second connection is no new client
  subscribers.disconnect("client 8", now);
  EXPECT_TRUE(subscribers.connect("one more", true, now));
  EXPECT_EQ(subscribers.connected(), kMaxSubscribersPerSession);
  EXPECT_EQ(subscribers.list().size(), kMaxSubscribersPerSession);
}

TEST(Subscribers, HaveNamesOfLimitedLength) {
  Subscribers subscribers;
  EXPECT_TRUE(subscribers.connect(std::string(kMaxClientIdBytes, 'c'), true, TimePoint{1}));
  EXPECT_EQ(
      code_of(subscribers.connect(std::string(kMaxClientIdBytes + 1, 'c'), true, TimePoint{1})),
      Code::kBadParameter);
}

TEST(Subscribers, WhoLeavesADeletedSessionThatIsBeingAskedForHarmsNobody) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  ASSERT_TRUE(sessions.run(sessions.service->join(id, "alice", true)));
  ASSERT_TRUE(sessions.run(sessions.service->remove(id)));
  // The look makes a new actor for the id, which has not yet found out that there is no session.
  auto looked = sessions.start(sessions.service->get(id));
  auto again = sessions.start(sessions.service->get(id));
  sessions.world.loop(0).run_one();
  sessions.service->leave(id, "alice");
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < 3; ++i) more = sessions.world.loop(i).run_one() || more;
  }
  sessions.world.settle();
  EXPECT_EQ(code_of(**looked), Code::kSessionNotFound);
  EXPECT_EQ(code_of(**again), Code::kSessionNotFound);
}

}  // namespace
}  // namespace reprise::session
