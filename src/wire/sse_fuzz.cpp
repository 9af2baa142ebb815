// Any bytes as a stream: the same events however they are cut. Any bytes as data: what is encoded
// is decoded again, with line ends as LF.
#include "base/assert.h"
#include "wire/sse.h"

namespace {

using namespace reprise::wire;

std::string outcome(std::string_view bytes, std::size_t piece_bytes) {
  SseDecoder decoder(300);
  std::string text;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, piece_bytes);
    bytes.remove_prefix(piece.size());
    for (const SseEvent& event : decoder.feed(piece))
      text += event.type + "|" + event.last_event_id + "|" + event.data + "\n\n";
  }
  if (decoder.retry_ms()) text += std::to_string(*decoder.retry_ms());
  return text + (decoder.has_overflowed() ? "overflow" : "");
}

std::string with_line_feeds(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    out.push_back(text[i] == '\r' ? '\n' : text[i]);
  }
  return out;
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != '\r' && c != '\n' && c != '\0') out.push_back(c);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = outcome(bytes, size);
  REPRISE_ASSERT(outcome(bytes, 1) == whole, whole, outcome(bytes, 1));

  const std::size_t third = size / 3;
  const std::string event = one_line(bytes.substr(0, third));
  const std::string id = one_line(bytes.substr(third, third));
  const std::string_view text = bytes.substr(2 * third);
  std::string encoded;
  append_sse_comment(encoded, bytes);
  append_sse_frame(encoded, event, id, text);
  SseDecoder decoder;
  const auto events = decoder.feed(encoded);
  REPRISE_ASSERT(events.size() == 1, events.size());
  REPRISE_ASSERT(events[0].type == (event.empty() ? "message" : event), events[0].type);
  REPRISE_ASSERT(events[0].last_event_id == id, events[0].last_event_id);
  REPRISE_ASSERT(events[0].data == with_line_feeds(text), events[0].data);
  return 0;
}
