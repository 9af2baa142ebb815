#include "browser/chromium/cdp_gate.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "browser/chromium/cdp_limits.h"

namespace reprise::browser {

CdpGate::CdpGate(CdpGateHooks hooks)
    : hooks_(std::move(hooks)), self_(std::make_shared<CdpGate*>(this)) {}

CdpGate::~CdpGate() { REPRISE_ASSERT(watchers_.empty(), watchers_.size()); }

void CdpGate::watch(const Unit& unit, Taste taste) {
  const auto known = std::ranges::find(watchers_, unit, &Watcher::unit);
  if (known != watchers_.end()) {
    known->taste = taste;
    return;
  }
  watchers_.push_back({unit, taste});
  start_timer(kWatcherSettles, [unit](CdpGate& gate) {
    const auto watcher = std::ranges::find(gate.watchers_, unit, &Watcher::unit);
    if (watcher != gate.watchers_.end()) watcher->is_settled = true;
  });
}

void CdpGate::unwatch(const Unit& unit) {
  std::erase_if(watchers_, [&](const Watcher& watcher) { return watcher.unit == unit; });
  for (auto page = pages_.begin(); page != pages_.end();) remove(unit, page++);
}

void CdpGate::forget(CdpOwner& owner) {
  for (auto& [target_id, page] : pages_)
    std::erase_if(page.held, [&](const Held& held) { return held.owner == &owner; });
  std::vector<Unit> its;
  for (const Watcher& watcher : watchers_)
    if (watcher.unit.owner == &owner) its.push_back(watcher.unit);
  for (const Unit& unit : its) unwatch(unit);
}

bool CdpGate::has_settled_owner(std::string_view context_id) const {
  return std::ranges::any_of(watchers_, [&](const Watcher& watcher) {
    return watcher.is_settled && watcher.taste.pages &&
           watcher.unit.owner->owns_context(context_id);
  });
}

CdpGate::Pages::iterator CdpGate::add_page(std::string_view target_id, std::string_view context_id,
                                           Pause pause, const Unit* except) {
  Page page{.pause = pause, .number = next_number_++};
  for (const Watcher& watcher : watchers_) {
    const bool is_meant = pause == Pause::kWorker ? watcher.taste.workers : watcher.taste.pages;
    const bool is_excepted = except != nullptr && watcher.unit == *except;
    if (is_meant && !is_excepted && watcher.unit.owner->owns_context(context_id))
      page.missing.push_back(watcher.unit);
  }
  if (page.missing.empty() && except == nullptr) return pages_.end();
  const auto added = pages_.emplace(target_id, std::move(page)).first;
  // Of a popup every client must hear the same, however late it asks. Of the others only owners
  // ask, and the last of them ends it.
  if (pause != Pause::kNavigation) {
    start_page_timer(kMaxResumeWait, added, &CdpGate::owners_are_due);
    start_page_timer(kPopupMemory, added, &CdpGate::memory_is_over);
  }
  return added;
}

bool CdpGate::paused(std::string_view target_id, std::string_view context_id, Pause pause,
                     bool by_owner) {
  auto page = pages_.find(target_id);
  if (page == pages_.end()) page = add_page(target_id, context_id, pause, nullptr);
  if (page == pages_.end()) return false;
  Page& known = page->second;
  known.is_seen |= by_owner;
  return known.is_open || !known.missing.empty() || !known.held.empty();
}

void CdpGate::missed(const Unit& unit, std::string_view target_id, std::string_view context_id,
                     Pause pause) {
  const auto page = pages_.find(target_id);
  if (page != pages_.end()) return remove(unit, page);
  // Perhaps somebody else will find that it waits.
  if (pause != Pause::kNavigation) add_page(target_id, context_id, pause, &unit);
}

void CdpGate::left(const Unit& unit, std::string_view target_id) {
  const auto page = pages_.find(target_id);
  if (page != pages_.end()) remove(unit, page);
}

void CdpGate::resume(const Unit& unit, std::string_view target_id, std::string command) {
  const auto page = pages_.find(target_id);
  if (page == pages_.end() || page->second.is_open)
    return unit.owner->send_held(std::move(command));
  Page& waiting = page->second;
  std::erase(waiting.missing, unit);
  if (waiting.pause != Pause::kNavigation) {
    waiting.held.push_back({unit.owner, std::move(command)});
  } else {
    unit.owner->send_held(std::move(command));
  }
  if (waiting.missing.empty()) return settle(page);
  if (!std::exchange(waiting.has_timer, true))
    start_page_timer(kMaxResumeWait, page, &CdpGate::wait_is_over);
}

void CdpGate::start_timer(std::chrono::milliseconds delay, std::function<void(CdpGate&)> then) {
  hooks_.start_timer(delay, [self = std::weak_ptr<CdpGate*>(self_), then = std::move(then)] {
    if (const auto gate = self.lock()) then(**gate);
  });
}

void CdpGate::start_page_timer(std::chrono::milliseconds delay, Pages::iterator page,
                               void (CdpGate::*then)(Pages::iterator)) {
  start_timer(delay, [target_id = page->first, number = page->second.number, then](CdpGate& gate) {
    const auto still = gate.pages_.find(target_id);
    if (still != gate.pages_.end() && still->second.number == number) (gate.*then)(still);
  });
}

void CdpGate::wait_is_over(Pages::iterator page) {
  page->second.has_timer = false;
  // Whoever was ready may have gone away meanwhile.
  const bool is_waited_for = page->second.pause == Pause::kNavigation || !page->second.held.empty();
  if (page->second.is_open || !is_waited_for) return;
  const std::vector<Unit> missing = std::exchange(page->second.missing, {});
  const Pause pause = page->second.pause;
  settle(page);
  // One resume is enough for the others; a navigation waits for everybody's.
  if (pause != Pause::kNavigation) return;
  for (const Unit& unit : missing) unit.owner->resume_all();
}

// Somebody relied on owners none of whom has even been attached to it.
void CdpGate::owners_are_due(Pages::iterator page) {
  const Page& due = page->second;
  if (!due.is_open && !due.is_seen && !due.missing.empty()) settle(page);
}

// An owner may take its time, as long as there is one.
void CdpGate::memory_is_over(Pages::iterator page) {
  if (page->second.is_open || !page->second.is_seen) {
    pages_.erase(page);
  } else {
    start_page_timer(kPopupMemory, page, &CdpGate::memory_is_over);
  }
}

void CdpGate::settle(Pages::iterator page) {
  Page& done = page->second;
  done.is_open = true;
  const bool is_stranded = done.pause != Pause::kNavigation && done.held.empty();
  const std::string target_id = page->first;
  const std::vector<Held> held = std::exchange(done.held, {});
  if (done.pause == Pause::kNavigation) pages_.erase(page);
  for (const Held& one : held) one.owner->send_held(one.command);
  if (is_stranded) hooks_.stranded(target_id);
}

void CdpGate::remove(const Unit& unit, Pages::iterator page) {
  if (page->second.is_open || std::erase(page->second.missing, unit) == 0) return;
  if (page->second.missing.empty()) settle(page);
}

}  // namespace reprise::browser
