// AgentService: who works here. Registers agents, hears their heartbeats, declares lost who falls
// silent, and then sees to the sessions they own.
//
// All agents are in memory, on one loop, the first. What must last is stored: that an agent
// registered (with its generation), that it was lost, that it was deleted. A heartbeat is a note in
// memory and costs no write. After a restart every agent gets its full time again, so that nobody
// is lost because the server was away; for the same reason time in which this loop did not turn
// does not count.
//
// A loss is declared by a commit that changes the agent's record, the one that leases are checked
// against (session/lease.h). Only then its sessions are seen to, as their onWorkerLost says: found
// by the index of owners, page by page, some at once. How far that has come is stored, and goes on
// after a restart; a session that was seen to just before a crash may be seen to again, which
// changes nothing unless somebody has resumed it meanwhile. Until it is done, the agent can neither
// register again nor be deleted: otherwise sessions of its new life could be taken for old ones.
//
// Threads: every member may be called on any of the loops, except where it says otherwise.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "model/agent.h"
#include "rt/cancel.h"
#include "rt/gate.h"
#include "session/agent_probe.h"
#include "session/limits.h"
#include "session/service.h"
#include "store/async.h"

namespace reprise::session {

// An agent as callers see it.
struct AgentView {
  std::string id;
  model::Agent agent;
  // As far as this process has heard; none after a restart until the next one.
  std::optional<TimePoint> last_heartbeat_at;
  bool is_new = false;  // its registration was its first
};

struct AgentQuery {
  std::optional<model::AgentStatus> status;
  std::optional<std::vector<std::string>> allowed_apps;
  std::size_t limit = kDefaultListLimit;
  std::string cursor;
};

// In the order of their ids.
struct AgentPage {
  std::vector<AgentView> agents;
  std::string next_cursor;   // empty: that was all
  std::size_t examined = 0;  // the rows it has looked at, at most kMaxExaminedRows
  std::uint64_t alive = 0;   // of all agents
  std::uint64_t lost = 0;
};

struct AgentOptions {
  std::size_t max_agents = kMaxAgents;
};

class AgentService {
 public:
  // `store` is of the home loop, and nobody else's.
  AgentService(rt::Loop& home, SessionService& sessions, store::AsyncStore& store,
               const Clock& clock, AgentOptions options = {});
  ~AgentService();

  // Before the first call, on the home loop: reads what is stored.
  rt::Task<Result<>> load();
  // Losses, and what follows from them, until the scope is cancelled. On the home loop.
  rt::Task<> run(rt::CancelScope& scope);
  // One round of it: what is due is begun, not awaited.
  rt::Task<> tick();
  // Waits for what is in flight; what is left goes on after the next start. On the home loop.
  rt::Task<> close();

  // kTooManyRequests where there are too many agents; kOverloaded while its sessions are still seen
  // to after a loss.
  rt::Task<Result<AgentView>> put(std::string id, std::uint64_t heartbeat_seconds);
  // kFenced for a lost agent, and for a generation that is not the present one.
  rt::Task<Result<AgentView>> heartbeat(std::string id, std::optional<Generation> shown);
  rt::Task<Result<AgentView>> get(std::string id);
  rt::Task<Result<AgentPage>> list(AgentQuery query);
  // Whoever deletes an agent says that it will not come back, not that it fell silent: its sessions
  // stay as they are.
  rt::Task<Result<>> remove(std::string id);

  const AgentProbe& probe() const { return probe_; }

 private:
  struct UnseenPage;
  struct Entry;
  class Held;
  struct SeenTo;
  // Where an entry is kept: the first two are the statuses.
  enum Table : std::uint8_t { kAliveTable, kLostTable, kUnstoredTable };
  using EntryPtr = std::shared_ptr<Entry>;
  using Entries = std::map<std::string_view, EntryPtr>;  // the key is the entry's own id

  template <typename T>
  rt::Task<Result<T>> at_home(rt::Task<Result<T>> work);
  rt::Task<Result<AgentView>> put_here(std::string id, std::uint64_t heartbeat_seconds);
  rt::Task<Result<AgentView>> heartbeat_here(std::string id, std::optional<Generation> shown);
  rt::Task<Result<AgentView>> get_here(std::string id);
  rt::Task<Result<AgentPage>> list_here(AgentQuery query);
  rt::Task<Result<>> remove_here(std::string id);

  EntryPtr find(std::string_view id) const;
  EntryPtr find_or_add(const std::string& id);
  std::size_t size() const;
  void move_to(const EntryPtr& entry, Table table);
  void forget(const EntryPtr& entry);
  // One change of an agent at a time, and none while a loss is being dealt with. kAgentNotFound.
  rt::Task<Result<Held>> hold(EntryPtr entry);
  rt::Task<Result<>> save(EntryPtr entry, model::Agent next, store::Commit commit,
                          store::Precondition only_if);
  rt::Task<Result<>> erase(EntryPtr entry);
  void note_failure(const EntryPtr& entry, const Error& error);
  void take_stored(const EntryPtr& entry, const model::Agent& agent, store::Version version);

  // The home loop's steady time, without what it has slept through.
  rt::Nanos awake_now();
  rt::Nanos due_at(const Entry& entry);
  void file(Entry& entry, rt::Nanos at);
  void unfile(Entry& entry);
  bool may_write() const;
  rt::Task<> settle_doubts();
  void start_due();
  rt::Task<> declare_lost(EntryPtr entry);
  rt::Task<> forget_lost(EntryPtr entry);
  void start_seeing_to();
  rt::Task<> see_to(EntryPtr entry);
  rt::Task<Result<>> see_to_all(EntryPtr entry);
  static UnseenPage unseen_of(const store::ScanPage& page);
  rt::Task<Result<>> see_to_page(Entry& entry);
  rt::Task<> see_to_one(SeenTo& seen_to, std::string agent, SessionId session);

  rt::Loop& home_;
  SessionService& sessions_;
  store::AsyncStore& store_;
  const Clock& clock_;
  const AgentOptions options_;
  AgentProbe probe_;
  rt::Gate gate_;
  rt::CancelScope scope_;
  std::array<Entries, 3> tables_;
  Generation last_generation_;

  // By when each is to be looked at again: a lower bound of when it is lost (or, once lost,
  // forgotten). A heartbeat moves nothing here; who is looked at too early is filed anew.
  std::set<std::pair<rt::Nanos, Entry*>> deadlines_;
  rt::Nanos looked_at_{0};
  rt::Nanos slept_{0};
  // A commit of theirs failed, and may have been written all the same.
  std::vector<EntryPtr> doubtful_;
  std::size_t losses_in_flight_ = 0;
  std::deque<EntryPtr> to_see_to_;
  std::vector<EntryPtr> to_see_to_later_;
  rt::Nanos see_to_again_at_{0};
  std::size_t agents_seen_to_ = 0;    // at this moment
  std::size_t sessions_seen_to_ = 0;  // at this moment
  rt::Signal progress_;
};

}  // namespace reprise::session
