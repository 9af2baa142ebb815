// What the parts of SessionActor share (actor.cpp and actor_decide.cpp). Private to src/session.
#pragma once

#include "session/actor.h"
#include "session/webhooks/outbox.h"

namespace reprise::session {

// A call in the queue: its coroutine sleeps until the answer is there.
struct SessionActor::Waiting {
  SessionActor& actor;
  Call call;
  std::optional<Result<ActorAnswer>> outcome = std::nullopt;
  std::coroutine_handle<> handle{};

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    handle = waiting;
    actor.queue_.push_back(this);
    if (actor.is_running_) return;
    actor.is_running_ = true;
    // In a later turn, so that calls of the same turn share a commit.
    actor.context_.start_later(actor.shared_from_this());
  }
  Result<ActorAnswer> await_resume() { return std::move(*outcome); }
};

// One commit in the making.
struct SessionActor::Batch {
  explicit Batch(const StoredSession& from, TimePoint at) : draft(from), now(at) {}
  StoredSession draft;
  TimePoint now;
  std::vector<Waiting*> calls;
  std::vector<Result<Answer>> answers;
  std::vector<std::string> entries;
  std::vector<std::string> feed_entries;
  Promises promises;
  store::Commit commit;
  bool writes_record = false;
  bool is_removal = false;
  std::size_t record_put = 0;                // its place among the commit's puts
  std::shared_ptr<stream::Batch> published;  // kept only if somebody watches
  HeldLease held_lease;

  // The lease must still hold when this is written. Calls of one batch mostly show the same one.
  void hold(const HeldLease& lease) {
    if (lease == held_lease) return;
    held_lease = lease;
    commit.checks.push_back(lease.check());
  }
};

}  // namespace reprise::session
