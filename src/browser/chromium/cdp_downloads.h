// Whose download it is. Chromium tells every connection that asked for download events of the
// downloads of all contexts, and names only the frame that began it and the download's guid
// (Browser.downloadWillBegin, Browser.downloadProgress).
//
// A download is the session's if the page says so (Page.downloadWillBegin, which comes first and
// only to those attached to it), if its frame is one of the session's targets, or if the frame is
// found in the tree of one. Until that is known, what is said of it is kept.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::browser {

class CdpDownloads {
 public:
  enum class Place : std::uint8_t { kOwn, kUndecided, kForeign };
  Place place(std::string_view guid) const;

  void own(std::string_view guid);

  // Begins to wait for a decision; false if too many are waited for.
  bool wait(std::string_view guid, std::string_view frame_id);
  void keep(std::string_view guid, std::string message);
  // What was kept, in order; the guid is waited for no longer.
  std::vector<std::string> decide(const std::string& guid);

  // How many answers about the frame are expected. The frame's id, empty if nobody waits for it.
  std::string_view frame_of(const std::string& guid) const;
  void expect(const std::string& guid, std::size_t answers);
  // Whether that was the last one.
  bool take_answer(const std::string& guid);

 private:
  struct Undecided {
    std::string frame_id;
    std::vector<std::string> messages;
    std::size_t answers = 0;
  };
  std::set<std::string, std::less<>> own_;
  std::deque<std::string> order_;  // of own_: the oldest are forgotten
  std::map<std::string, Undecided, std::less<>> undecided_;
};

}  // namespace reprise::browser
