// The stored snapshot of a session, in this order:
//
//     byte      version                   1; 2 if there are sections
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
//     sections  only in version 2: a byte that names it, its length as a varint, its bytes; in the
//               order of the names, and none that says nothing:
//         1     audit and tool calls: varint entries (not 0), 32 bytes head, varint number of open
//               calls, each 16 bytes id, varint started, varint started_at, text tool_name
//         2     open interactions: varint how many (not 0), each 16 bytes id, varint seq, varint
//               asked_at, optional deadline, text question
//         3     inputs: a byte 0, or a byte 1 and the active one, 16 bytes id, varint queued,
//               varint started; varint how many are queued, each 16 bytes id, varint queued;
//               varint void_from, varint void_to
//         4     the active tab: 16 bytes
//
// Each state has one spelling: encode_state(decode_state(bytes)) gives the same bytes.
#include <algorithm>

#include "base/bytes.h"

#include <fmt/format.h>
#include "model/limits.h"
#include "model/session_state.h"

namespace reprise::model {
namespace {

constexpr std::uint8_t kPlainVersion = 1;
constexpr std::uint8_t kSectionsVersion = 2;
constexpr std::uint8_t kAuditSection = 1;
constexpr std::uint8_t kInteractionsSection = 2;
constexpr std::uint8_t kInputsSection = 3;
constexpr std::uint8_t kTabSection = 4;
constexpr std::uint8_t kPoolsSection = 5;

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

// What is added later has a section of its own: absent where it says nothing, so that sessions
// without it are stored as they always were.
std::string audit_section(const SessionState& state) {
  std::string out;
  if (state.audit.entries == 0) return out;
  put_varint(out, state.audit.entries);
  out.append(reinterpret_cast<const char*>(state.audit.head.data()), state.audit.head.size());
  put_varint(out, state.open_tool_calls.size());
  for (const OpenToolCall& call : state.open_tool_calls) {
    out.append(call.id.view());
    put_varint(out, call.started.value);
    put_time(out, call.started_at);
    put_text(out, call.tool_name);
  }
  return out;
}

bool get_audit_section(std::string_view bytes, SessionState& state) {
  ByteReader reader(bytes);
  std::string_view head;
  std::uint64_t open = 0;
  if (!reader.varint(state.audit.entries) || state.audit.entries == 0 ||
      !reader.take(state.audit.head.size(), head) || !reader.varint(open) ||
      open > kMaxOpenToolCalls)
    return false;
  std::ranges::copy(head, state.audit.head.begin());
  for (std::uint64_t i = 0; i < open; ++i) {
    OpenToolCall& call = state.open_tool_calls.emplace_back();
    std::string_view id;
    if (!reader.take(call.id.bytes.size(), id) || !reader.varint(call.started.value) ||
        !get_time(reader, call.started_at) || !reader.text(call.tool_name))
      return false;
    call.id = *ToolCallId::from_bytes(id);
  }
  return reader.at_end();
}

std::string interactions_section(const SessionState& state) {
  std::string out;
  if (state.interactions.empty()) return out;
  put_varint(out, state.interactions.size());
  for (const OpenInteraction& open : state.interactions) {
    out.append(open.id.view());
    put_varint(out, open.asked_at_seq.value);
    put_time(out, open.asked_at);
    put_optional(out, open.deadline_at.transform(
                          [](TimePoint at) { return static_cast<std::uint64_t>(at.ms); }));
    put_text(out, open.question);
  }
  return out;
}

bool get_interactions_section(std::string_view bytes, SessionState& state) {
  ByteReader reader(bytes);
  std::uint64_t count = 0;
  if (!reader.varint(count) || count == 0 || count > kMaxOpenInteractions) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    OpenInteraction& open = state.interactions.emplace_back();
    std::string_view id;
    std::optional<std::uint64_t> deadline;
    if (!reader.take(open.id.bytes.size(), id) || !reader.varint(open.asked_at_seq.value) ||
        !get_time(reader, open.asked_at) || !get_optional(reader, deadline) ||
        !reader.text(open.question))
      return false;
    open.id = *InteractionId::from_bytes(id);
    if (deadline) open.deadline_at = TimePoint{static_cast<std::int64_t>(*deadline)};
  }
  return reader.at_end();
}

std::string inputs_section(const SessionState& state) {
  std::string out;
  const InputQueue& inputs = state.inputs;
  if (inputs == InputQueue{}) return out;
  out.push_back(inputs.active ? '\1' : '\0');
  if (inputs.active) {
    out.append(inputs.active->id.view());
    put_varint(out, inputs.active->queued.value);
    put_varint(out, inputs.active->started.value);
  }
  put_varint(out, inputs.queued.size());
  for (const QueuedInput& input : inputs.queued) {
    out.append(input.id.view());
    put_varint(out, input.queued.value);
  }
  put_varint(out, inputs.void_from.value);
  put_varint(out, inputs.void_to.value);
  return out;
}

bool get_input_id(ByteReader& reader, InputId& id) {
  std::string_view bytes;
  if (!reader.take(id.bytes.size(), bytes)) return false;
  id = *InputId::from_bytes(bytes);
  return true;
}

bool get_inputs_section(std::string_view bytes, SessionState& state) {
  ByteReader reader(bytes);
  InputQueue& inputs = state.inputs;
  std::uint8_t is_active = 0;
  std::uint64_t count = 0;
  if (!reader.byte(is_active) || is_active > 1) return false;
  if (is_active == 1) {
    ActiveInput& active = inputs.active.emplace();
    if (!get_input_id(reader, active.id) || !reader.varint(active.queued.value) ||
        !reader.varint(active.started.value))
      return false;
  }
  // One more between the event that queues an input and the one that starts it.
  if (!reader.varint(count) || count > kMaxQueuedInputs + 1) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    QueuedInput& input = inputs.queued.emplace_back();
    if (!get_input_id(reader, input.id) || !reader.varint(input.queued.value)) return false;
  }
  return reader.varint(inputs.void_from.value) && reader.varint(inputs.void_to.value) &&
         inputs.void_from <= inputs.void_to && reader.at_end() && inputs != InputQueue{};
}

