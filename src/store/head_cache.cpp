#include "store/head_cache.h"

#include <algorithm>
#include <bit>

namespace reprise::store {

HeadCache::HeadCache(std::size_t capacity) {
  const std::size_t buckets = std::bit_ceil(std::max<std::size_t>(capacity / kWays, 1));
  slots_.resize(buckets * kWays);
  bucket_mask_ = buckets - 1;
}

HeadCache::Slot* HeadCache::bucket(const StreamId& stream) {
  // Stream ids end in random bits; the product spreads those that do not (tests, imports).
  const std::uint64_t hash = std::hash<StreamId>{}(stream) * 0x9E3779B97F4A7C15ULL;
  return &slots_[((hash >> 32) & bucket_mask_) * kWays];
}

HeadCache::Slot* HeadCache::find(const StreamId& stream, std::uint64_t batch) {
  Slot* const first = bucket(stream);
  for (Slot* slot = first; slot != first + kWays; ++slot) {
    if (slot->used != 0 && slot->stream == stream) {
      slot->used = batch;
      return slot;
    }
  }
  if (overflow_.empty()) return nullptr;
  const auto found = overflow_.find(stream);
  return found == overflow_.end() ? nullptr : &found->second;
}

HeadCache::Slot& HeadCache::insert(const StreamId& stream, Seq head, std::uint64_t batch) {
  Slot* const first = bucket(stream);
  Slot* const oldest = std::min_element(
      first, first + kWays, [](const Slot& a, const Slot& b) { return a.used < b.used; });
  Slot fresh{.stream = stream, .head = head, .used = batch, .written = 0};
  if (oldest->used == batch) return overflow_.emplace(stream, fresh).first->second;
  *oldest = fresh;
  return *oldest;
}

void HeadCache::clear() {
  std::fill(slots_.begin(), slots_.end(), Slot{});
  overflow_.clear();
}

}  // namespace reprise::store
