// SessionService: everything the API can ask about sessions, from any loop.
//
// A session lives on the loop its id hashes to. A call goes there, is answered by the session's
// actor, and comes back to the loop it started on.
//
// Threads: each member may be awaited on any of the loops given at construction.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "model/decide.h"
#include "rt/loop.h"
#include "rt/pool.h"
#include "session/actor.h"
#include "session/apps.h"
#include "session/interactions.h"
#include "session/limits.h"
#include "session/list.h"
#include "session/monitor_id.h"
#include "session/shard.h"
#include "store/async.h"
#include "stream/hub.h"

namespace reprise::session {

// How a client names a session: its id, or its key.
using SessionRef = std::variant<SessionId, model::SessionKey>;

struct ServiceOptions {
  std::size_t max_loaded_per_loop = kMaxLoadedPerLoop;
  std::uint64_t retention_seconds = 0;  // ended sessions are removed after this; 0: never
  bool is_strict_about_apps = false;    // sessions only for apps that were made before
};

struct GotOrCreated {
  SessionView view;
  bool is_created = false;
};

struct EventPage {
  std::vector<store::StoredEntry> entries;
  Seq next_after;
  Seq head;
  bool has_more = false;
};

struct ListResult {
  ListPage page;
  std::vector<std::size_t> subscribers;  // per session of the page
  MonitorId monitor_id;
  std::map<model::Status, std::int64_t> counts;
};

struct InteractionPage {
  std::vector<InteractionView> interactions;
  std::optional<model::InteractionId> next;  // there are more after this one
};

class SessionService {
 public:
  SessionService(const std::vector<rt::Loop*>& loops, store::Store& store, rt::Pool& pool,
                 const Clock& clock, Random& random, ServiceOptions options);
  ~SessionService();

  rt::Task<Result<SessionView>> get(SessionRef session);
  // A `lease` is the generation a worker shows; kFenced where it is not its session's owner's
  // present one. A new session's owner is the one it is created with.
  rt::Task<Result<store::Durable<Created>>> create(model::Create create,
                                                   std::optional<Generation> lease = {});
  rt::Task<Result<GotOrCreated>> get_or_create(model::Create create,
                                               std::optional<Generation> lease = {});
  // What its app says about a new session, and what its commit says about the app. One that has
  // ended already does not count among those that live. For what is not created but imported;
  // create() does it itself.
  rt::Task<Result<AppHold>> prepare_for_app(model::Create& create, bool is_living = true);
  rt::Task<Result<ActorAnswer>> call(SessionRef session, Call call);
  rt::Task<Result<ActorAnswer>> reset(SessionRef session, std::string reason,
                                      std::optional<Generation> lease = {});
  rt::Task<Result<>> remove(SessionRef session, Remove removal = {},
                            std::optional<Generation> lease = {});
  rt::Task<Result<>> publish_ephemeral(SessionRef session, std::vector<model::Event> events,
                                       std::optional<Generation> lease = {});

  // Events with numbers over `after`, of these types (empty: all), at most kMaxEventPageLimit of
  // them. `after` beyond the head is kCursorBeyondHead.
  rt::Task<Result<EventPage>> events(SessionRef session, Seq after,
                                     std::size_t limit = kDefaultEventPageLimit,
                                     std::vector<std::string> types = {});

  // Also resolved ones; kInteractionNotFound.
  rt::Task<Result<InteractionView>> interaction(SessionRef session, model::InteractionId id);
  // In the order in which they were asked.
  rt::Task<Result<InteractionPage>> interactions(SessionRef session,
                                                 std::optional<model::InteractionState> state,
                                                 std::optional<model::InteractionId> after,
                                                 std::size_t limit);

  // kAppNotFound.
  rt::Task<Result<App>> app(std::string id);
  rt::Task<Result<AppPage>> apps(std::string after, std::size_t limit);
  rt::Task<Result<PutApp>> put_app(std::string id, AppSettings settings);
  // kConflict while it has living sessions. `also` goes with it, in the same commit.
  rt::Task<Result<>> remove_app(std::string id, store::Commit also = {});
  rt::Task<Result<std::map<model::Status, std::int64_t>>> counts_of_app(std::string app);
  // Closes every living session of an app; one that fails does not stop the others.
  rt::Task<Result<CloseReport>> close_app(std::string id, std::string reason);

