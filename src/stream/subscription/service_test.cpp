#include "stream/subscription/service.h"

#include <deque>

#include "stream/testing.h"

namespace reprise::stream {
namespace {

using testing::World;
using Kind = SubscriptionService::Claimed::Kind;

// The other side of webhooks: it writes down who was called and answers when told to.
class TestHooks final : public WebhookSender {
 public:
  explicit TestHooks(rt::Loop& loop) : answered_(loop) {}
  Result<> check(std::string_view) const override { return {}; }
  rt::Task<Result<WebhookReply>> call(WebhookCall call, rt::CancelScope& scope) override {
    calls.push_back(std::move(call));
    ++in_flight;
    most_in_flight = std::max(most_in_flight, in_flight);
    while (answers.empty() && !scope.is_cancelled()) (void)co_await answered_.wait(scope);
    --in_flight;
    if (scope.is_cancelled()) co_return fail(Code::kCancelled, "given up");
    auto answer = answers.front();
    answers.pop_front();
    co_return answer;
  }
  void answer(int status, std::string body = "{}") {
    answers.push_back(WebhookReply{status, std::move(body)});
    answered_.notify();
  }

  std::vector<WebhookCall> calls;
  std::deque<Result<WebhookReply>> answers;
  std::size_t in_flight = 0;
  std::size_t most_in_flight = 0;

 private:
  rt::Signal answered_;
};

// Three loops; a second one over a copy of the first one's engine is a restart.
struct Server {
  explicit Server(SubscriptionOptions options = {},
                  std::unique_ptr<store::MemoryEngine> contents = nullptr,
                  TimePoint start = rt::ManualTime().now(), std::uint64_t seed = 1)
      : world(3, std::move(contents)),
        hubs(world.loops()),
        random(seed),
        hooks(world.loop(0)),
        async(world.store, world.loop(0), world.pool) {
    world.time.advance(start - world.time.now());
    logs = std::make_unique<LogService>(world.loops(), world.store, hubs, world.pool, world.time,
                                        random);
    service = std::make_unique<SubscriptionService>(world.loop(0), *logs, async, world.time, random,
                                                    hooks, options);
    EXPECT_TRUE(world.run(service->load()));
  }
  ~Server() {
    world.is_holding_commits = false;
    world.run(closed());
  }
  rt::Task<bool> closed() {
    co_await service->close();
    co_await logs->close();
    co_return true;
  }
  std::unique_ptr<Server> restarted(SubscriptionOptions options = {}) {
    return std::make_unique<Server>(options, world.engine->copy(), world.time.now(), 2);
  }

