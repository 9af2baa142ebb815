// What a storage engine does: atomic synced writes and ordered reads. Rules about preconditions,
// numbering and batching are not here but in the committer (store/committer.h), the same for every
// engine.
//
// Threads: write() and recover() are called by the committer alone, one call at a time; reads may
// come from any thread at any time and see only what is durable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "store/commit.h"

namespace reprise::store {

// kCached answers from memory or fails with Code::kWouldBlock; kBlocking may wait for the disk.
enum class ReadMode : std::uint8_t { kCached, kBlocking };

struct Record {
  std::string value;
  Version version = 0;
};

struct ScannedRecord {
  std::string key;
  std::string value;
  Version version = 0;
};

// Records with begin <= key < end (an empty `end` is no bound), ascending, or descending from the
// end.
struct ScanRequest {
  std::string begin;
  std::string end;
  bool is_reverse = false;
  std::size_t limit = 1000;
};

struct ScanPage {
  std::vector<ScannedRecord> records;
  bool has_more = false;  // whether the range holds more after these
};

struct StoredEntry {
  Seq seq;
  std::string bytes;
};

// Entries with seq > after, ascending. Stops after `limit` entries, or at the entry that reaches
// `max_bytes` (at least one entry is returned if there is one).
struct ReadRequest {
  StreamId stream;
  Seq after;
  std::size_t limit = 1000;
  std::size_t max_bytes = 1 << 20;
};

// A receiver of entries without a copy for each: return false to stop.
class EntryVisitor {
 public:
  virtual ~EntryVisitor() = default;
  virtual bool visit(Seq seq, std::string_view bytes) = 0;
};

// What the committer has decided to write: no conditions left, all numbers assigned.
struct WriteSet {
  struct Entry {
    StreamId stream;
    Seq seq;
    std::string bytes;
  };
  struct Put {
    std::string key;
    std::string value;
    Version version;
  };
  struct Counter {
    std::string key;
    std::int64_t value;
  };
  std::vector<StreamCut> cuts;
  std::vector<std::string> erases;
  std::vector<Entry> entries;
  std::vector<Put> puts;
  std::vector<Counter> counters;
  bool is_empty() const;
  void clear();
};

struct EngineStatistics {
  std::uint64_t bytes_on_disk = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t free_bytes = 0;  // on the file system
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual Result<std::optional<Record>> get(std::string_view key, ReadMode mode) const = 0;
  virtual Result<ScanPage> scan(const ScanRequest& request, ReadMode mode) const = 0;
  // Visits entries in order; the limits are the request's. In kCached mode it may have visited some
  // entries before it fails with kWouldBlock; the caller goes on after the last one visited.
  virtual Result<> read(const ReadRequest& request, ReadMode mode, EntryVisitor& visitor) const = 0;
  // The newest entry still stored.
  virtual Result<std::optional<StoredEntry>> last(StreamId stream, ReadMode mode) const = 0;
  // The number of the newest entry ever appended, also if a cut removed it; 0 for a stream never
  // written.
  virtual Result<Seq> head(StreamId stream, ReadMode mode) const = 0;
  // The number of the oldest entry still stored, 0 if there is none.
  virtual Result<Seq> first(StreamId stream, ReadMode mode) const = 0;
  virtual Result<std::int64_t> counter(std::string_view key, ReadMode mode) const = 0;

  // Writes all of it durably, or fails. After kNoSpace the outcome is unknown until recover() has
  // succeeded; after any other failure the committer never writes again.
  virtual Result<> write(const WriteSet& writes) = 0;
  // After kNoSpace: makes the engine usable again if there is room (for RocksDB: reopens the
  // database).
  virtual Result<> recover() = 0;
  // A number that rises at least as fast as versions are assigned; where versions go on after a
  // restart.
  virtual Version version_floor() const = 0;
  virtual EngineStatistics statistics() const = 0;
};

}  // namespace reprise::store