bool get_tab_section(std::string_view bytes, SessionState& state) {
  state.active_tab = TabId::from_bytes(bytes);
  return state.active_tab.has_value();
}

std::string pools_section(const SessionState& state) {
  std::string out;
  if (state.pools.empty()) return out;
  put_varint(out, state.pools.size());
  for (const std::string& pool : state.pools) put_text(out, pool);
  return out;
}

bool get_pools_section(std::string_view bytes, SessionState& state) {
  ByteReader reader(bytes);
  std::uint64_t count = 0;
  if (!reader.varint(count) || count == 0 || count > kMaxSessionPools) return false;
  for (std::uint64_t i = 0; i < count; ++i)
    if (!reader.text(state.pools.emplace_back())) return false;
  return reader.at_end();
}

void put_section(std::string& out, std::uint8_t name, std::string_view bytes) {
  if (bytes.empty()) return;
  out.front() = static_cast<char>(kSectionsVersion);
  out.push_back(static_cast<char>(name));
  put_text(out, bytes);
}

bool get_sections(ByteReader& reader, SessionState& state) {
  if (reader.at_end()) return false;  // version 1 says that
  std::uint8_t last = 0;
  while (!reader.at_end()) {
    std::uint8_t name = 0;
    std::string_view bytes;
    if (!reader.byte(name) || name <= last || !reader.text(bytes)) return false;
    last = name;
    const bool is_sound = name == kAuditSection          ? get_audit_section(bytes, state)
                          : name == kInteractionsSection ? get_interactions_section(bytes, state)
                          : name == kInputsSection       ? get_inputs_section(bytes, state)
                          : name == kTabSection          ? get_tab_section(bytes, state)
                          : name == kPoolsSection        ? get_pools_section(bytes, state)
                                                         : false;
    if (!is_sound) return false;
  }
  return true;
}

}  // namespace

std::string encode_state(const SessionState& state) {
  std::string out;
  out.reserve(128 + state.app.size() + state.name.size() + state.graph_id.size() +
              state.owner_agent.size() + state.last_error.size() + state.metadata.size() +
              state.steps.size());
  out.push_back(static_cast<char>(kPlainVersion));
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
  put_section(out, kAuditSection, audit_section(state));
  put_section(out, kInteractionsSection, interactions_section(state));
  put_section(out, kInputsSection, inputs_section(state));
  if (state.active_tab) put_section(out, kTabSection, state.active_tab->view());
  put_section(out, kPoolsSection, pools_section(state));
  return out;
}

Result<SessionState> decode_state(std::string_view bytes) {
  ByteReader reader(bytes);
  std::uint8_t version = 0;
  if (!reader.byte(version)) return fail(Code::kCorrupt, "a stored session is empty");
  if (version != kPlainVersion && version != kSectionsVersion)
    return fail(Code::kCorrupt,
                fmt::format("a stored session has the unknown version {}", version));
  SessionState state;
  if (!get_members(reader, state) || (version == kSectionsVersion && !get_sections(reader, state)))
    return fail(Code::kCorrupt, "a stored session is damaged");
  if (!reader.at_end()) return fail(Code::kCorrupt, "a stored session has bytes after its end");
  return state;
}

}  // namespace reprise::model
