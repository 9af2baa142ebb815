// How a batch is built.
//
// Each commit is first checked (nothing changes, so one that fails fails alone) and then applied:
// to the WriteSet that goes to the engine, to the cached heads and counters, and to the overlay of
// records. Heads and counters are changed in place: after a write that worked they are right, and
// after one that failed all caches are dropped.
//
// All conditions of a commit are checked against what was before it, also where it names a stream
// or key twice.
//
// A WriteSet applies its cuts and erases before its entries and puts. A commit that cuts a stream
// which an earlier commit of the batch wrote, or erases a record which one put, therefore opens the
// next batch.
#include "store/committer.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/assert.h"
#include "base/log.h"
#include "store/head_cache.h"
#include "store/limits.h"
#include "store/record_overlay.h"

namespace reprise::store {

namespace {

struct Pending {
  Commit commit;
  Completion done;
  std::size_t bytes = 0;
  Committed committed;
  std::optional<Error> error;  // why it was refused
};

struct Refused {
  Completion done;
  bool is_closed = false;  // else the queue is full
};

struct CachedCounter {
  std::int64_t value = 0;
  std::uint64_t batch = 0;  // the batch whose WriteSet holds it, at `index`
  std::size_t index = 0;
};

struct Counts {
  std::atomic<std::uint64_t> commits{0}, refused{0}, batches{0}, failed_writes{0};
  std::atomic<std::uint64_t> rejected_full_queue{0}, bytes{0}, write_nanos{0};
};

void add(std::atomic<std::uint64_t>& count, std::uint64_t by) {
  count.fetch_add(by, std::memory_order_relaxed);
}

Error wrong_head(Seq expected, Seq head) {
  Error error{Code::kWrongSequence, fmt::format("expectedHead is {} but the stream's head is {}",
                                                expected.value, head.value)};
  error.members = fmt::format("\"expectedHead\":{},\"head\":{}", expected.value, head.value);
  return error;
}

}  // namespace

struct Committer::Impl {
  Impl(Engine& the_engine, std::function<std::chrono::nanoseconds()> clock)
      : engine(the_engine), steady_now(std::move(clock)) {
    next_version = engine.version_floor() + 1;
  }

  // --- one batch, on the committer's thread ---
  bool take_work();
  void build_batch();
  bool must_open_next_batch(const Commit& commit);
  Result<> check(const Commit& commit);
  Result<> check_record(std::string_view key, const Precondition& only_if);
  void apply(Pending& pending);
  void write_batch();
  void complete(std::size_t end, const Error* failure);
  void forget_taken(std::size_t commits, std::size_t bytes);

  Result<HeadCache::Slot*> head_slot(const StreamId& stream);
  Result<CachedCounter*> counter_slot(const std::string& key);
  Result<std::optional<Version>> version_of(std::string_view key);

  void fail_write(const Error& error);
  void try_recovery();
  void drop_caches();
  Error refusal() const;

  Engine& engine;
  const std::function<std::chrono::nanoseconds()> steady_now;
  std::function<void()> wakeup;

  // Shared with submitters.
  mutable std::mutex mutex;
  std::vector<Pending> incoming;
  std::size_t queued = 0;
  std::size_t queued_bytes = 0;
  bool is_closed = false;

  std::atomic<StoreState> state{StoreState::kWritable};
  Counts counts;

