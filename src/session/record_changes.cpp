#include "session/record_changes.h"

#include <algorithm>

#include "session/keys.h"

namespace reprise::session {

void add_creation(store::Commit& commit, const StoredSession& created) {
  for (std::string& key : index_keys(created.state))
    commit.puts.push_back({.key = std::move(key), .value = {}, .only_if = {}});
  for (std::string& key : counter_keys(created.state))
    commit.counters.push_back({.key = std::move(key), .delta = 1});
}

void add_index_changes(store::Commit& commit, const model::SessionState& before,
                       const model::SessionState& after) {
  const auto old_keys = index_keys(before);
  const auto new_keys = index_keys(after);
  const auto contains = [](const std::vector<std::string>& keys, const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  for (const std::string& key : old_keys)
    if (!contains(new_keys, key)) commit.erases.push_back({.key = key, .only_if = {}});
  for (const std::string& key : new_keys)
    if (!contains(old_keys, key)) commit.puts.push_back({.key = key, .value = {}, .only_if = {}});
  if (before.status == after.status) return;
  for (std::string& key : counter_keys(before))
    commit.counters.push_back({.key = std::move(key), .delta = -1});
  for (std::string& key : counter_keys(after))
    commit.counters.push_back({.key = std::move(key), .delta = 1});
}

void add_removal(store::Commit& commit, const StoredSession& session) {
  const SessionId id = session.state.id;
  commit.erases.push_back(
      {.key = session_key(id), .only_if = store::Precondition::version(session.version)});
  for (std::string& key : index_keys(session.state))
    commit.erases.push_back({.key = std::move(key), .only_if = {}});
  if (session.filed_expiry)
    commit.erases.push_back({.key = expiry_key(*session.filed_expiry, id), .only_if = {}});
  for (std::string& key : counter_keys(session.state))
    commit.counters.push_back({.key = std::move(key), .delta = -1});
  commit.puts.push_back({.key = deleted_key(session.stream), .value = {}, .only_if = {}});
}

bool file_expiry(store::Commit& commit, const StoredSession& before, StoredSession& after,
                 bool must_refile) {
  const SessionId id = after.state.id;
  const auto due = after.state.due_at();
  const auto filed = before.filed_expiry;
  const bool is_lower_bound = due && filed && *filed <= *due;
  if (due == filed || (is_lower_bound && !must_refile)) return false;
  if (filed) commit.erases.push_back({.key = expiry_key(*filed, id), .only_if = {}});
  if (due) commit.puts.push_back({.key = expiry_key(*due, id), .value = {}, .only_if = {}});
  after.filed_expiry = due;
  return true;
}

}  // namespace reprise::session
