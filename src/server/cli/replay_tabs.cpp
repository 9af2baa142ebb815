#include "server/cli/replay_tabs.h"

#include <algorithm>
#include <utility>

#include "server/cli/recorded_command.h"

namespace reprise::server::cli {
namespace {

// A chain of openers that is longer is none.
constexpr int kMaxOpeners = 100;

}  // namespace

std::vector<TabSeen> read_tabs(wire::JsonValue answer) {
  std::vector<TabSeen> tabs;
  const auto list = answer.find("tabs");
  for (const wire::JsonValue tab : list ? list->elements() : std::vector<wire::JsonValue>{}) {
    const auto index = tab.find("index");
    const auto active = tab.find("isActive");
    tabs.push_back({.id = text_member(tab, "id"),
                    .opener = text_member(tab, "openerTabId"),
                    .index = index ? index->as_uint().value_or(0) : 0,
                    .is_active = active && active->as_bool().value_or(false)});
  }
  std::ranges::sort(tabs, {}, &TabSeen::index);
  return tabs;
}

void ReplayTabs::see(std::vector<TabSeen> open) {
  open_ = std::move(open);
  for (const TabSeen& tab : open_) seen_[tab.id] = tab;
}

void ReplayTabs::pair(const std::string& recorded, const std::string& ours) {
  pairs_[recorded] = ours;
}

const TabSeen* ReplayTabs::find(const std::string& recorded) const {
  const auto found = std::ranges::find(recorded_, recorded, &TabSeen::id);
  return found == recorded_.end() ? nullptr : &*found;
}

std::optional<std::string> ReplayTabs::ours(const std::string& recorded) const {
  return ours(recorded, 0);
}

std::optional<std::string> ReplayTabs::ours(const std::string& recorded, int depth) const {
  if (const auto paired = pairs_.find(recorded); paired != pairs_.end()) return paired->second;
  const TabSeen* tab = find(recorded);
  if (tab == nullptr || depth > kMaxOpeners) return std::nullopt;
  std::string opener;
  if (!tab->opener.empty()) {
    auto found = ours(tab->opener, depth + 1);
    if (!found) return std::nullopt;
    opener = std::move(*found);
  }
  const auto before = std::ranges::count_if(recorded_, [&](const TabSeen& other) {
    return other.opener == tab->opener && other.index < tab->index;
  });
  std::vector<TabSeen> siblings;
  for (const auto& [id, other] : seen_)
    if (other.opener == opener) siblings.push_back(other);
  std::ranges::sort(siblings, {}, &TabSeen::index);
  if (static_cast<std::size_t>(before) >= siblings.size()) return std::nullopt;
  return siblings[static_cast<std::size_t>(before)].id;
}

bool ReplayTabs::is_opened_by_page(const std::string& recorded) const {
  const TabSeen* tab = find(recorded);
  return tab != nullptr && !tab->opener.empty();
}

std::optional<std::size_t> ReplayTabs::index_of(const std::string& ours) const {
  const auto found = std::ranges::find(open_, ours, &TabSeen::id);
  if (found == open_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - open_.begin());
}

bool ReplayTabs::is_active(const std::string& ours) const {
  const auto found = std::ranges::find(open_, ours, &TabSeen::id);
  return found != open_.end() && found->is_active;
}

}  // namespace reprise::server::cli
