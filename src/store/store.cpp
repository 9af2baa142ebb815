#include "store/store.h"

namespace reprise::store {

Result<std::vector<StoredEntry>> Store::read(const ReadRequest& request, ReadMode mode) const {
  struct Collector final : EntryVisitor {
    std::vector<StoredEntry> entries;
    bool visit(Seq seq, std::string_view bytes) override {
      entries.push_back({seq, std::string(bytes)});
      return true;
    }
  } collector;
  REPRISE_CHECK(engine_.read(request, mode, collector));
  return std::move(collector.entries);
}

}  // namespace reprise::store
