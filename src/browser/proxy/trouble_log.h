// TroubleLog: why servers could not be reached from a context, and what was refused, by host and
// port. A browser knows no more than that a request failed; whoever began it is told why from here.
//
// Threads: belongs to its owner, on the loop of the proxy that fills it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace reprise::browser {

class TroubleLog {
 public:
  // A mark: what is added later is newer.
  std::uint64_t count() const { return count_; }
  // `url` as ProxyOptions reports it. A page can cause thousands: beyond the limit the older ones
  // are forgotten.
  void add(std::string_view url, Error why);
  // The newest at the URL's host and port, if it is newer than the mark.
  std::optional<Error> find(std::string_view url, std::uint64_t since) const;
  std::size_t size() const { return last_.size(); }

 private:
  struct Entry {
    std::uint64_t number = 0;
    Error why;
  };
  std::uint64_t count_ = 0;
  std::map<std::string, Entry> last_;  // by "host:port"
};

}  // namespace reprise::browser
