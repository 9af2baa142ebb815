#include "browser/chromium/cdp_downloads.h"

#include <utility>

#include "browser/chromium/cdp_limits.h"

namespace reprise::browser {

CdpDownloads::Place CdpDownloads::place(std::string_view guid) const {
  if (own_.contains(guid)) return Place::kOwn;
  return undecided_.contains(guid) ? Place::kUndecided : Place::kForeign;
}

void CdpDownloads::own(std::string_view guid) {
  if (!own_.emplace(guid).second) return;
  order_.emplace_back(guid);
  if (order_.size() <= kMaxKnownDownloads) return;
  own_.erase(order_.front());
  order_.pop_front();
}

bool CdpDownloads::wait(std::string_view guid, std::string_view frame_id) {
  if (undecided_.size() >= kMaxUndecidedDownloads) return false;
  undecided_[std::string(guid)].frame_id = frame_id;
  return true;
}

void CdpDownloads::keep(std::string_view guid, std::string message) {
  const auto at = undecided_.find(guid);
  if (at == undecided_.end() || at->second.messages.size() >= kMaxUndecidedMessages) return;
  at->second.messages.push_back(std::move(message));
}

std::vector<std::string> CdpDownloads::decide(const std::string& guid) {
  const auto at = undecided_.find(guid);
  if (at == undecided_.end()) return {};
  std::vector<std::string> messages = std::move(at->second.messages);
  undecided_.erase(at);
  return messages;
}

std::string_view CdpDownloads::frame_of(const std::string& guid) const {
  const auto at = undecided_.find(guid);
  return at == undecided_.end() ? std::string_view() : at->second.frame_id;
}

void CdpDownloads::expect(const std::string& guid, std::size_t answers) {
  if (const auto at = undecided_.find(guid); at != undecided_.end()) at->second.answers = answers;
}

bool CdpDownloads::take_answer(const std::string& guid) {
  const auto at = undecided_.find(guid);
  return at != undecided_.end() && (at->second.answers == 0 || --at->second.answers == 0);
}

}  // namespace reprise::browser
