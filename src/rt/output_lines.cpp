#include "rt/output_lines.h"

#include <algorithm>

#include "rt/limits.h"

namespace reprise::rt {

void OutputLines::add(std::string_view bytes, Nanos now) {
  while (!bytes.empty() && !is_stopped_) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    if (end != std::string_view::npos && !is_begun_) {
      pass_on(part, now);
      continue;
    }
    keep(part);
    if (end != std::string_view::npos) finish(now);
  }
}

void OutputLines::finish(Nanos now) {
  if (!is_begun_ || is_stopped_) return;
  pass_on(begun_, now);
  begun_.clear();
  is_begun_ = false;
}

// One byte more than is passed on: it may be a "\r" that belongs to the line's end.
void OutputLines::keep(std::string_view part) {
  is_begun_ = true;
  const std::size_t room = kMaxOutputLineBytes + 1 - begun_.size();
  begun_.append(part.substr(0, room));
}

void OutputLines::pass_on(std::string_view line, Nanos now) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  line = line.substr(0, kMaxOutputLineBytes);
  if (now >= second_ends_) {
    second_ends_ = now + std::chrono::seconds(1);
    passed_in_second_ = 0;
  }
  // An empty line costs something too.
  const std::size_t cost = std::max<std::size_t>(line.size(), 1);
  if (passed_in_second_ + cost > kMaxOutputBytesPerSecond) {
    ++dropped_;
    return;
  }
  passed_in_second_ += cost;
  on_line_(line);
}

}  // namespace reprise::rt
