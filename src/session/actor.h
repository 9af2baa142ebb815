// SessionActor: the one owner of a session's state while it is in memory.
//
// Calls queue. While a commit is in flight the next ones gather, and the whole queue becomes the
// next commit: load makes batches larger instead of slower. Each call is decided against the state
// the earlier ones of its batch will have made, and every answer, refusals included, is given only
// when that batch is durable.
//
// After a failed commit the outcome is unknown, so the actor loads itself anew before the next
// call.
//
// Threads: an actor belongs to its session's home loop.
#pragma once

#include <atomic>
#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "model/decide.h"
#include "rt/cancel.h"
#include "rt/gate.h"
#include "rt/task.h"
#include "session/lease.h"
#include "session/observer.h"
#include "session/stored_session.h"
#include "session/subscribers.h"
#include "store/async.h"
#include "stream/hub.h"
#include "stream/idempotency.h"

namespace reprise::session {

// What callers see of a session.
struct SessionView {
  model::SessionState state;
  std::uint64_t revision = 0;
  std::size_t subscribers = 0;
  StreamId stream;
  // Read while the store could not write: a commit of unknown outcome may have changed it.
  bool is_provisional = false;
};

// Notes activity without an event. Persisted when `is_explicit`, otherwise at most once per tenth
// of the TTL.
struct Touch {
  bool is_explicit = false;
};
// The janitor's visit: expires the session if its time has come, else files it under its later
// time.
struct ExpireOrRefile {};
// Removes the session; with a time, only one that ended by then, and otherwise refuses with
// kConflict (retention, which may come late and meet a session that was reset meanwhile).
struct Remove {
  std::optional<TimePoint> only_if_ended_by;
};
// PATCH before its metadata is merged with what is there.
struct MergePatch {
  std::optional<std::string> metadata;  // a merge-patch
  std::optional<std::optional<std::uint64_t>> ttl_seconds;
  std::optional<std::string> owner_agent;
};
// Just the state, for a session that is not loaded yet.
struct Look {};
// The worker that owns the session was lost: what its onWorkerLost says, if it is still the owner.
struct AgentLost {
  std::string agent;
};

// Events of the server, and records that are written together with them. It was prepared on what
// the session was then: refused with kWrongVersion if it is another stream or was reset meanwhile,
// or if an input was rolled back meanwhile and that matters; with kSessionEnded if it has ended.
struct RecordChange {
  std::vector<model::Event> events;
  // What is written, given the number of the first event. May be called more than once.
  std::function<void(store::Commit&, Seq first)> add_records;
  StreamId stream;
  Seq visible_after;
  std::optional<Seq> void_to = std::nullopt;  // of the session's inputs then, if it matters
  bool outlasts_reset = false;  // it holds also after a reset: `visible_after` does not matter
};

using Action = std::variant<model::Command, Touch, ExpireOrRefile, Remove, MergePatch, Look,
                            AgentLost, RecordChange>;

// What a call on the key's record must find for reset and remove; such a call is committed on its
// own.
struct KeyHold {
  bool is_own = false;  // the key's record names this session
  store::Precondition only_if;
};

struct Call {
  Action action;
  std::optional<std::uint64_t> if_match;  // a revision
  std::optional<stream::IdempotencyClaim> claim;
  std::optional<KeyHold> key_hold;
  // The generation a worker shows (session/lease.h). A stale one is kFenced, unless the call is the
  // repetition of one that was accepted: a worker whose lease has gone may still ask again for an
  // answer it had.
  std::optional<Generation> lease;
  bool wants_view = true;
  // Which load of the actor the claim and the lease were looked up under; the actor's own.
  std::uint64_t recalled_under = 0;
  HeldLease held_lease;
};

// What a call answers: made durable by a commit, or nothing changed and the answer is from applied
// state.
struct Answer {
  Seq first;  // the events this call added; 0 if none
  Seq last;
  std::optional<SessionView> view;
  std::string remembered;  // an idempotent call's first answer, if this is a repetition
};

class ActorAnswer {
 public:
  // What changed something can only be told once it is durable.
  explicit ActorAnswer(store::Durable<Answer> durable) : answer_(*std::move(durable)) {}
  // For calls that change nothing.
  static ActorAnswer unchanged(Answer answer) { return ActorAnswer(std::move(answer)); }
  const Answer& operator*() const { return answer_; }
  const Answer* operator->() const { return &answer_; }

