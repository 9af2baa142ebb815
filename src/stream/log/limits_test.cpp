#include "stream/limits.h"

#include "stream/log/testing.h"

namespace reprise::stream {
namespace {

using testing::body;
using testing::Logs;
using testing::text;
using testing::World;
using Kind = AppendOutcome::Kind;

AppendLog plain(std::string bytes) {
  AppendLog append = body(std::move(bytes));
  append.content_type = "text/plain";
  return append;
}

AppendLog by_producer(std::string id, std::uint64_t seq) {
  AppendLog append = plain(id);
  append.producer = ProducerClaim{std::move(id), 0, seq};
  return append;
}

CreateLog fork_of(std::string path) {
  CreateLog create;
  create.fork = ForkRequest{.path = std::move(path)};
  return create;
}

CreateLog living_for(std::uint64_t seconds) {
  CreateLog create = text();
  create.ttl_seconds = seconds;
  return create;
}

TEST(LogLimits, AFullQueueIsToldToComeBackAndGoesOnAfterwards) {
  Logs logs;
  ASSERT_TRUE(logs.create("a", text()));
  logs.world.is_holding_commits = true;
  rt::Loop& loop = logs.world.loop(0);
  const auto in_flight = logs.world.start(loop, logs.service->append("a", plain("first")));
  logs.world.settle();
  std::vector<World::Place<Result<AppendOutcome>>> waiting;
  for (std::size_t i = 0; i < kMaxQueuedPerLog; ++i)
    waiting.push_back(logs.world.start(loop, logs.service->append("a", plain("x"))));
  logs.world.settle();
  EXPECT_FALSE(waiting.back()->has_value());
  const auto refused = logs.world.start(loop, logs.service->append("a", plain("too much")));
  logs.world.settle();
  ASSERT_TRUE(refused->has_value());
  EXPECT_EQ(logs.code(**refused), Code::kTooManyRequests);
  logs.world.is_holding_commits = false;
  logs.world.settle();
  EXPECT_TRUE((*in_flight)->has_value());
  for (const auto& one : waiting) ASSERT_TRUE(one->has_value() && (*one)->has_value());
  EXPECT_EQ(logs.look("a")->tail, Seq{kMaxQueuedPerLog + 1});
  EXPECT_EQ(logs.service->probe().refused, 1U);
  EXPECT_EQ(logs.service->probe().appends, kMaxQueuedPerLog + 1);
}

// Somebody is faster `faster` times: whenever the record has been read, it is written.
class Racer {
 public:
  Racer(Logs& logs, std::string path, int faster) : logs_(logs) {
    logs.world.hooked.on_get = [this, key = log_key(path), faster](std::string_view read) {
      if (read != key || rt::Loop::current() == nullptr || races == faster) return;
      ++races;
      const auto record = logs_.world.engine->get(key, store::ReadMode::kBlocking);
      store::Commit commit;
      commit.puts.push_back({.key = key, .value = (*record)->value, .only_if = {}});
      logs_.world.store.submit(std::move(commit), [](store::CommitResult) {});
    };
  }
  ~Racer() { logs_.world.hooked.on_get = {}; }
  int races = 0;

