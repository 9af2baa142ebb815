#include "session/list.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"
#include "session/browser_rows.h"
#include "session/keys.h"
#include "session/limits.h"

namespace reprise::session {
namespace {

// Ids are made from the clock, but a busy millisecond borrows from the next: ranges of ids are a
// little wider than the times asked for, and every row's own time is checked.
constexpr Millis kIdSlack{2'000};
constexpr std::size_t kScanChunk = 256;
constexpr std::size_t kCursorHashBytes = 8;

enum class Phase : char { kWaiting = 'w', kRest = 'r' };

struct Cursor {
  Phase phase = Phase::kRest;
  std::optional<SessionId> after;  // the last row seen
};

// A cursor is good for one query: it carries a hash of it.
std::string query_hash(const ListQuery& query) {
  std::string text;
  const auto add = [&](const std::optional<std::string>& value) {
    text.push_back(value ? '\1' : '\0');
    put_text(text, value.value_or(""));
  };
  const auto add_time = [&](const std::optional<TimePoint>& value) {
    put_be64(text, value ? static_cast<std::uint64_t>(value->ms) : 0);
  };
  const Filter& filter = query.filter;
  add(filter.app);
  add(filter.graph_id);
  add(filter.owner_agent);
  add(filter.name_starts_with);
  add_time(filter.created_after);
  add_time(filter.created_before);
  for (const model::Status status : filter.statuses) text.push_back(static_cast<char>(status));
  text.push_back(filter.only_waiting ? 'w' : '-');
  text.push_back(query.waiting_first ? 'f' : '-');
  return sha256(text).substr(0, kCursorHashBytes);
}

std::string encode_cursor(const ListQuery& query, Phase phase, SessionId last) {
  std::string bytes = query_hash(query);
  bytes.push_back(static_cast<char>(phase));
  bytes += last.view();
  return to_base64url(bytes);
}

Result<Cursor> decode_cursor(const ListQuery& query) {
  Cursor cursor{.phase = query.waiting_first ? Phase::kWaiting : Phase::kRest,
                .after = std::nullopt};
  if (query.cursor.empty()) return cursor;
  const auto bytes = from_base64url(query.cursor);
  if (!bytes || bytes->size() != kCursorHashBytes + 1 + 16)
    return fail(Code::kBadCursor, "the cursor is not one that a list gave");
  if (bytes->substr(0, kCursorHashBytes) != query_hash(query))
    return fail(Code::kBadCursor, "the cursor belongs to a query with other filters");
  const char phase = (*bytes)[kCursorHashBytes];
  const bool is_phase = phase == static_cast<char>(Phase::kRest) ||
                        (phase == static_cast<char>(Phase::kWaiting) && query.waiting_first);
  if (!is_phase) return fail(Code::kBadCursor, "the cursor is not one that a list gave");
  cursor.phase = static_cast<Phase>(phase);
  cursor.after = SessionId::from_bytes(std::string_view(*bytes).substr(kCursorHashBytes + 1));
  return cursor;
}

SessionId smallest_id_at(TimePoint at) {
  SessionId id{};
  const auto ms = static_cast<std::uint64_t>(std::max<std::int64_t>(at.ms, 0));
  for (std::size_t i = 0; i < 6; ++i) id.bytes[i] = static_cast<unsigned char>(ms >> (40 - 8 * i));
  return id;
}

Result<std::optional<StoredSession>> load_row(const store::Store& store, SessionId id) {
  REPRISE_TRY(const auto record, store.get(session_key(id), store::ReadMode::kBlocking));
  if (!record) return std::nullopt;  // deleted since the index was read
  REPRISE_TRY(StoredSession session, decode_stored(record->value, record->version));
  REPRISE_TRY(const auto newest, store.last(session.stream, store::ReadMode::kBlocking));
  REPRISE_CHECK(bring_up_to(session, newest));
  return session;
}

Result<std::int64_t> count(const store::Store& store, std::string_view app, std::string_view graph,
                           const std::vector<model::Status>& statuses) {
  std::int64_t sum = 0;
  for (const model::Status status : model::kStatuses) {
    if (!statuses.empty() && std::find(statuses.begin(), statuses.end(), status) == statuses.end())
      continue;
    REPRISE_TRY(const auto part,
                store.counter(counter_key(app, graph, status), store::ReadMode::kBlocking));
    sum += part;
  }
  return sum;
}

// Where a caller's own sessions are, and no others: neither the time that a page takes nor its
// cursor tells such a caller of sessions that it may not see. None: it may see all.
std::optional<std::vector<std::string>> own_indexes(const Filter& filter) {
  if (!filter.allowed_apps) return std::nullopt;
  std::vector<std::string> prefixes;
  for (const std::string& app : *filter.allowed_apps)
    if (!filter.app || *filter.app == app) prefixes.push_back(app_prefix(app));
  std::ranges::sort(prefixes);
  const auto [first, last] = std::ranges::unique(prefixes);
  prefixes.erase(first, last);
  return prefixes;
}

// The index that has the fewest rows to look at, as far as the counters tell.
Result<std::string> choose_index(const store::Store& store, const Filter& filter) {
  if (filter.pool_key) return pool_sessions_prefix(*filter.pool_key);
  if (filter.only_waiting) return waiting_prefix();
  if (filter.owner_agent) return owner_prefix(*filter.owner_agent);
  std::string best = all_prefix();
  REPRISE_TRY(std::int64_t fewest, count(store, "", "", {}));
  const auto consider = [&](std::string prefix, std::int64_t rows) {
    if (rows >= fewest) return;
    fewest = rows;
    best = std::move(prefix);
  };
  if (filter.statuses.size() == 1) {
    REPRISE_TRY(const auto rows, count(store, "", "", filter.statuses));
    consider(status_prefix(filter.statuses.front()), rows);
  }
  if (filter.app) {
    REPRISE_TRY(const auto rows, count(store, *filter.app, "", {}));
    consider(app_prefix(*filter.app), rows);
  }
  if (filter.graph_id) {
    REPRISE_TRY(const auto rows, count(store, "", *filter.graph_id, {}));
    consider(graph_prefix(*filter.graph_id), rows);
  }
  return best;
}

enum class Wanted : char { kAny, kWaiting, kOthers };

struct Walk {
  const store::Store& store;
  const ListQuery& query;
  ListPage page;
  std::size_t examined = 0;
  bool is_full() const {
    return page.sessions.size() >= std::min(query.limit, kMaxListLimit) ||
           examined >= kMaxExaminedRows;
  }
  Result<> take(SessionId id, Wanted wanted) {
    ++examined;
    REPRISE_TRY(const bool is_there, is_of_pool(id));
    if (!is_there) return {};
    REPRISE_TRY(auto row, load_row(store, id));
    if (!row) return {};
    Filterable fields = filterable(row->state);
    // The index has decided, and reaches back further than the record.
    if (query.filter.pool_key) fields.pools = {*query.filter.pool_key};
    if (wanted != Wanted::kAny && fields.is_waiting != (wanted == Wanted::kWaiting)) return {};
    if (query.filter.matches(fields)) page.sessions.push_back(*std::move(row));
    return {};
  }
  Result<bool> is_of_pool(SessionId id) const {
    if (!query.filter.pool_key) return true;
    std::string key = pool_sessions_prefix(*query.filter.pool_key);
    key += id.view();
    REPRISE_TRY(const auto row, store.get(key, store::ReadMode::kBlocking));
    return row.has_value();
  }
};

// One index from its end, in chunks.
class Backwards {
 public:
  Backwards(const store::Store& store, const Filter& filter, const std::string& prefix,
            std::optional<SessionId> after)
      : store_(store), begin_(prefix), end_(prefix_end(prefix)) {
    if (filter.created_after) begin_ += smallest_id_at(*filter.created_after - kIdSlack).view();
    if (filter.created_before)
      end_ = prefix + std::string(smallest_id_at(*filter.created_before + kIdSlack).view());
    if (after) end_ = std::min(end_, prefix + std::string(after->view()));
  }

  // The newest that was not passed; nothing at the index's end.
  Result<std::optional<SessionId>> newest() {
    if (at_ >= rows_.size() && has_more_ && begin_ < end_) {
      REPRISE_TRY(
          auto rows,
          store_.scan({.begin = begin_, .end = end_, .is_reverse = true, .limit = kScanChunk},
                      store::ReadMode::kBlocking));
      rows_ = std::move(rows.records);
      has_more_ = rows.has_more;
      at_ = 0;
      if (!rows_.empty()) end_ = rows_.back().key;
    }
    if (at_ >= rows_.size()) return std::nullopt;
    const auto id = id_of_index_key(rows_[at_].key);
    if (!id) return fail(Code::kCorrupt, "an index key does not decode");
    return id;
  }
  void pass() { ++at_; }

 private:
  const store::Store& store_;
  std::string begin_;
  std::string end_;
  std::vector<store::ScannedRecord> rows_;
  std::size_t at_ = 0;
  bool has_more_ = true;
};

// Walks indexes backwards together from the cursor. True if it came to their ends.
Result<bool> walk_indexes(Walk& walk, Phase phase, const std::vector<std::string>& prefixes,
                          std::optional<SessionId> after, Wanted wanted) {
  std::vector<Backwards> indexes;
  for (const std::string& prefix : prefixes)
    indexes.emplace_back(walk.store, walk.query.filter, prefix, after);
  for (;;) {
    Backwards* next = nullptr;
    std::optional<SessionId> newest;
    for (Backwards& index : indexes) {
      REPRISE_TRY(const auto id, index.newest());
      if (!id || (newest && *id < *newest)) continue;
      newest = id;
      next = &index;
    }
    if (next == nullptr) return true;
    next->pass();
    REPRISE_CHECK(walk.take(*newest, wanted));
    if (!walk.is_full()) continue;
    walk.page.next_cursor = encode_cursor(walk.query, phase, *newest);
    return false;
  }
}

// Names are indexed by name, not by time. Few matches are gathered and put in order; where a prefix
// has many, walking the newest sessions finds enough of them soon.
Result<bool> walk_names(Walk& walk, std::optional<SessionId> after) {
  const std::string prefix = name_prefix(*walk.query.filter.name_starts_with);
  REPRISE_TRY(const auto rows, walk.store.scan({.begin = prefix,
                                                .end = prefix_end(prefix),
                                                .is_reverse = false,
                                                .limit = kMaxExaminedRows},
                                               store::ReadMode::kBlocking));
  if (rows.has_more) return false;
  std::vector<SessionId> ids;
  for (const auto& row : rows.records) {
    const auto id = id_of_index_key(row.key);
    if (!id) return fail(Code::kCorrupt, "an index key does not decode");
    if (!after || *id < *after) ids.push_back(*id);
  }
  std::sort(ids.begin(), ids.end(), std::greater<>());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    REPRISE_CHECK(walk.take(ids[i], Wanted::kAny));
    if (!walk.is_full()) continue;
    if (i + 1 < ids.size()) walk.page.next_cursor = encode_cursor(walk.query, Phase::kRest, ids[i]);
    break;
  }
  return true;
}

}  // namespace

bool Filter::matches(const Filterable& session) const {
  if (allowed_apps &&
      std::find(allowed_apps->begin(), allowed_apps->end(), session.app) == allowed_apps->end())
    return false;
  return (!app || *app == session.app) && (!graph_id || *graph_id == session.graph_id) &&
         (!owner_agent || *owner_agent == session.owner_agent) &&
         (!pool_key || std::ranges::find(session.pools, *pool_key) != session.pools.end()) &&
         (!created_after || session.created_at > *created_after) &&
         (!created_before || session.created_at < *created_before) &&
         (!name_starts_with || session.name.starts_with(*name_starts_with)) &&
         (!only_waiting || session.is_waiting) &&
         (statuses.empty() ||
          std::find(statuses.begin(), statuses.end(), session.status) != statuses.end());
}

Result<ListPage> list_sessions(const store::Store& store, const ListQuery& query) {
  REPRISE_TRY(Cursor cursor, decode_cursor(query));
  Walk walk{store, query, {}};
  if (query.filter.name_starts_with && !query.waiting_first &&
      !query.filter.name_starts_with->empty()) {
    REPRISE_TRY(const bool is_done, walk_names(walk, cursor.after));
    if (is_done) return std::move(walk.page);
  }
  const auto own = own_indexes(query.filter);
  if (cursor.phase == Phase::kWaiting) {
    REPRISE_TRY(const bool is_done,
                walk_indexes(walk, Phase::kWaiting, own ? *own : std::vector{waiting_prefix()},
                             cursor.after, own ? Wanted::kWaiting : Wanted::kAny));
    if (!is_done || query.filter.only_waiting) return std::move(walk.page);
    cursor.after.reset();
  }
  std::vector<std::string> prefixes = own.value_or(std::vector<std::string>{});
  if (!own) {
    REPRISE_TRY(std::string best, choose_index(store, query.filter));
    prefixes.push_back(std::move(best));
  }
  REPRISE_CHECK(walk_indexes(walk, Phase::kRest, prefixes, cursor.after,
                             query.waiting_first ? Wanted::kOthers : Wanted::kAny));
  return std::move(walk.page);
}

Result<std::map<model::Status, std::int64_t>> count_by_status(const store::Store& store,
                                                              const Filter& filter) {
  std::vector<std::string> apps;
  if (filter.app)
    apps.push_back(*filter.app);
  else if (filter.allowed_apps)
    apps = *filter.allowed_apps;
  else
    apps.emplace_back();
  std::map<model::Status, std::int64_t> counts;
  for (const model::Status status : model::kStatuses) {
    counts[status] = 0;
    for (const std::string& app : apps) {
      REPRISE_TRY(const auto part, count(store, app, filter.graph_id.value_or(""), {status}));
      counts[status] += part;
    }
  }
  return counts;
}

}  // namespace reprise::session
