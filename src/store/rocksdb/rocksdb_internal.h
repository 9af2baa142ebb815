// The parts of the RocksDB engine that see RocksDB's types; included by rocksdb/*.cpp and their
// tests only.
//
// Keys in `entries`:   stream id (16 bytes) + number (big-endian, 8 bytes) -> the entry's bytes
//                      stream id + number 0 -> head (big-endian): written when a cut removed the
//                      newest entry
// Keys in `records`:   'r' + key -> version (big-endian, 8 bytes) + value
//                      'c' + key -> counter (big-endian two's complement, 8 bytes)
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/wal_filter.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace reprise::store {

struct RocksDbHooks {
  std::shared_ptr<rocksdb::FileSystem> file_system;
};

inline constexpr char kRecordPrefix = 'r';
inline constexpr char kCounterPrefix = 'c';

// A key of `entries`, on the stack.
class EntryKey {
 public:
  static constexpr std::size_t kSize = 24;
  EntryKey(const StreamId& stream, std::uint64_t seq);
  rocksdb::Slice slice() const { return {bytes_.data(), kSize}; }
  // Beyond every key of the stream.
  rocksdb::Slice stream_end() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::array<char, kSize + 1> bytes_;
};
std::uint64_t seq_of(const rocksdb::Slice& entry_key);

Error error_of(const rocksdb::Status& status);

// The file REPRISE: says whose directory this is, in which format, and holds the lock and the log
// token.
//
// Every batch in the log begins with the token, 16 random bytes. RocksDB recycles log files, so
// behind the end of a log there are bytes of older ones, and those may hold what a client sent;
// what has not the token is not ours.
class StoreMarker {
 public:
  static Result<StoreMarker> open(const std::string& directory);
  ~StoreMarker();
  StoreMarker(StoreMarker&& other) noexcept;
  StoreMarker& operator=(StoreMarker&&) = delete;
  const std::string& token() const { return token_; }

 private:
  StoreMarker(int descriptor, std::string token)
      : descriptor_(descriptor), token_(std::move(token)) {}
  int descriptor_;
  std::string token_;
};

// Watches the replay of the log: batches are numbered without gaps, so a batch that follows a gap
// proves that an acknowledged one is damaged, and then the database must not open. A torn batch at
// the end leaves no such trace.
class LogGuard final : public rocksdb::WalFilter {
 public:
  explicit LogGuard(std::string token) : token_(std::move(token)) {}
  WalProcessingOption LogRecordFound(unsigned long long log_number, const std::string& file,
                                     const rocksdb::WriteBatch& batch,
                                     rocksdb::WriteBatch* new_batch, bool* batch_changed) override;
  const char* Name() const override { return "reprise.LogGuard"; }
  bool found_gap() const { return found_gap_; }

 private:
  const std::string token_;
  std::uint64_t expected_ = 0;  // the next batch's first number; 0 before the first
  bool found_gap_ = false;
};

// One open database; destroying it closes it.
struct OpenDatabase {
  ~OpenDatabase();
  // Opens for writing, or as it is for reading only (changes no file).
  static Result<std::unique_ptr<OpenDatabase>> open(const std::string& path,
                                                    const RocksDbOptions& options,
                                                    const std::string& token, bool is_read_only);

  std::unique_ptr<rocksdb::Env> env;  // null: the default one
  std::shared_ptr<rocksdb::Cache> cache;
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;  // default, entries, records
  rocksdb::ColumnFamilyHandle* entries = nullptr;
  rocksdb::ColumnFamilyHandle* records = nullptr;
};

}  // namespace reprise::store
