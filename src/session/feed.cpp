#include "session/feed.h"

#include "base/bytes.h"
#include "model/limits.h"

namespace reprise::session {
namespace {
constexpr std::uint8_t kPlainVersion = 1;
constexpr std::uint8_t kPoolsVersion = 2;
constexpr std::uint8_t kChanged = 1;
constexpr std::uint8_t kDeleted = 2;

void put_filterable(std::string& out, const Filterable& fields) {
  put_text(out, fields.app);
  put_text(out, fields.graph_id);
  put_text(out, fields.owner_agent);
  put_text(out, fields.name);
  out.push_back(static_cast<char>(fields.status));
  out.push_back(fields.is_waiting ? '\1' : '\0');
  put_varint(out, static_cast<std::uint64_t>(fields.created_at.ms));
  if (fields.pools.empty()) return;
  put_varint(out, fields.pools.size());
  for (const std::string& pool : fields.pools) put_text(out, pool);
}

bool get_pools(ByteReader& reader, std::vector<std::string>& pools) {
  std::uint64_t count = 0;
  if (!reader.varint(count) || count == 0 || count > model::kMaxSessionPools) return false;
  for (std::uint64_t i = 0; i < count; ++i)
    if (!reader.text(pools.emplace_back())) return false;
  return true;
}

bool get_filterable(ByteReader& reader, Filterable& fields, bool has_pools) {
  std::uint8_t status = 0;
  std::uint8_t waiting = 0;
  std::uint64_t created = 0;
  if (!reader.text(fields.app) || !reader.text(fields.graph_id) ||
      !reader.text(fields.owner_agent) || !reader.text(fields.name) || !reader.byte(status) ||
      status >= model::kStatuses.size() || !reader.byte(waiting) || waiting > 1 ||
      !reader.varint(created))
    return false;
  fields.status = static_cast<model::Status>(status);
  fields.is_waiting = waiting == 1;
  fields.created_at = TimePoint{static_cast<std::int64_t>(created)};
  return !has_pools || get_pools(reader, fields.pools);
}
}  // namespace

Filterable filterable(const model::SessionState& state) {
  return {.app = state.app,
          .graph_id = state.graph_id,
          .owner_agent = state.owner_agent,
          .name = state.name,
          .status = state.status,
          .is_waiting = state.pause_reasons.contains(model::PauseReason::kInput),
          .created_at = state.created_at,
          .pools = state.pools};
}

std::string encode_feed_entry(const FeedEntry& entry) {
  const bool has_pools = entry.before && !entry.before->pools.empty();
  std::string bytes(1, static_cast<char>(has_pools ? kPoolsVersion : kPlainVersion));
  bytes.push_back(static_cast<char>(entry.after ? kChanged : kDeleted));
  bytes += entry.id.view();
  bytes.push_back(entry.before ? '\1' : '\0');
  if (entry.before) put_filterable(bytes, *entry.before);
  if (entry.after) put_text(bytes, encode_stored(*entry.after));
  return bytes;
}

Result<FeedEntry> decode_feed_entry(std::string_view bytes) {
  const auto corrupt = [] { return fail(Code::kCorrupt, "a stored feed entry does not decode"); };
  ByteReader reader(bytes);
  std::uint8_t version = 0;
  std::uint8_t kind = 0;
  std::string_view id;
  std::uint8_t has_before = 0;
  if (!reader.byte(version) || (version != kPlainVersion && version != kPoolsVersion) ||
      !reader.byte(kind) || (kind != kChanged && kind != kDeleted) || !reader.take(16, id) ||
      !reader.byte(has_before) || has_before > 1 || (version == kPoolsVersion && has_before == 0))
    return corrupt();
  FeedEntry entry;
  entry.id = *SessionId::from_bytes(id);
  if (has_before == 1) {
    entry.before.emplace();
    if (!get_filterable(reader, *entry.before, version == kPoolsVersion)) return corrupt();
  }
  if (kind == kChanged) {
    std::string_view record;
    if (!reader.text(record)) return corrupt();
    REPRISE_TRY(entry.after, decode_stored(record, 0));
  }
  if (!reader.at_end()) return corrupt();
  return entry;
}

}  // namespace reprise::session
