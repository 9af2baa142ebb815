// What every engine must do, through the committer: one suite, run over all of them.
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "store/commit_thread.h"
#include "store/memory/memory_engine.h"
#include "store/rocksdb/rocksdb_engine.h"
#include "store/test_support.h"

namespace reprise::store {
namespace {

using namespace testing;  // NOLINT: test support of this folder

// An engine and how to restart it.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual Engine& engine() = 0;
  virtual void reopen() = 0;
};

class MemoryBackend final : public Backend {
 public:
  Engine& engine() override { return *engine_; }
  void reopen() override { engine_ = engine_->copy(); }

 private:
  std::unique_ptr<MemoryEngine> engine_ = std::make_unique<MemoryEngine>();
};

class RocksDbBackend final : public Backend {
 public:
  RocksDbBackend() { open(); }
  Engine& engine() override { return *engine_; }
  void reopen() override {
    engine_.reset();
    open();
  }

 private:
  void open() {
    auto opened = RocksDbEngine::open(directory_.path() + "/store", {});
    REPRISE_ASSERT(opened.has_value(), opened.error().detail);
    engine_ = std::move(*opened);
  }
  TemporaryDirectory directory_;
  std::unique_ptr<RocksDbEngine> engine_;
};

class Conformance : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string_view(GetParam()) == "memory") {
      backend_ = std::make_unique<MemoryBackend>();
    } else {
      backend_ = std::make_unique<RocksDbBackend>();
    }
    start();
  }
  void start() { manual_ = std::make_unique<ManualCommitter>(backend_->engine()); }
  void reopen() {
    manual_.reset();
    backend_->reopen();
    start();
  }
  Store& store() { return manual_->store(); }
  Result<Committed> commit(Commit commit) { return manual_->commit(std::move(commit)); }

  std::optional<std::string> value(std::string_view key) {
    const auto record = store().get(key, ReadMode::kBlocking);
    REPRISE_ASSERT(record.has_value(), record.error().detail);
    if (!*record) return std::nullopt;
    return (*record)->value;
  }
  std::uint64_t head(StreamId stream) { return store().head(stream, ReadMode::kBlocking)->value; }
  std::uint64_t first(StreamId stream) { return store().first(stream, ReadMode::kBlocking)->value; }
  std::vector<std::string> entries(StreamId stream, std::uint64_t after = 0,
                                   std::size_t limit = 1000, std::size_t max_bytes = 1 << 20) {
    std::vector<std::string> result;
    const auto page = store().read({stream, Seq{after}, limit, max_bytes}, ReadMode::kBlocking);
    REPRISE_ASSERT(page.has_value(), page.error().detail);
    for (const StoredEntry& entry : *page) {
      EXPECT_EQ(entry.seq.value, std::max(after, first(stream) - 1) + result.size() + 1);
      result.push_back(entry.bytes);
    }
    return result;
  }
  std::vector<std::string> scan(std::string begin, std::string end, bool is_reverse = false,
                                std::size_t limit = 1000, bool has_more = false) {
    const auto page =
        store().scan({std::move(begin), std::move(end), is_reverse, limit}, ReadMode::kBlocking);
    REPRISE_ASSERT(page.has_value(), page.error().detail);
    EXPECT_EQ(page->has_more, has_more);
    std::vector<std::string> keys;
    for (const ScannedRecord& record : page->records) keys.push_back(record.key);
    return keys;
  }

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ManualCommitter> manual_;
  const StreamId a_ = stream_id(1);
  const StreamId b_ = stream_id(2);
};

using Strings = std::vector<std::string>;

TEST_P(Conformance, EmptyStoreHasNothing) {
  EXPECT_EQ(value("x"), std::nullopt);
  EXPECT_EQ(head(a_), 0U);
  EXPECT_EQ(first(a_), 0U);
  EXPECT_EQ(entries(a_), Strings{});
  EXPECT_EQ(*store().last(a_, ReadMode::kBlocking), std::nullopt);
  EXPECT_EQ(*store().counter("n", ReadMode::kBlocking), 0);
  EXPECT_EQ(scan("", ""), Strings{});
}

