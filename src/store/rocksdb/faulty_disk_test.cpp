// RocksDB on a disk that fails, at every point of a small load: whatever was acknowledged is there
// afterwards, nothing is there by half, and numbers have no gaps. What was not acknowledged may be
// there or not.
#include "store/rocksdb/faulty_disk.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/system_clock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/log.h"
#include "store/limits.h"
#include "store/rocksdb/rocksdb_engine.h"
#include "store/rocksdb/rocksdb_internal.h"
#include "store/test_support.h"

namespace reprise::store::testing {

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void overwrite(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

class FaultyFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FaultyFile(FaultyDisk& disk, std::string name, std::unique_ptr<rocksdb::FSWritableFile> file)
      : FSWritableFileOwnerWrapper(std::move(file)), disk_(disk), name_(std::move(name)) {}

  rocksdb::IOStatus Append(const rocksdb::Slice& bytes, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    if (auto fault = disk_.before_write(bytes.size())) {
      target()->Append({bytes.data(), fault->bytes}, options, debug).PermitUncheckedError();
      return fault->status;
    }
    return target()->Append(bytes, options, debug);
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& bytes, const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo&,
                           rocksdb::IODebugContext* debug) override {
    return Append(bytes, options, debug);
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return disk_.sync(name_);
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return disk_.sync(name_);
  }
  rocksdb::IOStatus RangeSync(uint64_t, uint64_t, const rocksdb::IOOptions&,
                              rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::OK();
  }

 private:
  FaultyDisk& disk_;
  const std::string name_;
};

// After a background job failed, RocksDB sleeps for a second; here nothing sleeps.
class SleeplessClock final : public rocksdb::SystemClockWrapper {
 public:
  SleeplessClock() : SystemClockWrapper(rocksdb::SystemClock::Default()) {}
  const char* Name() const override { return "SleeplessClock"; }
  void SleepForMicroseconds(int) override {}
};

class QuickEnv final : public rocksdb::EnvWrapper {
 public:
  explicit QuickEnv(const std::shared_ptr<rocksdb::FileSystem>& file_system)
      : EnvWrapper(rocksdb::NewCompositeEnv(file_system)) {
    system_clock_ = std::make_shared<SleeplessClock>();
  }
};

// Counts down to the operation that is to fail.
bool strikes(std::uint64_t& countdown) { return countdown > 0 && --countdown == 0; }

}  // namespace

void FaultyDisk::cut_power_at(std::uint64_t k) {
  const std::lock_guard lock(mutex_);
  until_cut_ = k;
}
void FaultyDisk::fail_sync_at(std::uint64_t k) {
  const std::lock_guard lock(mutex_);
  until_sync_failure_ = k;
}
void FaultyDisk::run_full_at(std::uint64_t k) {
  const std::lock_guard lock(mutex_);
  until_full_ = k;
}
void FaultyDisk::make_room() {
  const std::lock_guard lock(mutex_);
  is_full_ = false;
  until_full_ = 0;
}
bool FaultyDisk::has_struck() const {
  const std::lock_guard lock(mutex_);
  return has_struck_;
}
std::uint64_t FaultyDisk::tables() const {
  const std::lock_guard lock(mutex_);
  return tables_;
}

void FaultyDisk::lose_power() {
  is_off_ = true;
  has_struck_ = true;
  for (const auto& [name, ignored] : synced_) at_cut_[name] = contents(name);
}

std::optional<FaultyDisk::WriteFault> FaultyDisk::before_write(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (is_off_) return WriteFault{rocksdb::IOStatus::IOError("no power"), 0};
  if (strikes(until_cut_)) {
    // The write itself is not in at_cut_; the next strike, before its sync, has it.
    lose_power();
    return WriteFault{rocksdb::IOStatus::IOError("no power"), 0};
  }
  if (strikes(until_full_)) {
    is_full_ = true;
    has_struck_ = true;
    return WriteFault{rocksdb::IOStatus::NoSpace("full"), bytes / 2};
  }
  if (is_full_) return WriteFault{rocksdb::IOStatus::NoSpace("full"), 0};
  return std::nullopt;
}

