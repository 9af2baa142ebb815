#include "session/actor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/log.h"
#include "session/actor_parts.h"
#include "session/feed.h"
#include "session/keys.h"
#include "session/limits.h"

namespace reprise::session {

void ActorContext::start_later(std::shared_ptr<SessionActor> actor) {
  ready.push_back(std::move(actor));
  if (ready.size() == 1) hub.loop().post([this] { start_ready(); });
}

void ActorContext::start_ready() {
  const store::AsyncStore::Together together(store);
  // An actor that starts may have others called.
  for (const auto& actor : std::exchange(ready, {})) actor->start();
}

void SessionActor::start() {
  if (!rt::spawn(context_.gate, run())) refuse_all();
}

SessionActor::SessionActor(ActorContext& context, SessionId id) : context_(context), id_(id) {}

SessionActor::~SessionActor() { REPRISE_ASSERT(queue_.empty(), queue_.size()); }

void SessionActor::adopt(StoredSession created) {
  if (is_loaded_ || is_removed_ || is_running_) return;
  stored_ = std::move(created);
  is_loaded_ = true;
}

bool SessionActor::is_idle() const {
  return !is_running_ && queue_.empty() && in_flight_.empty() && subscribers_.connected() == 0;
}

SessionView SessionActor::view_of(const StoredSession& stored) const {
  return {stored.state, stored.revision, subscribers_.connected(), stored.stream, is_provisional_};
}

SessionView SessionActor::view() const {
  REPRISE_ASSERT(is_loaded_);
  return view_of(stored_);
}

std::optional<SessionView> SessionActor::current_view() const {
  if (must_load() || is_removed_ || stored_.state.is_due(context_.clock.now())) return std::nullopt;
  return view();
}

// Not a coroutine itself: a call and its answer are large, and each layer would move both once
// more.
void SessionActor::refuse_all() {
  is_running_ = false;
  for (Waiting* waiting : std::exchange(queue_, {})) {
    waiting->outcome = fail(Code::kShuttingDown, "the server is stopping");
    waiting->handle.resume();
  }
}

rt::Task<> SessionActor::run() {
  const auto self = shared_from_this();
  int lost_races = 0;
  while (!queue_.empty()) {
    if (must_load() && !is_removed_) {
      is_loaded_ = false;
      if (auto loaded = co_await load(); !loaded) {
        // Those who wait now are told; whoever comes later tries again.
        for (Waiting* waiting : std::exchange(queue_, {})) {
          waiting->outcome = fail(loaded.error());
          waiting->handle.resume();
        }
        continue;
      }
      if (must_load()) continue;  // the store recovered meanwhile
    }
    Batch batch(stored_, context_.clock.now());
    if (context_.hooks) batch.promises = Promises(context_.hooks, stored_.state.app);
    take_queue(batch);
    if (batch.commit.is_empty()) {
      // Nothing to write: what was decided rests on durable state, activity noted in memory aside.
      if (!is_removed_) stored_ = std::move(batch.draft);
      for (std::size_t i = 0; i < batch.calls.size(); ++i) {
        auto& answer = batch.answers[i];
        batch.calls[i]->outcome =
            answer ? Result<ActorAnswer>(ActorAnswer::unchanged(std::move(*answer)))
                   : fail(std::move(answer).error());
      }
    } else {
      auto committed = co_await context_.store.commit(std::move(batch.commit));
      if (committed) {
        lost_races = 0;
        apply(batch, *committed);
        for (std::size_t i = 0; i < batch.calls.size(); ++i) {
          auto& answer = batch.answers[i];
          batch.calls[i]->outcome =
              answer ? Result<ActorAnswer>(ActorAnswer(committed->with(std::move(*answer))))
                     : fail(std::move(answer).error());
        }
      } else {
        is_loaded_ = false;
        was_loaded_ = true;
        if (may_decide_again(batch, committed.error()) && ++lost_races < kMaxKeyRaces) {
          queue_.insert(queue_.begin(), batch.calls.begin(), batch.calls.end());
          continue;
        }
        for (Waiting* waiting : batch.calls) waiting->outcome = fail(committed.error());
      }
    }
    for (Waiting* waiting : batch.calls) waiting->handle.resume();
  }
  is_running_ = false;
}

// A commit that found the stream or the record other than they were loaded changed nothing: its
// calls are decided again on what is there. A lost race for a key is for the caller, who looks at
// the key again.
bool SessionActor::may_decide_again(const Batch& batch, const Error& error) const {
  const bool writes_key = batch.calls.front()->call.key_hold.has_value();
  return error.code == Code::kWrongSequence || (error.code == Code::kWrongVersion && !writes_key);
}

// While the store cannot write, what a failed commit wrote after all does not show. State loaded
// then may be read, but nothing is decided on it, and it is loaded anew once the store has
// recovered.
bool SessionActor::must_load() const {
  if (!is_loaded_ || !is_provisional_) return !is_loaded_;
  // It may have recovered and failed again.
  const store::Store& store = context_.store.sync();
  return store.state() == store::StoreState::kWritable ||
         store.probe().failed_writes != failed_writes_;
}

Result<> SessionActor::check_can_write() const {
  if (!is_provisional_) return {};
  if (context_.store.sync().state() == store::StoreState::kReadOnly)
    return fail(Code::kReadOnly, "the store is read-only after a failed write");
  return fail(Code::kNoSpace, "the store has no room to write");
}

rt::Task<Result<>> SessionActor::load() {
  const std::uint64_t failed_writes = context_.store.sync().probe().failed_writes;
  const bool is_provisional = context_.store.sync().state() != store::StoreState::kWritable;
  REPRISE_CO_TRY(auto record, co_await context_.store.get(session_key(id_)));
  if (!record) {
    is_removed_ = true;
    if (was_loaded_) context_.hub.publish_removed(stored_.stream, "deleted");
    co_return fail(Code::kSessionNotFound, fmt::format("there is no session {}", id_.to_string()));
  }
  REPRISE_CO_TRY(StoredSession stored, decode_stored(record->value, record->version));
  REPRISE_CO_TRY(auto newest, co_await context_.store.last(stored.stream));
  REPRISE_CO_CHECK(bring_up_to(stored, newest));
  grant_unwritten_activity(stored, context_.clock.now());
  stored_ = std::move(stored);
  is_loaded_ = true;
  is_provisional_ = is_provisional;
  failed_writes_ = failed_writes;
  ++loads_;
  const bool may_have_ended =
      model::is_terminal(stored_.state.status) || stored_.state.visible_after.value > 0;
  if (std::exchange(was_loaded_, is_provisional)) {
    if (may_have_ended && context_.on_end) context_.on_end(id_);
    // What the failed commit wrote after all was told to nobody: readers look for themselves.
    context_.hub.publish_gap(stored_.stream);
    context_.hub.publish_gap(feed_stream(feed_of(id_)));
  }
  co_return Result<>{};
}

}  // namespace reprise::session