TEST_P(Conformance, CommitOverStreamsRecordsAndCountersIsThereWhole) {
  Commit both = append(a_, {"a1", "a2"}, 0);
  both.appends.push_back({b_, std::nullopt, {"b1"}});
  both.puts.push_back({"k", "v", Precondition::absent()});
  both.counters.push_back({"n", 5});
  const auto committed = commit(std::move(both));
  ASSERT_TRUE(committed);
  EXPECT_EQ(committed->first_seqs, (std::vector<Seq>{Seq{1}, Seq{1}}));
  ASSERT_EQ(committed->versions.size(), 1U);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(entries(a_), (Strings{"a1", "a2"}));
    EXPECT_EQ(entries(b_), (Strings{"b1"}));
    EXPECT_EQ(value("k"), "v");
    EXPECT_EQ((*store().get("k", ReadMode::kBlocking))->version, committed->versions[0]);
    EXPECT_EQ(*store().counter("n", ReadMode::kBlocking), 5);
    EXPECT_EQ(store().last(a_, ReadMode::kBlocking)->value().bytes, "a2");
    reopen();
  }
}

TEST_P(Conformance, CommitWithOneFailedConditionLeavesNothing) {
  ASSERT_TRUE(commit(append(a_, {"a1"})));
  Commit bad = append(b_, {"b1"}, 0);
  bad.appends.push_back({a_, Seq{7}, {"a2"}});
  bad.puts.push_back({"k", "v", {}});
  bad.counters.push_back({"n", 1});
  EXPECT_EQ(commit(std::move(bad)).error().code, Code::kWrongSequence);
  EXPECT_EQ(head(a_), 1U);
  EXPECT_EQ(head(b_), 0U);
  EXPECT_EQ(value("k"), std::nullopt);
  EXPECT_EQ(*store().counter("n", ReadMode::kBlocking), 0);
}

TEST_P(Conformance, WrongHeadNamesExpectedAndPresentHead) {
  ASSERT_TRUE(commit(append(a_, {"1", "2", "3"}, 0)));
  const auto refused = commit(append(a_, {"x"}, 2));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kWrongSequence);
  EXPECT_EQ(refused.error().members, R"("expectedHead":2,"head":3)");
  EXPECT_TRUE(commit(append(a_, {"4"}, 3)));
}

TEST_P(Conformance, RecordConditionsHoldForPutsErasesAndChecks) {
  const Version version = commit(put("k", "1", Precondition::absent()))->versions[0];
  EXPECT_EQ(commit(put("k", "2", Precondition::absent())).error().code, Code::kWrongVersion);
  EXPECT_EQ(commit(put("k", "2", Precondition::version(version + 1))).error().code,
            Code::kWrongVersion);
  EXPECT_EQ(commit(erase("none", Precondition::version(1))).error().code, Code::kWrongVersion);
  Commit checked = put("other", "x");
  checked.checks.push_back({"k", Precondition::version(version)});
  EXPECT_TRUE(commit(checked));
  const auto second = commit(put("k", "2", Precondition::version(version)));
  ASSERT_TRUE(second);
  EXPECT_GT(second->versions[0], version);
  EXPECT_EQ(commit(checked).error().code, Code::kWrongVersion);
  EXPECT_TRUE(commit(erase("k", Precondition::version(second->versions[0]))));
  EXPECT_EQ(value("k"), std::nullopt);
}

TEST_P(Conformance, RecordErasedAndWrittenAnewHasNoOldVersion) {
  const Version old = commit(put("k", "same"))->versions[0];
  ASSERT_TRUE(commit(erase("k")));
  reopen();
  const Version fresh = commit(put("k", "same"))->versions[0];
  EXPECT_GT(fresh, old);
  EXPECT_EQ(commit(put("k", "x", Precondition::version(old))).error().code, Code::kWrongVersion);
}

TEST_P(Conformance, VersionsRiseAcrossReopening) {
  Version newest = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 3; ++i) {
      const Version version = commit(put("k", "v"))->versions[0];
      EXPECT_GT(version, newest);
      newest = version;
    }
    ASSERT_TRUE(commit(erase("k")));
    reopen();
  }
}

TEST_P(Conformance, LaterCommitsOfABatchSeeEarlierOnesAndFailAlone) {
  const auto first = manual_->submit(append(a_, {"1"}, 0));
  const auto stale = manual_->submit(append(a_, {"x"}, 0));
  const auto second = manual_->submit(append(a_, {"2"}, 1));
  const auto created = manual_->submit(put("k", "1", Precondition::absent()));
  const auto again = manual_->submit(put("k", "2", Precondition::absent()));
  const auto erased = manual_->submit(erase("k"));
  const auto recreated = manual_->submit(put("k", "3", Precondition::absent()));
  const auto counted = manual_->submit(add("n", 2));
  const auto recounted = manual_->submit(add("n", -5));
  manual_->drain();
  EXPECT_TRUE(manual_->outcome(first));
  EXPECT_EQ(manual_->code(stale), Code::kWrongSequence);
  EXPECT_EQ(manual_->outcome(second)->first_seqs[0].value, 2U);
  EXPECT_TRUE(manual_->outcome(created));
  EXPECT_EQ(manual_->code(again), Code::kWrongVersion);
  EXPECT_TRUE(manual_->outcome(erased));
  EXPECT_TRUE(manual_->outcome(recreated));
  EXPECT_TRUE(manual_->outcome(counted));
  EXPECT_TRUE(manual_->outcome(recounted));
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(entries(a_), (Strings{"1", "2"}));
    EXPECT_EQ(value("k"), "3");
    EXPECT_EQ(*store().counter("n", ReadMode::kBlocking), -3);
    reopen();
  }
}

