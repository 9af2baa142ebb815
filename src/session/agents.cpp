#include "session/agents.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/log.h"
#include "session/agents_parts.h"
#include "session/keys.h"

namespace reprise::session {
namespace {

std::unexpected<Error> no_such_agent(std::string_view id) {
  return fail(Code::kAgentNotFound, fmt::format("there is no agent '{}'", id));
}

AgentView view_of(std::string_view id, const model::Agent& agent,
                  std::optional<TimePoint> last_heartbeat_at) {
  return {.id = std::string(id), .agent = agent, .last_heartbeat_at = last_heartbeat_at};
}

// A position in a list: the status it was filtered by, and the last id seen.
std::string encode_cursor(const AgentQuery& query, std::string_view last_id) {
  std::string bytes(1,
                    query.status ? static_cast<char>('0' + static_cast<int>(*query.status)) : '*');
  bytes += last_id;
  return to_base64url(bytes);
}

Result<std::string> decode_cursor(const AgentQuery& query) {
  if (query.cursor.empty()) return std::string();
  const auto bytes = from_base64url(query.cursor);
  if (!bytes || bytes->size() < 2 || !model::check_agent_id(std::string_view(*bytes).substr(1)))
    return fail(Code::kBadCursor, "the cursor is not one of this list");
  std::string last_id = bytes->substr(1);
  if (encode_cursor(query, last_id) != query.cursor)
    return fail(Code::kBadCursor, "the cursor was made for another status");
  return last_id;
}

bool is_allowed(const AgentQuery& query, std::string_view id) {
  return !query.allowed_apps || std::ranges::find(*query.allowed_apps, model::app_of_agent(id)) !=
                                    query.allowed_apps->end();
}

}  // namespace

AgentService::AgentService(rt::Loop& home, SessionService& sessions, store::AsyncStore& store,
                           const Clock& clock, AgentOptions options)
    : home_(home),
      sessions_(sessions),
      store_(store),
      clock_(clock),
      options_(options),
      looked_at_(home.now()),
      progress_(home) {}

AgentService::~AgentService() = default;

template <typename T>
rt::Task<Result<T>> AgentService::at_home(rt::Task<Result<T>> work) {
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(home_))
    co_return fail(Code::kOverloaded, "too much waits for the agents");
  auto outcome = co_await std::move(work);
  co_await rt::return_to(origin);
  co_return outcome;
}

rt::Task<Result<AgentView>> AgentService::put(std::string id, std::uint64_t heartbeat_seconds) {
  return at_home(put_here(std::move(id), heartbeat_seconds));
}
rt::Task<Result<AgentView>> AgentService::heartbeat(std::string id,
                                                    std::optional<Generation> shown) {
  return at_home(heartbeat_here(std::move(id), shown));
}
rt::Task<Result<AgentView>> AgentService::get(std::string id) {
  return at_home(get_here(std::move(id)));
}
rt::Task<Result<AgentPage>> AgentService::list(AgentQuery query) {
  return at_home(list_here(std::move(query)));
}
rt::Task<Result<>> AgentService::remove(std::string id) {
  return at_home(remove_here(std::move(id)));
}

AgentService::EntryPtr AgentService::find(std::string_view id) const {
  for (const Entries& table : tables_)
    if (const auto found = table.find(id); found != table.end()) return found->second;
  return nullptr;
}

std::size_t AgentService::size() const {
  std::size_t sum = 0;
  for (const Entries& table : tables_) sum += table.size();
  return sum;
}

AgentService::EntryPtr AgentService::find_or_add(const std::string& id) {
  if (auto known = find(id)) return known;
  if (size() >= options_.max_agents) return nullptr;
  auto made = std::make_shared<Entry>(home_, id);
  tables_[kUnstoredTable].emplace(made->id, made);
  return made;
}

void AgentService::move_to(const EntryPtr& entry, Table table) {
  if (entry->table == table) return;
  tables_[table].insert(tables_[entry->table].extract(entry->id));
  entry->table = table;
  probe_.alive = tables_[kAliveTable].size();
  probe_.lost = tables_[kLostTable].size();
}

void AgentService::forget(const EntryPtr& entry) {
  unfile(*entry);
  move_to(entry, kUnstoredTable);
  tables_[kUnstoredTable].erase(entry->id);
  entry->is_removed = true;
}

