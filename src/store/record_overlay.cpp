#include "store/record_overlay.h"

#include <functional>

namespace reprise::store {

std::string_view RecordOverlay::key_of(const Slot& slot) const {
  return slot.is_erase ? std::string_view(writes_.erases[slot.index])
                       : std::string_view(writes_.puts[slot.index].key);
}

std::size_t RecordOverlay::locate(std::string_view key, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].batch == batch_ && (slots_[at].hash != hash || key_of(slots_[at]) != key)) {
    at = (at + 1) & mask;
  }
  return at;
}

RecordOverlay::Found RecordOverlay::find(std::string_view key) const {
  if (used_ == 0) return {};
  const Slot& slot = slots_[locate(key, std::hash<std::string_view>{}(key))];
  if (slot.batch != batch_) return {};
  if (slot.is_erase) return {Kind::kErased, 0};
  return {Kind::kPut, writes_.puts[slot.index].version};
}

void RecordOverlay::set(std::string_view key, std::size_t index, bool is_erase) {
  if (2 * (used_ + 1) > slots_.size()) grow();
  const std::uint64_t hash = std::hash<std::string_view>{}(key);
  Slot& slot = slots_[locate(key, hash)];
  if (slot.batch != batch_) ++used_;
  slot = Slot{hash, batch_, static_cast<std::uint32_t>(index), is_erase};
}

void RecordOverlay::add_put() {
  set(writes_.puts.back().key, writes_.puts.size() - 1, /*is_erase=*/false);
}

void RecordOverlay::add_erase() {
  set(writes_.erases.back(), writes_.erases.size() - 1, /*is_erase=*/true);
}

void RecordOverlay::start_batch() {
  ++batch_;
  used_ = 0;
}

void RecordOverlay::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.batch != batch_) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].batch == batch_) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace reprise::store