TEST_P(Conformance, WithinACommitErasesAndCutsComeFirst) {
  ASSERT_TRUE(commit(append(a_, {"1", "2"})));
  ASSERT_TRUE(commit(put("k", "old")));
  Commit mixed = append(a_, {"3"}, 2);
  mixed.cuts.push_back({a_, Seq{99}, false});
  mixed.puts.push_back({"k", "new", {}});
  mixed.erases.push_back({"k", {}});
  ASSERT_TRUE(commit(std::move(mixed)));
  EXPECT_EQ(entries(a_), (Strings{"3"}));
  EXPECT_EQ(first(a_), 3U);
  EXPECT_EQ(value("k"), "new");
}

TEST_P(Conformance, CutAfterAppendsOfTheSameBatchRemovesThem) {
  manual_->submit(append(a_, {"1", "2", "3"}));
  manual_->submit(cut(a_, 2));
  manual_->submit(append(b_, {"1"}));
  manual_->submit(cut(b_, 1));
  manual_->submit(append(b_, {"2"}, 1));
  manual_->drain();
  EXPECT_EQ(entries(a_), (Strings{"3"}));
  EXPECT_EQ(entries(b_), (Strings{"2"}));
  EXPECT_EQ(head(b_), 2U);
}

TEST_P(Conformance, CutKeepsHeadAndNumbering) {
  ASSERT_TRUE(commit(append(a_, {"1", "2", "3", "4"})));
  ASSERT_TRUE(commit(append(b_, {"untouched"})));
  ASSERT_TRUE(commit(cut(a_, 2)));
  EXPECT_EQ(first(a_), 3U);
  EXPECT_EQ(entries(a_), (Strings{"3", "4"}));
  ASSERT_TRUE(commit(cut(a_, 4)));
  reopen();
  EXPECT_EQ(head(a_), 4U);
  EXPECT_EQ(first(a_), 0U);
  EXPECT_EQ(entries(a_), Strings{});
  EXPECT_EQ(*store().last(a_, ReadMode::kBlocking), std::nullopt);
  EXPECT_EQ(commit(append(a_, {"5"}, 4))->first_seqs[0].value, 5U);
  EXPECT_EQ(first(a_), 5U);
  EXPECT_EQ(entries(b_), (Strings{"untouched"}));
}

TEST_P(Conformance, CutOfALongStreamRemovesExactlyItsEntries) {
  ASSERT_TRUE(commit(append(a_, Strings(1000, "x"))));
  ASSERT_TRUE(commit(append(b_, {"b"})));
  ASSERT_TRUE(commit(cut(a_, 990)));
  EXPECT_EQ(first(a_), 991U);
  EXPECT_EQ(entries(a_).size(), 10U);
  ASSERT_TRUE(commit(cut(a_, 1000)));
  EXPECT_EQ(head(a_), 1000U);
  EXPECT_EQ(first(a_), 0U);
  EXPECT_EQ(entries(b_), (Strings{"b"}));
}

TEST_P(Conformance, ForgottenStreamIsAsIfItHadNeverBeen) {
  ASSERT_TRUE(commit(append(a_, Strings(300, "x"))));
  ASSERT_TRUE(commit(cut(a_, 10)));
  ASSERT_TRUE(commit(append(b_, {"b"})));
  ASSERT_TRUE(commit(cut(a_, 0, /*forget=*/true)));
  reopen();
  EXPECT_EQ(head(a_), 0U);
  EXPECT_EQ(first(a_), 0U);
  EXPECT_EQ(entries(a_), Strings{});
  EXPECT_EQ(entries(b_), (Strings{"b"}));
  EXPECT_TRUE(commit(cut(stream_id(77), 5)));
  EXPECT_EQ(head(stream_id(77)), 0U);
}

