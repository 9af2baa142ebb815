// The monitor's feed: what changed about which session, in 16 streams by session id.
//
// An entry carries the fields that filters look at as they were before the change, and the whole
// record after it, so that a monitor can tell "changed" from "left the filter" and show each state
// a session went through.
//
//     byte   version   1, or 2 with pools
//     byte   kind      1 changed, 2 deleted
//     bytes  id        16
//     byte   before    1 if the session was there before
//     ...    fields    only if before: texts app, graph, owner, name; byte status; byte waiting;
//                      varint created; in version 2 pools: varint count, texts
//     text   record    only if changed: encode_stored
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/session_state.h"
#include "session/stored_session.h"

namespace reprise::session {

// What filters look at.
struct Filterable {
  std::string app;
  std::string graph_id;
  std::string owner_agent;
  std::string name;
  model::Status status = model::Status::kInitializing;
  bool is_waiting = false;
  TimePoint created_at;
  std::vector<std::string> pools;
};
Filterable filterable(const model::SessionState& state);

struct FeedEntry {
  SessionId id;
  std::optional<Filterable> before;
  std::optional<StoredSession> after;  // none: deleted
};

std::string encode_feed_entry(const FeedEntry& entry);
// Fails with kCorrupt on bytes that encode_feed_entry cannot have written.
Result<FeedEntry> decode_feed_entry(std::string_view bytes);

}  // namespace reprise::session
