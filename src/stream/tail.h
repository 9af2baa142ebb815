// A reader of a stream: replays from the store, then follows live, and falls back to the store when
// it must.
//
// follow() is the whole life of one reader, as a coroutine. While it catches up it reads chunks of
// the store at the pace of its outlet. Once nothing is left to read it goes live: then the hub
// pushes into the outlet directly and the coroutine sleeps. A reader whose outlet cannot take more
// (it is slow) leaves live and catches up from the store again, holding nobody up; memory per
// reader is bounded by the outlet's backlog.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "rt/cancel.h"
#include "rt/task.h"
#include "store/async.h"
#include "stream/hub.h"

namespace reprise::stream {

// Where a reader's bytes go: a bounded queue in front of a connection. Belongs to the reader's
// loop.
class Outlet {
 public:
  virtual ~Outlet() = default;
  // Takes the bytes from `offset` on. False, taking nothing, if the backlog is full.
  virtual bool push(const SharedBytes& bytes, std::size_t offset) = 0;
  // Suspends until the backlog is small again; an error once the connection is gone.
  virtual rt::Task<Result<>> wait_for_room(rt::CancelScope& scope) = 0;
};

// What surrounds the entries of a followed stream.
class TailFrames {
 public:
  virtual ~TailFrames() = default;
  virtual const FrameFormat& format() const = 0;
  // `out` holds the frames of the last entries, if any came just before.
  virtual void replay_complete(std::string& out, Seq at) const = 0;
  virtual std::string ephemeral(std::string_view event_json) const = 0;
  virtual std::string end(std::string_view reason) const = 0;
  virtual std::string heartbeat() const = 0;
  // What a stored entry says about the stream's end: sets the reason, clears it, or leaves it.
  virtual void note_end(std::string_view, std::optional<std::string>&) const {}
};

struct TailRequest {
  StreamId stream;
  std::size_t home = 0;  // the index of the stream's home loop
  Seq after;
  Seq replay_until;  // replayComplete follows the entry with this number
  rt::Nanos heartbeat_interval{std::chrono::seconds{15}};
  // Goes on behind an end: only removal ends it.
  bool is_endless = false;
};

class Tail final : public Subscriber {
 public:
  Tail(Hub& hub, store::AsyncStore& store, Outlet& outlet, const TailFrames& frames,
       TailRequest request);
  ~Tail() override;

  // Rule 1 of stream/hub.h: to be awaited before the caller looks at the state of the stream.
  rt::Task<bool> subscribe();
  // What the caller learned of the stream after subscribing.
  void set_replay(Seq after, Seq until, std::optional<std::string> end_reason);

  // Until the stream ends (Ok), the scope is cancelled or the connection is gone (the error).
  rt::Task<Result<>> follow(rt::CancelScope& scope);

  void on_batch(const LiveBatch& batch) override;
  void on_ephemeral(const SharedBytes& event_json) override;
  void on_gap() override;
  void on_end(Seq at, std::string_view reason) override;
  void on_removed(std::string_view reason) override;

 private:
  // A reader spends its life waiting in follow(): what it does in between keeps no memory there.
  REPRISE_OWN_FRAME rt::Task<Result<>> say_end(rt::CancelScope& scope);
  REPRISE_OWN_FRAME rt::Task<Result<>> beat();
  REPRISE_OWN_FRAME rt::Task<Result<>> catch_up(rt::CancelScope& scope);
  void fall_back();

  Hub& hub_;
  store::AsyncStore& store_;
  Outlet& outlet_;
  const TailFrames& frames_;
  TailRequest request_;
  rt::Signal changed_;
  Seq cursor_;
  Seq seen_up_to_;  // the newest entry any batch has named
  std::optional<std::string> end_reason_;
  Seq end_at_;
  std::optional<std::string> removed_reason_;
  bool is_subscribed_ = false;
  bool is_live_ = false;
  bool has_replayed_ = false;
  bool may_have_missed_ = false;  // since the last read of the store began
};

}  // namespace reprise::stream