  rt::Task<Result<ListResult>> list(ListQuery query);
  rt::Task<Result<MonitorId>> monitor_heads();

  // Counts a stream's connection; leave() must follow a join that succeeded.
  rt::Task<Result<>> join(SessionId session, std::string client_id, bool is_named);
  void leave(SessionId session, std::string client_id);
  rt::Task<Result<std::vector<SubscriberView>>> subscribers(SessionRef session);
  rt::Task<std::vector<std::size_t>> subscriber_counts(std::vector<SessionId> sessions);

  // `told` hears of every session that ended or was reset, on its home loop. Before the loops run.
  void on_end(const std::function<void(SessionId)>& told);
  // The same of every session that was deleted; one listener.
  void on_removed(const std::function<void(SessionId)>& told);
  // `observer` sees what happens to all sessions, on their home loops, and outlives the service.
  // Before the loops run.
  void observe(Observer& observer);

  // Which apps have webhooks (session/webhooks/service.h); nullptr: none. When it returns, every
  // loop has it, and whatever was submitted under an earlier one is ahead in the store's queue.
  rt::Task<> set_hooks(std::shared_ptr<const HookTable> hooks);

  // Refuses new work, waits for what is in flight. On the first loop.
  rt::Task<> close();

  // Of the calling loop.
  store::AsyncStore& store_here() { return *stores_[here()]; }
  stream::Hub& hub_here() { return hubs_.at(here()); }
  std::size_t home_index(SessionId id) const;
  std::size_t feed_home(std::size_t feed) const;
  store::Store& store() { return store_; }
  const Clock& clock() const { return clock_; }
  Random& random() { return random_; }
  const ServiceOptions& options() const { return options_; }
  ShardProbe probe() const;
  stream::Hubs& hubs() { return hubs_; }
  stream::HubProbe hub_probe() const { return hubs_.probe(); }

 private:
  std::size_t here() const;
  static Error home_is_busy();
  Shard& home(SessionId id) { return *shards_[home_index(id)]; }
  rt::Task<Result<SessionId>> resolve(SessionRef session);
  rt::Task<Result<InteractionView>> read_interaction(StreamId stream, InteractionRecord record);
  // Acknowledged: what callers have been told. As stored: also what a commit has written whose
  // caller has not been told yet; whoever decides on a record read from the store needs that.
  enum class Freshness { kAcknowledged, kAsStored };
  rt::Task<Result<SessionView>> look(SessionId id, Freshness freshness);
  rt::Task<Result<ActorAnswer>> call_elsewhere(SessionRef session, Call call);
  rt::Task<Result<ActorAnswer>> call_actor(SessionId id, Call call);
  rt::Task<Result<>> check_nobody_lives(std::string app);
  // kTooManyRequests if the app has all the sessions it may have.
  rt::Task<Result<>> check_app_room(std::string id, const AppSettings& settings);
  rt::Task<Result<std::uint64_t>> living_sessions(std::string app);
  rt::Task<> close_one(SessionId id, std::string reason, CloseReport& report);
  rt::Task<Result<bool>> has_ended(SessionId id);
  rt::Task<Result<store::Durable<Created>>> create_at_home(
      model::Create create, std::optional<store::Precondition> key_hold,
      std::optional<Generation> lease);
  struct Holder {
    std::optional<SessionView> living;
    std::optional<SessionId> holder;
    store::Precondition only_if;
  };
  rt::Task<Result<Holder>> holder_of(model::SessionKey key);

  store::Store& store_;
  const Clock& clock_;
  Random& random_;
  const ServiceOptions options_;
  std::vector<rt::Loop*> loops_;
  stream::Hubs hubs_;
  std::vector<std::unique_ptr<store::AsyncStore>> stores_;
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace reprise::session
