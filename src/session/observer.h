// Observer: somebody who watches what happens to sessions, as it happens, and stores nothing.
//
// Actors look at is_watching() and say nothing while it is false, so that an observer with no
// audience costs one relaxed load for each commit.
//
// Threads: the members are called on the sessions' home loops, so from several threads at once;
// is_watching() may be called from any.
#pragma once

#include <atomic>

#include "model/session_state.h"
#include "store/durable.h"
#include "stream/hub.h"

namespace reprise::session {

class Observer {
 public:
  virtual ~Observer() = default;
  bool is_watching() const { return is_watching_.load(std::memory_order_relaxed); }

  // Only what is durable is told.
  virtual void on_created(const model::SessionState& state) = 0;
  // `state` is what the session is after these entries.
  virtual void on_events(const model::SessionState& state, const stream::Batch& batch) = 0;
  // `last` is what it was.
  virtual void on_removed(const model::SessionState& last) = 0;

 protected:
  void set_watching(bool is_watching) {
    is_watching_.store(is_watching, std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> is_watching_{false};
};

}  // namespace reprise::session
