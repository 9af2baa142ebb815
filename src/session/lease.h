// A lease: the generation a worker shows with a write, and how it is held inside the commit.
//
// It holds only while it is the present generation of the session's owner. That is looked up before
// the write is decided, and what was found becomes a condition of the commit: the agent's record
// changes when the agent registers anew, is lost or is deleted, and at no other time. So a write
// and the loss of its worker are in one order, and a write that comes second is not made.
#pragma once

#include <string>

#include "base/error.h"
#include "base/ids.h"
#include "rt/task.h"
#include "store/async.h"
#include "store/commit.h"

namespace reprise::session {

struct HeldLease {
  std::string agent;
  store::Version version = 0;  // of the agent's record

  // The condition under which it still holds.
  store::RecordCheck check() const;
  friend bool operator==(const HeldLease&, const HeldLease&) = default;
};

// kFenced unless `shown` is the present generation of this agent, and the agent is not lost.
rt::Task<Result<HeldLease>> hold_lease(store::AsyncStore& store, std::string agent,
                                       Generation shown);

}  // namespace reprise::session