rocksdb::IOStatus FaultyDisk::sync(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (is_off_) return rocksdb::IOStatus::IOError("no power");
  if (strikes(until_cut_)) {
    lose_power();
    return rocksdb::IOStatus::IOError("no power");
  }
  if (strikes(until_sync_failure_)) {
    has_struck_ = true;
    return rocksdb::IOStatus::IOError("EIO");
  }
  synced_[name] = contents(name);
  return rocksdb::IOStatus::OK();
}

rocksdb::IOStatus FaultyDisk::before_change() {
  if (is_off_) return rocksdb::IOStatus::IOError("no power");
  if (is_full_) return rocksdb::IOStatus::NoSpace("full");
  return rocksdb::IOStatus::OK();
}

void FaultyDisk::wrap(const std::string& name, std::unique_ptr<rocksdb::FSWritableFile>* file) {
  synced_.try_emplace(name);
  if (name.ends_with(".sst")) ++tables_;
  *file = std::make_unique<FaultyFile>(*this, name, std::move(*file));
}

rocksdb::IOStatus FaultyDisk::NewWritableFile(const std::string& name,
                                              const rocksdb::FileOptions& options,
                                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                                              rocksdb::IODebugContext* debug) {
  const std::lock_guard lock(mutex_);
  if (auto status = before_change(); !status.ok()) return status;
  synced_.erase(name);
  auto status = target()->NewWritableFile(name, options, file, debug);
  if (status.ok()) wrap(name, file);
  return status;
}

rocksdb::IOStatus FaultyDisk::ReopenWritableFile(const std::string& name,
                                                 const rocksdb::FileOptions& options,
                                                 std::unique_ptr<rocksdb::FSWritableFile>* file,
                                                 rocksdb::IODebugContext* debug) {
  const std::lock_guard lock(mutex_);
  if (auto status = before_change(); !status.ok()) return status;
  auto status = target()->ReopenWritableFile(name, options, file, debug);
  if (status.ok()) wrap(name, file);
  return status;
}

rocksdb::IOStatus FaultyDisk::ReuseWritableFile(const std::string& name,
                                                const std::string& old_name,
                                                const rocksdb::FileOptions& options,
                                                std::unique_ptr<rocksdb::FSWritableFile>* file,
                                                rocksdb::IODebugContext* debug) {
  const std::lock_guard lock(mutex_);
  if (auto status = before_change(); !status.ok()) return status;
  auto status = target()->ReuseWritableFile(name, old_name, options, file, debug);
  if (!status.ok()) return status;
  synced_[name] = synced_[old_name];
  synced_.erase(old_name);
  wrap(name, file);
  return status;
}

rocksdb::IOStatus FaultyDisk::RenameFile(const std::string& from, const std::string& to,
                                         const rocksdb::IOOptions& options,
                                         rocksdb::IODebugContext* debug) {
  const std::lock_guard lock(mutex_);
  if (is_off_) return rocksdb::IOStatus::IOError("no power");
  auto status = target()->RenameFile(from, to, options, debug);
  if (const auto found = synced_.find(from); status.ok() && found != synced_.end()) {
    synced_[to] = std::move(found->second);
    synced_.erase(from);
  }
  return status;
}

rocksdb::IOStatus FaultyDisk::DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                                         rocksdb::IODebugContext* debug) {
  const std::lock_guard lock(mutex_);
  if (is_off_) return rocksdb::IOStatus::IOError("no power");
  synced_.erase(name);
  return target()->DeleteFile(name, options, debug);
}

void FaultyDisk::restore(Unsynced unsynced, std::mt19937_64& random) {
  constexpr std::size_t kSector = 512;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, durable] : synced_) {
    std::string after = durable;
    const std::string& at_cut = at_cut_[name];
    for (std::size_t at = 0; unsynced == Unsynced::kSomeSectors && at < at_cut.size();
         at += kSector) {
      if (random() % 2 == 0) continue;
      const std::size_t end = std::min(at + kSector, at_cut.size());
      if (after.size() < end) after.resize(end, '\0');
      after.replace(at, end - at, at_cut, at, end - at);
    }
    overwrite(name, after);
  }
}

