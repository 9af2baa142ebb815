#include "model/event.h"

#include <array>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/json_text.h"

namespace reprise::model {
namespace {

constexpr std::uint8_t kEntryVersion = 1;
constexpr std::size_t kMaxTypeBytes = 64;

constexpr std::array<std::string_view, 21> kReservedTypes = {
    event_type::kSessionCreated,
    event_type::kSessionUpdated,
    event_type::kSessionReset,
    event_type::kStatusChange,
    event_type::kInputRequired,
    event_type::kInputReceived,
    event_type::kInputQueued,
    event_type::kInputStarted,
    event_type::kInputFinished,
    event_type::kToolStarted,
    event_type::kToolFinished,
    "artifact_created",
    "artifact_deleted",
    "module_linked",
    "module_unlinked",
    "context_opened",
    "context_closed",
    "tab_opened",
    "tab_updated",
    "tab_closed",
    "command",
};

}  // namespace

bool is_reserved_type(std::string_view type) {
  // Lengths are compared first, so that this costs a client's event some nanoseconds.
  for (const std::string_view reserved : kReservedTypes)
    if (type == reserved) return true;
  return false;
}

bool is_well_formed_type(std::string_view type) {
  if (type.empty() || type.size() > kMaxTypeBytes) return false;
  if (type[0] < 'a' || type[0] > 'z') return false;
  for (const char c : type.substr(1)) {
    const bool is_allowed =
        (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    if (!is_allowed) return false;
  }
  return true;
}

std::string encode_entry(const Event& event, const EntryCounters& counters,
                         std::string_view extra) {
  // What decode_entry refuses must never be stored: it could not be read again.
  REPRISE_ASSERT(is_well_formed_type(event.type), event.type);
  REPRISE_ASSERT(!event.data.empty(), event.type);
  std::string out;
  out.reserve(32 + event.type.size() + event.by.size() + extra.size() + event.data.size());
  out.push_back(static_cast<char>(kEntryVersion));
  put_varint(out, static_cast<std::uint64_t>(event.at.ms));
  put_varint(out, counters.message_count);
  put_text(out, event.type);
  put_text(out, event.by);
  put_text(out, extra);
  out.append(event.data);
  return out;
}

Result<EntryView> decode_entry(std::string_view bytes) {
  ByteReader reader(bytes);
  EntryView entry;
  std::uint8_t version = 0;
  std::uint64_t at = 0;
  if (!reader.byte(version)) return fail(Code::kCorrupt, "a stored event is empty");
  if (version != kEntryVersion)
    return fail(Code::kCorrupt, fmt::format("a stored event has the unknown version {}", version));
  if (!reader.varint(at) || !reader.varint(entry.counters.message_count) ||
      !reader.text(entry.type) || !reader.text(entry.by) || !reader.text(entry.extra))
    return fail(Code::kCorrupt, "a stored event is cut off");
  if (!is_well_formed_type(entry.type))
    return fail(Code::kCorrupt, "a stored event has a malformed type");
  if (reader.rest().empty()) return fail(Code::kCorrupt, "a stored event has no data");
  entry.at.ms = static_cast<std::int64_t>(at);
  entry.data = reader.rest();
  return entry;
}

void append_event_json(std::string& out, Seq seq, const EntryView& entry) {
  out += "{\"seq\":";
  append_number(out, seq.value);
  out += ",\"type\":";
  append_json_string(out, entry.type);
  out += ",\"at\":\"";
  append_time(out, entry.at);
  out += "\",\"data\":";
  out += entry.data;
  if (!entry.by.empty()) {
    out += ",\"by\":";
    append_json_string(out, entry.by);
  }
  out += '}';
}

}  // namespace reprise::model
