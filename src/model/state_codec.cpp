// The stored snapshot of a session. Version 1, in this order:
//
//     byte      1                         the version
//     16 bytes  id
//     text      app, name, graph_id, owner_agent       varint length, then the bytes
//     byte      status                    the enum's number
//     byte      pause_reasons             a bit for each reason
//     varint    created_at, updated_at, last_activity_at    milliseconds since 1970
//     optional  ended_at                  a byte 0, or a byte 1 and a varint
//     optional  ttl_seconds, max_lifetime_seconds
//     byte      on_worker_lost            the enum's number
//     varint    message_count
//     text      last_error, metadata, steps
//     varint    head, visible_after
//
// Each state has one spelling: encode_state(decode_state(bytes)) gives the same bytes.
#include "base/bytes.h"
#include "model/session_state.h"

namespace reprise::model {
namespace {

constexpr std::uint8_t kStateVersion = 1;

void put_time(std::string& out, TimePoint at) {
  put_varint(out, static_cast<std::uint64_t>(at.ms));
}

void put_optional(std::string& out, std::optional<std::uint64_t> value) {
  out.push_back(value ? '\1' : '\0');
  if (value) put_varint(out, *value);
}

bool get_time(ByteReader& reader, TimePoint& at) {
  std::uint64_t ms = 0;
  if (!reader.varint(ms)) return false;
  at.ms = static_cast<std::int64_t>(ms);
  return true;
}

bool get_optional(ByteReader& reader, std::optional<std::uint64_t>& value) {
  std::uint8_t is_there = 0;
  if (!reader.byte(is_there) || is_there > 1) return false;
  value.reset();
  return is_there == 0 || reader.varint(value.emplace());
}

// A byte that numbers one of `count` enumerators.
template <typename Enum>
bool get_enum(ByteReader& reader, std::size_t count, Enum& value) {
  std::uint8_t number = 0;
  if (!reader.byte(number) || number >= count) return false;
  value = static_cast<Enum>(number);
  return true;
}

bool get_members(ByteReader& reader, SessionState& state) {
  std::string_view id;
  if (!reader.take(state.id.bytes.size(), id)) return false;
  state.id = *SessionId::from_bytes(id);
  if (!reader.text(state.app) || !reader.text(state.name) || !reader.text(state.graph_id) ||
      !reader.text(state.owner_agent) || !get_enum(reader, kStatuses.size(), state.status))
    return false;

  std::uint8_t reason_bits = 0;
  if (!reader.byte(reason_bits)) return false;
  const auto reasons = PauseReasons::from_bits(reason_bits);
  if (!reasons) return false;
  state.pause_reasons = *reasons;

  std::optional<std::uint64_t> ended_at;
  if (!get_time(reader, state.created_at) || !get_time(reader, state.updated_at) ||
      !get_time(reader, state.last_activity_at) || !get_optional(reader, ended_at) ||
      !get_optional(reader, state.ttl_seconds) || !get_optional(reader, state.max_lifetime_seconds))
    return false;
  if (ended_at) state.ended_at = TimePoint{static_cast<std::int64_t>(*ended_at)};

  return get_enum(reader, 3, state.on_worker_lost) && reader.varint(state.message_count) &&
         reader.text(state.last_error) && reader.text(state.metadata) && reader.text(state.steps) &&
         reader.varint(state.head.value) && reader.varint(state.visible_after.value);
}

}  // namespace

std::string encode_state(const SessionState& state) {
  std::string out;
  out.reserve(128 + state.app.size() + state.name.size() + state.graph_id.size() +
              state.owner_agent.size() + state.last_error.size() + state.metadata.size() +
              state.steps.size());
  out.push_back(static_cast<char>(kStateVersion));
  out.append(state.id.view());
  put_text(out, state.app);
  put_text(out, state.name);
  put_text(out, state.graph_id);
  put_text(out, state.owner_agent);
  out.push_back(static_cast<char>(state.status));
  out.push_back(static_cast<char>(state.pause_reasons.bits()));
  put_time(out, state.created_at);
  put_time(out, state.updated_at);
  put_time(out, state.last_activity_at);
  put_optional(out, state.ended_at.transform(
                        [](TimePoint at) { return static_cast<std::uint64_t>(at.ms); }));
  put_optional(out, state.ttl_seconds);
  put_optional(out, state.max_lifetime_seconds);
  out.push_back(static_cast<char>(state.on_worker_lost));
  put_varint(out, state.message_count);
  put_text(out, state.last_error);
  put_text(out, state.metadata);
  put_text(out, state.steps);
  put_varint(out, state.head.value);
  put_varint(out, state.visible_after.value);
  return out;
}

Result<SessionState> decode_state(std::string_view bytes) {
  ByteReader reader(bytes);
  std::uint8_t version = 0;
  if (!reader.byte(version)) return fail(Code::kCorrupt, "a stored session is empty");
  if (version != kStateVersion)
    return fail(Code::kCorrupt,
                fmt::format("a stored session has the unknown version {}", version));
  SessionState state;
  if (!get_members(reader, state)) return fail(Code::kCorrupt, "a stored session is damaged");
  if (!reader.at_end()) return fail(Code::kCorrupt, "a stored session has bytes after its end");
  return state;
}

}  // namespace reprise::model