rt::Task<Result<AgentService::Held>> AgentService::hold(EntryPtr entry) {
  rt::CancelScope never;
  const auto deadline = rt::Deadline::after(home_, kMaxWaitForLoss);
  while (entry->is_busy || entry->is_being_seen_to()) {
    if (co_await entry->changed.wait(never, deadline)) continue;
    Error error{
        Code::kOverloaded,
        fmt::format("the sessions of '{}' are still being seen to after its loss", entry->id)};
    error.retry_after_seconds = 1;
    co_return fail(std::move(error));
  }
  if (entry->is_removed) co_return no_such_agent(entry->id);
  co_return Held(std::move(entry));
}

// What is known to be stored from now on.
void AgentService::take_stored(const EntryPtr& entry, const model::Agent& agent,
                               store::Version version) {
  entry->agent = agent;
  entry->version = version;
  move_to(entry, entry->agent.loss ? kLostTable : kAliveTable);
}

void AgentService::note_failure(const EntryPtr& entry, const Error& error) {
  // These were refused before anything was tried; the outcome of others is not known.
  const bool is_refusal = error.code == Code::kOverloaded || error.code == Code::kShuttingDown;
  if (is_refusal) {
    if (entry->table == kUnstoredTable) forget(entry);
    return;
  }
  if (!std::exchange(entry->is_doubtful, true)) doubtful_.push_back(entry);
}

rt::Task<Result<>> AgentService::save(EntryPtr entry, model::Agent next, store::Commit commit,
                                      store::Precondition only_if) {
  commit.puts.push_back(
      {.key = agent_key(entry->id), .value = encode_agent(next), .only_if = only_if});
  const auto committed = co_await store_.commit(std::move(commit));
  if (!committed) {
    note_failure(entry, committed.error());
    co_return fail(committed.error());
  }
  take_stored(entry, next, (*committed)->versions.back());
  co_return Result<>{};
}

rt::Task<Result<>> AgentService::erase(EntryPtr entry) {
  store::Commit commit;
  commit.erases.push_back({.key = agent_key(entry->id), .only_if = {}});
  const auto committed = co_await store_.commit(std::move(commit));
  if (!committed) {
    note_failure(entry, committed.error());
    co_return fail(committed.error());
  }
  forget(entry);
  co_return Result<>{};
}

rt::Task<Result<AgentView>> AgentService::put_here(std::string id,
                                                   std::uint64_t heartbeat_seconds) {
  for (;;) {
    const EntryPtr entry = find_or_add(id);
    if (!entry) {
      ++probe_.refused;
      co_return fail(Code::kTooManyRequests, fmt::format("there are {} agents already", size()));
    }
    const auto held = co_await hold(entry);
    if (!held && held.error().code == Code::kAgentNotFound) continue;  // it went meanwhile
    if (!held) co_return fail(held.error());
    const bool is_new = entry->table == kUnstoredTable;
    // Numbers are taken in the order in which the commits will be made; one whose commit fails is
    // never given to anybody.
    last_generation_ = last_generation_.next();
    store::Commit commit;
    commit.puts.push_back({.key = last_generation_key(), .value = {}, .only_if = {}});
    put_varint(commit.puts.back().value, last_generation_.value);
    REPRISE_CO_CHECK(co_await save(entry,
                                   {.generation = last_generation_,
                                    .heartbeat_seconds = heartbeat_seconds,
                                    .registered_at = clock_.now(),
                                    .loss = {}},
                                   std::move(commit), {}));
    ++probe_.registrations;
    entry->heard_at = awake_now();
    entry->last_heartbeat_at = clock_.now();
    file(*entry, due_at(*entry));
    AgentView view = view_of(entry->id, entry->agent, entry->last_heartbeat_at);
    view.is_new = is_new;
    co_return view;
  }
}

rt::Task<Result<AgentView>> AgentService::heartbeat_here(std::string id,
                                                         std::optional<Generation> shown) {
  const EntryPtr entry = find(id);
  if (!entry) co_return no_such_agent(id);
  // A loss or another registration may be on its way to the disk: this is told how that ended.
  rt::CancelScope never;
  while (entry->is_busy) REPRISE_CO_CHECK(co_await entry->changed.wait(never));
  if (entry->is_removed || entry->table == kUnstoredTable) co_return no_such_agent(id);
  if (entry->agent.loss) {
    ++probe_.fenced;
    co_return fail(Code::kFenced,
                   fmt::format("the agent '{}' was lost: it must register again", id));
  }
  if (shown && !entry->agent.is_current(*shown)) {
    ++probe_.fenced;
    co_return fail(Code::kFenced, fmt::format("generation {} is stale: the present one is {}",
                                              shown->value, entry->agent.generation.value));
  }
  ++probe_.heartbeats;
  entry->heard_at = awake_now();
  entry->last_heartbeat_at = clock_.now();
  co_return view_of(entry->id, entry->agent, entry->last_heartbeat_at);
}