namespace {

constexpr std::uint64_t kCommits = 12;
const StreamId kA = stream_id(1);
const StreamId kB = stream_id(2);
const StreamId kCutStream = stream_id(3);

// The i-th commit of the load (from 1) touches three streams, records and a counter; every fifth
// cuts one stream.
Commit load_commit(std::uint64_t i, Version last_version) {
  const std::string number = std::to_string(i);
  Commit commit = append(kA, {number + std::string(6000, 'a')}, i - 1);
  commit.appends.push_back({kB, std::nullopt, {number, number + std::string(5000, 'b')}});
  commit.appends.push_back({kCutStream, Seq{i - 1}, {number}});
  if (i % 5 == 0) commit.cuts.push_back({kCutStream, Seq{i - 1}, false});
  commit.puts.push_back(
      {"last", number, i == 1 ? Precondition::absent() : Precondition::version(last_version)});
  commit.puts.push_back({"record-" + number, std::string(1000, 'r'), Precondition::absent()});
  if (i > 3) commit.erases.push_back({"record-" + std::to_string(i - 3), {}});
  commit.counters.push_back({"n", 1});
  return commit;
}

class FaultyDiskTest : public ::testing::Test {
 protected:
  void SetUp() override { log::configure(log::Level::kOff, log::Format::kText); }
  void TearDown() override { log::configure(log::Level::kInfo, log::Format::kText); }

  // A new disk under an empty directory.
  void new_disk() {
    directory_ = std::make_unique<TemporaryDirectory>();
    disk_ = std::make_shared<FaultyDisk>();
    acknowledged_ = 0;
    attempted_ = 0;
  }
  Result<std::unique_ptr<RocksDbEngine>> open(std::shared_ptr<rocksdb::FileSystem> file_system) {
    RocksDbOptions options;
    options.write_buffer_bytes = 128 << 10;  // small, so that logs are switched and tables written
    options.block_cache_bytes = 1 << 20;
    options.reserve_bytes = 0;
    options.hooks = std::make_shared<RocksDbHooks>();
    options.hooks->make_env = [file_system] { return std::make_unique<QuickEnv>(file_system); };
    return RocksDbEngine::open(directory_->path(), std::move(options));
  }

  // Commits the load from where `engine` stands, until it is done or a commit fails.
  void run_load(ManualCommitter& manual) {
    const auto last = manual.store().get("last", ReadMode::kBlocking);
    ASSERT_TRUE(last);
    Version version = *last ? (*last)->version : 0;
    // What was not acknowledged may be there all the same.
    acknowledged_ = *last ? std::stoull((*last)->value) : 0;
    for (std::uint64_t i = acknowledged_ + 1; i <= kCommits; ++i) {
      attempted_ = i;
      const auto committed = manual.commit(load_commit(i, version));
      if (!committed) return;
      version = committed->versions[0];
      acknowledged_ = i;
    }
  }

  // The whole state must be that after some commit between the last acknowledged and the last
  // attempted one.
  void check(const Store& store) {
    constexpr auto kMode = ReadMode::kBlocking;
    const std::uint64_t head = store.head(kA, kMode)->value;
    ASSERT_GE(head, acknowledged_);
    ASSERT_LE(head, attempted_);
    ASSERT_EQ(store.head(kB, kMode)->value, 2 * head);
    ASSERT_EQ(store.head(kCutStream, kMode)->value, head);
    if (head == 0) return;
    ASSERT_EQ(store.first(kCutStream, kMode)->value, std::max<std::uint64_t>(head / 5 * 5, 1));
    ASSERT_EQ(static_cast<std::uint64_t>(*store.counter("n", kMode)), head);
    ASSERT_EQ((*store.get("last", kMode))->value, std::to_string(head));
    for (std::uint64_t i = 1; i <= kCommits; ++i) {
      const bool is_there = i <= head && i + 3 > head;
      ASSERT_EQ(store.get("record-" + std::to_string(i), kMode)->has_value(), is_there) << i;
    }
    const auto a = store.read({kA, Seq{0}, 1000, 1 << 30}, kMode);
    ASSERT_EQ(a->size(), head);
    for (std::uint64_t i = 1; i <= head; ++i) {
      ASSERT_EQ((*a)[i - 1].seq.value, i);
      ASSERT_EQ((*a)[i - 1].bytes, std::to_string(i) + std::string(6000, 'a'));
    }
    ASSERT_EQ(store.read({kB, Seq{0}, 1000, 1 << 30}, kMode)->size(), 2 * head);
  }

  // Opens on a disk without faults, checks, finishes the load and checks again.
  void check_after_restart() {
    auto engine = open(std::make_shared<FaultyDisk>());
    ASSERT_TRUE(engine) << engine.error().detail;
    ManualCommitter manual(**engine);
    check(manual.store());
    if (HasFatalFailure()) return;
    run_load(manual);
    ASSERT_EQ(acknowledged_, kCommits);
    check(manual.store());
  }

