// Server-Sent Events, both ways (the WHATWG rules).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::wire {

// A frame: `event:` if named, `id:` if given, one `data:` line per line of data, an empty line.
// Neither `event` nor `id` may hold CR, LF or NUL (REPRISE_ASSERT).
void append_sse_frame(std::string& out, std::string_view event, std::optional<std::string_view> id,
                      std::string_view data);
// A comment line and an empty line: the heartbeat.
void append_sse_comment(std::string& out, std::string_view text);

struct SseEvent {
  std::string type = "message";
  std::string data;
  std::string last_event_id;  // as it stands after this event
};

// Incremental decoder for clients: CR, LF and CRLF end lines, a BOM at the start is dropped, data
// without a final empty line is not dispatched, an id with NUL is ignored.
class SseDecoder {
 public:
  // Frames completed by these bytes. A line or a frame over `max_frame_bytes` sets
  // has_overflowed().
  std::vector<SseEvent> feed(std::string_view bytes);
  std::optional<int> retry_ms() const { return retry_ms_; }
  bool has_overflowed() const { return has_overflowed_; }
  explicit SseDecoder(std::size_t max_frame_bytes = 64 * 1024 * 1024)
      : max_frame_bytes_(max_frame_bytes) {}

 private:
  void take_line(std::string_view line, std::vector<SseEvent>& events);
  std::size_t max_frame_bytes_;
  std::string line_;
  std::string data_;
  std::string type_;
  std::string last_event_id_;
  std::optional<int> retry_ms_;
  bool has_data_ = false;
  bool skip_line_feed_ = false;
  bool is_at_start_ = true;
  bool has_overflowed_ = false;
};

}  // namespace reprise::wire
