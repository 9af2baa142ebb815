// JudgedNames: names whose addresses all passed a moment ago, so that not every request by way of
// another proxy waits for a lookup. What did not pass is not remembered.
//
// Threads: belongs to its owner.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "browser/proxy/limits.h"
#include "rt/timer_queue.h"

namespace reprise::browser {

class JudgedNames {
 public:
  bool has(const std::string& name, rt::Nanos now) const {
    const auto found = until_.find(name);
    return found != until_.end() && now < found->second;
  }
  // Beyond the limit the oldest memories go first, and if all are fresh, all of them.
  void add(std::string name, rt::Nanos now) {
    if (until_.size() >= kMaxJudgedNames) {
      std::erase_if(until_, [&](const auto& entry) { return entry.second <= now; });
      if (until_.size() >= kMaxJudgedNames) until_.clear();
    }
    until_[std::move(name)] = now + kJudgedNameTime;
  }
  void clear() { until_.clear(); }
  std::size_t size() const { return until_.size(); }

 private:
  std::map<std::string, rt::Nanos> until_;
};

}  // namespace reprise::browser
