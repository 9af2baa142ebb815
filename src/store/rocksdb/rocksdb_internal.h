// The parts of the RocksDB engine that see RocksDB's types; included by rocksdb/*.cpp and their
// tests only.
//
// Keys, all in one column family (decision 003 says why):
//   'e' + stream id (16 bytes) + number (big-endian, 8 bytes) -> the entry's bytes
//   'e' + stream id + number 0 -> head (big-endian): written when a cut removed the newest entry
//   'r' + key -> version (big-endian, 8 bytes) + value
//   'c' + key -> counter (big-endian two's complement, 8 bytes)
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace reprise::store {

struct RocksDbHooks {
  std::function<std::unique_ptr<rocksdb::Env>()> make_env;  // asked at each opening
};

inline constexpr char kEntryPrefix = 'e';
inline constexpr char kRecordPrefix = 'r';
inline constexpr char kCounterPrefix = 'c';

// The key of an entry, on the stack.
class EntryKey {
 public:
  static constexpr std::size_t kSize = 25;
  EntryKey(const StreamId& stream, std::uint64_t seq);
  rocksdb::Slice slice() const { return {bytes_.data(), kSize}; }
  // Beyond every key of the stream.
  rocksdb::Slice stream_end() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::array<char, kSize + 1> bytes_;
};
std::uint64_t seq_of(const rocksdb::Slice& entry_key);

Error error_of(const rocksdb::Status& status);

// The file REPRISE: says whose directory this is and in which format, and holds the lock.
class StoreMarker {
 public:
  static Result<StoreMarker> open(const std::string& directory);
  ~StoreMarker();
  StoreMarker(StoreMarker&& other) noexcept;
  StoreMarker& operator=(StoreMarker&&) = delete;

 private:
  explicit StoreMarker(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

// One open database; destroying it closes it.
struct OpenDatabase {
  ~OpenDatabase();
  // Opens for writing, or as it is for reading only (changes no file).
  static Result<std::unique_ptr<OpenDatabase>> open(const std::string& path,
                                                    const RocksDbOptions& options,
                                                    bool is_read_only);

  std::unique_ptr<rocksdb::Env> env;  // null: the default one
  std::shared_ptr<rocksdb::Cache> cache;
  std::unique_ptr<rocksdb::DB> db;
};

}  // namespace reprise::store