 private:
  Logs& logs_;
};

TEST(LogLimits, AnAppendThatLosesTooManyRacesIsToldToComeBack) {
  for (const int faster : {kMaxLogRaces, kMaxLogRaces - 1}) {
    Logs logs;
    ASSERT_TRUE(logs.create("a", text()));
    const Racer racer(logs, "a", faster);
    AppendLog append = body("x");
    append.writer_seq = "1";  // kept in the record
    const auto outcome = logs.append("a", append);
    EXPECT_EQ(racer.races, faster);
    EXPECT_EQ(logs.code(outcome), faster == kMaxLogRaces ? Code::kOverloaded : Code::kInternal);
    // Nothing was written of what was refused.
    EXPECT_EQ(logs.look("a")->tail, Seq{faster == kMaxLogRaces ? 0U : 1U});
  }
}

TEST(LogLimits, ADeletionThatLosesTooManyRacesIsToldToComeBack) {
  Logs logs;
  ASSERT_TRUE(logs.create("a", text()));
  {
    const Racer racer(logs, "a", 1'000);
    EXPECT_EQ(logs.code(logs.remove("a")), Code::kOverloaded);
    EXPECT_GE(racer.races, kMaxLogRaces);
  }
  EXPECT_TRUE(logs.remove("a"));
}

TEST(LogLimits, ProducersBeyondThoseInMemoryAreReadAgain) {
  Logs logs;
  ASSERT_TRUE(logs.create("a", text()));
  std::size_t reads = 0;
  logs.world.hooked.on_get = [&](std::string_view key) { reads += key.starts_with('P') ? 1 : 0; };
  const auto append = [&](std::size_t id, std::uint64_t seq) {
    return logs.append("a", by_producer(fmt::format("p{}", id), seq))->kind;
  };
  for (std::size_t id = 0; id < kMaxCachedProducers; ++id)
    ASSERT_EQ(append(id, 0), Kind::kAppended);
  EXPECT_EQ(reads, kMaxCachedProducers);
  EXPECT_EQ(append(0, 0), Kind::kDuplicate);
  EXPECT_EQ(reads, kMaxCachedProducers) << "it was in memory";
  // One more, and room is made: what was forgotten is not taken twice.
  ASSERT_EQ(append(kMaxCachedProducers, 0), Kind::kAppended);
  for (std::size_t id = 0; id <= kMaxCachedProducers; ++id)
    ASSERT_EQ(append(id, 0), Kind::kDuplicate) << id;
  EXPECT_GT(reads, kMaxCachedProducers + 1);
  EXPECT_EQ(append(0, 1), Kind::kAppended);
  logs.world.hooked.on_get = {};
  EXPECT_EQ(logs.look("a")->tail, Seq{kMaxCachedProducers + 2});
}

TEST(LogLimits, LogsBeyondThoseInMemoryAreReadAgain) {
  EXPECT_EQ(LogOptions{}.max_loaded_per_loop, kMaxLoadedLogs);
  constexpr std::size_t kMost = 4;
  Logs logs(nullptr, rt::ManualTime().now(), {.max_loaded_per_loop = kMost});
  const auto path = [](int i) { return fmt::format("log-{}", i); };
  ASSERT_TRUE(logs.create("followed", text()));
  ASSERT_TRUE(logs.world.run(logs.service->join("followed")));
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(logs.create(path(i), text()));
    ASSERT_TRUE(logs.append(path(i), body(path(i))));
  }
  EXPECT_LE(logs.service->loaded(), 3 * kMost);
  EXPECT_GE(logs.service->loaded(), kMost);
  for (int i = 0; i < 60; ++i) {
    ASSERT_EQ(logs.append(path(i), body("!"))->tail, Seq{2});
    EXPECT_EQ(logs.content(path(i)), path(i) + "|!|");
  }
  logs.service->leave("followed");
  logs.world.settle();
  EXPECT_LE(logs.service->loaded(), 3 * kMost);
}

TEST(LogLimits, TheJanitorComesOncePerInterval) {
  Logs logs;
  ASSERT_TRUE(logs.create("a", living_for(10)));
  rt::CancelScope scope;
  logs.world.loop(0).post([&] { rt::spawn(logs.world.gate, logs.service->run_janitor(scope)); });
  logs.world.settle();
  // Its round at the start of this millisecond has found nothing.
  const Millis interval = kLogJanitorInterval;
  for (Millis done{0}; done < std::chrono::seconds{10} - interval; done += interval) {
    logs.world.time.advance(interval);
    logs.world.settle();
  }
  logs.world.time.advance(interval - Millis{1});
  logs.world.settle();
  EXPECT_GT(logs.record_count(), 0U);
  logs.world.time.advance(Millis{1} + interval);
  logs.world.settle();
  EXPECT_EQ(logs.record_count(), 0U);
  scope.cancel();
  logs.world.settle();
}

TEST(LogLimits, ForksHaveALimitedDepth) {
  Logs logs;
  ASSERT_TRUE(logs.create("0", text()));
  for (std::uint64_t depth = 1; depth <= kMaxForkDepth; ++depth) {
    const std::string source = std::to_string(depth - 1);
    ASSERT_TRUE(logs.append(source, body("x")));
    const auto made = logs.create(std::to_string(depth), fork_of(source));
    ASSERT_TRUE(made) << depth << ": " << made.error().detail;
  }
  const std::string deepest = std::to_string(kMaxForkDepth);
  EXPECT_EQ(logs.content(deepest).size(), 2 * kMaxForkDepth);
  EXPECT_EQ(logs.code(logs.create("deeper", fork_of(deepest))), Code::kInvalid);
  // From another source of the same depth, nothing inherited: the chain is as long.
  CreateLog bare = fork_of(deepest);
  bare.fork->offset = Seq{0};
  EXPECT_EQ(logs.code(logs.create("deeper", bare)), Code::kInvalid);
  EXPECT_TRUE(logs.create("beside", fork_of(std::to_string(kMaxForkDepth - 1))));
  ASSERT_TRUE(logs.remove("beside"));
  // A whole chain goes with its last fork.
  for (std::uint64_t depth = 0; depth <= kMaxForkDepth; ++depth)
    ASSERT_TRUE(logs.remove(std::to_string(depth))) << depth;
  EXPECT_EQ(logs.code(logs.look("0")), Code::kStreamNotFound);
}

TEST(LogLimits, AppendsThatAreTooLargeTogetherBecomeSeveralCommits) {
  Logs logs;
  ASSERT_TRUE(logs.create("a", text()));
  const auto before = logs.world.store.probe().commits;
  std::vector<World::Place<Result<AppendOutcome>>> answers;
  for (int i = 0; i < 5; ++i)
    answers.push_back(logs.world.start(
        logs.world.loop(0),
        logs.service->append("a", plain(std::string(kMaxLogBatchBytes / 2, 'x')))));
  logs.world.settle();
  for (const auto& answer : answers) ASSERT_TRUE(answer->has_value() && (*answer)->has_value());
  EXPECT_EQ(logs.world.store.probe().commits - before, 3U);
}

}  // namespace
}  // namespace reprise::stream
