#include "store/rocksdb/rocksdb_engine.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <sys/statvfs.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "base/bytes.h"
#include "base/log.h"
#include "store/limits.h"
#include "store/rocksdb/rocksdb_internal.h"

namespace reprise::store {

namespace {

using Handle = std::shared_ptr<OpenDatabase>;

// A batch's memory is kept for the next one up to this size.
constexpr std::size_t kKeptBatchBytes = std::size_t{4} << 20;

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const rocksdb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

rocksdb::ReadOptions read_options(ReadMode mode) {
  rocksdb::ReadOptions options;
  if (mode == ReadMode::kCached) options.read_tier = rocksdb::kBlockCacheTier;
  return options;
}

std::array<char, 8> big_endian(std::uint64_t value) {
  std::array<char, 8> bytes{};
  for (std::size_t i = 8; i-- > 0; value >>= 8) bytes[i] = static_cast<char>(value & 0xFF);
  return bytes;
}

std::string prefixed(char prefix, std::string_view key) {
  std::string result;
  result.reserve(key.size() + 1);
  result += prefix;
  result += key;
  return result;
}

Error damaged(std::string_view what) {
  return {Code::kCorrupt, fmt::format("{} is shorter than its format", what)};
}

}  // namespace

EntryKey::EntryKey(const StreamId& stream, std::uint64_t seq) {
  const auto number = big_endian(seq);
  bytes_[0] = kEntryPrefix;
  std::copy_n(stream.view().data(), 16, bytes_.data() + 1);
  std::copy_n(number.data(), 8, bytes_.data() + 17);
  bytes_[kSize] = '\0';
}

std::uint64_t seq_of(const rocksdb::Slice& entry_key) {
  return get_be64({entry_key.data() + entry_key.size() - 8, 8});
}

Error error_of(const rocksdb::Status& status) {
  if (status.IsNoSpace()) return {Code::kNoSpace, status.ToString()};
  if (status.IsIncomplete()) return {Code::kWouldBlock, "the answer is not in memory"};
  if (status.IsCorruption()) return {Code::kCorrupt, status.ToString()};
  return {Code::kStorage, status.ToString()};
}

struct RocksDbEngine::Impl {
  Impl(std::string the_path, RocksDbOptions the_options, StoreMarker the_marker)
      : path(std::move(the_path)),
        options(std::move(the_options)),
        marker(std::move(the_marker)),
        last_flush(now()) {}

  Result<Handle> acquire(ReadMode mode) const;
  void publish(std::unique_ptr<OpenDatabase> opened);
  void close_and_wait();
  std::uint64_t free_bytes() const;
  std::chrono::nanoseconds now() const;
  void flush_what_is_old(const OpenDatabase& open);
  Result<> add_cut(const OpenDatabase& open, const StreamCut& cut);

  const std::string path;
  const RocksDbOptions options;
  const StoreMarker marker;

  // Who reads holds a share of the handle, so that reopening waits for reads instead of breaking
  // them.
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  Handle current;
  bool is_alive = false;  // until the last share of the handle is gone
  bool is_reopening = false;

