#include "session/tool_call_rows.h"

#include "base/assert.h"
#include "base/bytes.h"

namespace reprise::session {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr char kTable = 'c';
constexpr char kBySeq = '\1';
constexpr char kById = '\2';
constexpr std::size_t kStatuses = 4;

}  // namespace

std::string encode_row(const ToolCallRow& row) {
  std::string bytes(1, static_cast<char>(kVersion));
  bytes += row.id.view();
  put_varint(bytes, row.finished.value);
  bytes.push_back(static_cast<char>(row.status));
  put_text(bytes, row.tool_name);
  return bytes;
}

Result<ToolCallRow> decode_row(std::string_view bytes) {
  ByteReader reader(bytes);
  ToolCallRow row;
  std::uint8_t version = 0;
  std::uint8_t status = 0;
  std::string_view id;
  if (!reader.byte(version) || version != kVersion || !reader.take(row.id.bytes.size(), id) ||
      !reader.varint(row.finished.value) || !reader.byte(status) || status >= kStatuses ||
      !reader.text(row.tool_name) || !reader.at_end())
    return fail(Code::kCorrupt, "a stored tool call does not decode");
  row.id = *model::ToolCallId::from_bytes(id);
  row.status = static_cast<model::ToolCallStatus>(status);
  if ((row.finished.value == 0) != (row.status == model::ToolCallStatus::kOpen))
    return fail(Code::kCorrupt, "a stored tool call is both open and finished");
  return row;
}

std::string tool_call_rows_prefix(StreamId stream) {
  std::string key(1, kTable);
  key += stream.view();
  return key;
}

std::string tool_call_key(StreamId stream, Seq started) {
  std::string key = tool_call_rows_prefix(stream);
  key.push_back(kBySeq);
  put_be64(key, started.value);
  return key;
}

std::string tool_calls_end(StreamId stream) { return tool_call_rows_prefix(stream) + kById; }

std::string tool_call_id_key(StreamId stream, const model::ToolCallId& id) {
  return tool_calls_end(stream) + std::string(id.view());
}

Seq started_of_key(std::string_view key) {
  REPRISE_ASSERT(key.size() == 1 + 16 + 1 + 8, key.size());
  return {get_be64(key.substr(key.size() - 8))};
}

void add_tool_call_rows(store::Commit& commit, StreamId stream, Seq seq,
                        const model::Event& event) {
  if (event.type == model::event_type::kToolStarted) {
    auto started = model::decode_tool_started(event.data);
    REPRISE_ASSERT(started.has_value(), event.data);  // decided just now
    std::string number;
    put_be64(number, seq.value);
    commit.puts.push_back(
        {.key = tool_call_id_key(stream, started->id), .value = std::move(number), .only_if = {}});
    const ToolCallRow row{
        .id = started->id, .finished = {}, .tool_name = std::move(started->tool_name)};
    commit.puts.push_back(
        {.key = tool_call_key(stream, seq), .value = encode_row(row), .only_if = {}});
  } else if (event.type == model::event_type::kToolFinished) {
    auto finished = model::decode_tool_finished(event.data);
    REPRISE_ASSERT(finished.has_value(), event.data);
    const ToolCallRow row{.id = finished->id,
                          .finished = seq,
                          .status = finished->status,
                          .tool_name = std::move(finished->tool_name)};
    commit.puts.push_back(
        {.key = tool_call_key(stream, finished->started), .value = encode_row(row), .only_if = {}});
  }
}

}  // namespace reprise::session
