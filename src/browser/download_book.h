// DownloadBook: which downloads of a session go on, which are refused, and what is to be told of
// them. Pure.
//
// Threads: belongs to its owner.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "browser/driver.h"

namespace reprise::browser {

// One part of a path for what a site calls its file, without what no path may hold; never empty.
std::string download_name(std::string_view suggested);
// The artifact's path: the n-th of that name (the first is 1).
std::string download_path(std::string_view suggested, unsigned number);

class DownloadBook {
 public:
  explicit DownloadBook(std::uint64_t max_bytes);

  // What is to be done about it.
  enum class Step : std::uint8_t { kNothing, kCancel, kKeep };
  Step take(const DownloadNews& news);
  // One that was to be kept is over; empty: as nobody need know.
  void ended(const std::string& id, std::string note);
  // All are given up.
  void clear() { going_.clear(); }

  // How many have ever begun; whether one that began after so many others goes on.
  std::uint64_t begun() const { return begun_; }
  bool has_new(std::uint64_t since) const;
  // As the site suggested it; empty for one that does not go on.
  std::string name_of(const std::string& id) const;
  std::uint64_t max_bytes() const { return max_bytes_; }
  // What became of them since this was last asked, a line each, and what goes on.
  std::vector<std::string> take_notes();

 private:
  struct Going {
    std::uint64_t number = 0;
    std::string name;
    std::string refused;  // why; empty: it is not
  };
  Step begin(const DownloadNews& news);
  Step refuse(Going& going, std::string why);

  const std::uint64_t max_bytes_;
  std::uint64_t begun_ = 0;
  std::map<std::string, Going> going_;
  std::vector<std::string> notes_;
};

}  // namespace reprise::browser
