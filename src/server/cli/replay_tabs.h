// ReplayTabs: which tab of a replay stands for which of the recorded ones. Pure.
//
// A command tells which tab it worked on, in the recording and in the replay, and so the two belong
// together. A tab that a page opened is found by the tab that opened it, and its number among those
// that it opened; one that nobody opened, by its number among those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire/json.h"

namespace reprise::server::cli {

struct TabSeen {
  std::string id;
  std::string opener = {};  // empty: nobody
  std::uint64_t index = 0;  // rises with every tab of the session
  bool is_active = false;
};
// The elements of GET …/tabs.
std::vector<TabSeen> read_tabs(wire::JsonValue answer);

class ReplayTabs {
 public:
  // Every tab that the recorded session ever had.
  explicit ReplayTabs(std::vector<TabSeen> recorded) : recorded_(std::move(recorded)) {}

  // What is open in the replay, in its order.
  void see(std::vector<TabSeen> open);
  void pair(const std::string& recorded, const std::string& ours);
  // Nothing if it is not there, or not yet.
  std::optional<std::string> ours(const std::string& recorded) const;
  // Whether a page opened it, so that it comes by itself.
  bool is_opened_by_page(const std::string& recorded) const;
  // Its number among the open ones.
  std::optional<std::size_t> index_of(const std::string& ours) const;
  bool is_active(const std::string& ours) const;

 private:
  std::optional<std::string> ours(const std::string& recorded, int depth) const;
  const TabSeen* find(const std::string& recorded) const;

  std::vector<TabSeen> recorded_;
  std::vector<TabSeen> open_;
  std::map<std::string, TabSeen> seen_;  // also those that were closed since
  std::map<std::string, std::string> pairs_;
};

}  // namespace reprise::server::cli
