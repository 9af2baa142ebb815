// Who watches a session, by client id. Belongs to the session's actor.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"

namespace reprise::session {

struct SubscriberView {
  std::string client_id;
  std::uint64_t connections = 0;  // 0: known, but away
  TimePoint first_seen_at;
  TimePoint last_seen_at;  // when it connected or left last
};

class Subscribers {
 public:
  // kTooManyRequests when kMaxSubscribersPerSession client ids are connected, kBadParameter for a
  // name longer than kMaxClientIdBytes.
  Result<> connect(const std::string& client_id, bool is_named, TimePoint now);
  // One connection less; nothing for a client that is not connected.
  void disconnect(const std::string& client_id, TimePoint now);
  std::size_t connected() const { return connected_; }
  std::vector<SubscriberView> list() const;

 private:
  struct Entry {
    std::uint64_t connections = 0;
    bool is_named = false;  // the client chose the id: it is remembered when it leaves
    TimePoint first_seen_at;
    TimePoint last_seen_at;
  };
  std::map<std::string, Entry> entries_;
  std::size_t connected_ = 0;  // client ids with a connection
};

}  // namespace reprise::session
