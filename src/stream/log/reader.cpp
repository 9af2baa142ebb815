#include "stream/log/reader.h"

#include <algorithm>

#include "stream/limits.h"

namespace reprise::stream {
namespace {

// Shifts the numbers of a part's entries to those of the log, and stops at the part's end.
class Shifted final : public store::EntryVisitor {
 public:
  Shifted(const LogPart& part, AppendVisitor& to) : part_(part), to_(to) {}
  bool visit(Seq seq, std::string_view bytes) override {
    const Seq number{part_.base + seq.value};
    if (number.value > part_.until) return false;
    last = number;
    size += bytes.size();
    if (to_.visit(number, bytes)) return true;
    is_stopped = true;
    return false;
  }
  Seq last;
  std::size_t size = 0;
  bool is_stopped = false;

 private:
  const LogPart& part_;
  AppendVisitor& to_;
};

}  // namespace

std::vector<LogPart> parts_of(const LogRecord& record, Seq tail) {
  std::vector<LogPart> parts = record.inherited;
  if (tail.value > record.base) parts.push_back({record.stream, record.base, tail.value});
  return parts;
}

rt::Task<Result<bool>> read_parts(store::AsyncStore& store, std::vector<LogPart> parts, Seq after,
                                  std::size_t max_bytes, AppendVisitor& visitor) {
  std::size_t size = 0;
  for (const LogPart& part : parts) {
    while (after.value < part.until) {
      if (size >= max_bytes) co_return false;
      Shifted shifted(part, visitor);
      const std::uint64_t done = std::max(after.value, part.base) - part.base;
      REPRISE_CO_CHECK(co_await store.read({.stream = part.stream,
                                            .after = Seq{done},
                                            .limit = kReplayChunkEntries,
                                            .max_bytes = max_bytes - size},
                                           shifted));
      size += shifted.size;
      if (shifted.is_stopped) co_return false;
      if (shifted.last.value == 0) co_return fail(Code::kCorrupt, "a stored stream has a gap");
      after = shifted.last;
    }
  }
  co_return true;
}

}  // namespace reprise::stream
