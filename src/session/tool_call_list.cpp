// A page of tool calls: rows by their start, and what the events of those that match say.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/hash.h"
#include "session/tool_call_rows.h"
#include "session/tool_calls.h"

namespace reprise::session {
namespace {

constexpr std::size_t kScanChunk = 256;
constexpr std::size_t kCursorHashBytes = 8;
constexpr std::size_t kMaxEntryBytes = 1 << 20;

// A cursor is good for one query of one session: it carries a hash of both.
std::string query_hash(StreamId stream, const ToolCallQuery& query) {
  std::string text(stream.view());
  text.push_back(query.tool_name ? '\1' : '\0');
  put_text(text, query.tool_name.value_or(""));
  text.push_back(query.status ? static_cast<char>(*query.status) : '-');
  return sha256(text).substr(0, kCursorHashBytes);
}

std::string encode_cursor(StreamId stream, const ToolCallQuery& query, Seq last) {
  std::string bytes = query_hash(stream, query);
  put_be64(bytes, last.value);
  return to_base64url(bytes);
}

Result<Seq> decode_cursor(StreamId stream, const ToolCallQuery& query) {
  if (query.cursor.empty()) return Seq{0};
  const auto bytes = from_base64url(query.cursor);
  if (!bytes || bytes->size() != kCursorHashBytes + 8)
    return fail(Code::kBadCursor, "the cursor is not one that a list of tool calls gave");
  if (bytes->substr(0, kCursorHashBytes) != query_hash(stream, query))
    return fail(Code::kBadCursor, "the cursor belongs to another session or to other filters");
  return Seq{get_be64(std::string_view(*bytes).substr(kCursorHashBytes))};
}

Result<std::string> entry_at(const store::Store& store, StreamId stream, Seq seq) {
  REPRISE_TRY(
      auto entries,
      store.read(
          {.stream = stream, .after = Seq{seq.value - 1}, .limit = 1, .max_bytes = kMaxEntryBytes},
          store::ReadMode::kBlocking));
  if (entries.empty() || entries.front().seq != seq)
    return fail(Code::kCorrupt, fmt::format("event {} of a tool call is missing", seq.value));
  return std::move(entries.front().bytes);
}

Result<ToolCallView> view_of(const store::Store& store, StreamId stream, Seq started,
                             const ToolCallRow& row) {
  ToolCallView view;
  view.seq = started;
  REPRISE_TRY(const std::string start_bytes, entry_at(store, stream, started));
  REPRISE_TRY(const model::EntryView start, model::decode_entry(start_bytes));
  REPRISE_TRY(view.told, model::decode_tool_started(start.data));
  view.at = start.at;
  view.by = start.by;
  if (row.finished.value == 0) return view;
  REPRISE_TRY(const std::string end_bytes, entry_at(store, stream, row.finished));
  REPRISE_TRY(const model::EntryView end, model::decode_entry(end_bytes));
  REPRISE_TRY(auto told, model::decode_tool_finished(end.data));
  view.end = ToolCallView::End{
      .seq = row.finished, .at = end.at, .told = std::move(told), .by = std::string(end.by)};
  return view;
}

bool matches(const ToolCallQuery& query, const ToolCallRow& row) {
  return (!query.tool_name || *query.tool_name == row.tool_name) &&
         (!query.status || *query.status == row.status);
}

}  // namespace

Result<ToolCallPage> list_tool_calls(const store::Store& store, StreamId stream,
                                     const ToolCallQuery& query) {
  REPRISE_TRY(Seq last, decode_cursor(stream, query));
  const std::size_t limit = std::min(query.limit, kMaxToolCallPageLimit);
  ToolCallPage page;
  for (std::size_t examined = 0;;) {
    REPRISE_TRY(const auto rows, store.scan({.begin = tool_call_key(stream, last.next()),
                                             .end = tool_calls_end(stream),
                                             .is_reverse = false,
                                             .limit = kScanChunk},
                                            store::ReadMode::kBlocking));
    for (const auto& record : rows.records) {
      if (page.calls.size() >= limit || examined >= kMaxExaminedRows) {
        page.next_cursor = encode_cursor(stream, query, last);
        return page;
      }
      ++examined;
      last = started_of_key(record.key);
      REPRISE_TRY(const ToolCallRow row, decode_row(record.value));
      if (!matches(query, row)) continue;
      REPRISE_TRY(auto view, view_of(store, stream, last, row));
      page.calls.push_back(std::move(view));
    }
    if (!rows.has_more) return page;
  }
}

}  // namespace reprise::session
