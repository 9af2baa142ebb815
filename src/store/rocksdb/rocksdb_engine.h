// The embedded engine: RocksDB in a directory of its own, one synced write batch per write().
//
//     REPRISE_TRY(auto engine, RocksDbEngine::open("data/store", {}));
//
// The key formats stand in rocksdb/rocksdb_internal.h. The file REPRISE beside RocksDB's own names
// the format and is locked while the engine is open. docs/decisions/003-rocksdb-options.md has the
// reasons for the settings.
//
// Threads: as Engine says. While recover() reopens the database, kCached reads fail with
// kWouldBlock and kBlocking reads wait.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "store/engine.h"

namespace reprise::store {

// RocksDB's types for tests that inject a file system; see rocksdb/rocksdb_internal.h.
struct RocksDbHooks;

struct RocksDbOptions {
  std::size_t block_cache_bytes = std::size_t{64} << 20;
  // Memory for writes that are in the log but not yet in a table.
  std::size_t write_buffer_bytes = std::size_t{64} << 20;
  int max_open_files = 256;
  // write() refuses with kNoSpace when less would be left: RocksDB needs room for its own files to
  // stay healthy.
  std::uint64_t reserve_bytes = std::uint64_t{16} << 20;
  // Free bytes on the file system; asked before every write. None: statvfs.
  std::function<std::uint64_t()> free_bytes;
  // The time since anything; asked after every write. None: steady_clock.
  std::function<std::chrono::nanoseconds()> now;
  std::shared_ptr<RocksDbHooks> hooks;
};

class RocksDbEngine final : public Engine {
 public:
  // Opens the store in `path`, or creates it (directories with mode 0700). Fails with kConflict if
  // another process has it open, kInvalid if the directory holds something else,
  // kUnsupportedVersion if a newer release wrote it, kCorrupt if it is damaged, kNoSpace, or
  // kStorage.
  static Result<std::unique_ptr<RocksDbEngine>> open(const std::string& path,
                                                     RocksDbOptions options);
  ~RocksDbEngine() override;

  Result<std::optional<Record>> get(std::string_view key, ReadMode mode) const override;
  Result<ScanPage> scan(const ScanRequest& request, ReadMode mode) const override;
  Result<> read(const ReadRequest& request, ReadMode mode, EntryVisitor& visitor) const override;
  Result<std::optional<StoredEntry>> last(StreamId stream, ReadMode mode) const override;
  Result<Seq> head(StreamId stream, ReadMode mode) const override;
  Result<Seq> first(StreamId stream, ReadMode mode) const override;
  Result<std::int64_t> counter(std::string_view key, ReadMode mode) const override;
  Result<> write(const WriteSet& writes) override;
  Result<> recover() override;
  Version version_floor() const override;
  EngineStatistics statistics() const override;

 private:
  struct Impl;
  explicit RocksDbEngine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reprise::store
