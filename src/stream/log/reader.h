// Reading a log: where its appends are, inherited ones included.
#pragma once

#include <vector>

#include "base/ids.h"
#include "store/async.h"
#include "stream/log/record.h"

namespace reprise::stream {

// Appends base + 1 to `until` are entries 1 to until - base of `stream`.
using LogPart = Inherited;

// All parts of a log whose last append is `tail`, in order.
std::vector<LogPart> parts_of(const LogRecord& record, Seq tail);

// Receives appends in order: the number of each in the log, and its entry. False stops.
class AppendVisitor {
 public:
  virtual ~AppendVisitor() = default;
  virtual bool visit(Seq number, std::string_view entry) = 0;
};

// Visits appends after `after` up to the end of the parts, about `max_bytes` of them. Whether it
// came to the end.
rt::Task<Result<bool>> read_parts(store::AsyncStore& store, std::vector<LogPart> parts, Seq after,
                                  std::size_t max_bytes, AppendVisitor& visitor);

}  // namespace reprise::stream
