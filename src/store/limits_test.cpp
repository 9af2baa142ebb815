#include "store/limits.h"

#include <gtest/gtest.h>

#include "store/memory/memory_engine.h"
#include "store/rocksdb/rocksdb_engine.h"
#include "store/test_support.h"

namespace reprise::store {
namespace {

using namespace testing;  // NOLINT: test support of this folder

TEST(StoreLimits, ABatchTakesAsManyBytesAsItMayAndNoMore) {
  const std::string half(kMaxBatchBytes / 2 - 4096, 'x');
  for (const std::size_t commits : {2U, 3U}) {
    MemoryEngine engine;
    ManualCommitter manual(engine);
    for (std::size_t i = 0; i < commits; ++i) manual.submit(put("key" + std::to_string(i), half));
    manual.drain();
    EXPECT_EQ(engine.writes(), commits - 1);
  }
}

TEST(StoreLimits, HeadsAreRightAlsoOfStreamsTheCommitterHasForgotten) {
  MemoryEngine engine;
  ManualCommitter manual(engine);
  for (std::size_t i = 0; i < kHeadCacheStreams + 2; ++i) {
    manual.submit(append(stream_id(i), {"x"}, 0));
    if (i % 4096 == 0) manual.drain();
  }
  manual.drain();
  for (const std::size_t i : {std::size_t{0}, kHeadCacheStreams, kHeadCacheStreams + 1}) {
    EXPECT_FALSE(manual.commit(append(stream_id(i), {"y"}, 0)));
    EXPECT_TRUE(manual.commit(append(stream_id(i), {"y"}, 1)));
  }
}

TEST(StoreLimits, CountersAreRightAlsoWhenTheCommitterHasForgottenThem) {
  MemoryEngine engine;
  ManualCommitter manual(engine);
  for (std::size_t i = 0; i < kCounterCacheEntries + 2; ++i) {
    manual.submit(add("counter" + std::to_string(i), 1));
    if (i % 4096 == 0) manual.drain();
  }
  manual.drain();
  ASSERT_TRUE(manual.commit(add("counter0", 5)));
  EXPECT_EQ(*engine.counter("counter0", ReadMode::kBlocking), 6);
}

TEST(StoreLimits, ShortAndLongCutsRemoveTheSame) {
  TemporaryDirectory directory;
  auto engine = RocksDbEngine::open(directory.path() + "/store", {});
  ASSERT_TRUE(engine) << engine.error().detail;
  ManualCommitter manual(**engine);
  for (const std::size_t entries : {kMaxPointDeletesPerCut, kMaxPointDeletesPerCut + 1}) {
    const StreamId stream = stream_id(entries);
    ASSERT_TRUE(manual.commit(append(stream, std::vector<std::string>(entries + 1, "x"))));
    ASSERT_TRUE(manual.commit(cut(stream, entries)));
    EXPECT_EQ((*engine)->first(stream, ReadMode::kBlocking)->value, entries + 1);
    EXPECT_EQ((*engine)->head(stream, ReadMode::kBlocking)->value, entries + 1);
  }
}

}  // namespace
}  // namespace reprise::store
