#include "session/stored_session.h"

#include "base/bytes.h"
#include "model/event.h"

namespace reprise::session {
namespace {
constexpr std::uint8_t kVersion = 1;
}

std::string encode_stored(const StoredSession& session) {
  std::string bytes(1, static_cast<char>(kVersion));
  bytes += session.stream.view();
  put_varint(bytes,
             session.filed_expiry ? static_cast<std::uint64_t>(session.filed_expiry->ms) + 1 : 0);
  bytes.push_back(session.slid_at ? '\1' : '\0');
  if (session.slid_at) put_varint(bytes, static_cast<std::uint64_t>(session.slid_at->ms));
  put_varint(bytes, session.revision);
  bytes += model::encode_state(session.state);
  return bytes;
}

Result<StoredSession> decode_stored(std::string_view bytes, store::Version version) {
  ByteReader reader(bytes);
  std::uint8_t format = 0;
  std::string_view stream;
  std::uint64_t expiry = 0;
  std::uint8_t has_slid = 0;
  std::uint64_t slid = 0;
  std::uint64_t revision = 0;
  if (!reader.byte(format) || format != kVersion || !reader.take(16, stream) ||
      !reader.varint(expiry) || !reader.byte(has_slid) || has_slid > 1 ||
      (has_slid == 1 && !reader.varint(slid)) || !reader.varint(revision))
    return fail(Code::kCorrupt, "a stored session does not decode");
  StoredSession session;
  REPRISE_TRY(session.state, model::decode_state(reader.rest()));
  session.stream = *StreamId::from_bytes(stream);
  if (expiry > 0) session.filed_expiry = TimePoint{static_cast<std::int64_t>(expiry - 1)};
  if (has_slid == 1) session.slid_at = TimePoint{static_cast<std::int64_t>(slid)};
  session.revision = revision;
  session.version = version;
  return session;
}

Result<> bring_up_to(StoredSession& session, const std::optional<store::StoredEntry>& newest) {
  auto& state = session.state;
  if (newest && newest->seq > state.head) {
    REPRISE_TRY(const model::EntryView entry, model::decode_entry(newest->bytes));
    state.head = newest->seq;
    state.message_count = entry.counters.message_count;
    state.last_activity_at = std::max(state.last_activity_at, entry.at);
  }
  if (session.slid_at) state.last_activity_at = std::max(state.last_activity_at, *session.slid_at);
  return {};
}

void grant_unwritten_activity(StoredSession& session, TimePoint now) {
  auto& state = session.state;
  if (!session.slid_at || !state.ttl_seconds) return;
  const TimePoint latest = std::min(*session.slid_at + Millis{*state.ttl_seconds * 100}, now);
  state.last_activity_at = std::max(state.last_activity_at, latest);
}

}  // namespace reprise::session