TEST_P(Conformance, ScansGoBothWaysWithBoundsAndLimits) {
  for (const char* key : {"a", "b1", "b2", "b3", "c"}) ASSERT_TRUE(commit(put(key, key)));
  ASSERT_TRUE(commit(add("b9", 1)));  // counters are no records
  EXPECT_EQ(scan("", ""), (Strings{"a", "b1", "b2", "b3", "c"}));
  EXPECT_EQ(scan("b", "c"), (Strings{"b1", "b2", "b3"}));
  EXPECT_EQ(scan("b", "c", true), (Strings{"b3", "b2", "b1"}));
  EXPECT_EQ(scan("b", "c", false, 2, true), (Strings{"b1", "b2"}));
  EXPECT_EQ(scan("b", "c", true, 2, true), (Strings{"b3", "b2"}));
  EXPECT_EQ(scan("b", "c", false, 3, false), (Strings{"b1", "b2", "b3"}));
  EXPECT_EQ(scan(std::string("b2") + '\0', "c"), (Strings{"b3"}));  // after the cursor b2
  EXPECT_EQ(scan("b", "b2", true), (Strings{"b1"}));                // before the cursor b2
  EXPECT_EQ(scan("b3", "", true), (Strings{"c", "b3"}));
  EXPECT_EQ(scan("c", "b"), Strings{});
  EXPECT_EQ(scan("x", "x"), Strings{});
}

TEST_P(Conformance, ReadsStopAtLimitsAndStartAfterTheCursor) {
  ASSERT_TRUE(commit(append(a_, {"11111", "22222", "33333", "44444"})));
  ASSERT_TRUE(commit(append(b_, {"other"})));
  EXPECT_EQ(entries(a_, 2), (Strings{"33333", "44444"}));
  EXPECT_EQ(entries(a_, 4), Strings{});
  EXPECT_EQ(entries(a_, 0, 2), (Strings{"11111", "22222"}));
  EXPECT_EQ(entries(a_, 0, 10, 1), (Strings{"11111"}));
  EXPECT_EQ(entries(a_, 0, 10, 6), (Strings{"11111", "22222"}));
  EXPECT_EQ(entries(a_, 0, 10, 5), (Strings{"11111"}));
}

TEST_P(Conformance, BytesOfAnyKindComeBackAsTheyWere) {
  const std::string odd("\0\xff\n\0", 4);
  ASSERT_TRUE(commit(put(odd, odd)));
  ASSERT_TRUE(commit(append(a_, {odd, ""})));
  ASSERT_TRUE(commit(put("", "empty key")));
  EXPECT_EQ(value(odd), odd);
  EXPECT_EQ(value(""), "empty key");
  EXPECT_EQ(entries(a_), (Strings{odd, ""}));
}

TEST_P(Conformance, FreshDataIsInMemory) {
  ASSERT_TRUE(commit(append(a_, {"1"})));
  ASSERT_TRUE(commit(put("k", "v")));
  EXPECT_TRUE(store().get("k", ReadMode::kCached));
  EXPECT_EQ(store().head(a_, ReadMode::kCached)->value, 1U);
}

// Whatever the interleaving: numbers without gaps, in the order of each writer.
TEST_P(Conformance, ManyThreadsGetGapFreeNumbers) {
  constexpr int kThreads = 4;
  constexpr int kEach = 250;
  Committer committer(backend_->engine(),
                      [] { return std::chrono::steady_clock::now().time_since_epoch(); });
  CommitThread thread(committer);
  std::mutex mutex;
  std::vector<std::uint64_t> seqs;
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kThreads; ++writer) {
      writers.emplace_back([&, writer] {
        for (int i = 0; i < kEach; ++i) {
          Commit one = append(a_, {std::to_string(writer)});
          one.counters.push_back({"n", 1});
          committer.submit(std::move(one), [&](CommitResult result) {
            const std::lock_guard lock(mutex);
            seqs.push_back(result ? (*result)->first_seqs[0].value : 0);
          });
        }
      });
    }
  }
  thread.stop();
  ASSERT_EQ(seqs.size(), std::size_t{kThreads * kEach});
  for (std::size_t i = 0; i < seqs.size(); ++i) EXPECT_EQ(seqs[i], i + 1);
  EXPECT_EQ(entries(a_).size(), seqs.size());
  EXPECT_EQ(*store().counter("n", ReadMode::kBlocking), kThreads * kEach);
  EXPECT_EQ(committer.probe().commits, seqs.size());
  EXPECT_EQ(committer.probe().queued, 0U);
}

INSTANTIATE_TEST_SUITE_P(Engines, Conformance, ::testing::Values("memory", "rocksdb"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace reprise::store