  // The rest belongs to the thread that drains.
  std::size_t last_batch = 0;
  std::vector<Pending> taken;
  std::size_t next = 0;  // the first of `taken` that is not completed
  std::size_t batch_end = 0;
  std::size_t batch_bytes = 0;
  std::uint64_t batch = 1;
  Version next_version = 1;
  std::chrono::nanoseconds last_attempt{0};
  WriteSet writes;
  RecordOverlay overlay{writes};
  HeadCache heads{kHeadCacheStreams};
  std::unordered_map<std::string, CachedCounter> counters;
  std::vector<HeadCache::Slot*> append_slots, cut_slots;  // of the commit being checked
  std::vector<CachedCounter*> counter_slots;
};

Committer::Committer(Engine& engine, std::function<std::chrono::nanoseconds()> steady_now)
    : impl_(std::make_unique<Impl>(engine, std::move(steady_now))) {}

Committer::~Committer() {
  close();
  while (impl_->take_work()) {
    const Error stopping{Code::kShuttingDown, "the store closed before the commit was written"};
    impl_->complete(impl_->taken.size(), &stopping);
  }
}

void Committer::submit(Commit commit, Completion done) {
  std::vector<Submission> one;
  one.push_back({std::move(commit), std::move(done)});
  submit(std::move(one));
}

void Committer::submit(std::vector<Submission> submissions) {
  bool was_empty = false;
  std::vector<Refused> refused;
  {
    const std::lock_guard lock(impl_->mutex);
    was_empty = impl_->incoming.empty();
    for (Submission& submission : submissions) {
      for (const StreamAppend& append : submission.commit.appends) {
        REPRISE_ASSERT(!append.entries.empty(), append.stream.to_string());
      }
      const std::size_t bytes = submission.commit.byte_size();
      const bool has_room =
          impl_->queued < kMaxQueuedCommits && bytes <= kMaxQueuedBytes - impl_->queued_bytes;
      if (impl_->is_closed || !has_room) {
        refused.push_back({std::move(submission.done), impl_->is_closed});
        continue;
      }
      ++impl_->queued;
      impl_->queued_bytes += bytes;
      impl_->incoming.push_back({.commit = std::move(submission.commit),
                                 .done = std::move(submission.done),
                                 .bytes = bytes});
    }
    was_empty = was_empty && !impl_->incoming.empty();
  }
  if (was_empty && impl_->wakeup) impl_->wakeup();
  for (Refused& one : refused) {
    if (one.is_closed) {
      one.done(fail(Code::kShuttingDown, "the store is closing"));
    } else {
      add(impl_->counts.rejected_full_queue, 1);
      one.done(fail(Code::kOverloaded, "too many commits wait to be written"));
    }
  }
}

bool Committer::drain() {
  if (!impl_->take_work()) return false;
  impl_->try_recovery();
  if (impl_->state.load(std::memory_order_relaxed) != StoreState::kWritable) {
    const Error error = impl_->refusal();
    impl_->complete(impl_->taken.size(), &error);
    return true;
  }
  const std::size_t first = impl_->next;
  impl_->build_batch();
  impl_->last_batch = impl_->batch_end - first;
  impl_->write_batch();
  return true;
}

void Committer::tick() { impl_->try_recovery(); }

void Committer::set_wakeup(std::function<void()> wakeup) { impl_->wakeup = std::move(wakeup); }

void Committer::close() {
  const std::lock_guard lock(impl_->mutex);
  impl_->is_closed = true;
}

bool Committer::has_work() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->queued > 0;
}

std::size_t Committer::queued() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->queued;
}

std::size_t Committer::last_batch() const { return impl_->last_batch; }

StoreState Committer::state() const { return impl_->state.load(std::memory_order_acquire); }

CommitterProbe Committer::probe() const {
  const Counts& counts = impl_->counts;
  CommitterProbe probe{
      .commits = counts.commits.load(std::memory_order_relaxed),
      .refused = counts.refused.load(std::memory_order_relaxed),
      .batches = counts.batches.load(std::memory_order_relaxed),
      .failed_writes = counts.failed_writes.load(std::memory_order_relaxed),
      .rejected_full_queue = counts.rejected_full_queue.load(std::memory_order_relaxed),
      .bytes = counts.bytes.load(std::memory_order_relaxed),
      .write_nanos = counts.write_nanos.load(std::memory_order_relaxed)};
  const std::lock_guard lock(impl_->mutex);
  probe.queued = impl_->queued;
  return probe;
}

// Whether something is in `taken` to work on.
bool Committer::Impl::take_work() {
  if (next < taken.size()) return true;
  taken.clear();
  next = 0;
  const std::lock_guard lock(mutex);
  taken.swap(incoming);
  return !taken.empty();
}

void Committer::Impl::forget_taken(std::size_t commits, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  queued -= commits;
  queued_bytes -= bytes;
}

void Committer::Impl::build_batch() {
  ++batch;
  overlay.start_batch();
  if (counters.size() > kCounterCacheEntries) counters.clear();
  batch_bytes = 0;
  for (batch_end = next; batch_end < taken.size(); ++batch_end) {
    Pending& pending = taken[batch_end];
    const bool is_full = batch_end - next == kMaxBatchCommits ||
                         batch_bytes + pending.bytes > kMaxBatchBytes ||
                         must_open_next_batch(pending.commit);
    if (is_full && batch_end > next) break;
    batch_bytes += pending.bytes;
    if (auto checked = check(pending.commit); !checked) {
      pending.error = std::move(checked).error();
    } else {
      apply(pending);
    }
  }
}