 private:
  explicit ActorAnswer(Answer answer) : answer_(std::move(answer)) {}
  Answer answer_;
};

class SessionActor;
class HookTable;

// What an actor needs of its surroundings; one per loop.
struct ActorContext {
  store::AsyncStore& store;
  stream::Hub& hub;
  const Clock& clock;
  rt::Gate& gate;  // its batches run inside
  // Actors with calls to take, in the order in which the first of these came. All of them are
  // started by one posted function: posting costs more than deciding an append.
  std::vector<std::shared_ptr<SessionActor>> ready = {};
  std::atomic<std::uint64_t> fenced{0};  // calls refused because their lease was stale
  // Told, on this loop, of a session that ended or was reset, once that is durable.
  std::function<void(SessionId)> on_end = {};
  // Told of one that was deleted, likewise.
  std::function<void(SessionId)> on_removed = {};
  // The apps that have webhooks (session/webhooks/outbox.h); nullptr while none has.
  std::shared_ptr<const HookTable> hooks = {};
  Observer* observer = nullptr;

  bool is_observed() const { return observer != nullptr && observer->is_watching(); }
  void start_later(std::shared_ptr<SessionActor> actor);
  void start_ready();
};

class SessionActor : public std::enable_shared_from_this<SessionActor> {
 public:
  // It loads itself when first called.
  SessionActor(ActorContext& context, SessionId id);
  ~SessionActor();

  rt::Task<Result<ActorAnswer>> call(Call call);
  // Takes the calls that wait, until there are none.
  void start();

  // Saves the load of a session just created, unless a call has begun it already.
  void adopt(StoredSession created);

  bool is_loaded() const { return is_loaded_; }
  bool is_removed() const { return is_removed_; }
  // Nothing would be lost by dropping it from memory.
  bool is_idle() const;
  // Something may be written that view() does not show yet.
  bool is_running() const { return is_running_; }
  // Applied state; only if is_loaded().
  SessionView view() const;
  // Applied state, if it can be told without asking the store: loaded, and not past its expiry.
  std::optional<SessionView> current_view() const;

  Subscribers& subscribers() { return subscribers_; }
  SessionId id() const { return id_; }

 private:
  struct Waiting;
  struct Batch;
  rt::Task<> run();
  rt::Task<Result<>> load();
  Result<> check_can_write() const;
  bool must_load() const;
  bool may_decide_again(const Batch& batch, const Error& error) const;
  // `self` is this actor, kept in memory by whoever waits for it.
  REPRISE_OWN_FRAME rt::Task<Result<ActorAnswer>> enqueue(std::shared_ptr<SessionActor> self,
                                                          Call call);
  rt::Task<Result<ActorAnswer>> call_claimed(std::shared_ptr<SessionActor> self, Call call);
  rt::Task<Result<ActorAnswer>> call_leased(std::shared_ptr<SessionActor> self, Call call);
  rt::Task<Result<ActorAnswer>> call_once(Call call);
  rt::Task<Result<>> look_up_lease(Call& call);
  void refuse_all();
  void take_queue(Batch& batch);
  Result<Answer> decide(const Call& call, Batch& batch);
  Result<Answer> decide_command(const Call& call, const model::Command& command, Batch& batch);
  Result<Answer> decide_touch(const Touch& touch, Batch& batch);
  Result<Answer> decide_change(const RecordChange& change, Batch& batch);
  Result<Answer> decide_removal(const Call& call, const Remove& removal, Batch& batch);
  void add_events(const std::vector<model::Event>& events, Batch& batch);
  void finish(Batch& batch, bool must_refile);
  void apply(Batch& batch, const store::Durable<store::Committed>& durable);
  SessionView view_of(const StoredSession& stored) const;

  ActorContext& context_;
  const SessionId id_;
  StoredSession stored_;  // applied: durable and told
  bool is_loaded_ = false;
  bool was_loaded_ = false;          // before a failed commit
  bool is_provisional_ = false;      // loaded while the store could not write
  std::uint64_t failed_writes_ = 0;  // of the store, when this was loaded
  std::uint64_t loads_ = 0;
  bool is_removed_ = false;
  bool is_running_ = false;
  std::vector<Waiting*> queue_;  // not a deque, which keeps half a KiB even when it is empty
  Subscribers subscribers_;
  // Idempotent calls in flight: a repetition waits for the first one to end, then looks its answer
  // up.
  std::unordered_map<std::string, std::shared_ptr<rt::Signal>> in_flight_;
};

}  // namespace reprise::session