  // The committer's thread alone.
  bool needs_reopening = false;
  rocksdb::WriteBatch batch;
  std::chrono::nanoseconds last_flush;
  std::size_t unflushed_bytes = 0;
};

Result<Handle> RocksDbEngine::Impl::acquire(ReadMode mode) const {
  std::unique_lock lock(mutex);
  if (!current) {
    if (mode == ReadMode::kCached) return fail(Code::kWouldBlock, "the database is being reopened");
    changed.wait(lock, [this] { return current || !is_reopening; });
    if (!current) return fail(Code::kStorage, "the database could not be reopened");
  }
  return current;
}

void RocksDbEngine::Impl::publish(std::unique_ptr<OpenDatabase> opened) {
  const std::lock_guard lock(mutex);
  current = Handle(opened.release(), [this](OpenDatabase* closing) {
    delete closing;
    const std::lock_guard closed(mutex);
    is_alive = false;
    changed.notify_all();
  });
  is_alive = true;
  is_reopening = false;
  changed.notify_all();
}

void RocksDbEngine::Impl::close_and_wait() {
  Handle last;
  std::unique_lock lock(mutex);
  is_reopening = true;
  last.swap(current);
  lock.unlock();
  last.reset();
  lock.lock();
  changed.wait(lock, [this] { return !is_alive; });
}

std::chrono::nanoseconds RocksDbEngine::Impl::now() const {
  return options.now ? options.now() : std::chrono::steady_clock::now().time_since_epoch();
}

void RocksDbEngine::Impl::flush_what_is_old(const OpenDatabase& open) {
  unflushed_bytes += batch.GetDataSize();
  if (unflushed_bytes < kMinFlushBytes) return;
  const std::chrono::nanoseconds time = now();
  if (time - last_flush < kFlushInterval) return;
  last_flush = time;
  unflushed_bytes = 0;
  rocksdb::FlushOptions flush;
  flush.wait = false;
  flush.allow_write_stall = true;  // else it waits for compactions, and so would the committer
  // A disk that fails is told by the next write.
  open.db->Flush(flush).PermitUncheckedError();
}

std::uint64_t RocksDbEngine::Impl::free_bytes() const {
  if (options.free_bytes) return options.free_bytes();
  struct statvfs status{};
  if (::statvfs(path.c_str(), &status) != 0) return UINT64_MAX;  // unknown is not full
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

RocksDbEngine::RocksDbEngine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

RocksDbEngine::~RocksDbEngine() { impl_->close_and_wait(); }

Result<std::unique_ptr<RocksDbEngine>> RocksDbEngine::open(const std::string& path,
                                                           RocksDbOptions options) {
  REPRISE_TRY(StoreMarker marker, StoreMarker::open(path));
  auto impl = std::make_unique<Impl>(path, std::move(options), std::move(marker));
  REPRISE_TRY(auto opened, OpenDatabase::open(impl->path, impl->options,
                                              /*is_read_only=*/false));
  impl->publish(std::move(opened));
  return std::unique_ptr<RocksDbEngine>(new RocksDbEngine(std::move(impl)));
}

Result<std::optional<Record>> RocksDbEngine::get(std::string_view key, ReadMode mode) const {
  REPRISE_TRY(const Handle open, impl_->acquire(mode));
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = open->db->Get(read_options(mode), open->db->DefaultColumnFamily(),
                                               prefixed(kRecordPrefix, key), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return fail(error_of(status));
  if (value.size() < 8) return fail(damaged("a record"));
  const std::string_view bytes = view(value);
  return Record{std::string(bytes.substr(8)), get_be64(bytes.substr(0, 8))};
}

Result<std::int64_t> RocksDbEngine::counter(std::string_view key, ReadMode mode) const {
  REPRISE_TRY(const Handle open, impl_->acquire(mode));
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = open->db->Get(read_options(mode), open->db->DefaultColumnFamily(),
                                               prefixed(kCounterPrefix, key), &value);
  if (status.IsNotFound()) return 0;
  if (!status.ok()) return fail(error_of(status));
  if (value.size() != 8) return fail(damaged("a counter"));
  return static_cast<std::int64_t>(get_be64(view(value)));
}

Result<ScanPage> RocksDbEngine::scan(const ScanRequest& request, ReadMode mode) const {
  ScanPage page;
  if (!request.end.empty() && request.end <= request.begin) return page;
  REPRISE_TRY(const Handle open, impl_->acquire(mode));
  const std::string begin = prefixed(kRecordPrefix, request.begin);
  const std::string end = request.end.empty() ? std::string(1, kRecordPrefix + 1)
                                              : prefixed(kRecordPrefix, request.end);
  const rocksdb::Slice lower(begin);
  const rocksdb::Slice upper(end);
  rocksdb::ReadOptions options = read_options(mode);
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> it(open->db->NewIterator(options));
  for (request.is_reverse ? it->SeekToLast() : it->SeekToFirst(); it->Valid();
       request.is_reverse ? it->Prev() : it->Next()) {
    if (page.records.size() == request.limit) {
      page.has_more = true;
      break;
    }
    const std::string_view value = view(it->value());
    if (value.size() < 8) return fail(damaged("a record"));
    page.records.push_back({std::string(view(it->key()).substr(1)), std::string(value.substr(8)),
                            get_be64(value.substr(0, 8))});
  }
  if (!it->status().ok()) return fail(error_of(it->status()));
  return page;
}

Result<> RocksDbEngine::read(const ReadRequest& request, ReadMode mode,
                             EntryVisitor& visitor) const {
  if (request.limit == 0 || request.after.value == UINT64_MAX) return {};
  REPRISE_TRY(const Handle open, impl_->acquire(mode));
  const EntryKey end(request.stream, UINT64_MAX);
  const rocksdb::Slice upper = end.stream_end();
  rocksdb::ReadOptions options = read_options(mode);
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> it(open->db->NewIterator(options));
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (it->Seek(EntryKey(request.stream, request.after.value + 1).slice()); it->Valid();
       it->Next()) {
    const std::string_view entry = view(it->value());
    bytes += entry.size();
    const bool wants_more = visitor.visit(Seq{seq_of(it->key())}, entry);
    if (!wants_more || ++count == request.limit || bytes >= request.max_bytes) return {};
  }
  if (!it->status().ok()) return fail(error_of(it->status()));
  return {};
}

namespace {

// The newest key of a stream: an entry, or the head that a cut left (number 0).
Result<std::optional<StoredEntry>> newest(const OpenDatabase& open, const StreamId& stream,
                                          ReadMode mode) {
  const EntryKey begin(stream, 0);
  const EntryKey end(stream, UINT64_MAX);
  const rocksdb::Slice lower = begin.slice();
  const rocksdb::Slice upper = end.stream_end();
  rocksdb::ReadOptions options = read_options(mode);
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> it(open.db->NewIterator(options));
  it->SeekToLast();
  if (it->Valid()) return StoredEntry{Seq{seq_of(it->key())}, it->value().ToString()};
  if (!it->status().ok()) return fail(error_of(it->status()));
  return std::nullopt;
}

Result<Seq> head_of(const std::optional<StoredEntry>& newest_key) {
  if (!newest_key) return Seq{0};
  if (newest_key->seq.value > 0) return newest_key->seq;
  if (newest_key->bytes.size() != 8) return fail(damaged("a head"));
  return Seq{get_be64(newest_key->bytes)};
}

}  // namespace

Result<std::optional<StoredEntry>> RocksDbEngine::last(StreamId stream, ReadMode mode) const {
  REPRISE_TRY(const Handle open, impl_->acquire(mode));
  REPRISE_TRY(std::optional<StoredEntry> found, newest(*open, stream, mode));
  if (found && found->seq.value == 0) return std::nullopt;
  return found;
}

Result<Seq> RocksDbEngine::head(StreamId stream, ReadMode mode) const {
  REPRISE_TRY(const Handle open, impl_->acquire(mode));
  REPRISE_TRY(const std::optional<StoredEntry> found, newest(*open, stream, mode));
  return head_of(found);
}

Result<Seq> RocksDbEngine::first(StreamId stream, ReadMode mode) const {
  struct First final : EntryVisitor {
    Seq seq;
    bool visit(Seq visited, std::string_view) override {
      seq = visited;
      return false;
    }
  } visitor;
  REPRISE_CHECK(read({.stream = stream, .after = Seq{0}, .limit = 1}, mode, visitor));
  return visitor.seq;
}

Result<> RocksDbEngine::Impl::add_cut(const OpenDatabase& open, const StreamCut& cut) {
  const EntryKey begin(cut.stream, cut.forget ? 0 : 1);
  const EntryKey end(cut.stream, cut.forget ? UINT64_MAX : cut.up_to.value + 1);
  const rocksdb::Slice upper = cut.forget ? end.stream_end() : end.slice();
  if (!cut.forget) {
    REPRISE_TRY(const std::optional<StoredEntry> found,
                newest(open, cut.stream, ReadMode::kBlocking));
    REPRISE_TRY(const Seq head, head_of(found));
    if (head.value > 0 && head <= cut.up_to) {
      const auto marker_value = big_endian(head.value);
      batch.Put(EntryKey(cut.stream, 0).slice(), {marker_value.data(), 8}).PermitUncheckedError();
    }
  }
  rocksdb::ReadOptions reading;
  reading.iterate_upper_bound = &upper;
  reading.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> it(open.db->NewIterator(reading));
  std::vector<std::string> keys;
  for (it->Seek(begin.slice()); it->Valid(); it->Next()) {
    keys.push_back(it->key().ToString());
    if (keys.size() > kMaxPointDeletesPerCut) break;
  }
  if (!it->status().ok()) return fail(error_of(it->status()));
  if (keys.size() > kMaxPointDeletesPerCut) {
    batch.DeleteRange(begin.slice(), upper).PermitUncheckedError();
  } else {
    for (const std::string& key : keys) batch.Delete(key).PermitUncheckedError();
  }
  return {};
}

Result<> RocksDbEngine::write(const WriteSet& writes) {
  REPRISE_TRY(const Handle open, impl_->acquire(ReadMode::kBlocking));
  if (impl_->needs_reopening) return fail(Code::kNoSpace, "the database waits to be reopened");
  rocksdb::WriteBatch& batch = impl_->batch;
  if (batch.GetDataSize() > kKeptBatchBytes) batch = rocksdb::WriteBatch();
  batch.Clear();
  // Building a batch fails only beyond 4 GiB, which kMaxBatchBytes excludes.
  for (const StreamCut& cut : writes.cuts) REPRISE_CHECK(impl_->add_cut(*open, cut));
  for (const std::string& key : writes.erases) {
    batch.Delete(prefixed(kRecordPrefix, key)).PermitUncheckedError();
  }
  for (const WriteSet::Entry& entry : writes.entries) {
    batch.Put(EntryKey(entry.stream, entry.seq.value).slice(), entry.bytes).PermitUncheckedError();
  }
  for (const WriteSet::Put& put : writes.puts) {
    const auto version = big_endian(put.version);
    const std::array<rocksdb::Slice, 2> key{rocksdb::Slice(&kRecordPrefix, 1), slice(put.key)};
    const std::array<rocksdb::Slice, 2> value{rocksdb::Slice(version.data(), 8), slice(put.value)};
    batch.Put(rocksdb::SliceParts(key.data(), 2), rocksdb::SliceParts(value.data(), 2))
        .PermitUncheckedError();
  }
  for (const WriteSet::Counter& counter : writes.counters) {
    const auto value = big_endian(static_cast<std::uint64_t>(counter.value));
    batch.Put(prefixed(kCounterPrefix, counter.key), {value.data(), 8}).PermitUncheckedError();
  }
  if (impl_->free_bytes() < impl_->options.reserve_bytes + batch.GetDataSize()) {
    return fail(Code::kNoSpace, "the file system's free space is down to the reserve");
  }
  rocksdb::WriteOptions options;
  options.sync = true;
  const rocksdb::Status status = open->db->Write(options, &batch);
  if (status.ok()) {
    impl_->flush_what_is_old(*open);
    return {};
  }
  impl_->needs_reopening = true;
  return fail(error_of(status));
}

Result<> RocksDbEngine::recover() {
  // Twice the reserve, so that it does not fill up again at once.
  const std::uint64_t free = impl_->free_bytes();
  if (free < 2 * impl_->options.reserve_bytes) {
    return fail(Code::kNoSpace, fmt::format("{} bytes are free", free));
  }
  if (!impl_->needs_reopening) return {};
  impl_->close_and_wait();
  auto opened = OpenDatabase::open(impl_->path, impl_->options,
                                   /*is_read_only=*/false);
  if (opened) {
    impl_->publish(std::move(*opened));
    impl_->needs_reopening = false;
    return {};
  }
  // Reads go on, without writing a byte, until it is tried again.
  auto readable = OpenDatabase::open(impl_->path, impl_->options,
                                     /*is_read_only=*/true);
  if (readable) {
    impl_->publish(std::move(*readable));
  } else {
    log::error("the database cannot be read", {{"detail", readable.error().detail}});
    const std::lock_guard lock(impl_->mutex);
    impl_->is_reopening = false;
    impl_->changed.notify_all();
  }
  return fail(std::move(opened).error());
}

Version RocksDbEngine::version_floor() const {
  // Every put of a record takes at least one of RocksDB's own numbers.
  const auto open = impl_->acquire(ReadMode::kBlocking);
  return open ? (*open)->db->GetLatestSequenceNumber() : 0;
}

EngineStatistics RocksDbEngine::statistics() const {
  EngineStatistics statistics{.free_bytes = impl_->free_bytes()};
  std::error_code error;
  for (const auto& item : std::filesystem::directory_iterator(impl_->path, error)) {
    const std::uintmax_t size = item.file_size(error);
    if (!error) statistics.bytes_on_disk += size;
  }
  const auto open = impl_->acquire(ReadMode::kCached);
  if (!open) return statistics;
  statistics.memory_bytes = (*open)->cache->GetUsage();
  for (const std::string& property : {rocksdb::DB::Properties::kSizeAllMemTables,
                                      rocksdb::DB::Properties::kEstimateTableReadersMem}) {
    std::uint64_t value = 0;
    if ((*open)->db->GetAggregatedIntProperty(property, &value)) statistics.memory_bytes += value;
  }
  return statistics;
}

}  // namespace reprise::store
