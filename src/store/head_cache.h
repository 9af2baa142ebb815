// The heads of the streams written lately, in constant time and constant memory.
//
// The committer changes heads here while it builds a batch: if the batch is written, they are
// right; if it is not, the cache is cleared. So whatever a batch has used must stay until the batch
// ends: it is never evicted meanwhile, and when a bucket holds nothing else the newcomer goes to an
// overflow that lives until end_batch(). References stay valid until then, too.
//
//     HeadCache::Slot* slot = cache.find(stream, batch);
//     if (slot == nullptr) slot = &cache.insert(stream, head_from_engine, batch);
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/ids.h"

namespace reprise::store {

class HeadCache {
 public:
  struct Slot {
    StreamId stream;
    Seq head;
    std::uint64_t used = 0;     // the last batch that looked at it; 0: an empty slot
    std::uint64_t written = 0;  // the last batch that changed it
  };

  // Room for `capacity` streams (rounded up to a power of two, at least one bucket).
  explicit HeadCache(std::size_t capacity);

  // Batches are numbered from 1, rising.
  Slot* find(const StreamId& stream, std::uint64_t batch);
  // Only after find() did not find it.
  Slot& insert(const StreamId& stream, Seq head, std::uint64_t batch);
  void end_batch() {
    if (!overflow_.empty()) overflow_.clear();
  }
  void clear();

 private:
  static constexpr std::size_t kWays = 8;
  Slot* bucket(const StreamId& stream);

  std::vector<Slot> slots_;
  std::size_t bucket_mask_ = 0;
  std::unordered_map<StreamId, Slot> overflow_;
};

}  // namespace reprise::store
