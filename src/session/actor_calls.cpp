// How a call comes to its answer: looked up if it was made before, its lease with it, and then
// queued.
#include <fmt/format.h>

#include "base/bytes.h"
#include "session/actor_parts.h"
#include "session/limits.h"

namespace reprise::session {
namespace {

Result<Answer> decode_appended(std::string_view bytes) {
  ByteReader reader(bytes);
  Answer answer;
  if (!reader.varint(answer.first.value) || !reader.varint(answer.last.value) || !reader.at_end())
    return fail(Code::kCorrupt, "a remembered answer does not decode");
  return answer;
}

}  // namespace

rt::Task<Result<ActorAnswer>> SessionActor::call(Call call) {
  auto self = shared_from_this();
  if (call.claim) return call_claimed(std::move(self), std::move(call));
  if (call.lease) return call_leased(std::move(self), std::move(call));
  return enqueue(std::move(self), std::move(call));
}

rt::Task<Result<ActorAnswer>> SessionActor::call_claimed(std::shared_ptr<SessionActor> self,
                                                         Call call) {
  // A repetition of a call in flight waits until that one has ended, and then finds its answer.
  const std::string claim_key = call.claim->key_hash;
  rt::CancelScope scope;
  for (auto busy = in_flight_.find(claim_key); busy != in_flight_.end();
       busy = in_flight_.find(claim_key)) {
    const auto ended = busy->second;
    REPRISE_CO_CHECK(co_await ended->wait(scope));
  }
  in_flight_.emplace(claim_key, std::make_shared<rt::Signal>(context_.hub.loop()));
  auto outcome = co_await self->call_once(std::move(call));
  const auto ended = in_flight_.find(claim_key)->second;
  in_flight_.erase(claim_key);
  ended->notify();
  co_return outcome;
}

rt::Task<Result<ActorAnswer>> SessionActor::call_leased(std::shared_ptr<SessionActor> self,
                                                        Call call) {
  co_return co_await self->call_once(std::move(call));
}

// The lease is held by whoever owns the session now; decide() looks whether that is still so.
rt::Task<Result<>> SessionActor::look_up_lease(Call& call) {
  auto held = co_await hold_lease(context_.store, stored_.state.owner_agent, *call.lease);
  if (!held) {
    if (held.error().code == Code::kFenced) ++context_.fenced;
    co_return fail(std::move(held).error());
  }
  call.held_lease = std::move(*held);
  co_return Result<>{};
}

rt::Task<Result<ActorAnswer>> SessionActor::call_once(Call call) {
  for (;;) {
    if (must_load()) {
      auto loaded = co_await enqueue(shared_from_this(), Call{.action = Look{}});
      if (!loaded) co_return loaded;
    }
    call.recalled_under = loads_;
    if (call.claim) {
      REPRISE_CO_TRY(auto record, co_await context_.store.get(
                                      stream::idempotency_key(stored_.stream, *call.claim)));
      REPRISE_CO_TRY(auto remembered, stream::recall(record, *call.claim, context_.clock.now()));
      if (remembered) {
        REPRISE_CO_TRY(Answer answer, decode_appended(*remembered));
        answer.remembered = std::move(*remembered);
        co_return ActorAnswer::unchanged(std::move(answer));
      }
    }
    if (call.lease) REPRISE_CO_CHECK(co_await look_up_lease(call));
    auto answer = co_await enqueue(shared_from_this(), call);
    // The session was loaded anew or got another owner since the look: what failed before may have
    // been written, and the lease may be another's.
    if (answer || answer.error().code != Code::kWouldBlock) co_return answer;
  }
}

rt::Task<Result<ActorAnswer>> SessionActor::enqueue(std::shared_ptr<SessionActor> self, Call call) {
  if (is_removed_) co_return fail(Code::kSessionNotFound, "the session was deleted");
  if (queue_.size() >= kMaxQueuedPerSession)
    co_return fail(Code::kTooManyRequests,
                   fmt::format("{} calls wait for this session already", queue_.size()));
  Waiting waiting{*self, std::move(call)};
  co_return co_await waiting;
}

}  // namespace reprise::session
