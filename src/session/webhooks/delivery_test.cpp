// Who is told, in which order, how many at once, and what a crash does to it.
#include <set>

#include "session/webhooks/testing.h"

namespace reprise::session {
namespace {

using model::Status;
using stream::testing::numbers;
using testing::code_of;
using testing::messages_to;
using testing::new_session;
using testing::Post;

TEST(Webhooks, AreToldOfWhatTheyAskedForInOrder) {
  Post post;
  post.make_app();
  ASSERT_TRUE(post.put("messages", messages_to()));
  ASSERT_TRUE(post.put("statuses", {.url = "https://b", .statuses = {Status::kFailed}}));
  ASSERT_TRUE(post.put("all", {.url = "https://c", .events = {"*"}}));
  const auto session = post.sessions.create(new_session("one")).state;
  post.append(session.id, 3);
  ASSERT_TRUE(post.sessions.command(session.id, model::Move{.to = Status::kPaused}));
  ASSERT_TRUE(post.sessions.command(session.id, model::Move{.to = Status::kFailed}));
  const std::uint64_t last = post.sessions.get(session.id)->state.head.value;
  EXPECT_EQ(post.receiver.seqs(), numbers(2, 4));
  EXPECT_EQ(post.receiver.seqs("https://b"), numbers(last, last));
  EXPECT_EQ(post.receiver.seqs("https://c"), numbers(1, last));
  const std::string& body = post.receiver.calls.front().body;
  EXPECT_NE(body.find(session.id.to_string()), std::string::npos) << body;
  EXPECT_EQ(post.service->probe().delivered, 3 + 1 + last);
}

TEST(Webhooks, AreSignedWithTheSecretAndAfterAChangeWithBoth) {
  Post post;
  post.make_app();
  const Webhook made = post.put("one", messages_to())->webhook;
  const auto session = post.sessions.create().state.id;
  post.append(session);
  const auto signature_of = [&](const Webhook& webhook) {
    const auto& call = post.receiver.calls.back();
    return webhook_signature(webhook, testing::header_of(call, "webhook-id"),
                             post.sessions.world.time.now(), call.body);
  };
  const auto sent = [&] {
    return testing::header_of(post.receiver.calls.back(), "webhook-signature");
  };
  EXPECT_EQ(sent(), signature_of(made));
  EXPECT_EQ(testing::header_of(post.receiver.calls.back(), "webhook-timestamp"),
            std::to_string(post.sessions.world.time.now().ms / 1000));
  const Webhook renewed = post.run(post.service->renew_secret("app", "one"))->webhook;
  EXPECT_NE(renewed.secret, made.secret);
  post.append(session);
  EXPECT_NE(sent().find(signature_of(made)), std::string::npos) << "the old one still counts";
  EXPECT_TRUE(sent().starts_with(signature_of(renewed).substr(0, 20)));
  post.pass_at_once(kOldSecretLifetime);
  post.append(session);
  EXPECT_EQ(sent().find(signature_of(made)), std::string::npos);
  EXPECT_EQ(code_of(post.run(post.service->renew_secret("app", "two"))), Code::kNotFound);
}

TEST(Webhooks, CostNothingWhileAnAppHasNone) {
  Post post;
  post.make_app("other");
  ASSERT_TRUE(post.put("one", {.url = "https://a", .events = {"*"}}, "other"));
  const auto before = post.records();
  const auto session = post.sessions.create().state.id;
  post.append(session, 5);
  EXPECT_EQ(post.receiver.calls.size(), 0U);
  EXPECT_EQ(post.records().size(), before.size());
  EXPECT_EQ(post.head(post.outbox("other")), Seq{});
}

TEST(Webhooks, AreToldOfNothingBeforeItIsDurable) {
  Post post;
  post.make_app();
  ASSERT_TRUE(post.put("one", messages_to()));
  const auto session = post.sessions.create().state.id;
  post.sessions.world.is_holding_commits = true;
  const auto answer = post.sessions.start(post.sessions.service->call(
      session, {.action = model::Command(model::Append{.events = testing::messages(1)})}));
  post.sessions.world.settle();
  EXPECT_FALSE(answer->has_value());
  EXPECT_EQ(post.receiver.calls.size(), 0U);
  post.sessions.world.is_holding_commits = false;
  post.sessions.world.settle();
  EXPECT_EQ(post.receiver.seqs(), numbers(2, 2));
}

TEST(Webhooks, AreNotToldOfWhatWasBeforeThem) {
  Post post;
  post.make_app();
  ASSERT_TRUE(post.put("first", messages_to()));
  const auto session = post.sessions.create().state.id;
  post.append(session, 2);
  ASSERT_TRUE(post.put("second", messages_to("https://b")));
  post.append(session);
  EXPECT_EQ(post.receiver.seqs("https://b"), numbers(4, 4));
  // One that is made anew under an old name is another.
  post.receiver.answers(0);
  post.append(session);
  ASSERT_TRUE(post.run(post.service->remove("app", "second")));
  ASSERT_TRUE(post.put("second", messages_to("https://c")));
  post.receiver.answers(200);
  post.append(session);
  EXPECT_EQ(post.receiver.seqs("https://c"), numbers(6, 6));
}

TEST(Webhooks, KeepWhatWasPromisedWhenTheyChange) {
  Post post;
  post.make_app();
  ASSERT_TRUE(post.put("one", messages_to()));
  const auto session = post.sessions.create().state.id;
  ASSERT_TRUE(post.put("one", {.url = "https://a", .events = {"message"}, .is_disabled = true}));
  post.append(session);
  EXPECT_EQ(post.receiver.calls.size(), 0U) << "nothing is promised to one that is disabled";
  const auto again = post.put("one", messages_to());
  EXPECT_FALSE(again->is_new);
  post.receiver.answers(0);
  post.append(session, 40);
  ASSERT_TRUE(post.put("one", {.url = "https://a", .events = {"log"}}));
  post.receiver.answers(200);
  post.sessions.world.settle();
  EXPECT_EQ(post.receiver.seqs(), numbers(3, 42));
}

TEST(Webhooks, SurviveACrashBetweenAnEventAndItsDelivery) {
  Post post;
  post.make_app();
  ASSERT_TRUE(post.put("one", messages_to()));
  const auto session = post.sessions.create().state.id;
  post.append(session, 2);
  post.receiver.answers(0);
  post.append(session, 3);
  ASSERT_EQ(post.receiver.in_flight, 3U);
  const auto next = post.restarted();
  next->tick();
  EXPECT_EQ(next->receiver.seqs(), numbers(4, 6)) << "what was delivered is not told again";
  const auto told = post.receiver.ids();
  EXPECT_EQ(next->receiver.ids(), std::vector(told.begin() + 2, told.end())) << "the same ids";
  const auto third = next->restarted();
  third->tick();
  EXPECT_EQ(third->receiver.calls.size(), 0U);
  third->append(session);
  EXPECT_EQ(third->receiver.seqs(), numbers(7, 7));
}

// A commit of unknown outcome tells nobody, but what it wrote was promised.
TEST(Webhooks, AreToldOfWhatAFailedCommitWroteAfterAll) {
  Post post;
  post.make_app();
  ASSERT_TRUE(post.put("one", messages_to()));
  const auto session = post.sessions.create().state.id;
  post.sessions.world.engine->fail_write(1, Code::kNoSpace, store::MemoryEngine::Outcome::kApplied);
  EXPECT_FALSE(post.sessions.append(session));
  post.sessions.recover();
  EXPECT_EQ(post.receiver.calls.size(), 0U);
  post.pass(kOutboxInterval + Millis{1'000});
  EXPECT_EQ(post.receiver.seqs(), numbers(2, 2));
}

TEST(Webhooks, HaveOnlySoManyCallsAtOnce) {
  Post post({.max_calls = kMaxCallsPerWebhook + 4});
  post.make_app();
  ASSERT_TRUE(post.put("a", messages_to()));
  const auto session = post.sessions.create().state.id;
  post.receiver.answers(0);
  post.append(session, 100);
  EXPECT_EQ(post.receiver.in_flight, kMaxCallsPerWebhook);
  ASSERT_TRUE(post.put("b", messages_to("https://b")));
  post.append(session, 100);
  EXPECT_EQ(post.receiver.in_flight, kMaxCallsPerWebhook + 4);
  post.receiver.answers(200);
  post.sessions.world.settle();
  EXPECT_EQ(post.receiver.most_in_flight, kMaxCallsPerWebhook + 4);
  EXPECT_EQ(post.receiver.seqs(), numbers(2, 201));
  EXPECT_EQ(post.receiver.seqs("https://b"), numbers(102, 201));
  EXPECT_GE(kMaxWebhookCalls, kMaxCallsPerWebhook);
}

TEST(Webhooks, ThatHangCostOnlyTheirOwnQueue) {
  Post post({.max_calls = kMaxCallsPerWebhook + 1});
  post.make_app();
  ASSERT_TRUE(post.put("hangs", messages_to("https://hangs")));
  ASSERT_TRUE(post.put("works", messages_to("https://works")));
  post.receiver.answers_by([](const std::string& url) { return url == "https://hangs" ? 0 : 200; });
  const auto session = post.sessions.create().state.id;
  post.append(session, 200);
  EXPECT_EQ(post.receiver.seqs("https://works"), numbers(2, 201));
  EXPECT_EQ(post.receiver.in_flight, kMaxCallsPerWebhook);
  // Its calls time out: from then on it is tried once at a time, and others have the rest.
  post.receiver.answers_by(
      [](const std::string& url) { return url == "https://hangs" ? -1 : 200; });
  post.receiver.answers_by([](const std::string& url) { return url == "https://hangs" ? 0 : 200; });
  post.sessions.world.settle();
  post.append(session, 10);
  EXPECT_EQ(post.receiver.seqs("https://works"), numbers(2, 211));
}

TEST(Webhooks, AreCalledOnceAtATimeWhileTheyFail) {
  Post post;
  post.make_app();
  ASSERT_TRUE(post.put("one", messages_to()));
  const auto session = post.sessions.create().state.id;
  post.receiver.answers(500);
  post.append(session);
  post.receiver.answers(0);
  post.append(session, 50);
  EXPECT_EQ(post.receiver.in_flight, 1U);
  post.receiver.answers(200);
  post.sessions.world.settle();
  EXPECT_EQ(post.receiver.seqs(), numbers(2, 52)) << "the rest goes on in order";
  EXPECT_GT(post.receiver.most_in_flight, 0U);
}

TEST(Webhooks, AreOnlySoMany) {
  Post post({.max_webhooks = kMaxWebhooksPerApp + 1});
  EXPECT_EQ(code_of(post.put("x", messages_to())), Code::kAppNotFound);
  post.make_app();
  post.make_app("other");
  EXPECT_EQ(code_of(post.put("x", {.url = "http://a"})), Code::kInvalid);
  for (std::size_t i = 0; i < kMaxWebhooksPerApp; ++i)
    ASSERT_TRUE(post.put(std::to_string(i), messages_to()));
  EXPECT_EQ(code_of(post.put("more", messages_to())), Code::kTooManyRequests);
  EXPECT_TRUE(post.put("0", messages_to())) << "one that is there may change";
  EXPECT_TRUE(post.put("x", messages_to(), "other"));
  EXPECT_EQ(code_of(post.put("y", messages_to(), "other")), Code::kTooManyRequests);
  EXPECT_EQ(post.service->probe().refused, 2U);
  EXPECT_EQ(post.run(post.service->list("app"))->size(), kMaxWebhooksPerApp);
  EXPECT_EQ(code_of(post.run(post.service->list("nobody"))), Code::kAppNotFound);
  EXPECT_LT(kMaxWebhooksPerApp, kMaxWebhooks);
}

// Whatever races: what is appended after a webhook was made is told, once each without a crash.
TEST(Webhooks, MissNothingWhileEverythingRaces) {
  SeededRandom random(stream::testing::test_seed());
  for (int round = 0; round < 20; ++round) {
    Post post({}, nullptr, rt::ManualTime().now(), random.next_u64());
    post.make_app();
    std::vector<SessionId> sessions;
    for (int i = 0; i < 4; ++i) sessions.push_back(post.sessions.create().state.id);
    ASSERT_TRUE(post.put("first", messages_to()));
    auto& world = post.sessions.world;
    const auto append = [&](SessionId id) {
      return world.start(
          world.loop(random.next_u64() % 3),
          post.sessions.service->call(
              id, {.action = model::Command(model::Append{.events = testing::messages(1)})}));
    };
    for (int i = 0; i < 20; ++i) append(sessions[random.next_u64() % sessions.size()]);
    const auto second =
        world.start(world.loop(1), post.service->put("app", "second", messages_to("https://b")));
    for (int i = 0; i < 20; ++i) append(sessions[random.next_u64() % sessions.size()]);
    world.settle_shuffled(random);
    ASSERT_TRUE(second->has_value() && (**second));
    const std::size_t until_now = post.receiver.seqs("https://b").size();
    for (int i = 0; i < 20; ++i) append(sessions[random.next_u64() % sessions.size()]);
    world.settle_shuffled(random);
    EXPECT_EQ(post.receiver.seqs().size(), 60U);
    EXPECT_EQ(post.receiver.seqs("https://b").size(), until_now + 20);
    const auto ids = post.receiver.ids();
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), ids.size()) << "none twice";
  }
}

}  // namespace
}  // namespace reprise::session
