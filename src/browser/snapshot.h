// Snapshot: what a page shows, as text: the page script's lines of every frame, put together.
#pragma once

#include <optional>
#include <string>

#include "browser/driver.h"

namespace reprise::browser {

struct SnapshotOptions {
  std::optional<std::uint64_t> depth;
  bool wants_boxes = false;
  std::size_t max_bytes = 0;  // 0: the most there is
  std::optional<Element> root;
};

struct Snapshot {
  std::string text;
  bool is_truncated = false;
};

rt::Task<Result<Snapshot>> take_snapshot(Page& page, SnapshotOptions options,
                                         rt::Deadline deadline);

}  // namespace reprise::browser
