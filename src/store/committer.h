// The committer: turns submitted commits into one synced write for all that wait.
//
// submit() queues a commit from any thread. drain() takes everything queued (within limits.h),
// checks each commit in order against the engine and the earlier ones of the batch, assigns
// sequence numbers and versions, writes the survivors with one Engine::write and then completes
// every commit of the batch. Load therefore makes batches larger instead of making each commit
// slower.
//
// Who calls drain() is up to the owner: CommitThread (store/commit_thread.h) in the server, the
// simulated loop in tests. drain() must not run twice at once.
//
// Completions run on the committer's thread and must not block: they hand the outcome to a loop
// (rt::Loop::post_completion), whose place for it was reserved when the commit was submitted.
//
// Failure rules: after a write failed with kNoSpace every commit of the batch fails with kNoSpace
// and so do later ones, until recover() succeeds (tried at most once per kRecoveryInterval, when
// commits or a tick ask for it). After any other failed write the store is read-only until restart,
// and commits fail with kReadOnly.
#pragma once

#include <functional>
#include <memory>

#include "base/error.h"
#include "store/commit.h"
#include "store/durable.h"
#include "store/engine.h"

namespace reprise::store {

enum class StoreState : std::uint8_t { kWritable, kFull, kReadOnly };

using CommitResult = Result<Durable<Committed>>;
using Completion = std::move_only_function<void(CommitResult)>;

struct Submission {
  Commit commit;
  Completion done;
};

// Counts since start; read from any thread.
struct CommitterProbe {
  std::uint64_t commits = 0;  // commits that became durable
  std::uint64_t refused = 0;  // failed their preconditions
  std::uint64_t batches = 0;  // synced writes
  std::uint64_t failed_writes = 0;
  std::uint64_t rejected_full_queue = 0;
  std::uint64_t bytes = 0;
  std::uint64_t queued = 0;       // now
  std::uint64_t write_nanos = 0;  // spent in Engine::write, in all
};

class Committer {
 public:
  // `steady_now` gives monotonic time for the recovery interval.
  Committer(Engine& engine, std::function<std::chrono::nanoseconds()> steady_now);
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // Queues a commit. If the queue is full or closed, `done` is called at once, on this thread, with
  // kOverloaded or kShuttingDown. Any thread.
  void submit(Commit commit, Completion done);
  // The same for several, in their order. The draining thread finds them together: one synced write
  // for all, where it might have begun with the first alone.
  void submit(std::vector<Submission> submissions);

  // Does one batch; false if nothing was queued. One thread at a time.
  bool drain();
  // Tries to leave kFull even though nobody commits.
  void tick();

  // Called (on the submitting thread) when the queue turns non-empty.
  void set_wakeup(std::function<void()> wakeup);
  // Refuses further commits; what is queued is still drained.
  void close();
  bool has_work() const;
  std::size_t queued() const;
  // How many commits the last drain() completed. The draining thread only.
  std::size_t last_batch() const;

  StoreState state() const;
  CommitterProbe probe() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reprise::store
