// DownloadTable: the downloads under way in one browser, and whose they are. Pure.
//
// A browser tells of the downloads of all its contexts, in messages that name nothing but the
// download. What cannot be remembered must not go on: nobody would store it, and nobody would stop
// it. So a full table refuses, and what belongs to a context goes with it.
//
// Threads: belongs to its owner.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace reprise::browser::chromium {

struct KnownDownload {
  std::string context;  // empty while it is not known
  std::string name;     // as the site suggests it
};

class DownloadTable {
 public:
  // False: there is no room, and it is to be cancelled. Those of which nobody knows whose they are
  // make room for one that has an owner.
  bool add(const std::string& id, KnownDownload download);
  // nullptr for one that is not under way.
  KnownDownload* find(const std::string& id);
  void erase(const std::string& id) { under_way_.erase(id); }
  void forget_context(const std::string& context);
  std::size_t size() const { return under_way_.size(); }

 private:
  std::map<std::string, KnownDownload> under_way_;
};

}  // namespace reprise::browser::chromium
