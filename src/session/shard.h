// Shard: the sessions whose home is one loop. Finds or loads their actors, creates sessions,
// forgets idle ones.
//
// Threads: everything here runs on the shard's loop; SessionService (session/service.h) brings
// calls to it.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>

#include "base/ids.h"
#include "model/decide.h"
#include "rt/gate.h"
#include "session/actor.h"
#include "session/apps.h"
#include "store/async.h"
#include "stream/hub.h"

namespace reprise::session {

struct ShardProbe {
  std::uint64_t loaded = 0;  // sessions in memory
  std::uint64_t created = 0;
  std::uint64_t loads = 0;  // actors made for a session in the store
  std::uint64_t evicted = 0;
  std::uint64_t fenced = 0;  // writes whose lease was stale
};

// A session whose commit is durable.
struct Created {
  SessionView view;
};

class Shard {
 public:
  Shard(store::AsyncStore& store, stream::Hub& hub, const Clock& clock, Random& random,
        std::size_t max_loaded);
  ~Shard();

  // The actor of a session that may or may not exist; its first call tells.
  std::shared_ptr<SessionActor> actor(SessionId id);
  // Only if it is in memory.
  std::shared_ptr<SessionActor> loaded(SessionId id);

  // Commits a new session. `key_hold` is what the key's record must be (only for a session with a
  // key): kWrongVersion if somebody was faster, or if the lease of its owner has gone meanwhile.
  rt::Task<Result<store::Durable<Created>>> create(model::Create create,
                                                   std::optional<store::Precondition> key_hold,
                                                   AppHold app_hold,
                                                   std::optional<Generation> lease = {});

  // An ephemeral event goes to who watches now; nothing is stored.
  rt::Task<Result<>> publish_ephemeral(SessionId id, std::vector<model::Event> events,
                                       std::optional<Generation> lease = {});

  // Who is told of ends (ActorContext::on_end).
  void on_end(std::function<void(SessionId)> told) {
    if (!context_.on_end) {
      context_.on_end = std::move(told);
      return;
    }
    context_.on_end = [first = std::move(context_.on_end), then = std::move(told)](SessionId id) {
      first(id);
      then(id);
    };
  }
  void on_removed(std::function<void(SessionId)> told) { context_.on_removed = std::move(told); }

  // Whose webhooks are promised events from now on: by every commit that is not submitted yet.
  void set_hooks(std::shared_ptr<const HookTable> hooks) { context_.hooks = std::move(hooks); }
  // Who sees what happens here; outlives the shard.
  void observe(Observer& observer) { context_.observer = &observer; }

  // Refuses further work and waits for what is in flight.
  rt::Task<> close();

  store::AsyncStore& store() { return store_; }
  stream::Hub& hub() { return hub_; }
  rt::Loop& loop() { return hub_.loop(); }
  ShardProbe probe() const;

 private:
  rt::Task<Result<HeldLease>> hold_lease(std::string agent, Generation shown);
  std::shared_ptr<SessionActor> add(SessionId id);
  void forget(SessionId id);
  // Drops some of the longest unused, but not `keep`, which its caller is about to use.
  void forget_idle(const SessionActor& keep);

  store::AsyncStore& store_;
  stream::Hub& hub_;
  const Clock& clock_;
  Random& random_;
  const std::size_t max_loaded_;
  rt::Gate gate_;
  ActorContext context_;
  // Most recently used first.
  std::list<std::shared_ptr<SessionActor>> by_use_;
  std::unordered_map<SessionId, std::list<std::shared_ptr<SessionActor>>::iterator> actors_;
  std::atomic<std::uint64_t> loaded_count_{0};
  std::atomic<std::uint64_t> created_{0};
  std::atomic<std::uint64_t> loads_{0};
  std::atomic<std::uint64_t> evicted_{0};
};

}  // namespace reprise::session
