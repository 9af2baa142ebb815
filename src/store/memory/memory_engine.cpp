#include "store/memory/memory_engine.h"

#include <map>
#include <mutex>

#include "base/assert.h"

namespace reprise::store {

namespace {

struct Stream {
  std::map<std::uint64_t, std::string> entries;
  std::uint64_t head = 0;
};

struct Contents {
  std::map<std::string, Record, std::less<>> records;
  std::map<std::string, std::int64_t, std::less<>> counters;
  std::map<StreamId, Stream> streams;
  Version floor = 0;
  std::uint64_t bytes = 0;

  void apply(const WriteSet& writes);
};

void Contents::apply(const WriteSet& writes) {
  for (const StreamCut& cut : writes.cuts) {
    const auto found = streams.find(cut.stream);
    if (found == streams.end()) continue;
    if (cut.forget) {
      streams.erase(found);
    } else {
      auto& entries = found->second.entries;
      entries.erase(entries.begin(), entries.upper_bound(cut.up_to.value));
    }
  }
  for (const std::string& key : writes.erases) records.erase(key);
  for (const WriteSet::Entry& entry : writes.entries) {
    Stream& stream = streams[entry.stream];
    REPRISE_ASSERT(entry.seq.value == stream.head + 1, entry.seq.value, stream.head);
    stream.head = entry.seq.value;
    stream.entries.emplace(entry.seq.value, entry.bytes);
    bytes += entry.bytes.size();
  }
  for (const WriteSet::Put& put : writes.puts) {
    REPRISE_ASSERT(put.version > floor, put.version, floor);
    floor = put.version;
    records.insert_or_assign(put.key, Record{put.value, put.version});
    bytes += put.key.size() + put.value.size();
  }
  for (const WriteSet::Counter& counter : writes.counters) counters[counter.key] = counter.value;
}

}  // namespace

struct MemoryEngine::State {
  mutable std::mutex mutex;
  Contents contents;
  std::vector<WriteSet> unknown;  // written, but reported as failed
  std::uint64_t fail_countdown = 0;
  Code fail_code = Code::kStorage;
  Outcome fail_outcome = Outcome::kLost;
  bool is_full = false;
  bool is_cold = false;
  std::optional<Code> read_failure;
  std::uint64_t writes = 0;
  mutable std::uint64_t reads = 0;

