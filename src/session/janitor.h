// The janitor: what must happen because time passes. Expires sessions, removes ended ones after
// their retention, sweeps what deleted sessions left, forgets old idempotency keys and trims the
// monitor's feeds.
//
// Each job reads an index in the order of time and stops at the first thing that is not due: its
// cost depends on what there is to do, not on how many sessions there are. Nobody relies on its
// punctuality: a session past its time is treated as expired whether the janitor has come or not.
//
// Threads: runs on the first loop.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/error.h"
#include "rt/cancel.h"
#include "rt/task.h"
#include "session/service.h"

namespace reprise::session {

struct JanitorProbe {
  std::uint64_t expired = 0;
  std::uint64_t retired = 0;  // removed by retention
  std::uint64_t swept = 0;    // streams of deleted sessions
};

class Janitor {
 public:
  explicit Janitor(SessionService& service) : service_(service) {}

  // Until the scope is cancelled.
  rt::Task<> run(rt::CancelScope& scope);
  // One round of everything that is due; for tests and for the start.
  rt::Task<Result<>> round();

  JanitorProbe probe() const { return {expired_.load(), retired_.load(), swept_.load()}; }

 private:
  rt::Task<Result<>> expire();
  rt::Task<Result<>> retire();
  rt::Task<Result<>> sweep_deleted();
  rt::Task<Result<>> sweep_stream(StreamId stream);
  rt::Task<Result<>> forget_idempotency_keys();
  rt::Task<Result<>> trim_feeds();

  SessionService& service_;
  std::atomic<std::uint64_t> expired_{0};
  std::atomic<std::uint64_t> retired_{0};
  std::atomic<std::uint64_t> swept_{0};
};

}  // namespace reprise::session
