// An event of a session and how it is stored.
//
// Stored form of an entry (encode_entry), version 1:
//
//     byte      1                    the version
//     varint    at                   milliseconds since 1970
//     varint    message_count        running counter after this entry, since the last reset
//     text      type                 varint length, then the bytes
//     text      by                   who appended it; empty if nobody said
//     text      extra                what else an entry carries: an audited one its hash
//                                    (model/audit.h), others nothing; readers skip what they do
//                                    not know
//     bytes     data                 the payload: minified JSON, to the end
//
// The counters stand in each entry so that a plain append writes one key and a list reads one
// entry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"

namespace reprise::model {

// Types that the server writes itself and refuses from clients.
namespace event_type {
inline constexpr std::string_view kSessionCreated = "session_created";
inline constexpr std::string_view kSessionUpdated = "session_updated";
inline constexpr std::string_view kSessionReset = "session_reset";
inline constexpr std::string_view kStatusChange = "status_change";
inline constexpr std::string_view kInputRequired = "input_required";
inline constexpr std::string_view kInputReceived = "input_received";
inline constexpr std::string_view kInputQueued = "input_queued";
inline constexpr std::string_view kInputStarted = "input_started";
inline constexpr std::string_view kInputFinished = "input_finished";
inline constexpr std::string_view kToolStarted = "tool_started";
inline constexpr std::string_view kToolFinished = "tool_finished";
inline constexpr std::string_view kMessage = "message";
}  // namespace event_type

bool is_reserved_type(std::string_view type);
// `[a-z][a-z0-9_.]{0,63}`
bool is_well_formed_type(std::string_view type);

// An event before it has a number.
struct Event {
  std::string type;
  TimePoint at;
  std::string data = "null";  // minified JSON
  std::string by;
};

// What an entry carries besides the event.
struct EntryCounters {
  std::uint64_t message_count = 0;
};

// A decoded entry; views into the stored bytes.
struct EntryView {
  std::string_view type;
  TimePoint at;
  std::string_view data;
  std::string_view by;
  EntryCounters counters;
  std::string_view extra;
};

std::string encode_entry(const Event& event, const EntryCounters& counters,
                         std::string_view extra = {});
// Fails with kCorrupt for bytes that encode_entry cannot have written.
Result<EntryView> decode_entry(std::string_view bytes);

// The event as clients see it: {"seq":7,"type":"log","at":"…","data":…,"by":"…"}; `by` only if
// there is one.
void append_event_json(std::string& out, Seq seq, const EntryView& entry);

}  // namespace reprise::model
