#include "wire/sse.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/assert.h"

namespace reprise::wire {
namespace {

bool is_one_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

// Calls `write` for each line of the text; CR, LF and CRLF part lines, because each would end a
// line at the reader. A text without any is one line, the empty text too.
template <typename Write>
void for_each_line(std::string_view text, Write write) {
  for (;;) {
    const std::size_t at = text.find_first_of("\r\n");
    write(text.substr(0, at));
    if (at == std::string_view::npos) return;
    text.remove_prefix(text.substr(at).starts_with("\r\n") ? at + 2 : at + 1);
  }
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  out += value;
  out += '\n';
}

}  // namespace

void append_sse_frame(std::string& out, std::string_view event, std::optional<std::string_view> id,
                      std::string_view data) {
  REPRISE_ASSERT(is_one_line(event), event);
  REPRISE_ASSERT(!id || is_one_line(*id), id.value_or(""));
  if (!event.empty()) append_field(out, "event", event);
  if (id) append_field(out, "id", *id);
  for_each_line(data, [&](std::string_view line) { append_field(out, "data", line); });
  out += '\n';
}

void append_sse_comment(std::string& out, std::string_view text) {
  for_each_line(text, [&](std::string_view line) { append_field(out, "", line); });
  out += '\n';
}

std::vector<SseEvent> SseDecoder::feed(std::string_view bytes) {
  std::vector<SseEvent> events;
  while (!bytes.empty() && !has_overflowed_) {
    if (std::exchange(skip_line_feed_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view piece = bytes.substr(0, end);
    if (line_.size() + piece.size() + data_.size() > max_frame_bytes_) {
      has_overflowed_ = true;
      // Swapped, because assigning an empty string keeps the memory.
      std::string().swap(line_);
      std::string().swap(data_);
      break;
    }
    if (end == std::string_view::npos) {
      line_.append(piece);
      break;
    }
    skip_line_feed_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (line_.empty()) {
      take_line(piece, events);
    } else {
      line_.append(piece);
      const std::string line = std::exchange(line_, {});
      take_line(line, events);
    }
  }
  return events;
}

void SseDecoder::take_line(std::string_view line, std::vector<SseEvent>& events) {
  if (std::exchange(is_at_start_, false) && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  if (line.empty()) {
    if (std::exchange(has_data_, false)) {
      SseEvent event{.data = std::exchange(data_, {}), .last_event_id = last_event_id_};
      if (!type_.empty()) event.type = type_;
      events.push_back(std::move(event));
    }
    type_.clear();
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (has_data_) data_ += '\n';
    has_data_ = true;
    data_ += value;
  } else if (field == "event") {
    type_ = value;
  } else if (field == "id") {
    if (value.find('\0') == std::string_view::npos) last_event_id_ = value;
  } else if (field == "retry") {
    int ms = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ms);
    const bool is_number = error == std::errc() && end == value.data() + value.size() && ms >= 0;
    if (is_number && value.front() != '-') retry_ms_ = ms;
  }
}

}  // namespace reprise::wire
