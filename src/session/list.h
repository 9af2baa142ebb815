// Listing sessions: filters over indexes, newest first, page by page, never a full scan.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "model/status.h"
#include "session/feed.h"
#include "session/limits.h"
#include "session/stored_session.h"
#include "store/store.h"

namespace reprise::session {

struct Filter {
  std::optional<std::string> app;
  std::optional<std::string> graph_id;
  std::vector<model::Status> statuses;  // empty: any
  std::optional<std::string> owner_agent;
  std::optional<std::string> pool_key;  // a browser of the session is or was of it
  std::optional<TimePoint> created_after;
  std::optional<TimePoint> created_before;
  std::optional<std::string> name_starts_with;
  bool only_waiting = false;
  std::optional<std::vector<std::string>> allowed_apps;  // what the caller may see; none: all

  bool matches(const Filterable& session) const;
};

struct ListQuery {
  Filter filter;
  bool waiting_first = false;
  std::size_t limit = kDefaultListLimit;  // at most kMaxListLimit are given
  std::string cursor;  // of an earlier page of the same query; empty: from the start
};

struct ListPage {
  std::vector<StoredSession> sessions;  // brought up to their newest entries
  std::string next_cursor;              // empty: this was the last page
};

// Blocks: for a thread of the pool. kBadCursor for a cursor that is malformed or of another query.
Result<ListPage> list_sessions(const store::Store& store, const ListQuery& query);

// How many sessions of the filter's app and graph have each status; other filters do not narrow it.
// Blocks.
Result<std::map<model::Status, std::int64_t>> count_by_status(const store::Store& store,
                                                              const Filter& filter);

}  // namespace reprise::session
