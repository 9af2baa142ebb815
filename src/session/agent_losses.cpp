// What happens to agents because time passes: who is silent for too long is declared lost, its
// sessions are seen to, and who stays away is forgotten.
#include <algorithm>

#include "base/bytes.h"
#include "base/log.h"
#include "session/agents_parts.h"
#include "session/keys.h"

namespace reprise::session {

// Time in which the loop did not turn is not held against anybody: heartbeats may have waited
// unread. Somebody asks at least every kAgentInterval while it turns.
rt::Nanos AgentService::awake_now() {
  const rt::Nanos now = home_.now();
  const rt::Nanos since = now - std::exchange(looked_at_, now);
  if (since > kMaxAgentLookDelay) slept_ += since - rt::Nanos(kAgentInterval);
  return now - slept_;
}

rt::Nanos AgentService::due_at(const Entry& entry) {
  if (!entry.agent.loss) return entry.heard_at + entry.agent.patience();
  // Of a lost one only the wall clock's time of the loss is known after a restart.
  const Millis since = std::max(clock_.now() - entry.agent.loss->at, Millis{0});
  return awake_now() + std::max(Millis(kKeepLostAgents) - since, Millis{0});
}

void AgentService::file(Entry& entry, rt::Nanos at) {
  unfile(entry);
  entry.filed_at = at;
  deadlines_.emplace(at, &entry);
}

void AgentService::unfile(Entry& entry) {
  if (entry.filed_at) deadlines_.erase({*entry.filed_at, &entry});
  entry.filed_at.reset();
}

bool AgentService::may_write() const {
  return store_.sync().state() == store::StoreState::kWritable;
}

rt::Task<> AgentService::run(rt::CancelScope& scope) {
  while (!scope.is_cancelled()) {
    co_await tick();
    if (!co_await rt::sleep_for(home_, kAgentInterval, scope)) co_return;
  }
}

rt::Task<> AgentService::tick() {
  const rt::Nanos now = awake_now();
  // Without a store to write to nobody is declared lost; who is silent is looked at again later.
  if (!may_write()) co_return;
  co_await settle_doubts();
  if (now >= see_to_again_at_) {
    std::erase_if(to_see_to_later_, [this](const EntryPtr& entry) {
      if (entry->is_doubtful) return false;
      if (!entry->is_removed) to_see_to_.push_back(entry);
      return true;
    });
  }
  start_seeing_to();
  while (!scope_.is_cancelled() && !deadlines_.empty() &&
         deadlines_.begin()->first <= awake_now() && losses_in_flight_ < kMaxLossesInFlight) {
    start_due();
    co_await rt::yield(home_);
  }
}

// After a failed commit, what is stored is looked up: it is what leases are checked against.
rt::Task<> AgentService::settle_doubts() {
  for (const EntryPtr& entry : std::exchange(doubtful_, {})) {
    rt::CancelScope never;
    while (entry->is_busy) (void)co_await entry->changed.wait(never);
    if (entry->is_removed) continue;
    const Held held(entry);
    const auto record = co_await store_.get(agent_key(entry->id));
    if (record && !*record) {
      entry->is_doubtful = false;
      forget(entry);
      continue;
    }
    const auto agent =
        record ? model::decode_agent((*record)->value) : Result<model::Agent>(fail(record.error()));
    if (!agent) {
      doubtful_.push_back(entry);  // it cannot be read now
      continue;
    }
    entry->is_doubtful = false;
    const bool was_alive = !entry->agent.loss;
    take_stored(entry, *agent, (*record)->version);
    file(*entry, due_at(*entry));
    if (was_alive && entry->is_being_seen_to()) to_see_to_later_.push_back(entry);
  }
}

// Some of those whose time has come; their commits share a sync.
void AgentService::start_due() {
  const store::AsyncStore::Together together(store_);
  const rt::Nanos now = awake_now();
  for (std::size_t looked_at = 0; looked_at < kAgentsPerTurn && !deadlines_.empty(); ++looked_at) {
    if (deadlines_.begin()->first > now || losses_in_flight_ >= kMaxLossesInFlight) return;
    Entry& entry = *deadlines_.begin()->second;
    const rt::Nanos due = due_at(entry);
    const bool cannot_change = entry.is_busy || entry.is_doubtful || entry.is_being_seen_to();
    if (due > now || cannot_change) {
      file(entry, std::max(due, now + rt::Nanos(kAgentRetryInterval)));
      continue;
    }
    // Should it fail, there is a next time.
    file(entry, now + rt::Nanos(kAgentRetryInterval));
    const EntryPtr kept = tables_[entry.table].find(entry.id)->second;
    ++losses_in_flight_;
    if (!rt::spawn(gate_, entry.agent.loss ? forget_lost(kept) : declare_lost(kept)))
      --losses_in_flight_;
  }
}

rt::Task<> AgentService::declare_lost(EntryPtr entry) {
  {
    const Held held(entry);
    model::Agent next = entry->agent;
    next.loss.emplace().at = clock_.now();
    const auto saved = co_await save(entry, next, {}, store::Precondition::version(entry->version));
    if (saved) {
      ++probe_.losses;
      log::warning("agent lost",
                   {{"agent", entry->id}, {"generation", entry->agent.generation.value}});
      file(*entry, due_at(*entry));
      to_see_to_.push_back(entry);
    } else {
      log::warning("a loss could not be stored",
                   {{"agent", entry->id}, {"detail", saved.error().detail}});
    }
  }
  --losses_in_flight_;
  start_seeing_to();
}

rt::Task<> AgentService::forget_lost(EntryPtr entry) {
  {
    const Held held(entry);
    (void)co_await erase(entry);
  }
  --losses_in_flight_;
}

void AgentService::start_seeing_to() {
  while (!to_see_to_.empty() && agents_seen_to_ < kMaxAgentsSeenToAtOnce) {
    EntryPtr entry = std::move(to_see_to_.front());
    to_see_to_.pop_front();
    ++agents_seen_to_;
    if (!rt::spawn(gate_, see_to(std::move(entry)))) --agents_seen_to_;
  }
}

rt::Task<> AgentService::see_to(EntryPtr entry) {
  const auto done = co_await see_to_all(entry);
  --agents_seen_to_;
  if (done) {
    entry->changed.notify();
  } else if (!scope_.is_cancelled()) {
    log::warning("the sessions of a lost agent could not be seen to; it is tried again",
                 {{"agent", entry->id}, {"detail", done.error().detail}});
    to_see_to_later_.push_back(std::move(entry));
    see_to_again_at_ = awake_now() + rt::Nanos(kAgentRetryInterval);
  }
  start_seeing_to();
}

rt::Task<Result<>> AgentService::see_to_all(EntryPtr entry) {
  const std::string prefix = owner_prefix(entry->id);
  while (entry->is_being_seen_to()) {
    if (scope_.is_cancelled()) co_return fail(scope_.reason());
    std::string begin = prefix;
    if (const auto& after = entry->agent.loss->after) begin += std::string(after->view()) + '\0';
    // Those of an earlier try that are left, or the next ones: what was seen to may have been
    // resumed by somebody since, and is not treated again.
    if (!entry->unseen) {
      REPRISE_CO_TRY(const auto page,
                     co_await store_.scan({.begin = std::move(begin),
                                           .end = prefix.substr(0, prefix.size() - 1) + '\1',
                                           .limit = kJanitorBatch}));
      entry->unseen = unseen_of(page);
    }
    REPRISE_CO_CHECK(co_await see_to_page(*entry));
    model::Agent next = entry->agent;
    next.loss->is_done = !entry->unseen->last;
    next.loss->after = entry->unseen->last;
    REPRISE_CO_CHECK(co_await save(entry, next, {}, store::Precondition::version(entry->version)));
    entry->unseen.reset();
  }
  co_return Result<>{};
}

AgentService::UnseenPage AgentService::unseen_of(const store::ScanPage& page) {
  UnseenPage unseen;
  for (const auto& row : page.records) {
    if (const auto session = id_of_index_key(row.key))
      unseen.sessions.push_back(*session);
    else
      log::error("an index key of owners does not decode", {{"key", to_hex(row.key)}});
  }
  if (page.has_more) unseen.last = id_of_index_key(page.records.back().key);
  return unseen;
}

rt::Task<Result<>> AgentService::see_to_page(Entry& entry) {
  SeenTo seen_to;
  rt::CancelScope never;
  for (const SessionId session : entry.unseen->sessions) {
    while (sessions_seen_to_ >= kMaxSessionsSeenToAtOnce) (void)co_await progress_.wait(never);
    ++sessions_seen_to_;
    ++seen_to.left;
    if (rt::spawn(gate_, see_to_one(seen_to, entry.id, session))) continue;
    --sessions_seen_to_;
    --seen_to.left;
    seen_to.failure = Error{Code::kShuttingDown, "the server is stopping"};
    seen_to.failed.push_back(session);
  }
  while (seen_to.left > 0) (void)co_await progress_.wait(never);
  entry.unseen->sessions = std::move(seen_to.failed);
  if (seen_to.failure) co_return fail(std::move(*seen_to.failure));
  co_return Result<>{};
}

rt::Task<> AgentService::see_to_one(SeenTo& seen_to, std::string agent, SessionId session) {
  const auto answer =
      co_await sessions_.call(session, Call{.action = AgentLost{agent}, .wants_view = false});
  const bool is_gone = !answer && answer.error().code == Code::kSessionNotFound;
  if (answer) {
    ++probe_.sessions_seen_to;
  } else if (!is_gone && answer.error().code == Code::kCorrupt) {
    // Trying again would not help, and others must not wait for it.
    log::error("a session of a lost agent is damaged",
               {{"session", session.to_string()}, {"detail", answer.error().detail}});
  } else if (!is_gone) {
    seen_to.failure = answer.error();
    seen_to.failed.push_back(session);
  }
  --seen_to.left;
  --sessions_seen_to_;
  progress_.notify();
}

}  // namespace reprise::session
