// What must be true of the store: at every moment, because commits are whole or not at all, and
// once everything has come to rest.
#include <fmt/format.h>

#include "base/bytes.h"
#include "session/keys.h"
#include "session/limits.h"
#include "sim/world.h"

namespace reprise::sim {

using session::StoredSession;

std::optional<StoredSession> World::stored(SessionId id) const {
  const auto record = disk_.get(session::session_key(id), store::ReadMode::kBlocking);
  if (!record || !*record) return std::nullopt;
  auto decoded = session::decode_stored((*record)->value, (*record)->version);
  if (!decoded) return std::nullopt;
  return *std::move(decoded);
}

std::optional<StreamId> World::stream_of(SessionId id) const {
  if (const auto living = stored(id)) return living->stream;
  const auto removed = disk_.removed_sessions().find(session::session_key(id));
  if (removed == disk_.removed_sessions().end()) return std::nullopt;
  const auto decoded = session::decode_stored(removed->second, 0);
  return decoded ? std::optional(decoded->stream) : std::nullopt;
}

// The whole fold of a stream, as far as it is durable; goes on from where it was last time.
World::Fold& World::fold_of(StreamId stream) {
  Fold& fold = folds_[stream];
  const auto& history = disk_.history(stream);
  for (; fold.folded < history.size(); ++fold.folded) {
    const Seq seq{fold.folded + 1};
    const auto entry = model::decode_entry(history[fold.folded]);
    if (!entry) {
      broken("a stored entry does not decode");
      return fold;
    }
    const bool is_expiry = entry->type == model::event_type::kStatusChange &&
                           entry->data.find("\"error\":\"expired\"") != std::string_view::npos;
    const SessionId id = fold.state.id;
    if (is_expiry && !fold.state.is_expired(entry->at))
      broken(fmt::format("{} expired before its time", id.to_string()));
    const auto touch = touched_.find(id);
    if (is_expiry && touch != touched_.end() && touch->second.head < seq &&
        fold.state.ttl_seconds && !fold.state.max_lifetime_seconds && !ttl_changed_.contains(id) &&
        touch->second.at + std::chrono::seconds(*fold.state.ttl_seconds) > entry->at)
      broken(fmt::format("{} expired although it was touched", id.to_string()));
    if (!model::is_reserved_type(entry->type)) {
      const auto [known, is_new] = fold.seen.emplace(entry->data, seq);
      if (!is_new)
        broken(fmt::format("{} is stored at {} and at {}", entry->data, known->second.value,
                           seq.value));
    }
    if (auto folded = model::evolve(fold.state, seq, *entry); !folded)
      broken(fmt::format("entry {} cannot follow: {}", seq.value, folded.error().detail));
    if (broken_) return fold;
  }
  return fold;
}

void World::audit_session(const StoredSession& session,
                          std::map<std::string, std::string>& expected_indexes,
                          std::map<std::string, std::int64_t>& expected_counters) {
  const Fold& fold = fold_of(session.stream);
  if (broken_) return;
  StoredSession current = session;
  const auto newest = disk_.last(session.stream, store::ReadMode::kBlocking);
  if (!newest || !session::bring_up_to(current, *newest)) return broken("a record is stale");
  const SessionId id = session.state.id;
  if (current.state.last_activity_at < fold.state.last_activity_at)
    broken(fmt::format("{}: the record forgot activity", id.to_string()));
  current.state.last_activity_at = fold.state.last_activity_at;
  if (current.state != fold.state)
    broken(fmt::format("{}: the record is not the fold of its stream", id.to_string()));
  for (const auto& key : session::index_keys(session.state)) expected_indexes[key] = {};
  for (const auto& key : session::counter_keys(session.state)) ++expected_counters[key];
  if (session.filed_expiry) expected_indexes[session::expiry_key(*session.filed_expiry, id)] = {};
  const auto due = fold.state.expires_at();
  if (due && (!session.filed_expiry || *session.filed_expiry > *due) && !session.slid_at)
    broken(fmt::format("{} would expire late", id.to_string()));
}

void World::audit() {
  std::map<std::string, std::string> indexes;
  std::map<std::string, std::int64_t> counters;
  std::map<std::string, SessionId> living;
  std::set<std::string> ids;
  for (const auto& record : disk_.all(session::all_prefix())) {
    auto session = session::decode_stored(record.value, record.version);
    if (!session) return broken("a stored session does not decode");
    know(session->state.id);
    ids.insert(std::string(session->state.id.view()));
    audit_session(*session, indexes, counters);
    if (broken_) return;
    if (removal_told_.contains(session->state.id)) broken("a removed session is back");
    if (!session->state.has_key() || !model::is_living(session->state.status)) continue;
    const std::string key = session::name_key(session->state.key());
    if (!living.emplace(key, session->state.id).second)
      broken(fmt::format("two living sessions hold the key {}", session->state.key().to_string()));
  }
  for (const std::string_view table : {"a", "g", "o", "t", "n", "w", "e", "E", "x"}) {
    for (const auto& record : disk_.all(table))
      if (indexes.erase(record.key) == 0)
        return broken(fmt::format("index {} has an entry of nobody", table));
  }
  if (!indexes.empty()) broken(fmt::format("index {} lacks an entry", indexes.begin()->first[0]));
  for (const std::string app : {"", "red", "blue"})
    for (const std::string graph : {"", "g", "red", "blue"})
      for (const model::Status status : model::kStatuses) {
        const std::string key = session::counter_key(app, graph, status);
        const auto counted = disk_.counter(key, store::ReadMode::kBlocking);
        if (!counted || *counted != counters[key])
          broken(fmt::format("{} sessions of '{}' '{}' are {}, but the counter says {}",
                             counters[key], app, graph, word(status), counted.value_or(-1)));
      }
  for (const auto& record : disk_.all("k")) {
    if (!ids.contains(record.value)) broken("a key names a session that is not there");
    const auto holder = living.find(record.key);
    if (holder != living.end() && record.value == holder->second.view()) living.erase(holder);
  }
  if (!living.empty()) broken("a living session does not hold its key");
  audit_removals();
}

// Nothing goes that nobody removed, what was promised is there, and what was refused is not.
void World::audit_removals() {
  for (const auto& [key, value] : disk_.removed_sessions()) {
    const auto session = session::decode_stored(value, 0);
    if (!session) return broken("a removed session does not decode");
    const Fold& fold = fold_of(session->stream);
    const bool is_old =
        service_options_.retention_seconds > 0 && fold.state.ended_at &&
        *fold.state.ended_at + std::chrono::seconds(service_options_.retention_seconds) <=
            time_.now();
    if (!is_old && !removal_asked_.contains(session->state.id))
      broken("a session was removed that nobody asked to remove");
  }
  for (const AppendCall& call : appends_) {
    const auto stream = stream_of(call.session);
    if (!stream) {
      if (call.answer) broken("a session that took an append is lost");
      continue;
    }
    const Fold& fold = fold_of(*stream);
    if (broken_) return;
    for (std::size_t i = 0; i < call.events.size(); ++i) {
      const auto found = fold.seen.find(call.events[i].data);
      const bool is_stored = found != fold.seen.end();
      if (is_stored && call.is_refused)
        broken(fmt::format("append {} was refused, but is stored", call.number));
      if (call.answer && (!is_stored || found->second.value != call.answer->first.value + i))
        broken(fmt::format("append {} was acknowledged, but is not stored so", call.number));
    }
  }
}

void World::audit_rest() {
  if (broken_) return;
  Process& process = *process_;
  for (const AppendCall& call : appends_)
    if (call.in_flight > 0) broken(fmt::format("append {} was never answered", call.number));
  const TimePoint long_ago = time_.now() - 3 * session::kJanitorInterval;
  for (const auto& record : disk_.all("x"))
    if (record.key < session::expiry_range_end(long_ago)) broken("the janitor left what was due");
  if (!disk_.all(session::deleted_prefix()).empty()) broken("a removed stream was not swept");
  for (const auto& [key, value] : disk_.removed_sessions()) {
    const auto session = session::decode_stored(value, 0);
    const auto head = disk_.head(session->stream, store::ReadMode::kBlocking);
    if (!head || head->value != 0) broken("a removed session's entries remain");
    if (!disk_.all(stream::idempotency_prefix(session->stream)).empty())
      broken("a removed session's idempotency keys remain");
  }
  if (disk_.all("i").size() != disk_.all("j").size())
    broken("idempotency keys and their expiry do not match");
  rt::Loop& loop = *process.loops.front();
  loop.post([this, &process] { rt::spawn(process.gate, audit_followers(process)); });
  run_dry();
}

void World::audit_swept() {
  if (!disk_.all("i").empty() || !disk_.all("j").empty())
    broken("idempotency keys are kept beyond their time");
  for (const auto& record : disk_.all(session::all_prefix())) {
    const auto session = session::decode_stored(record.value, record.version);
    if (session && session->state.expires_at()) broken("a session outlived its time");
  }
}

}  // namespace reprise::sim
