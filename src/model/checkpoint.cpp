#include "model/checkpoint.h"

#include <algorithm>

#include "model/decide_parts.h"
#include "model/limits.h"
#include "model/text_rules.h"

namespace reprise::model {

Result<> check_checkpoint_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxCheckpointNameBytes)
    return fail(Code::kBadParameter,
                fmt::format("a checkpoint's name has {} bytes; 1 to {} are allowed", name.size(),
                            kMaxCheckpointNameBytes));
  if (!wire::is_utf8(name) || has_control_character(name))
    return fail(Code::kBadParameter,
                "a checkpoint's name must be UTF-8 without control characters");
  return {};
}

std::vector<CheckpointVersion> drop_old_versions(std::vector<CheckpointVersion>& versions,
                                                 std::size_t most, Seq keep_before) {
  std::vector<CheckpointVersion> dropped;
  if (versions.size() <= most) return dropped;
  const auto end_of_old = versions.end() - static_cast<std::ptrdiff_t>(most);
  // Versions stand in the order of their events.
  const auto first_since =
      std::find_if(versions.begin(), versions.end(),
                   [&](const CheckpointVersion& one) { return one.seq >= keep_before; });
  const auto kept = keep_before.value == 0 || first_since == versions.begin()
                        ? versions.end()
                        : std::prev(first_since);
  std::vector<CheckpointVersion> remaining;
  for (auto one = versions.begin(); one != versions.end(); ++one)
    (one < end_of_old && one != kept ? dropped : remaining).push_back(*one);
  versions = std::move(remaining);
  return dropped;
}

Event checkpoint_saved(std::string_view name, std::uint64_t version, std::uint64_t size,
                       TimePoint now, std::string by) {
  DataWriter data;
  data.string("name", name);
  data.number("version", version);
  data.number("size", size);
  return {.type = "checkpoint", .at = now, .data = std::move(data).end(), .by = std::move(by)};
}

Event checkpoint_deleted(std::string_view name, std::uint64_t versions, TimePoint now,
                         std::string by) {
  DataWriter data;
  data.string("name", name);
  data.number("versions", versions);
  return {
      .type = "checkpoint_deleted", .at = now, .data = std::move(data).end(), .by = std::move(by)};
}

}  // namespace reprise::model
