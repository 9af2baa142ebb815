#include "frame_counter.h"

#include <charconv>
#include <cstring>

namespace reprise::load {
namespace {

constexpr std::string_view kMark = "\"t\":";

const char* find_mark(std::string_view text) {
  return static_cast<const char*>(memmem(text.data(), text.size(), kMark.data(), kMark.size()));
}

}  // namespace

void FrameCounter::take_events(std::string_view text) {
  while (const char* mark = find_mark(text)) {
    ++events_;
    const char* end = text.data() + text.size();
    const char* digits = mark + kMark.size();
    if (latencies_ != nullptr) {
      std::uint64_t sent = 0;
      std::from_chars(digits, end, sent);
      latencies_->add(*now_ > sent ? *now_ - sent : 0);
    }
    text = {digits, static_cast<std::size_t>(end - digits)};
  }
}

void FrameCounter::take_line(std::string_view line) {
  if (line.starts_with("data:")) {
    if (is_control_)
      is_live_ = is_live_ || line.find("\"upToDate\":true") != line.npos;
    else
      take_events(line);
  } else if (line.starts_with("id:")) {
    auto digits = line.substr(3);
    if (digits.starts_with(' ')) digits.remove_prefix(1);
    std::uint64_t id = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), id);
    if (last_id_ != 0 && id != last_id_ + 1) ++gaps_;
    last_id_ = id;
  } else if (line.starts_with("event:")) {
    is_control_ = line.ends_with("control");
    is_live_ = is_live_ || line.ends_with("replayComplete");
  } else if (line.empty()) {
    is_control_ = false;
  }
}

void FrameCounter::take(std::string_view bytes) {
  bytes_ += bytes.size();
  if (!rest_.empty()) {
    const auto end = bytes.find('\n');
    if (end == bytes.npos) {
      rest_.append(bytes);
      return;
    }
    rest_.append(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
    take_line(rest_);
    rest_.clear();
  }
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    if (end == bytes.npos) {
      rest_.assign(bytes);
      return;
    }
    take_line(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
  }
}

void EventCounter::take(std::string_view bytes) {
  bytes_ += bytes.size();
  const bool had_rest = !rest_.empty();
  if (had_rest) {
    // Only a mark that begins in the old bytes and ends in the new ones can be hidden here.
    rest_.append(bytes.substr(0, kMark.size() - 1));
    if (find_mark(rest_) != nullptr) ++events_;
  }
  auto text = bytes;
  while (const char* mark = find_mark(text)) {
    ++events_;
    const char* after = mark + kMark.size();
    text = {after, static_cast<std::size_t>(bytes.data() + bytes.size() - after)};
  }
  // What a mark may have begun in: the last bytes seen, of this read and, when it was tiny, of
  // those before.
  if (bytes.size() >= kMark.size() - 1) {
    rest_.assign(bytes.substr(bytes.size() - (kMark.size() - 1)));
    return;
  }
  if (!had_rest) rest_.assign(bytes);
  if (rest_.size() > kMark.size() - 1) rest_.erase(0, rest_.size() - (kMark.size() - 1));
}

}  // namespace reprise::load
