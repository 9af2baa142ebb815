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
#include "store/async.h"
#include "stream/hub.h"

namespace reprise::session {

struct ShardProbe {
  std::uint64_t loaded = 0;  // sessions in memory
  std::uint64_t created = 0;
  std::uint64_t loads = 0;  // actors made for a session in the store
  std::uint64_t evicted = 0;
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
  // key): kWrongVersion if somebody was faster.
  rt::Task<Result<store::Durable<Created>>> create(model::Create create,
                                                   std::optional<store::Precondition> key_hold);

  // An ephemeral event goes to who watches now; nothing is stored.
  rt::Task<Result<>> publish_ephemeral(SessionId id, std::vector<model::Event> events);

  // Refuses further work and waits for what is in flight.
  rt::Task<> close();

  store::AsyncStore& store() { return store_; }
  stream::Hub& hub() { return hub_; }
  rt::Loop& loop() { return hub_.loop(); }
  ShardProbe probe() const;

 private:
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