bool Committer::Impl::must_open_next_batch(const Commit& commit) {
  for (const StreamCut& cut : commit.cuts) {
    const HeadCache::Slot* slot = heads.find(cut.stream, batch);
    if (slot != nullptr && slot->written == batch) return true;
  }
  for (const RecordErase& erase : commit.erases) {
    if (overlay.find(erase.key).kind == RecordOverlay::Kind::kPut) return true;
  }
  return false;
}

Result<> Committer::Impl::check(const Commit& commit) {
  append_slots.clear();
  cut_slots.clear();
  counter_slots.clear();
  for (const StreamAppend& append : commit.appends) {
    if (append.is_new_stream && heads.find(append.stream, batch) == nullptr)
      heads.insert(append.stream, Seq{0}, batch);
    REPRISE_TRY(HeadCache::Slot * slot, head_slot(append.stream));
    if (append.expected_head && *append.expected_head != slot->head) {
      return fail(wrong_head(*append.expected_head, slot->head));
    }
    append_slots.push_back(slot);
  }
  for (const RecordPut& put : commit.puts) REPRISE_CHECK(check_record(put.key, put.only_if));
  for (const RecordErase& erase : commit.erases) {
    REPRISE_CHECK(check_record(erase.key, erase.only_if));
  }
  for (const RecordCheck& one : commit.checks) REPRISE_CHECK(check_record(one.key, one.only_if));
  // What follows has no conditions but may have to be read, which may fail.
  for (const StreamCut& cut : commit.cuts) {
    REPRISE_TRY(HeadCache::Slot * slot, head_slot(cut.stream));
    cut_slots.push_back(slot);
  }
  for (const CounterAdd& counter : commit.counters) {
    REPRISE_TRY(CachedCounter * slot, counter_slot(counter.key));
    counter_slots.push_back(slot);
  }
  return {};
}

Result<> Committer::Impl::check_record(std::string_view key, const Precondition& only_if) {
  if (only_if.kind == Precondition::Kind::kNone) return {};
  REPRISE_TRY(const std::optional<Version> version, version_of(key));
  if (only_if.kind == Precondition::Kind::kAbsent) {
    if (!version) return {};
    return fail(Code::kWrongVersion, fmt::format("the record exists, with version {}", *version));
  }
  if (version == only_if.expected) return {};
  return fail(Code::kWrongVersion,
              version ? fmt::format("the record has version {}, not {}", *version, only_if.expected)
                      : fmt::format("there is no record with version {}", only_if.expected));
}

void Committer::Impl::apply(Pending& pending) {
  Commit& commit = pending.commit;
  for (std::size_t i = 0; i < commit.cuts.size(); ++i) {
    HeadCache::Slot& slot = *cut_slots[i];
    if (slot.head.value == 0) continue;  // never written, or forgotten just now
    StreamCut cut = commit.cuts[i];
    cut.up_to = std::min(cut.up_to, slot.head);
    if (cut.forget) slot.head = Seq{0};
    slot.written = batch;
    writes.cuts.push_back(cut);
  }
  for (RecordErase& erase : commit.erases) {
    writes.erases.push_back(std::move(erase.key));
    overlay.add_erase();
  }
  pending.committed.first_seqs.reserve(commit.appends.size());
  for (std::size_t i = 0; i < commit.appends.size(); ++i) {
    HeadCache::Slot& slot = *append_slots[i];
    pending.committed.first_seqs.push_back(slot.head.next());
    for (std::string& entry : commit.appends[i].entries) {
      slot.head = slot.head.next();
      writes.entries.push_back({slot.stream, slot.head, std::move(entry)});
    }
    slot.written = batch;
  }
  pending.committed.versions.reserve(commit.puts.size());
  for (RecordPut& put : commit.puts) {
    pending.committed.versions.push_back(next_version);
    writes.puts.push_back({std::move(put.key), std::move(put.value), next_version++});
    overlay.add_put();
  }
  for (std::size_t i = 0; i < commit.counters.size(); ++i) {
    CachedCounter& slot = *counter_slots[i];
    const bool overflows =
        __builtin_add_overflow(slot.value, commit.counters[i].delta, &slot.value);
    REPRISE_ASSERT(!overflows, slot.value, commit.counters[i].delta);
    if (slot.batch == batch) {
      writes.counters[slot.index].value = slot.value;
      continue;
    }
    slot.batch = batch;
    slot.index = writes.counters.size();
    writes.counters.push_back({std::move(commit.counters[i].key), slot.value});
  }
}

