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
  // One round of everything that is due; for tests and for the start. What fails does not keep the
  // rest from being done; the first error is returned.
  rt::Task<Result<>> round();

  JanitorProbe probe() const { return {expired_.load(), retired_.load(), swept_.load()}; }

 private:
  using Handle = rt::Task<Result<>> (Janitor::*)(const store::ScanPage& page);
  // Does everything in a range of keys, kJanitorBatch at a time.
  rt::Task<Result<>> work_off(std::string begin, std::string end, Handle handle);
  rt::Task<Result<>> expire_page(const store::ScanPage& page);
  rt::Task<Result<>> retire_by_app();
  rt::Task<Result<>> retire_page(const store::ScanPage& page);
  rt::Task<Result<>> sweep_page(const store::ScanPage& page);
  rt::Task<Result<>> forget_page(const store::ScanPage& page);
  rt::Task<Result<>> expire();
  rt::Task<Result<>> retire();
  rt::Task<Result<>> sweep_deleted();
  rt::Task<Result<>> sweep_records(std::string prefix);
  rt::Task<Result<>> sweep_stream(StreamId stream);
  rt::Task<Result<>> forget_idempotency_keys();
  rt::Task<Result<>> trim_feeds();

  SessionService& service_;
  TimePoint next_trim_at_;
  TimePoint retention_limit_;
  std::atomic<std::uint64_t> expired_{0};
  std::atomic<std::uint64_t> retired_{0};
  std::atomic<std::uint64_t> swept_{0};
};

}  // namespace reprise::session
