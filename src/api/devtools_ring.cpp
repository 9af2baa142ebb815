#include "api/devtools_ring.h"

#include <fmt/format.h>

#include <algorithm>

#include "wire/sse.h"

namespace reprise::api {

DevtoolsRing::DevtoolsRing(std::string start, std::size_t capacity)
    : start_(std::move(start)), capacity_(capacity) {}

void DevtoolsRing::add(Happening happening) {
  ++last_;
  Entry entry;
  wire::append_sse_frame(entry.frame, word(happening.type), id(last_),
                         devtools_json(last_, happening));
  // The frame has it now.
  happening.members = {};
  entry.happening = std::move(happening);
  entries_.push_back(std::move(entry));
  if (entries_.size() > capacity_) entries_.pop_front();
}

void DevtoolsRing::forget() {
  entries_ = {};
  ++last_;
}

Result<DevtoolsRing::Start> DevtoolsRing::start(
    std::optional<std::string_view> last_event_id) const {
  if (!last_event_id) return Start{.after = last_};
  REPRISE_TRY(const DevtoolsId cursor, parse_devtools_id(*last_event_id));
  if (cursor.start != start_ || cursor.n < floor()) return Start{.after = floor(), .is_gap = true};
  if (cursor.n > last_)
    return fail(Code::kCursorBeyondHead,
                fmt::format("the cursor is {} but the last number is {}", cursor.n, last_));
  return Start{.after = cursor.n};
}

DevtoolsRing::Read DevtoolsRing::read(std::uint64_t after, const DevtoolsFilter& filter,
                                      std::size_t most) const {
  Read result{.frames = {}, .position = after};
  if (after < floor()) {
    result.is_too_late = true;
    return result;
  }
  result.position = std::min(last_, after + most);
  for (std::uint64_t n = after + 1; n <= result.position; ++n) {
    const Entry& entry = entries_[n - floor() - 1];
    if (filter.matches(entry.happening)) result.frames += entry.frame;
  }
  result.has_more = result.position < last_;
  return result;
}

}  // namespace reprise::api
