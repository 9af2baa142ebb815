#include "sim/disk.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "session/keys.h"

namespace reprise::sim {

using store::ReadMode;

Result<> Disk::admit(ReadMode mode) const {
  if (mode == ReadMode::kCached && dice_.percent(cold_percent_)) return fail(Code::kWouldBlock);
  return {};
}

Result<std::optional<store::Record>> Disk::get(std::string_view key, ReadMode mode) const {
  REPRISE_CHECK(admit(mode));
  return engine_.get(key, mode);
}
Result<store::ScanPage> Disk::scan(const store::ScanRequest& request, ReadMode mode) const {
  REPRISE_CHECK(admit(mode));
  return engine_.scan(request, mode);
}
Result<> Disk::read(const store::ReadRequest& request, ReadMode mode,
                    store::EntryVisitor& visitor) const {
  REPRISE_CHECK(admit(mode));
  return engine_.read(request, mode, visitor);
}
Result<std::optional<store::StoredEntry>> Disk::last(StreamId stream, ReadMode mode) const {
  REPRISE_CHECK(admit(mode));
  return engine_.last(stream, mode);
}
Result<Seq> Disk::head(StreamId stream, ReadMode mode) const {
  REPRISE_CHECK(admit(mode));
  return engine_.head(stream, mode);
}
Result<Seq> Disk::first(StreamId stream, ReadMode mode) const {
  REPRISE_CHECK(admit(mode));
  return engine_.first(stream, mode);
}
Result<std::int64_t> Disk::counter(std::string_view key, ReadMode mode) const {
  REPRISE_CHECK(admit(mode));
  return engine_.counter(key, mode);
}

Result<> Disk::write(const store::WriteSet& writes) {
  if (is_frozen_) return fail(Code::kStorage, "the process is dead");
  if (is_full_) return fail(Code::kNoSpace, "the disk is full");
  if (std::exchange(fails_next_, false)) {
    if (dice_.percent(50)) unknown_.push_back(writes);
    return fail(Code::kNoSpace, "the disk was full for a moment");
  }
  make_durable(writes);
  return {};
}

Result<> Disk::recover() {
  if (is_frozen_) return fail(Code::kStorage, "the process is dead");
  if (is_full_) return fail(Code::kNoSpace, "the disk is full");
  for (const auto& writes : std::exchange(unknown_, {})) make_durable(writes);
  return {};
}

void Disk::freeze() {
  for (const auto& writes : std::exchange(unknown_, {})) make_durable(writes);
  fails_next_ = is_full_ = false;
  is_frozen_ = true;
}

void Disk::make_durable(const store::WriteSet& writes) {
  for (const std::string& key : writes.erases) {
    if (!key.starts_with(session::all_prefix())) continue;
    const auto record = engine_.get(key, ReadMode::kBlocking);
    if (record && *record) removed_[key] = (*record)->value;
  }
  for (const auto& entry : writes.entries) {
    auto& entries = history_[entry.stream];
    REPRISE_ASSERT(entry.seq.value == entries.size() + 1, entry.seq.value, entries.size());
    entries.push_back(entry.bytes);
  }
  const auto written = engine_.write(writes);
  REPRISE_ASSERT(written.has_value(), written.error().detail);
}

const std::vector<std::string>& Disk::history(StreamId stream) const {
  static const std::vector<std::string> kNone;
  const auto found = history_.find(stream);
  return found == history_.end() ? kNone : found->second;
}

std::vector<store::ScannedRecord> Disk::all(std::string_view prefix) const {
  auto page = engine_.scan({.begin = std::string(prefix),
                            .end = prefix_end(std::string(prefix)),
                            .is_reverse = false,
                            .limit = 1'000'000},
                           ReadMode::kBlocking);
  REPRISE_ASSERT(page.has_value() && !page->has_more);
  return std::move(page->records);
}

void SlowPool::run_one(Dice& dice) {
  const std::size_t index = dice.below(queue_.size());
  rt::Function work = std::move(queue_[index]);
  queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(index));
  work();
}

}  // namespace reprise::sim
