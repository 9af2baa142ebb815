// Where a session's tool calls stand in the store, so that they are listed without reading its
// stream. Keyed by the stream's incarnation; the janitor removes them with it.
//
//     c stream 1 seq    a call, by its tool_started event:
//                       byte 1, the version; 16 bytes id; varint finished, the number of its
//                       tool_finished event, 0 while it is open; byte status; text tool_name
//     c stream 2 id     the number of the call's tool_started event, big-endian
//
// What was said about a call stands in its two events and nowhere else.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "model/event.h"
#include "model/tool_calls.h"
#include "store/commit.h"

namespace reprise::session {

struct ToolCallRow {
  model::ToolCallId id;
  Seq finished;  // 0: open
  model::ToolCallStatus status = model::ToolCallStatus::kOpen;
  std::string tool_name;
};

std::string encode_row(const ToolCallRow& row);
// kCorrupt for bytes that encode_row cannot have written.
Result<ToolCallRow> decode_row(std::string_view bytes);

// All rows of a stream.
std::string tool_call_rows_prefix(StreamId stream);
// Rows by the number of their start; ends before those by id.
std::string tool_call_key(StreamId stream, Seq started);
std::string tool_calls_end(StreamId stream);
std::string tool_call_id_key(StreamId stream, const model::ToolCallId& id);
// The start that a key of tool_call_key() names.
Seq started_of_key(std::string_view key);

// What an audited event of a tool call changes in the rows; part of the event's commit.
void add_tool_call_rows(store::Commit& commit, StreamId stream, Seq seq, const model::Event& event);

}  // namespace reprise::session
