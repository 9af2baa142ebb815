// Tally: a sum for each key, kept while it is not zero.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace reprise {

template <typename Key>
class Tally {
 public:
  // The key's sum with this.
  std::uint64_t add(const Key& key, std::uint64_t amount) {
    const std::lock_guard lock(mutex_);
    return sums_[key] += amount;
  }
  void remove(const Key& key, std::uint64_t amount) {
    const std::lock_guard lock(mutex_);
    const auto found = sums_.find(key);
    if (found == sums_.end()) return;
    found->second -= amount < found->second ? amount : found->second;
    if (found->second == 0) sums_.erase(found);
  }
  std::uint64_t at(const Key& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = sums_.find(key);
    return found == sums_.end() ? 0 : found->second;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return sums_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Key, std::uint64_t> sums_;
};

}  // namespace reprise
