// Logs under many callers at once, with crashes in between: what was acknowledged is there once and
// at its place, what was not is there whole or not at all, and nothing is left of what was deleted.
#include <map>
#include <set>

#include "stream/log/testing.h"

namespace reprise::stream {
namespace {

using testing::Logs;
using testing::World;
using Kind = AppendOutcome::Kind;

const std::vector<std::string> kPaths = {"a", "b", "c", "d"};

struct SentAppend {
  std::string path;
  std::string body;
  World::Place<Result<AppendOutcome>> answer;
};

class Callers {
 public:
  explicit Callers(std::uint64_t seed) : dice_(seed), logs_(std::make_unique<Logs>()) {}

  // Calls of chance on all loops; run to the end, or to a crash somewhere in the middle.
  void round(bool crashes) {
    disturbed_ = expiring_;
    sent_.clear();
    logs_->world.time.advance(std::chrono::seconds{15});
    for (int call = 0; call < 60; ++call) {
      start_call();
      run_some(dice_.next_u64() % 12);
    }
    if (!crashes) {
      logs_->world.settle_shuffled(dice_);
      return;
    }
    run_some(dice_.next_u64() % 100);
    auto contents = logs_->world.engine->copy();
    const TimePoint now = logs_->world.time.now();
    // What is answered from here on is not heard by anybody.
    for (SentAppend& one : sent_) one.answer = std::make_shared<Answer>(*one.answer);
    logs_.reset();
    logs_ = std::make_unique<Logs>(std::move(contents), now);
    logs_->random = SeededRandom(dice_.next_u64());  // identifiers are not made twice
  }

  void verify() {
    for (const std::string& path : kPaths) {
      const auto view = logs_->look(path);
      const auto before = std::exchange(known_[path], {});
      expiring_.erase(path);
      if (!view) {
        EXPECT_TRUE(disturbed_.contains(path) || before.empty()) << path << " is gone";
        continue;
      }
      const std::vector<std::string> content = bodies_of(path);
      ASSERT_EQ(view->tail.value, content.size());
      const std::set<std::string> bodies(content.begin(), content.end());
      ASSERT_EQ(bodies.size(), content.size()) << path << " has something twice";
      for (const std::string& body : content) ASSERT_TRUE(all_sent_.contains(body)) << body;
      verify_answers(path, content, bodies);
      if (!disturbed_.contains(path)) {
        ASSERT_GE(content.size(), before.size());
        EXPECT_TRUE(std::equal(before.begin(), before.end(), content.begin())) << path;
      }
      known_[path] = content;
      if (view->record.ttl_seconds) expiring_.insert(path);
    }
  }

  void expect_nothing_left_once_all_is_deleted() {
    for (std::size_t pass = 0; pass < kPaths.size(); ++pass) {
      for (const std::string& path : kPaths) (void)logs_->remove(path);
      EXPECT_TRUE(logs_->world.run(logs_->service->expire_due()));
    }
    EXPECT_EQ(logs_->record_count(), 0U);
    for (const StreamId stream : *incarnations_)
      EXPECT_EQ(*logs_->world.store.head(stream, store::ReadMode::kBlocking), Seq{0});
  }

 private:
  using Answer = std::optional<Result<AppendOutcome>>;

  std::string path() { return kPaths[dice_.next_u64() % kPaths.size()]; }

  void start_call() {
    const std::string path = this->path();
    rt::Loop& loop = logs_->world.loop(dice_.next_u64() % 3);
    const std::uint64_t choice = dice_.next_u64() % 100;
    if (choice < 50) {
      AppendLog append{.content_type = "text/plain", .body = fmt::format("<{}>", ++bodies_)};
      if (choice < 10) append.writer_seq = fmt::format("{:08}", bodies_);
      all_sent_.insert(append.body);
      sent_.push_back({path, append.body, nullptr});
      sent_.back().answer =
          logs_->world.start(loop, logs_->service->append(path, std::move(append)));
    } else if (choice < 85) {
      CreateLog create;
      if (choice < 75)
        create.content_type = "text/plain";
      else
        create.fork = ForkRequest{.path = this->path()};
      if (path == "d") create.ttl_seconds = 20;
      // One that is there already is not touched.
      if (known_[path].empty()) disturbed_.insert(path);
      (void)logs_->world.start(
          loop, create_and_note(*logs_->service, path, std::move(create), incarnations_));
    } else if (choice < 97) {
      disturbed_.insert(path);
      (void)logs_->world.start(loop, logs_->service->remove(path));
    } else {
      (void)logs_->world.start(loop, logs_->service->expire_due());
    }
  }
  static rt::Task<bool> create_and_note(LogService& service, std::string path, CreateLog create,
                                        std::shared_ptr<std::set<StreamId>> incarnations) {
    const auto made = co_await service.create(std::move(path), std::move(create));
    if (made) incarnations->insert(made->view.record.stream);
    co_return made.has_value();
  }

  void run_some(std::uint64_t steps) {
    World& world = logs_->world;
    for (; steps > 0; --steps) {
      const std::uint64_t pick = dice_.next_u64() % 4;
      if (pick < 3)
        world.loop(pick).run_one();
      else
        world.committer.drain();
    }
  }

  std::vector<std::string> bodies_of(const std::string& path) {
    std::vector<std::string> bodies;
    std::string text = logs_->content(path);
    for (std::size_t bar = text.find('|'); bar != std::string::npos; bar = text.find('|')) {
      bodies.push_back(text.substr(0, bar));
      text.erase(0, bar + 1);
    }
    return bodies;
  }

  void verify_answers(const std::string& path, const std::vector<std::string>& content,
                      const std::set<std::string>& bodies) {
    for (const SentAppend& one : sent_) {
      if (one.path != path || !one.answer->has_value() || !(*one.answer)->has_value()) continue;
      const AppendOutcome& outcome = ***one.answer;
      if (outcome.kind != Kind::kAppended) {
        EXPECT_FALSE(bodies.contains(one.body)) << one.body << " was refused and is there";
        continue;
      }
      const bool is_there = bodies.contains(one.body);
      EXPECT_TRUE(is_there || disturbed_.contains(path)) << one.body << " is lost from " << path;
      if (is_there) EXPECT_EQ(content[outcome.tail.value - 1], one.body) << path;
    }
  }

  SeededRandom dice_;
  std::unique_ptr<Logs> logs_;
  std::map<std::string, std::vector<std::string>> known_;
  std::set<std::string> disturbed_;  // paths that were made or deleted in this round, or may end
  std::set<std::string> expiring_;
  std::vector<SentAppend> sent_;
  std::set<std::string> all_sent_;
  std::shared_ptr<std::set<StreamId>> incarnations_ = std::make_shared<std::set<StreamId>>();
  std::uint64_t bodies_ = 0;
};

TEST(LogCallers, WhateverRacesAndCrashesNothingAcknowledgedIsLost) {
  const std::uint64_t seed = testing::test_seed();
  for (std::uint64_t round = 0; round < 40; ++round) {
    SCOPED_TRACE(fmt::format("seed {}", seed + round));
    Callers callers(seed + round);
    for (int part = 0; part < 12; ++part) {
      SCOPED_TRACE(fmt::format("part {}", part));
      callers.round(part % 3 == 2);
      callers.verify();
      if (::testing::Test::HasFailure()) return;
    }
    callers.expect_nothing_left_once_all_is_deleted();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace reprise::stream
