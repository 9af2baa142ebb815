// What fails: tried again, given up, asked for again; and what is trimmed, missed and removed.
#include "session/webhooks/testing.h"

namespace reprise::session {
namespace {

using stream::testing::numbers;
using testing::code_of;
using testing::messages_to;
using testing::Post;

// All attempts of what has failed once, with a little more than the longest jitter.
void fail_for_good(Post& post) {
  for (const Millis delay : kWebhookRetryDelays) post.pass_at_once(delay + delay / 5);
}

struct Failing {
  explicit Failing(WebhookOptions options = {}) : post(options) {
    post.make_app();
    EXPECT_TRUE(post.put("one", messages_to()));
    session = post.sessions.create().state.id;
    post.receiver.answers(500);
  }
  Post post;
  SessionId session;
};

TEST(WebhookLetters, AreTriedAgainWithBackoffAndTheSameId) {
  Failing world;
  Post& post = world.post;
  post.append(world.session);
  EXPECT_EQ(post.get("one").position.retried, 1U);
  EXPECT_EQ(post.get("one").last_error, "it answered 500");
  std::size_t calls = 1;
  for (const Millis delay : kWebhookRetryDelays) {
    EXPECT_EQ(post.receiver.calls.size(), calls);
    post.pass_at_once(delay - Millis{1});
    EXPECT_EQ(post.receiver.calls.size(), calls) << "not yet";
    post.pass_at_once(delay / 5 + Millis{1});
    EXPECT_EQ(post.receiver.calls.size(), ++calls);
  }
  const auto ids = post.receiver.ids();
  EXPECT_EQ(std::ranges::count(ids, ids.front()), std::ssize(ids));
  const WebhookView view = post.get("one");
  EXPECT_EQ(view.position.retried, 0U);
  EXPECT_EQ(view.position.dead, 1U);
  EXPECT_EQ(post.service->probe().given_up, 1U);
  EXPECT_EQ(post.service->probe().failed, calls);
}

TEST(WebhookLetters, AreTriedAgainWhileLaterOnesGoOn) {
  Failing world;
  Post& post = world.post;
  post.append(world.session);
  post.receiver.answers(200);
  post.append(world.session, 3);
  EXPECT_EQ(post.receiver.seqs(), numbers(2, 5));
  EXPECT_EQ(post.get("one").position.cursor, Seq{4});
  post.pass_at_once(std::chrono::seconds{6});
  EXPECT_EQ(post.receiver.seqs(), (std::vector<std::uint64_t>{2, 3, 4, 5, 2}));
  const WebhookView view = post.get("one");
  EXPECT_EQ(view.position.retried, 0U);
  EXPECT_EQ(view.last_error, "");
  EXPECT_TRUE(view.delivered_at);
  EXPECT_EQ(post.records("hr").size(), 0U);
}

rt::Task<bool> run_until(WebhookService& service, rt::CancelScope& scope) {
  co_await service.run(scope);
  co_return true;
}

TEST(WebhookLetters, AreLookedAfterUntilTheServerStops) {
  Failing world;
  Post& post = world.post;
  rt::CancelScope scope;
  const auto running = post.sessions.start(run_until(*post.service, scope));
  post.append(world.session);
  post.receiver.answers(200);
  post.sessions.world.advance(std::chrono::seconds{6} + kWebhookTick);
  EXPECT_EQ(post.receiver.seqs(), (std::vector<std::uint64_t>{2, 2}));
  post.sessions.world.loop(0).post([&scope] { scope.cancel(); });
  post.sessions.world.settle();
  EXPECT_TRUE(running->has_value());
}

TEST(WebhookLetters, SurviveACrash) {
  Failing world;
  world.post.append(world.session, 3);
  const auto next = world.post.restarted();
  next->tick();
  EXPECT_EQ(next->receiver.calls.size(), 0U) << "they wait for their time";
  EXPECT_EQ(next->get("one").position.retried, 3U);
  next->pass_at_once(std::chrono::seconds{6});
  next->sessions.world.settle();
  auto told = next->receiver.seqs();
  std::ranges::sort(told);
  EXPECT_EQ(told, numbers(2, 4));
  EXPECT_EQ(next->records("hr").size(), 0U);
}

TEST(WebhookLetters, ThatWereGivenUpAreKeptListedAndDeliveredOnDemand) {
  Failing world;
  Post& post = world.post;
  post.append(world.session, 3);
  fail_for_good(post);
  fail_for_good(post);
  ASSERT_EQ(post.get("one").position.dead, 3U);
  const auto page = *post.run(post.service->dead_letters("app", "one", Seq{}, 2));
  ASSERT_EQ(page.letters.size(), 2U);
  EXPECT_EQ(page.letters.front().attempts, kWebhookRetryDelays.size() + 1);
  EXPECT_EQ(page.letters.front().status, 500U);
  const auto rest = *post.run(post.service->dead_letters("app", "one", *page.next, 2));
  ASSERT_EQ(rest.letters.size(), 1U);
  EXPECT_FALSE(rest.next);
  EXPECT_GE(kMaxDeadLetterPageLimit, kDefaultDeadLetterPageLimit);

  post.receiver.answers(200);
  post.receiver.calls.clear();
  const Seq place = page.letters.front().place;
  ASSERT_TRUE(post.run(post.service->redeliver("app", "one", place)));
  EXPECT_EQ(post.receiver.seqs(), numbers(2, 2));
  EXPECT_EQ(code_of(post.run(post.service->redeliver("app", "one", place))), Code::kNotFound);
  const Seq other = page.letters.back().place;
  ASSERT_TRUE(post.run(post.service->remove_dead_letter("app", "one", other)));
  EXPECT_EQ(code_of(post.run(post.service->remove_dead_letter("app", "one", other))),
            Code::kNotFound);
  EXPECT_EQ(post.get("one").position.dead, 1U);
  EXPECT_EQ(post.records("hd").size(), 1U);
  EXPECT_EQ(post.get("one").position.retried, 0U);
}

TEST(WebhookLetters, ThatWereGivenUpMakeRoomForNewerOnes) {
  Failing world({.max_dead = 2});
  Post& post = world.post;
  post.append(world.session, 5);
  fail_for_good(post);
  fail_for_good(post);
  EXPECT_EQ(post.get("one").position.dead, 2U);
  EXPECT_EQ(post.records("hd").size(), 2U);
  EXPECT_EQ(post.service->probe().dropped, 3U);
  EXPECT_GT(kMaxDeadLetters, 2U);
}

TEST(WebhookLetters, AreOnlySoManyAndTheRestWaitsInTheOutbox) {
  Failing world({.max_retried = 3});
  Post& post = world.post;
  post.append(world.session, 200);
  EXPECT_EQ(post.get("one").position.retried, 3U);
  EXPECT_EQ(post.receiver.calls.size(), 3U);
  EXPECT_EQ(post.get("one").lag, 197U);
  EXPECT_GT(kMaxLettersRetried, 3U);
  post.receiver.answers(200);
  post.receiver.calls.clear();
  post.pass_at_once(std::chrono::seconds{6});
  EXPECT_EQ(post.receiver.calls.size(), 200U);
  EXPECT_EQ(post.get("one").lag, 0U);
}

TEST(WebhookLetters, WaitWhileTheirWebhookIsGone) {
  Failing world;
  Post& post = world.post;
  post.receiver.answers(410);
  post.append(world.session, 3);
  EXPECT_EQ(post.receiver.calls.size(), 1U + 2U) << "those that were under way";
  const WebhookView gone = post.get("one");
  EXPECT_TRUE(gone.webhook.config.is_disabled);
  EXPECT_TRUE(gone.webhook.is_gone);
  EXPECT_EQ(post.service->probe().gone, 1U);
  post.append(world.session, 5);
  fail_for_good(post);
  EXPECT_EQ(post.receiver.calls.size(), 3U);
  const auto next = post.restarted();
  next->tick();
  EXPECT_EQ(next->receiver.calls.size(), 0U);
  EXPECT_TRUE(next->get("one").webhook.is_gone);
  ASSERT_TRUE(next->put("one", messages_to()));
  EXPECT_FALSE(next->get("one").webhook.is_gone);
  next->tick();
  auto told = next->receiver.seqs();
  std::ranges::sort(told);
  EXPECT_EQ(told, numbers(2, 4)) << "what was promised before";
}

TEST(WebhookLetters, AreKeptBackWhileNothingCanBeWritten) {
  Failing world;
  Post& post = world.post;
  post.receiver.answers(0);
  post.append(world.session, 1);
  post.sessions.world.engine->set_full(true);
  post.receiver.answers(500);
  post.sessions.world.settle();
  EXPECT_EQ(post.receiver.calls.size(), 1U);
  EXPECT_EQ(post.get("one").position.retried, 0U) << "not written";
  post.sessions.world.engine->set_full(false);
  post.receiver.answers(200);
  post.sessions.recover();
  post.pass(std::chrono::seconds{8});
  EXPECT_EQ(post.receiver.seqs(), (std::vector<std::uint64_t>{2, 2}));
  EXPECT_EQ(post.records("hr").size(), 0U);
}

TEST(Outbox, IsTrimmedBehindTheSlowestWebhook) {
  Post post;
  post.make_app();
  ASSERT_TRUE(post.put("quick", messages_to("https://quick")));
  ASSERT_TRUE(post.put("slow", messages_to("https://slow")));
  post.receiver.answers_by([](const std::string& url) { return url == "https://slow" ? 0 : 200; });
  const auto session = post.sessions.create().state.id;
  post.append(session, 10);
  const StreamId outbox = post.outbox();
  post.pass(kOutboxInterval + Millis{1'000});
  EXPECT_EQ(post.first(outbox), Seq{1});
  EXPECT_EQ(post.service->probe().lag, 10U);
  post.receiver.answers(200);
  post.pass(kOutboxInterval + Millis{1'000});
  EXPECT_EQ(post.head(outbox), Seq{10});
  const auto left =
      post.sessions.world.store.read({.stream = outbox, .after = {}}, store::ReadMode::kBlocking);
  EXPECT_TRUE(left->empty());
  post.append(session);
  EXPECT_EQ(post.receiver.seqs("https://slow"), numbers(2, 12));
}

TEST(Outbox, DoesNotGrowForEverForOneThatDoesNotReadIt) {
  Post post({.max_lag = 50});
  post.make_app();
  ASSERT_TRUE(post.put("quick", {.url = "https://quick", .events = {"*"}}));
  ASSERT_TRUE(post.put("slow", messages_to()));
  post.receiver.answers_by([](const std::string& url) { return url == "https://a" ? 0 : 200; });
  const auto session = post.sessions.create().state.id;
  post.append(session, 300);
  const StreamId outbox = post.outbox();
  ASSERT_EQ(post.head(outbox), Seq{301});
  post.pass(kOutboxInterval + Millis{1'000});
  // 251 entries are too old: the creation, which it did not ask for, and 250 messages, of which it
  // is being told 16.
  EXPECT_EQ(post.service->probe().missed, 250U - kMaxCallsPerWebhook);
  post.receiver.answers(200);
  post.pass(kOutboxInterval + Millis{1'000});
  EXPECT_EQ(post.receiver.seqs().size(), kMaxCallsPerWebhook + 50);
  EXPECT_EQ(post.receiver.seqs().back(), 301U);
  EXPECT_EQ(post.get("slow").position.missed, 250U - kMaxCallsPerWebhook);
  EXPECT_EQ(post.receiver.seqs("https://quick"), numbers(1, 301));
  EXPECT_GT(kMaxWebhookLag, 50U);
}

TEST(Outbox, IsReadInPages) {
  Post post;
  post.make_app();
  ASSERT_TRUE(post.put("one", messages_to()));
  const auto session = post.sessions.create().state.id;
  post.receiver.answers(0);
  post.append(session, kOutboxPageEntries * 3);
  const std::string large = '"' + std::string(kOutboxPageBytes, 'x') + '"';
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(post.sessions.command(
        session,
        model::Append{.events = testing::messages(1, "message", large), .expected_seq = {}}));
  post.receiver.answers(200);
  post.sessions.world.settle();
  EXPECT_EQ(post.receiver.seqs(), numbers(2, 1 + kOutboxPageEntries * 3 + 3));
}

TEST(WebhookRemoval, LeavesNothingBehind) {
  Failing world;
  Post& post = world.post;
  ASSERT_TRUE(post.put("two", messages_to("https://b")));
  post.append(world.session, kWebhookSweepBatch + 3);
  fail_for_good(post);
  const StreamId outbox = post.outbox();
  post.receiver.answers(0);
  post.append(world.session, 20);
  ASSERT_TRUE(post.run(post.service->remove("app", "one")));
  EXPECT_EQ(code_of(post.run(post.service->get("app", "one"))), Code::kNotFound);
  EXPECT_EQ(post.records("hw").size(), 1U);
  ASSERT_TRUE(post.run(post.service->remove("app", "two")));
  EXPECT_EQ(post.receiver.in_flight, 0U) << "calls under way are given up";
  EXPECT_EQ(post.records().size(), 0U);
  EXPECT_EQ(post.head(outbox), Seq{});
  post.append(world.session, 5);
  EXPECT_EQ(post.head(outbox), Seq{}) << "nothing is promised any more";
  EXPECT_EQ(code_of(post.run(post.service->remove("app", "two"))), Code::kNotFound);
  EXPECT_EQ(post.service->probe().webhooks, 0U);
}

TEST(WebhookRemoval, GoesWithTheApp) {
  Failing world;
  Post& post = world.post;
  post.append(world.session, 3);
  EXPECT_EQ(code_of(post.run(post.service->remove_app("app"))), Code::kConflict);
  EXPECT_EQ(post.records("hw").size(), 1U) << "a session lives: nothing has changed";
  ASSERT_TRUE(post.sessions.command(world.session, model::Close{}));
  ASSERT_TRUE(post.run(post.service->remove_app("app")));
  EXPECT_EQ(post.records().size(), 0U);
  EXPECT_EQ(code_of(post.run(post.service->remove_app("app"))), Code::kAppNotFound);
}

// A loop may promise something to a webhook whose removal is durable but not known there yet.
TEST(WebhookRemoval, LeavesNothingBehindWhateverRaces) {
  SeededRandom random(stream::testing::test_seed());
  for (int round = 0; round < 30; ++round) {
    Post post({}, nullptr, rt::ManualTime().now(), random.next_u64());
    post.make_app();
    ASSERT_TRUE(post.put("one", messages_to()));
    ASSERT_TRUE(post.put("two", messages_to("https://b")));
    std::vector<SessionId> sessions;
    for (int i = 0; i < 6; ++i) sessions.push_back(post.sessions.create().state.id);
    const StreamId outbox = post.outbox();
    auto& world = post.sessions.world;
    const auto append_some = [&] {
      for (const SessionId id : sessions)
        world.start(world.loop(random.next_u64() % 3),
                    post.sessions.service->call(
                        id, {.action = model::Command(model::Append{.events = testing::messages(1),
                                                                    .expected_seq = {}})}));
    };
    post.receiver.answers(random.next_u64() % 2 == 0 ? 200 : 500);
    append_some();
    world.start(world.loop(1), post.service->remove("app", "one"));
    append_some();
    const auto removed = world.start(world.loop(2), post.service->remove("app", "two"));
    append_some();
    world.settle_shuffled(random);
    ASSERT_TRUE(removed->has_value() && **removed);
    EXPECT_EQ(post.records().size(), 0U);
    EXPECT_EQ(post.head(outbox), Seq{});
    for (const SessionId id : sessions) EXPECT_EQ(post.sessions.get(id)->state.head, Seq{4});
  }
}

// A crash after the removal is durable and before the sweep: the next start goes on with it.
TEST(WebhookRemoval, IsFinishedAfterACrash) {
  Failing world;
  Post& post = world.post;
  post.append(world.session, 3);
  const StreamId outbox = post.outbox();
  std::unique_ptr<store::MemoryEngine> crashed;
  post.sessions.world.hooked.on_written = [&] {
    if (!crashed && post.records("hw").empty()) crashed = post.sessions.contents();
  };
  ASSERT_TRUE(post.run(post.service->remove("app", "one")));
  ASSERT_TRUE(crashed);
  Post next({}, std::move(crashed), post.sessions.world.time.now(), 2);
  EXPECT_GT(next.records().size(), 0U);
  next.tick();
  EXPECT_EQ(next.records().size(), 0U);
  EXPECT_EQ(next.head(outbox), Seq{});
}

}  // namespace
}  // namespace reprise::session