  // Called with the mutex held, by every read.
  Result<> admit(ReadMode mode) const {
    ++reads;
    if (read_failure) return fail(*read_failure, "a read was told to fail");
    if (is_cold && mode == ReadMode::kCached) return fail(Code::kWouldBlock);
    return {};
  }
  const Stream* find(StreamId stream) const {
    const auto found = contents.streams.find(stream);
    return found == contents.streams.end() ? nullptr : &found->second;
  }
};

MemoryEngine::MemoryEngine() : state_(std::make_unique<State>()) {}
MemoryEngine::~MemoryEngine() = default;

Result<std::optional<Record>> MemoryEngine::get(std::string_view key, ReadMode mode) const {
  const std::lock_guard lock(state_->mutex);
  REPRISE_CHECK(state_->admit(mode));
  const auto found = state_->contents.records.find(key);
  if (found == state_->contents.records.end()) return std::nullopt;
  return found->second;
}

Result<ScanPage> MemoryEngine::scan(const ScanRequest& request, ReadMode mode) const {
  const std::lock_guard lock(state_->mutex);
  REPRISE_CHECK(state_->admit(mode));
  ScanPage page;
  if (!request.end.empty() && request.end <= request.begin) return page;
  const auto& records = state_->contents.records;
  const auto first = records.lower_bound(request.begin);
  const auto stop = request.end.empty() ? records.end() : records.lower_bound(request.end);
  // Adds one record, or notes that there is more than was asked for.
  const auto take = [&](const auto& record) {
    if (page.records.size() == request.limit) {
      page.has_more = true;
      return false;
    }
    page.records.push_back({record.first, record.second.value, record.second.version});
    return true;
  };
  if (request.is_reverse) {
    for (auto it = stop; it != first;) {
      if (!take(*--it)) break;
    }
  } else {
    for (auto it = first; it != stop; ++it) {
      if (!take(*it)) break;
    }
  }
  return page;
}

Result<> MemoryEngine::read(const ReadRequest& request, ReadMode mode,
                            EntryVisitor& visitor) const {
  // Copied first: a visitor may call the engine.
  std::vector<StoredEntry> page;
  {
    const std::lock_guard lock(state_->mutex);
    REPRISE_CHECK(state_->admit(mode));
    const Stream* stream = state_->find(request.stream);
    if (stream == nullptr) return {};
    std::size_t bytes = 0;
    for (auto it = stream->entries.upper_bound(request.after.value);
         it != stream->entries.end() && page.size() < request.limit; ++it) {
      page.push_back({Seq{it->first}, it->second});
      bytes += it->second.size();
      if (bytes >= request.max_bytes) break;
    }
  }
  for (const StoredEntry& entry : page) {
    if (!visitor.visit(entry.seq, entry.bytes)) break;
  }
  return {};
}

Result<std::optional<StoredEntry>> MemoryEngine::last(StreamId stream, ReadMode mode) const {
  const std::lock_guard lock(state_->mutex);
  REPRISE_CHECK(state_->admit(mode));
  const Stream* found = state_->find(stream);
  if (found == nullptr || found->entries.empty()) return std::nullopt;
  const auto& newest = *found->entries.rbegin();
  return StoredEntry{Seq{newest.first}, newest.second};
}

Result<Seq> MemoryEngine::head(StreamId stream, ReadMode mode) const {
  const std::lock_guard lock(state_->mutex);
  REPRISE_CHECK(state_->admit(mode));
  const Stream* found = state_->find(stream);
  return Seq{found == nullptr ? 0 : found->head};
}

Result<Seq> MemoryEngine::first(StreamId stream, ReadMode mode) const {
  const std::lock_guard lock(state_->mutex);
  REPRISE_CHECK(state_->admit(mode));
  const Stream* found = state_->find(stream);
  if (found == nullptr || found->entries.empty()) return Seq{0};
  return Seq{found->entries.begin()->first};
}

Result<std::int64_t> MemoryEngine::counter(std::string_view key, ReadMode mode) const {
  const std::lock_guard lock(state_->mutex);
  REPRISE_CHECK(state_->admit(mode));
  const auto found = state_->contents.counters.find(key);
  return found == state_->contents.counters.end() ? 0 : found->second;
}

Result<> MemoryEngine::write(const WriteSet& writes) {
  const std::lock_guard lock(state_->mutex);
  if (state_->is_full) return fail(Code::kNoSpace, "told to be full");
  if (state_->fail_countdown > 0 && --state_->fail_countdown == 0) {
    if (state_->fail_outcome == Outcome::kApplied) state_->unknown.push_back(writes);
    return fail(state_->fail_code, "a write was told to fail");
  }
  state_->contents.apply(writes);
  ++state_->writes;
  return {};
}

Result<> MemoryEngine::recover() {
  const std::lock_guard lock(state_->mutex);
  if (state_->is_full) return fail(Code::kNoSpace, "told to be full");
  for (const WriteSet& writes : state_->unknown) state_->contents.apply(writes);
  state_->unknown.clear();
  return {};
}

Version MemoryEngine::version_floor() const {
  const std::lock_guard lock(state_->mutex);
  return state_->contents.floor;
}

EngineStatistics MemoryEngine::statistics() const {
  const std::lock_guard lock(state_->mutex);
  return {.bytes_on_disk = 0, .memory_bytes = state_->contents.bytes, .free_bytes = 0};
}

void MemoryEngine::fail_write(std::uint64_t k, Code code, Outcome outcome) {
  REPRISE_ASSERT(k > 0);
  const std::lock_guard lock(state_->mutex);
  state_->fail_countdown = k;
  state_->fail_code = code;
  state_->fail_outcome = outcome;
}

void MemoryEngine::set_full(bool is_full) {
  const std::lock_guard lock(state_->mutex);
  state_->is_full = is_full;
}

void MemoryEngine::set_cold(bool is_cold) {
  const std::lock_guard lock(state_->mutex);
  state_->is_cold = is_cold;
}

void MemoryEngine::fail_reads(std::optional<Code> code) {
  const std::lock_guard lock(state_->mutex);
  state_->read_failure = code;
}

std::uint64_t MemoryEngine::writes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->writes;
}

std::uint64_t MemoryEngine::reads() const {
  const std::lock_guard lock(state_->mutex);
  return state_->reads;
}

std::unique_ptr<MemoryEngine> MemoryEngine::copy() const {
  auto result = std::make_unique<MemoryEngine>();
  const std::lock_guard lock(state_->mutex);
  result->state_->contents = state_->contents;
  for (const WriteSet& writes : state_->unknown) result->state_->contents.apply(writes);
  return result;
}

}  // namespace reprise::store
