// What only this engine does: its directory, its lock, its reserve, reads that must not touch the
// disk.
#include "store/rocksdb/rocksdb_engine.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "store/limits.h"
#include "store/test_support.h"

namespace reprise::store {
namespace {

using namespace testing;  // NOLINT: test support of this folder

class RocksDbEngineTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<RocksDbEngine>> open(RocksDbOptions options = {}) {
    return RocksDbEngine::open(path_, std::move(options));
  }
  void write_file(const std::string& name, std::string_view text) {
    std::filesystem::create_directories(path_);
    std::ofstream(path_ + "/" + name) << text;
  }
  Code open_code() {
    auto engine = open();
    return engine ? Code::kInternal : engine.error().code;
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/a/store";
};

TEST_F(RocksDbEngineTest, CreatesItsDirectoryForItsUserOnly) {
  ASSERT_TRUE(open());
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
}

TEST_F(RocksDbEngineTest, SecondOpeningIsRefusedWhileTheFirstLasts) {
  auto first = open();
  ASSERT_TRUE(first);
  EXPECT_EQ(open_code(), Code::kConflict);
  first->reset();
  EXPECT_TRUE(open());
}

TEST_F(RocksDbEngineTest, DirectoryOfSomethingElseIsLeftAlone) {
  write_file("notes.txt", "mine");
  EXPECT_EQ(open_code(), Code::kInvalid);
  EXPECT_FALSE(std::filesystem::exists(path_ + "/CURRENT"));
}

TEST_F(RocksDbEngineTest, MarkersTellForeignNewerAndDamagedApart) {
  write_file("REPRISE", "something\n");
  EXPECT_EQ(open_code(), Code::kInvalid);
  write_file("REPRISE", "reprise store\nformat 2\n");
  EXPECT_EQ(open_code(), Code::kUnsupportedVersion);
  write_file("REPRISE", "reprise store\n");
  EXPECT_EQ(open_code(), Code::kCorrupt);
}

TEST_F(RocksDbEngineTest, StoreWithoutItsManifestPointerIsDamagedNotNew) {
  ASSERT_TRUE(open());
  write_file("000099.sst", "table");
  std::filesystem::remove(path_ + "/CURRENT");
  EXPECT_EQ(open_code(), Code::kCorrupt);
}

TEST_F(RocksDbEngineTest, ReserveIsKeptFreeAndWritesGoOnWhenThereIsRoom) {
  std::atomic<std::uint64_t> free{std::uint64_t{1} << 30};
  auto engine = open({.reserve_bytes = 1000000, .free_bytes = [&] { return free.load(); }});
  ASSERT_TRUE(engine);
  ManualCommitter manual(**engine);
  ASSERT_TRUE(manual.commit(put("k", "1")));
  free = 1000000;
  EXPECT_EQ(manual.commit(put("k", "2")).error().code, Code::kNoSpace);
  EXPECT_EQ((*manual.store().get("k", ReadMode::kBlocking))->value, "1");
  free = 1500000;  // above the reserve, but not by enough
  manual.advance(kRecoveryInterval);
  EXPECT_EQ(manual.commit(put("k", "2")).error().code, Code::kNoSpace);
  free = 2000000;
  manual.advance(kRecoveryInterval);
  EXPECT_TRUE(manual.commit(put("k", "2")));
  EXPECT_EQ((*engine)->statistics().free_bytes, 2000000U);
  EXPECT_GT((*engine)->statistics().bytes_on_disk, 0U);
}

TEST_F(RocksDbEngineTest, WhatWasWrittenLeavesTheMemoryAfterAWhileIfItIsWorthATable) {
  std::atomic<std::chrono::nanoseconds> time{std::chrono::hours{1}};
  auto engine = open({.now = [&] { return time.load(); }});
  ASSERT_TRUE(engine);
  ManualCommitter manual(**engine);
  const auto tables = [&] {
    return std::ranges::count_if(std::filesystem::directory_iterator(path_), [](const auto& file) {
      return file.path().extension() == ".sst";
    });
  };
  const std::size_t half = kMinFlushBytes / 2;
  ASSERT_TRUE(manual.commit(put("a", std::string(half, 'a'))));
  time = time.load() + kFlushInterval;
  ASSERT_TRUE(manual.commit(put("b", "little")));
  ASSERT_TRUE(manual.commit(put("c", std::string(half, 'c'))));
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{30};
       tables() == 0 && std::chrono::steady_clock::now() < end;)
    std::this_thread::yield();
  EXPECT_EQ(tables(), 1);
  // Enough again, but not old again.
  ASSERT_TRUE(manual.commit(put("d", std::string(2 * half, 'd'))));
  EXPECT_EQ((*manual.store().get("a", ReadMode::kBlocking))->value.size(), half);
  EXPECT_EQ((*manual.store().get("d", ReadMode::kBlocking))->value.size(), 2 * half);
  EXPECT_EQ(tables(), 1);
}

TEST_F(RocksDbEngineTest, CachedReadOfWhatIsOnDiskWouldBlockAndThenIsInMemory) {
  {
    auto engine = open();
    ASSERT_TRUE(engine);
    ManualCommitter manual(**engine);
    ASSERT_TRUE(manual.commit(put("k", "v")));
  }
  ASSERT_TRUE(open());  // recovery moves it from the log to a table
  auto engine = open();
  ASSERT_TRUE(engine);
  EXPECT_EQ((*engine)->get("k", ReadMode::kCached).error().code, Code::kWouldBlock);
  EXPECT_EQ((*(*engine)->get("k", ReadMode::kBlocking))->value, "v");
  EXPECT_EQ((*(*engine)->get("k", ReadMode::kCached))->value, "v");
}

}  // namespace
}  // namespace reprise::store
