// Checkpoints: what an agent saves under a name, to go on from. Pure rules: which names there are,
// which versions are kept, and the events that tell of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/event.h"

namespace reprise::model {

// One saved version; what was saved stands elsewhere.
struct CheckpointVersion {
  std::uint64_t version = 0;
  Seq seq;  // of the event that told of it
  TimePoint at;
  std::uint64_t size = 0;  // of the minified data
  friend bool operator==(const CheckpointVersion&, const CheckpointVersion&) = default;
};

// 1 to kMaxCheckpointNameBytes of UTF-8 without control characters: kBadParameter.
Result<> check_checkpoint_name(std::string_view name);

// Takes out of `versions` (oldest first) what need not be kept besides the newest `most` of them.
// The newest one that is older than `keep_before` stays in any case: if what began there is rolled
// back, that one counts again. 0: nothing is under way.
std::vector<CheckpointVersion> drop_old_versions(std::vector<CheckpointVersion>& versions,
                                                 std::size_t most, Seq keep_before);

Event checkpoint_saved(std::string_view name, std::uint64_t version, std::uint64_t size,
                       TimePoint now, std::string by);
Event checkpoint_deleted(std::string_view name, std::uint64_t versions, TimePoint now,
                         std::string by);

}  // namespace reprise::model