void Committer::Impl::write_batch() {
  Result<> written;
  if (!writes.is_empty()) {
    const auto started = steady_now();
    written = engine.write(writes);
    add(counts.write_nanos, static_cast<std::uint64_t>((steady_now() - started).count()));
    writes.clear();
    heads.end_batch();
    if (written) {
      add(counts.batches, 1);
      add(counts.bytes, batch_bytes);
    } else {
      fail_write(written.error());
    }
  } else {
    heads.end_batch();
  }
  if (written) {
    complete(batch_end, nullptr);
  } else {
    // Refusals too: they may have been decided on what did not become durable.
    const Error error = refusal();
    complete(batch_end, &error);
  }
}

// Tells everybody up to `end` of `taken`; with a failure, that, else each one's own outcome.
void Committer::Impl::complete(std::size_t end, const Error* failure) {
  const std::size_t begin = next;
  std::size_t bytes = 0;
  std::uint64_t refused = 0;
  for (std::size_t i = begin; i < end; ++i) {
    bytes += taken[i].bytes;
    if (taken[i].error) ++refused;
  }
  // Counted before anybody is told, so that who was told finds it counted.
  forget_taken(end - begin, bytes);
  if (failure == nullptr) {
    add(counts.refused, refused);
    add(counts.commits, end - begin - refused);
  }
  next = end;
  for (std::size_t i = begin; i < end; ++i) {
    Pending& pending = taken[i];
    Completion done = std::move(pending.done);
    if (failure != nullptr) {
      done(fail(*failure));
    } else if (pending.error) {
      done(fail(std::move(*pending.error)));
    } else {
      done(Durable<Committed>(std::move(pending.committed)));
    }
  }
}

Result<HeadCache::Slot*> Committer::Impl::head_slot(const StreamId& stream) {
  if (HeadCache::Slot* slot = heads.find(stream, batch)) return slot;
  REPRISE_TRY(const Seq head, engine.head(stream, ReadMode::kBlocking));
  return &heads.insert(stream, head, batch);
}

Result<CachedCounter*> Committer::Impl::counter_slot(const std::string& key) {
  if (const auto found = counters.find(key); found != counters.end()) return &found->second;
  REPRISE_TRY(const std::int64_t value, engine.counter(key, ReadMode::kBlocking));
  return &counters.emplace(key, CachedCounter{.value = value}).first->second;
}

Result<std::optional<Version>> Committer::Impl::version_of(std::string_view key) {
  const RecordOverlay::Found found = overlay.find(key);
  if (found.kind == RecordOverlay::Kind::kPut) return found.version;
  if (found.kind == RecordOverlay::Kind::kErased) return std::nullopt;
  REPRISE_TRY(const std::optional<Record> record, engine.get(key, ReadMode::kBlocking));
  if (!record) return std::nullopt;
  return record->version;
}

void Committer::Impl::fail_write(const Error& error) {
  add(counts.failed_writes, 1);
  const bool is_full = error.code == Code::kNoSpace;
  log::error(is_full ? "the disk is full: writes wait for room"
                     : "a write failed: the store is read-only until restart",
             {{"code", error_row(error.code).name}, {"detail", error.detail}});
  last_attempt = steady_now();
  state.store(is_full ? StoreState::kFull : StoreState::kReadOnly, std::memory_order_release);
  drop_caches();
}

void Committer::Impl::try_recovery() {
  if (state.load(std::memory_order_relaxed) != StoreState::kFull) return;
  const auto now = steady_now();
  if (now - last_attempt < kRecoveryInterval) return;
  last_attempt = now;
  if (auto recovered = engine.recover(); !recovered) {
    if (recovered.error().code == Code::kNoSpace) return;
    log::error("the store cannot be reopened: it is read-only until restart",
               {{"detail", recovered.error().detail}});
    state.store(StoreState::kReadOnly, std::memory_order_release);
    return;
  }
  drop_caches();
  // Versions of the failed batch were told to nobody. Going on from the engine's own number keeps
  // it true that the engine's floor is never below a version in use, also after the next restart.
  next_version = engine.version_floor() + 1;
  log::info("there is room again: the store is writable");
  state.store(StoreState::kWritable, std::memory_order_release);
}

void Committer::Impl::drop_caches() {
  heads.clear();
  counters.clear();
}

Error Committer::Impl::refusal() const {
  if (state.load(std::memory_order_relaxed) == StoreState::kFull) {
    return {Code::kNoSpace, "the store has no room to write"};
  }
  return {Code::kReadOnly, "the store is read-only after a failed write"};
}

}  // namespace reprise::store
