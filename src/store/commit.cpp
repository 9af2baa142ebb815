#include "store/commit.h"

#include "store/engine.h"

namespace reprise::store {

namespace {
// What a key costs in the log beside its bytes: lengths, a tag, a stream id and a number.
constexpr std::size_t kKeyOverhead = 32;
}  // namespace

bool Commit::is_empty() const {
  return appends.empty() && puts.empty() && erases.empty() && checks.empty() && counters.empty() &&
         cuts.empty();
}

std::size_t Commit::byte_size() const {
  std::size_t size = kKeyOverhead * (1 + cuts.size());
  for (const StreamAppend& append : appends) {
    for (const std::string& entry : append.entries) size += kKeyOverhead + entry.size();
  }
  for (const RecordPut& put : puts) size += kKeyOverhead + put.key.size() + put.value.size();
  for (const RecordErase& erase : erases) size += kKeyOverhead + erase.key.size();
  for (const RecordCheck& check : checks) size += kKeyOverhead + check.key.size();
  for (const CounterAdd& counter : counters) size += kKeyOverhead + counter.key.size();
  return size;
}

bool WriteSet::is_empty() const {
  return cuts.empty() && erases.empty() && entries.empty() && puts.empty() && counters.empty();
}

void WriteSet::clear() {
  cuts.clear();
  erases.clear();
  entries.clear();
  puts.clear();
  counters.clear();
}

}  // namespace reprise::store