  void create(std::string path, std::string body = "") {
    ASSERT_TRUE(world.run(
        world.loop(1),
        logs->create(std::move(path), {.content_type = "text/plain", .body = std::move(body)})));
  }
  void create_json(std::string path) {
    ASSERT_TRUE(world.run(logs->create(std::move(path), {.content_type = "application/json"})));
  }
  void append(std::string path, std::string body = "x") {
    ASSERT_TRUE(world.run(
        world.loop(2),
        logs->append(std::move(path), {.content_type = "text/plain", .body = std::move(body)})));
  }
  Result<SubscriptionView> put(std::string id, SubscriptionConfig config) {
    return world.run(world.loop(1), service->put(std::move(id), std::move(config), "http://here"));
  }
  SubscriptionView get(std::string id) { return *world.run(service->get(std::move(id))); }
  Result<SubscriptionService::Claimed> claim(std::string id, std::string worker) {
    return world.run(world.loop(1), service->claim(std::move(id), std::move(worker)));
  }
  Result<bool> acknowledge(const std::string& id, const SubscriptionService::Claimed& claimed,
                           std::vector<Ack> acks, bool is_done) {
    return world.run(world.loop(1),
                     service->acknowledge(id, {claimed.token, claimed.generation, claimed.wake_id},
                                          std::move(acks), is_done));
  }
  void tick() { ASSERT_TRUE(world.run(service->tick())); }
  // Time passes, and what is due is looked after.
  void pass(Millis time) {
    world.advance(time);
    tick();
  }
  std::uint64_t tail(std::string path) {
    return world.run(logs->tail_in_store(std::move(path)))->value_or(LogTail{}).tail.value;
  }
  std::size_t count_records(char first) {
    const std::string begin(1, first);
    const std::string end(1, static_cast<char>(first + 1));
    return world.store
        .scan({.begin = begin, .end = end, .limit = 100'000}, store::ReadMode::kBlocking)
        ->records.size();
  }

  World world;
  Hubs hubs;
  SeededRandom random;
  TestHooks hooks;
  store::AsyncStore async;
  std::unique_ptr<LogService> logs;
  std::unique_ptr<SubscriptionService> service;
};

SubscriptionConfig webhook(std::string pattern) {
  SubscriptionConfig config;
  config.pattern = std::move(pattern);
  config.webhook_url = "https://example.com/hook";
  return config;
}

SubscriptionConfig pull(std::vector<std::string> streams) {
  SubscriptionConfig config;
  config.type = SubscriptionType::kPullWake;
  config.streams = std::move(streams);
  config.wake_stream = "wakes";
  return config;
}

TEST(SubscriptionService, AWebhookIsToldOnceAndAgainOfWhatCameMeanwhile) {
  Server server;
  server.create("events/a");
  ASSERT_TRUE(server.put("s", webhook("events/*"))->is_new);
  EXPECT_FALSE(server.put("s", webhook("events/*"))->is_new);
  EXPECT_EQ(server.put("s", webhook("other/*")).error().code, Code::kConflict);
  server.append("events/a");
  server.append("events/a");
  ASSERT_EQ(server.hooks.calls.size(), 1U);
  EXPECT_NE(server.hooks.calls[0].body.find("0000000000000001_"), std::string::npos);
  server.hooks.answer(200, R"({"done":true})");
  server.world.settle();
  // The second append came after the first call: it is another wake.
  ASSERT_EQ(server.hooks.calls.size(), 2U);
  EXPECT_NE(server.hooks.calls[1].body.find("0000000000000002_"), std::string::npos);
  server.hooks.answer(200, R"({"done":true})");
  server.world.settle();
  EXPECT_EQ(server.get("s").links.at("events/a").acked, Seq{2});
  server.pass(Millis{3'600'000});
  EXPECT_EQ(server.hooks.calls.size(), 2U);
}

TEST(SubscriptionService, AStreamThatMatchesLaterIsToldFromItsFirstData) {
  Server server;
  server.create("events/old", "before");
  ASSERT_TRUE(server.put("s", webhook("events/**")));
  EXPECT_EQ(server.get("s").links.at("events/old").acked, Seq{1});
  EXPECT_TRUE(server.hooks.calls.empty());
  server.create("events/new", "first");
  ASSERT_EQ(server.hooks.calls.size(), 1U);
  EXPECT_NE(server.hooks.calls[0].body.find(R"("acked_offset":"-1")"), std::string::npos);
  server.create("elsewhere", "first");
  EXPECT_EQ(server.get("s").links.size(), 2U);
}

TEST(SubscriptionService, AFailingWebhookIsTriedLaterAndLaterAlsoAfterARestart) {
  Server first;
  first.create("events/a");
  ASSERT_TRUE(first.put("s", webhook("events/*")));
  first.append("events/a");
  first.hooks.answer(500);
  first.world.settle();
  EXPECT_EQ(first.get("s").subscription.failures, 1U);
  first.pass(Millis{700});
  EXPECT_EQ(first.hooks.calls.size(), 1U);
  first.pass(Millis{600});
  EXPECT_EQ(first.hooks.calls.size(), 2U);
  first.hooks.answers.push_back(fail(Code::kIo, "refused"));
  first.hooks.answer(302);
  first.world.settle();
  EXPECT_EQ(first.get("s").subscription.failures, 2U);
  // The schedule is kept, and so is the wake.
  const auto second = first.restarted();
  second->tick();
  EXPECT_TRUE(second->hooks.calls.empty());
  second->pass(Millis{2'500});
  ASSERT_EQ(second->hooks.calls.size(), 1U);
  EXPECT_NE(second->hooks.calls[0].body.find(R"("generation":1,)"), std::string::npos);
  EXPECT_NE(second->hooks.calls[0].body.find("http://here/v1/stream/"), std::string::npos);
  second->hooks.answer(200, R"({"done":true})");
  second->world.settle();
  EXPECT_EQ(second->get("s").subscription.failures, 0U);
  EXPECT_EQ(second->get("s").links.at("events/a").acked, Seq{1});
}

TEST(SubscriptionService, AWebhookThatSaysNothingHasALeaseAndIsWokenWhenItEnds) {
  Server server;
  server.create("events/a");
  ASSERT_TRUE(server.put("s", webhook("events/*")));
  server.append("events/a");
  server.hooks.answer(202, "not json");
  server.pass(Millis{29'000});
  EXPECT_EQ(server.hooks.calls.size(), 1U);
  server.pass(Millis{2'000});
  ASSERT_EQ(server.hooks.calls.size(), 2U);
  EXPECT_NE(server.hooks.calls[1].body.find(R"("generation":2,)"), std::string::npos);
}

TEST(SubscriptionService, ACallbackBeforeTheAnswerCountsAndTheNextWakeIsTold) {
  Server server;
  server.create("events/a");
  ASSERT_TRUE(server.put("s", webhook("events/*")));
  server.append("events/a");
  server.append("events/a");
  const Subscription out = server.get("s").subscription;
  const std::string& body = server.hooks.calls.at(0).body;
  const std::string_view name = R"("callback_token":")";
  const std::size_t at = body.find(name) + name.size();
  const std::string token = body.substr(at, body.find('"', at) - at);
  // Done with the first append: the second is a new wake, told once the first call has ended.
  const auto next = server.world.run(server.service->acknowledge(
      "s", {token, out.generation, out.wake_id}, {{"events/a", Seq{1}}}, true));
  EXPECT_TRUE(next && *next);
  EXPECT_EQ(server.hooks.calls.size(), 1U);
  server.hooks.answer(500);
  server.world.settle();
  ASSERT_EQ(server.hooks.calls.size(), 2U);
  EXPECT_NE(server.hooks.calls[1].body.find(R"("generation":2,)"), std::string::npos);
  EXPECT_EQ(server.get("s").subscription.failures, 0U);
}

TEST(SubscriptionService, AWebhookIsNotClaimed) {
  Server server;
  ASSERT_TRUE(server.put("s", webhook("events/*")));
  EXPECT_EQ(server.claim("s", "w").error().code, Code::kInvalid);
}

TEST(SubscriptionService, OneWorkerHoldsTheLeaseAndAnOldOneIsFenced) {
  Server server;
  server.create("a");
  server.create_json("wakes");
  ASSERT_TRUE(server.put("s", pull({"a"})));
  EXPECT_EQ(server.claim("s", "w1")->kind, Kind::kNothingPending);
  server.append("a");
  EXPECT_EQ(server.tail("wakes"), 1U);
  const auto first = server.claim("s", "w1");
  ASSERT_EQ(first->kind, Kind::kClaimed);
  const auto refused = server.claim("s", "w2");
  EXPECT_EQ(refused->kind, Kind::kHeldByAnother);
  EXPECT_EQ(refused->holder, "w1");
  // Renewed, it lasts; then it ends, and the work is announced and claimed anew.
  server.pass(Millis{20'000});
  ASSERT_FALSE(*server.acknowledge("s", *first, {}, false));
  server.pass(Millis{20'000});
  EXPECT_EQ(server.claim("s", "w2")->kind, Kind::kHeldByAnother);
  server.world.advance(Millis{15'000});
  EXPECT_EQ(server.acknowledge("s", *first, {{"a", Seq{1}}}, true).error().code, Code::kFenced);
  EXPECT_EQ(server.tail("wakes"), 2U);
  const auto second = server.claim("s", "w2");
  ASSERT_EQ(second->kind, Kind::kClaimed);
  EXPECT_EQ(second->generation, first->generation + 1);
  EXPECT_EQ(server.acknowledge("s", *first, {{"a", Seq{1}}}, true).error().code, Code::kFenced);
  EXPECT_FALSE(*server.acknowledge("s", *second, {{"a", Seq{1}}}, true));
  EXPECT_EQ(server.acknowledge("s", *second, {}, true).error().code, Code::kFenced);
  EXPECT_EQ(server.claim("s", "w2")->kind, Kind::kNothingPending);
}

TEST(SubscriptionService, OfManyClaimsAtOnceOneSucceeds) {
  Server server;
  server.create("a");
  server.create_json("wakes");
  ASSERT_TRUE(server.put("s", pull({"a"})));
  server.append("a");
  std::vector<World::Place<Result<SubscriptionService::Claimed>>> answers;
  for (std::size_t i = 0; i < 30; ++i)
    answers.push_back(server.world.start(server.world.loop(i % 3),
                                         server.service->claim("s", std::to_string(i))));
  server.world.settle();
  std::size_t claimed = 0;
  for (const auto& answer : answers) claimed += (**answer)->kind == Kind::kClaimed ? 1 : 0;
  EXPECT_EQ(claimed, 1U);
}

TEST(SubscriptionService, ALeaseSurvivesARestartAndSoDoesItsToken) {
  Server first;
  first.create("a");
  first.create_json("wakes");
  ASSERT_TRUE(first.put("s", pull({"a"})));
  first.append("a");
  const auto claimed = first.claim("s", "w1");
  const auto second = first.restarted();
  EXPECT_EQ(second->claim("s", "w2")->holder, "w1");
  second->append("a");
  const auto done = second->acknowledge("s", *claimed, {{"a", Seq{1}}}, true);
  EXPECT_TRUE(done && *done);
  EXPECT_EQ(second->claim("s", "w2")->kind, Kind::kClaimed);
}

TEST(SubscriptionService, ATokenIsNeededAndCountsForADay) {
  Server server;
  server.create("a");
  server.create_json("wakes");
  SubscriptionConfig config = pull({"a"});
  config.lease_ttl_ms = 600'000;
  ASSERT_TRUE(server.put("s", config));
  server.append("a");
  auto claimed = *server.claim("s", "w");
  auto forged = claimed;
  forged.token[3] = forged.token[3] == 'x' ? 'y' : 'x';
  EXPECT_EQ(server.acknowledge("s", forged, {}, false).error().code, Code::kUnauthorized);
  for (Millis passed{0}; passed + Millis{500'000} < kTokenLifetime; passed += Millis{500'000}) {
    server.world.time.advance(Millis{500'000});
    ASSERT_TRUE(server.acknowledge("s", claimed, {}, false));
  }
  server.world.time.advance(Millis{500'000});
  EXPECT_EQ(server.acknowledge("s", claimed, {}, false).error().code, Code::kForbidden);
}

TEST(SubscriptionService, ReleasedWorkIsAnnouncedAgain) {
  Server server;
  server.create("a");
  server.create_json("wakes");
  ASSERT_TRUE(server.put("s", pull({"a"})));
  server.append("a");
  const auto claimed = server.claim("s", "w1");
  ASSERT_TRUE(server.world.run(
      server.service->release("s", {claimed->token, claimed->generation, claimed->wake_id})));
  EXPECT_EQ(server.tail("wakes"), 2U);
  EXPECT_EQ(server.claim("s", "w2")->kind, Kind::kClaimed);
}

TEST(SubscriptionService, AWakeStreamThatIsMissingIsTriedAgain) {
  Server server;
  server.create("a");
  ASSERT_TRUE(server.put("s", pull({"a"})));
  server.append("a");
  EXPECT_EQ(server.get("s").subscription.failures, 1U);
  server.create_json("wakes");
  server.pass(Millis{1'300});
  EXPECT_EQ(server.tail("wakes"), 1U);
  EXPECT_EQ(server.get("s").subscription.failures, 0U);
}

TEST(SubscriptionService, AWakeStreamDoesNotWakeItsOwnSubscription) {
  Server server;
  server.create("a");
  server.create_json("wakes");
  SubscriptionConfig config = pull({});
  config.pattern = "**";
  ASSERT_TRUE(server.put("s", config));
  EXPECT_FALSE(server.get("s").links.contains("wakes"));
  server.append("a");
  const auto claimed = server.claim("s", "w");
  EXPECT_FALSE(*server.acknowledge("s", *claimed, {{"a", Seq{1}}}, true));
  EXPECT_EQ(server.tail("wakes"), 1U);
}

TEST(SubscriptionService, LinksComeAndGoWithTheirStreams) {
  Server server;
  server.create("by/pattern", "x");
  server.create("listed", "x");
  SubscriptionConfig config = webhook("by/*");
  config.streams = {"listed", "not/yet"};
  ASSERT_TRUE(server.put("s", config));
  EXPECT_EQ(server.get("s").links.at("not/yet").acked, std::nullopt);
  ASSERT_TRUE(server.world.run(server.logs->remove("by/pattern")));
  ASSERT_TRUE(server.world.run(server.logs->remove("listed")));
  const auto links = server.get("s").links;
  EXPECT_FALSE(links.contains("by/pattern"));
  // What was asked for by name stays, and begins anew.
  EXPECT_EQ(links.at("listed").acked, std::nullopt);
  server.create("listed", "again");
  ASSERT_EQ(server.hooks.calls.size(), 1U);
  EXPECT_NE(server.hooks.calls[0].body.find(R"("acked_offset":"-1")"), std::string::npos);
  // A link by name and by pattern is both.
  ASSERT_TRUE(server.world.run(server.service->add_streams("s", {"by/both", "other"})));
  server.create("by/both");
  ASSERT_TRUE(server.world.run(server.service->remove_stream("s", "by/both")));
  ASSERT_TRUE(server.world.run(server.service->remove_stream("s", "other")));
  ASSERT_TRUE(server.world.run(server.service->remove_stream("s", "never")));
  EXPECT_FALSE(server.get("s").links.at("by/both").is_explicit);
  EXPECT_FALSE(server.get("s").links.contains("other"));
  ASSERT_TRUE(server.world.run(server.service->remove("s")));
  EXPECT_EQ(server.count_records('T'), 0U);
  EXPECT_EQ(server.count_records('S'), 1U);  // the keys
  EXPECT_EQ(server.world.run(server.service->get("s")).error().code, Code::kNotFound);
}

TEST(SubscriptionService, WhatHappenedWhileNobodyLookedIsFoundAtTheStart) {
  Server first;
  first.create("events/a", "1");
  first.create("events/gone", "1");
  first.create("events/remade", "1");
  ASSERT_TRUE(first.put("s", webhook("events/*")));
  // Changes of the streams that do not get here, as when the process ends in between.
  first.logs->set_listener({});
  first.append("events/a");
  first.create("events/new", "1");
  ASSERT_TRUE(first.world.run(first.logs->remove("events/gone")));
  ASSERT_TRUE(first.world.run(first.logs->remove("events/remade")));
  first.create("events/remade");
  const auto second = first.restarted();
  second->tick();
  ASSERT_EQ(second->hooks.calls.size(), 1U);
  const auto links = second->get("s").links;
  EXPECT_EQ(links.size(), 3U);
  EXPECT_EQ(links.at("events/a").acked, Seq{1});
  EXPECT_EQ(links.at("events/new").acked, std::nullopt);
  EXPECT_EQ(links.at("events/remade").acked, std::nullopt);
  second->hooks.answer(200, R"({"done":true})");
  second->world.settle();
  EXPECT_EQ(second->get("s").links.at("events/new").acked, Seq{1});
  EXPECT_EQ(second->get("s").links.at("events/a").acked, Seq{2});
}

TEST(SubscriptionService, NewsThatFoundNoRoomAreMadeUpFor) {
  Server server({.max_news = 0});
  server.create("events/a");
  ASSERT_TRUE(server.put("s", webhook("events/*")));
  server.append("events/a");
  server.create("events/b", "x");
  EXPECT_TRUE(server.hooks.calls.empty());
  EXPECT_EQ(server.service->probe().lost_news, 2U);
  server.pass(Millis(kLookAtEverythingInterval) - Millis{100});
  EXPECT_TRUE(server.hooks.calls.empty());
  server.pass(Millis{100});
  ASSERT_EQ(server.hooks.calls.size(), 1U);
  EXPECT_NE(server.hooks.calls[0].body.find("events/a"), std::string::npos);
}

TEST(SubscriptionService, ThereIsALimitOfSubscriptionsAndOfCallsAtOnce) {
  Server server({.max_subscriptions = 3, .max_webhooks_in_flight = 2});
  server.create("events/a");
  for (const char* id : {"1", "2", "3"}) ASSERT_TRUE(server.put(id, webhook("events/*")));
  EXPECT_EQ(server.put("4", webhook("events/*")).error().code, Code::kTooManyRequests);
  EXPECT_EQ(server.service->probe().refused, 1U);
  EXPECT_FALSE(server.put("3", webhook("events/*"))->is_new);
  server.append("events/a");
  EXPECT_EQ(server.hooks.calls.size(), 2U);
  for (int i = 0; i < 3; ++i) {
    server.hooks.answer(200, R"({"done":true})");
    server.world.settle();
  }
  EXPECT_EQ(server.hooks.calls.size(), 3U);
  EXPECT_EQ(server.hooks.most_in_flight, 2U);
  ASSERT_TRUE(server.world.run(server.service->remove("1")));
  EXPECT_TRUE(server.put("4", webhook("events/*")));
}

TEST(SubscriptionService, AWakeTellsOfAtMostSoManyStreamsAndTheRestFollows) {
  Server server;
  ASSERT_TRUE(server.put("s", webhook("events/*")));
  // Created before the first is told: all of them wait for it.
  for (std::size_t i = 0; i <= kMaxStreamsTold + 1; ++i)
    server.create("events/" + std::to_string(i), "x");
  for (int i = 0; i < 2; ++i) {
    server.hooks.answer(200, R"({"done":true})");
    server.world.settle();
  }
  ASSERT_EQ(server.hooks.calls.size(), 3U);  // the first one alone, the most, the last one
  EXPECT_EQ(server.get("s").subscription.snapshot.size(), 1U);
}

TEST(SubscriptionService, ADiskThatIsFullDelaysAWakeAndLosesNone) {
  Server server;
  server.create("events/a");
  ASSERT_TRUE(server.put("s", webhook("events/*")));
  // The append is durable; what it means here cannot be stored.
  server.world.hooked.on_written = [&] {
    server.world.engine->set_full(true);
    server.world.hooked.on_written = {};
  };
  server.append("events/a");
  EXPECT_TRUE(server.hooks.calls.empty());
  server.world.engine->set_full(false);
  server.world.advance(Millis{5'000});
  server.tick();
  EXPECT_EQ(server.hooks.calls.size(), 1U);
}

TEST(SubscriptionService, ItsLimitsAreThoseOfTheServer) {
  const SubscriptionOptions options;
  EXPECT_EQ(options.max_subscriptions, kMaxSubscriptions);
  EXPECT_EQ(options.max_news, kMaxSubscriptionNews);
  EXPECT_EQ(options.max_webhooks_in_flight, kMaxWebhooksInFlight);
}

TEST(SubscriptionService, RunLooksAfterWhatIsDueUntilItIsCancelled) {
  Server server;
  server.create("events/a");
  ASSERT_TRUE(server.put("s", webhook("events/*")));
  rt::CancelScope scope;
  server.world.loop(0).post([&] { rt::spawn(server.world.gate, server.service->run(scope)); });
  server.append("events/a");
  server.hooks.answer(500);
  server.world.settle();
  // A second later, a fifth more at most, and the next look after that.
  for (Millis passed{0}; passed <= Millis{1'200} + kSubscriptionTick; passed += kSubscriptionTick) {
    server.world.time.advance(kSubscriptionTick);
    server.world.settle();
  }
  EXPECT_EQ(server.hooks.calls.size(), 2U);
  server.world.loop(0).post([&] { scope.cancel(); });
  server.world.settle();
  EXPECT_EQ(server.world.gate.inside(), 0U);
}

TEST(SubscriptionService, WhomNewsConcernIsRememberedForSoManyPathsAndFoundAgain) {
  Server server;
  server.create("events/a");
  ASSERT_TRUE(server.put("s", webhook("events/*")));
  for (std::size_t i = 0; i <= kMaxConcernedPaths; ++i)
    ASSERT_FALSE(server.service->concerns_anybody("elsewhere/" + std::to_string(i)));
  EXPECT_LE(server.service->remembered_paths(), kMaxConcernedPaths);
  EXPECT_TRUE(server.service->concerns_anybody("events/a"));
  server.append("events/a");
  EXPECT_EQ(server.hooks.calls.size(), 1U);
}

TEST(SubscriptionService, AnotherStreamOfTheSameNameBeginsAnewWhateverTheWakeToldOf) {
  Server server;
  server.create("listed");
  SubscriptionConfig config = webhook("events/*");
  config.streams = {"listed"};
  ASSERT_TRUE(server.put("s", config));
  for (int i = 0; i < 3; ++i) server.append("listed");
  // Told of the first; while that is under way it goes, and another comes with as many appends.
  ASSERT_EQ(server.hooks.calls.size(), 1U);
  ASSERT_TRUE(server.world.run(server.logs->remove("listed")));
  server.create("listed");
  for (int i = 0; i < 3; ++i) server.append("listed");
  server.hooks.answer(200, R"({"done":true})");
  server.world.settle();
  ASSERT_EQ(server.hooks.calls.size(), 2U);
  EXPECT_NE(server.hooks.calls[1].body.find(R"("acked_offset":"-1")"), std::string::npos);
  server.hooks.answer(200, R"({"done":true})");
  server.world.settle();
  EXPECT_EQ(server.get("s").links.at("listed").acked, Seq{3});
}

TEST(SubscriptionService, AnotherStreamMadeWhileNobodyLookedIsKnownAlsoIfItIsLonger) {
  Server first;
  first.create("events/a", "1");
  ASSERT_TRUE(first.put("s", webhook("events/*")));
  first.logs->set_listener({});
  ASSERT_TRUE(first.world.run(first.logs->remove("events/a")));
  first.create("events/a", "1");
  first.append("events/a");
  const auto second = first.restarted();
  second->tick();
  ASSERT_EQ(second->hooks.calls.size(), 1U);
  EXPECT_NE(second->hooks.calls[0].body.find(R"("acked_offset":"-1")"), std::string::npos);
}

TEST(SubscriptionService, ALookAtEverythingThatFailsIsRepeated) {
  Server server({.max_news = 0});
  server.create("events/a");
  ASSERT_TRUE(server.put("s", webhook("events/*")));
  server.create("events/b", "x");
  server.world.engine->set_full(true);
  server.world.advance(Millis(kLookAtEverythingInterval));
  EXPECT_FALSE(server.world.run(server.service->tick()));
  server.world.engine->set_full(false);
  server.world.advance(Millis(kLookAtEverythingInterval));
  server.tick();
  EXPECT_EQ(server.hooks.calls.size(), 1U);
}

TEST(SubscriptionService, AWebhookWhoseAnswerCannotBeStoredIsNotCalledAgainAtOnce) {
  Server server;
  server.create("events/a");
  ASSERT_TRUE(server.put("s", webhook("events/*")));
  server.append("events/a");
  server.world.engine->set_full(true);
  server.hooks.answer(500);
  server.world.settle();
  for (int i = 0; i < 7; ++i) {
    server.world.time.advance(Millis{100});
    (void)server.world.run(server.service->tick());
  }
  EXPECT_EQ(server.hooks.calls.size(), 1U);
  server.world.engine->set_full(false);
  server.world.advance(Millis{2'000});
  server.tick();
  EXPECT_EQ(server.hooks.calls.size(), 2U);
}

}  // namespace
}  // namespace reprise::stream
