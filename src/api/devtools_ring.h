// DevtoolsRing: what the devtools feed told last, numbered without a gap. Pure; belongs to one
// loop.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "api/devtools_entry.h"

namespace reprise::api {

class DevtoolsRing {
 public:
  // `start` names this start of the server: 16 hex digits.
  DevtoolsRing(std::string start, std::size_t capacity);

  void add(Happening happening);
  // Nothing is recorded from now on. One number is used up, so that a cursor from before this
  // moment is known to have missed what comes before the next add().
  void forget();
  std::uint64_t last() const { return last_; }
  std::size_t size() const { return entries_.size(); }
  std::string id(std::uint64_t n) const { return encode_devtools_id(start_, n); }

  // Where a listener goes on.
  struct Start {
    std::uint64_t after = 0;
    bool is_gap = false;  // not everything since its cursor is kept
  };
  // Without a cursor: from now on. kBadCursor; kCursorBeyondHead.
  Result<Start> start(std::optional<std::string_view> last_event_id) const;

  struct Read {
    std::string frames;
    std::uint64_t position = 0;  // all up to here was looked at
    bool has_more = false;
    bool is_too_late = false;  // what follows the position is not kept any more
  };
  // Looks at `most` entries after this number.
  Read read(std::uint64_t after, const DevtoolsFilter& filter, std::size_t most) const;

 private:
  struct Entry {
    Happening happening;
    std::string frame;
  };
  // The number before the first that is kept.
  std::uint64_t floor() const { return last_ - entries_.size(); }
  const std::string start_;
  const std::size_t capacity_;
  std::deque<Entry> entries_;
  std::uint64_t last_ = 0;
};

}  // namespace reprise::api