  void cut_power_everywhere(FaultyDisk::Unsynced unsynced, std::uint64_t seed);

  std::unique_ptr<TemporaryDirectory> directory_;
  std::shared_ptr<FaultyDisk> disk_;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t attempted_ = 0;
};

void FaultyDiskTest::cut_power_everywhere(FaultyDisk::Unsynced unsynced, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  bool has_struck = true;
  for (std::uint64_t k = 1; has_struck; ++k) {
    SCOPED_TRACE(fmt::format("power cut at operation {}, seed {}", k, seed));
    new_disk();
    disk_->cut_power_at(k);
    if (auto engine = open(disk_)) {
      ManualCommitter manual(**engine);
      run_load(manual);
    }
    has_struck = disk_->has_struck();
    if (has_struck) disk_->restore(unsynced, random);
    check_after_restart();
    if (HasFatalFailure()) return;
  }
}

TEST_F(FaultyDiskTest, LoadSwitchesLogsAndWritesTables) {
  new_disk();
  auto engine = open(disk_);
  ASSERT_TRUE(engine);
  ManualCommitter manual(**engine);
  run_load(manual);
  EXPECT_EQ(acknowledged_, kCommits);
  check(manual.store());
  // Tables are written in the background.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (disk_->tables() == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_GT(disk_->tables(), 0U);
}

TEST_F(FaultyDiskTest, PowerCutAtAnyOperationLosesNothingAcknowledged) {
  cut_power_everywhere(FaultyDisk::Unsynced::kLost, 0);
}

TEST_F(FaultyDiskTest, PowerCutThatTearsUnsyncedWritesLosesNothingAcknowledged) {
  cut_power_everywhere(FaultyDisk::Unsynced::kSomeSectors, 20261115);
}

TEST_F(FaultyDiskTest, FailedSyncMakesItReadOnlyAndReadsGoOn) {
  bool has_struck = true;
  for (std::uint64_t k = 1; has_struck; ++k) {
    SCOPED_TRACE(fmt::format("EIO at sync {}", k));
    new_disk();
    disk_->fail_sync_at(k);
    if (auto engine = open(disk_)) {
      ManualCommitter manual(**engine);
      run_load(manual);
      if (acknowledged_ < kCommits) {
        EXPECT_EQ(manual.committer().state(), StoreState::kReadOnly);
        manual.advance(10 * kRecoveryInterval);
        EXPECT_EQ(manual.commit(put("x", "y")).error().code, Code::kReadOnly);
      }
      // A reader sees what was acknowledged and no more.
      EXPECT_EQ(manual.store().head(kA, ReadMode::kBlocking)->value, acknowledged_);
      check(manual.store());
      if (HasFatalFailure()) return;
    }
    has_struck = disk_->has_struck();
    check_after_restart();
    if (HasFatalFailure()) return;
  }
}

TEST_F(FaultyDiskTest, FullDiskAtAnyWriteRecoversWhenThereIsRoom) {
  bool has_struck = true;
  for (std::uint64_t k = 1; has_struck; ++k) {
    SCOPED_TRACE(fmt::format("ENOSPC at write {}", k));
    new_disk();
    disk_->run_full_at(k);
    if (auto engine = open(disk_)) {
      ManualCommitter manual(**engine);
      run_load(manual);
      has_struck = disk_->has_struck();
      if (acknowledged_ < kCommits) {
        ASSERT_EQ(manual.committer().state(), StoreState::kFull);
        check(manual.store());
        manual.advance(kRecoveryInterval);
        EXPECT_EQ(manual.commit(put("x", "y")).error().code, Code::kNoSpace);
        check(manual.store());  // reads go on while it is full
        if (HasFatalFailure()) return;
      }
      disk_->make_room();
      manual.advance(kRecoveryInterval);
      manual.committer().tick();
      ASSERT_EQ(manual.committer().state(), StoreState::kWritable);
      run_load(manual);
      ASSERT_EQ(acknowledged_, kCommits);
      check(manual.store());
    } else {
      EXPECT_EQ(engine.error().code, Code::kNoSpace);
    }
    check_after_restart();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace reprise::store::testing
