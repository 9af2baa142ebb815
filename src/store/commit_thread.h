// The thread that commits: it drains a committer whenever something is queued.
//
//     Committer committer(engine, steady_now);
//     CommitThread thread(committer);
//     ...
//     thread.stop();   // refuses new commits, writes what is queued, then returns
//
// Threads: constructed and stopped by the owner; it installs itself as the committer's wakeup, so
// it must exist before the first submit() and the committer must outlive it.
#pragma once

#include <chrono>
#include <memory>

#include "store/committer.h"

namespace reprise::store {

struct CommitThreadOptions {
  // How often a full store is asked for room while nobody commits.
  std::chrono::milliseconds tick_interval{1000};
  // How long to look for more work before sleeping. Helps only where a core is to spare.
  std::chrono::microseconds spin{0};
  // On a disk whose writes take this long or longer, the next batch waits a little for those who
  // were just answered: they usually come back at once, and a write for all of them costs no more
  // than one for half. Without it two halves alternate, each waiting for the other's write.
  std::chrono::microseconds slow_write{1000};
};

class CommitThread {
 public:
  explicit CommitThread(Committer& committer, CommitThreadOptions options = {});
  ~CommitThread();
  CommitThread(const CommitThread&) = delete;
  CommitThread& operator=(const CommitThread&) = delete;

  // Closes the committer, drains it and joins. A second call does nothing. Not from a completion.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reprise::store
