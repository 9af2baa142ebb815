// What the batch being built does to records, for the preconditions of its later commits.
//
// A hash table of indexes into the WriteSet, so that keys are neither copied nor allocated;
// starting a new batch empties it without touching memory. Threads: one at a time.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/engine.h"

namespace reprise::store {

class RecordOverlay {
 public:
  enum class Kind : std::uint8_t { kUntouched, kPut, kErased };
  struct Found {
    Kind kind = Kind::kUntouched;
    Version version = 0;  // of a kPut
  };

  explicit RecordOverlay(const WriteSet& writes) : writes_(writes), slots_(1024) {}

  Found find(std::string_view key) const;
  // The put or erase just added to the WriteSet's end; a later one for the same key wins.
  void add_put();
  void add_erase();
  void start_batch();

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint64_t batch = 0;  // a slot of an earlier batch is free
    std::uint32_t index = 0;
    bool is_erase = false;
  };
  std::string_view key_of(const Slot& slot) const;
  // Where the key is, or the free slot where it belongs.
  std::size_t locate(std::string_view key, std::uint64_t hash) const;
  void set(std::string_view key, std::size_t index, bool is_erase);
  void grow();

  const WriteSet& writes_;
  std::vector<Slot> slots_;  // a power of two, at most half full
  std::size_t used_ = 0;
  std::uint64_t batch_ = 1;
};

}  // namespace reprise::store