rt::Task<Result<AgentView>> AgentService::get_here(std::string id) {
  const EntryPtr entry = find(id);
  if (!entry || entry->table == kUnstoredTable) co_return no_such_agent(id);
  co_return view_of(entry->id, entry->agent, entry->last_heartbeat_at);
}

// Agents with a status are in a table of their own, so a page costs what it shows. Both together
// are walked side by side.
rt::Task<Result<AgentPage>> AgentService::list_here(AgentQuery query) {
  REPRISE_CO_TRY(const std::string after, decode_cursor(query));
  AgentPage page;
  page.alive = tables_[kAliveTable].size();
  page.lost = tables_[kLostTable].size();
  const bool has_alive = query.status != model::AgentStatus::kLost;
  const bool has_lost = query.status != model::AgentStatus::kAlive;
  auto alive = has_alive ? tables_[kAliveTable].upper_bound(after) : tables_[kAliveTable].end();
  auto lost = has_lost ? tables_[kLostTable].upper_bound(after) : tables_[kLostTable].end();
  const std::size_t limit = std::min(query.limit, kMaxListLimit);
  std::string_view last = after;
  for (;;) {
    const bool is_alive_over = alive == tables_[kAliveTable].end();
    const bool is_lost_over = lost == tables_[kLostTable].end();
    if (is_alive_over && is_lost_over) break;
    auto& next = is_lost_over || (!is_alive_over && alive->first < lost->first) ? alive : lost;
    const Entry& entry = *next->second;
    if (page.agents.size() >= limit || page.examined >= kMaxExaminedRows) break;
    ++next;
    ++page.examined;
    last = entry.id;
    if (is_allowed(query, entry.id))
      page.agents.push_back(view_of(entry.id, entry.agent, entry.last_heartbeat_at));
  }
  const bool is_over = alive == tables_[kAliveTable].end() && lost == tables_[kLostTable].end();
  if (!is_over) page.next_cursor = encode_cursor(query, last);
  co_return page;
}

rt::Task<Result<>> AgentService::remove_here(std::string id) {
  const EntryPtr entry = find(id);
  if (!entry) co_return no_such_agent(id);
  REPRISE_CO_TRY(const Held held, co_await hold(entry));
  if (entry->table == kUnstoredTable) co_return no_such_agent(id);
  co_return co_await erase(entry);
}

rt::Task<Result<>> AgentService::load() {
  REPRISE_CO_TRY(const auto stored, co_await store_.get(last_generation_key()));
  if (stored) {
    ByteReader reader(stored->value);
    if (!reader.varint(last_generation_.value) || !reader.at_end())
      co_return fail(Code::kCorrupt, "the last generation of the agents does not decode");
  }
  std::string begin = agent_range_begin();
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto page,
                   co_await store_.scan({.begin = begin, .end = agent_range_end()}));
    for (const auto& row : page.records) {
      const auto decoded = model::decode_agent(row.value);
      if (!decoded) {
        // Nobody can show its generation: that of a damaged record fits nothing.
        log::error("an agent's record is damaged; the agent is not known",
                   {{"agent", id_of_agent_key(row.key)}, {"detail", decoded.error().detail}});
        continue;
      }
      const model::Agent& agent = *decoded;
      auto entry = std::make_shared<Entry>(home_, std::string(id_of_agent_key(row.key)));
      tables_[kUnstoredTable].emplace(entry->id, entry);
      entry->heard_at = awake_now();
      last_generation_ = std::max(last_generation_, agent.generation);
      take_stored(entry, agent, row.version);
      file(*entry, due_at(*entry));
      if (entry->is_being_seen_to()) to_see_to_.push_back(entry);
    }
    has_more = page.has_more;
    if (has_more) begin = page.records.back().key + '\0';
  }
  co_return Result<>{};
}

rt::Task<> AgentService::close() {
  scope_.cancel();
  gate_.close();
  co_await gate_.empty();
}

}  // namespace reprise::session
