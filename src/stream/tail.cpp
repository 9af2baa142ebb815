#include "stream/tail.h"

#include "base/assert.h"
#include "stream/limits.h"

namespace reprise::stream {
namespace {

// Encodes entries as they are read, without a copy of each.
class Encoder final : public store::EntryVisitor {
 public:
  Encoder(const TailFrames& frames_of, Seq after, std::optional<std::string> end)
      : last(after), end_reason(std::move(end)), frames_(frames_of) {}
  bool visit(Seq seq, std::string_view bytes) override {
    // A gap can only be damage: the numbers of a stream are consecutive.
    if (seq.value != last.value + 1 && last.value != 0) has_gap = true;
    frames_.format().append_entry(*frames, seq, bytes);
    frames_.note_end(bytes, end_reason);
    last = seq;
    ++count;
    return true;
  }
  std::shared_ptr<std::string> frames = std::make_shared<std::string>();
  Seq last;
  std::size_t count = 0;
  bool has_gap = false;
  std::optional<std::string> end_reason;

 private:
  const TailFrames& frames_;
};

}  // namespace

Tail::Tail(Hub& hub, store::AsyncStore& store, Outlet& outlet, const TailFrames& frames,
           TailRequest request)
    : hub_(hub),
      store_(store),
      outlet_(outlet),
      frames_(frames),
      request_(request),
      changed_(hub.loop()),
      cursor_(request_.after) {}

Tail::~Tail() {
  if (is_subscribed_) hub_.unsubscribe(request_.stream, request_.home, *this);
}

rt::Task<bool> Tail::subscribe() {
  is_subscribed_ = co_await hub_.subscribe(request_.stream, request_.home, *this);
  co_return is_subscribed_;
}

void Tail::set_replay(Seq after, Seq until, std::optional<std::string> end_reason) {
  cursor_ = after;
  request_.replay_until = until;
  // A batch that came meanwhile knows better, or at least as well.
  if (seen_up_to_.value > 0 && seen_up_to_ >= until) return;
  end_reason_ = std::move(end_reason);
  end_at_ = until;
}

rt::Task<Result<>> Tail::follow(rt::CancelScope& scope) {
  REPRISE_ASSERT(is_subscribed_);
  for (;;) {
    if (!is_live_ && !removed_reason_) REPRISE_CO_CHECK(co_await catch_up(scope));
    if (removed_reason_ || (end_reason_ && cursor_ >= end_at_)) co_return co_await say_end(scope);
    auto woken = co_await changed_.wait(
        scope, rt::Deadline::after(hub_.loop(), request_.heartbeat_interval));
    if (woken) continue;
    if (woken.error().code != Code::kDeadline) co_return woken;
    REPRISE_CO_CHECK(co_await beat());
  }
}

rt::Task<Result<>> Tail::say_end(rt::CancelScope& scope) {
  const std::string reason = removed_reason_ ? *removed_reason_ : *end_reason_;
  is_live_ = false;
  REPRISE_CO_CHECK(co_await outlet_.wait_for_room(scope));
  outlet_.push(std::make_shared<const std::string>(frames_.end(reason)), 0);
  co_return Result<>{};
}

rt::Task<Result<>> Tail::beat() {
  // Also when events were written meanwhile: silence never lasts longer than the interval.
  if (is_live_) outlet_.push(std::make_shared<const std::string>(frames_.heartbeat()), 0);
  // A look at the store, where entries may be that nobody announced: those of a commit that failed
  // and was written after all.
  is_live_ = false;
  REPRISE_CO_TRY(const Seq head, co_await store_.head(request_.stream));
  if (head < cursor_ && !removed_reason_) removed_reason_ = "deleted";
  co_return Result<>{};
}

rt::Task<Result<>> Tail::catch_up(rt::CancelScope& scope) {
  while (!removed_reason_) {
    REPRISE_CO_CHECK(co_await outlet_.wait_for_room(scope));
    if (scope.is_cancelled()) co_return fail(scope.reason());
    may_have_missed_ = false;
    Encoder encoder(frames_, cursor_, end_reason_);
    REPRISE_CO_CHECK(co_await store_.read({.stream = request_.stream,
                                           .after = cursor_,
                                           .limit = kReplayChunkEntries,
                                           .max_bytes = kReplayChunkBytes},
                                          encoder));
    if (encoder.has_gap) co_return fail(Code::kCorrupt, "the stored stream has a gap");
    // The end of the replay stands between the entries that were there at the start and later ones;
    // it may fall inside a chunk, but live order is the same on either side of it.
    cursor_ = encoder.last;
    // The store may know of an end that no batch told (it was written, but its commit failed).
    // Where a batch or the caller has told about this very entry, that stands: the batch may have
    // come while the store was read.
    if (cursor_ > end_at_ && cursor_ > seen_up_to_) {
      end_reason_ = std::move(encoder.end_reason);
      end_at_ = cursor_;
    }
    if (!has_replayed_ && cursor_ >= request_.replay_until) {
      has_replayed_ = true;
      frames_.replay_complete(*encoder.frames, request_.replay_until);
    }
    // wait_for_room left space for a whole chunk.
    if (!encoder.frames->empty()) outlet_.push(std::move(encoder.frames), 0);
    const bool has_ended = end_reason_ && cursor_ >= end_at_;
    if ((encoder.count == 0 || has_ended) && seen_up_to_ <= cursor_ && !may_have_missed_) {
      is_live_ = true;
      co_return Result<>{};
    }
    // Others on this loop get their turn between two chunks.
    co_await rt::yield(hub_.loop());
  }
  co_return Result<>{};
}

void Tail::fall_back() {
  is_live_ = false;
  changed_.notify();
}

void Tail::on_batch(const LiveBatch& live) {
  const Batch& batch = live.batch();
  if (batch.last() <= seen_up_to_) return;
  seen_up_to_ = batch.last();
  // The caller may have looked at the stream after this batch (set_replay): then it knows better.
  if (batch.last() >= end_at_) {
    const bool is_over = batch.is_end && !request_.is_endless;
    end_reason_ = is_over ? std::optional(batch.end_reason) : std::nullopt;
    end_at_ = batch.last();
  }
  if (!is_live_) return;
  if (batch.last() <= cursor_) {
    if (end_reason_) changed_.notify();
    return;
  }
  if (batch.first.value > cursor_.value + 1) return fall_back();
  const LiveBatch::Encoded& encoded = live.encoded(frames_.format());
  const std::size_t known = cursor_.value + 1 - batch.first.value;
  if (!outlet_.push(encoded.bytes, encoded.starts[known])) return fall_back();
  cursor_ = batch.last();
  if (end_reason_) changed_.notify();
}

void Tail::on_ephemeral(const SharedBytes& event_json) {
  // Only while live: a reader that catches up would see it out of order. A slow reader may miss it.
  if (!is_live_) return;
  outlet_.push(std::make_shared<const std::string>(frames_.ephemeral(*event_json)), 0);
}

void Tail::on_gap() {
  may_have_missed_ = true;
  if (is_live_) fall_back();
}

void Tail::on_end(Seq at, std::string_view reason) {
  if (request_.is_endless || at < end_at_ || at < seen_up_to_) return;
  end_reason_ = std::string(reason);
  end_at_ = at;
  changed_.notify();
}

void Tail::on_removed(std::string_view reason) {
  removed_reason_ = std::string(reason);
  is_live_ = false;
  changed_.notify();
}

}  // namespace reprise::stream
