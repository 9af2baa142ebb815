// The simulated disk: a MemoryEngine that fails as disks do, and that remembers all it ever made
// durable.
//
// A write may be told to fail with kNoSpace; whether it happened all the same is drawn, and nobody
// can see which before recover() or a restart. Reads "from memory" sometimes have to wait for the
// pool. At a crash the disk freezes: nothing that the dying process still writes counts.
//
// Threads: one.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "rt/pool.h"
#include "sim/dice.h"
#include "store/engine.h"
#include "store/memory/memory_engine.h"

namespace reprise::sim {

class Disk final : public store::Engine {
 public:
  explicit Disk(std::uint64_t seed) : dice_(seed) {}

  Result<std::optional<store::Record>> get(std::string_view key,
                                           store::ReadMode mode) const override;
  Result<store::ScanPage> scan(const store::ScanRequest& request,
                               store::ReadMode mode) const override;
  Result<> read(const store::ReadRequest& request, store::ReadMode mode,
                store::EntryVisitor& visitor) const override;
  Result<std::optional<store::StoredEntry>> last(StreamId stream,
                                                 store::ReadMode mode) const override;
  Result<Seq> head(StreamId stream, store::ReadMode mode) const override;
  Result<Seq> first(StreamId stream, store::ReadMode mode) const override;
  Result<std::int64_t> counter(std::string_view key, store::ReadMode mode) const override;
  Result<> write(const store::WriteSet& writes) override;
  Result<> recover() override;
  store::Version version_floor() const override { return engine_.version_floor(); }
  store::EngineStatistics statistics() const override { return engine_.statistics(); }

  // The next write fails for want of space.
  void fail_next_write() { fails_next_ = true; }
  void set_full(bool is_full) { is_full_ = is_full; }
  // How many of a hundred cached reads have to wait for the pool.
  void set_cold(std::uint64_t percent) { cold_percent_ = percent; }
  // No more faults.
  void heal() {
    fails_next_ = is_full_ = false;
    cold_percent_ = 0;
  }
  // The process dies: what it writes from now on is lost.
  void freeze();
  // The next process finds what is durable.
  void thaw() { is_frozen_ = false; }

  // All entries ever made durable, also those swept since: entry n of a stream is at n - 1.
  const std::vector<std::string>& history(StreamId stream) const;
  // Records of sessions that were removed, as they were last.
  const std::map<std::string, std::string>& removed_sessions() const { return removed_; }
  // Every record whose key begins so.
  std::vector<store::ScannedRecord> all(std::string_view prefix) const;

 private:
  Result<> admit(store::ReadMode mode) const;
  void make_durable(const store::WriteSet& writes);

  store::MemoryEngine engine_;
  mutable Dice dice_;
  std::map<StreamId, std::vector<std::string>> history_;
  std::map<std::string, std::string> removed_;
  std::vector<store::WriteSet> unknown_;  // failed, but on the disk all the same
  std::uint64_t cold_percent_ = 0;
  bool fails_next_ = false;
  bool is_full_ = false;
  bool is_frozen_ = false;
};

// Blocking reads, done one at a time when the simulation gets to it.
class SlowPool final : public rt::Pool {
 public:
  bool submit(rt::Function work) override {
    queue_.push_back(std::move(work));
    return true;
  }
  bool is_empty() const { return queue_.empty(); }
  // Any of those that wait: a pool has several threads.
  void run_one(Dice& dice);

 private:
  std::vector<rt::Function> queue_;
};

}  // namespace reprise::sim
