#include "session/subscribers.h"

#include <fmt/format.h>

#include <algorithm>

#include "session/limits.h"

namespace reprise::session {

Result<> Subscribers::connect(const std::string& client_id, bool is_named, TimePoint now) {
  if (is_named && client_id.size() > kMaxClientIdBytes)
    return fail(Code::kBadParameter,
                fmt::format("the client id has {} bytes, at most {} are allowed", client_id.size(),
                            kMaxClientIdBytes));
  const auto found = entries_.find(client_id);
  if (found == entries_.end() && entries_.size() >= kMaxSubscribersPerSession) {
    // Somebody who is away makes room for somebody who is here.
    const auto away = std::find_if(entries_.begin(), entries_.end(),
                                   [](const auto& entry) { return entry.second.connections == 0; });
    if (away == entries_.end())
      return fail(Code::kTooManyRequests,
                  fmt::format("the session has {} subscribers, the most there may be",
                              kMaxSubscribersPerSession));
    entries_.erase(away);
  }
  Entry& entry = entries_[client_id];
  if (entry.connections == 0) {
    ++connected_;
    if (found == entries_.end()) entry.first_seen_at = now;
  }
  ++entry.connections;
  entry.is_named = entry.is_named || is_named;
  entry.last_seen_at = now;
  return {};
}

void Subscribers::disconnect(const std::string& client_id, TimePoint now) {
  const auto found = entries_.find(client_id);
  // The session was deleted while the client watched, and its id was asked for since: this is
  // another actor, which never knew the client.
  if (found == entries_.end() || found->second.connections == 0) return;
  Entry& entry = found->second;
  entry.last_seen_at = now;
  if (--entry.connections > 0) return;
  --connected_;
  if (!entry.is_named) entries_.erase(found);
}

std::vector<SubscriberView> Subscribers::list() const {
  std::vector<SubscriberView> views;
  for (const auto& [client_id, entry] : entries_)
    views.push_back({client_id, entry.connections, entry.first_seen_at, entry.last_seen_at});
  return views;
}

}  // namespace reprise::session
