// The store as the layers above see it: commits go to the committer, reads to the engine.
//
//     Store store(engine, committer);
//     store.submit(std::move(commit), [](CommitResult result) { ... });  // on the commit thread
//     auto record = store.get(key, ReadMode::kCached);   // kWouldBlock: ask a blocking thread
//
// It owns neither; both must outlive it. Threads: any, for every member.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "store/commit.h"
#include "store/committer.h"
#include "store/engine.h"

namespace reprise::store {

class Store {
 public:
  Store(Engine& engine, Committer& committer) : engine_(engine), committer_(committer) {}

  // See Committer::submit: `done` may run before this returns, on this thread.
  void submit(Commit commit, Completion done) {
    committer_.submit(std::move(commit), std::move(done));
  }
  void submit(std::vector<Submission> submissions) { committer_.submit(std::move(submissions)); }

  Result<std::optional<Record>> get(std::string_view key, ReadMode mode) const {
    return engine_.get(key, mode);
  }
  Result<ScanPage> scan(const ScanRequest& request, ReadMode mode) const {
    return engine_.scan(request, mode);
  }
  Result<> read(const ReadRequest& request, ReadMode mode, EntryVisitor& visitor) const {
    return engine_.read(request, mode, visitor);
  }
  // The same with a copy of each entry; fails whole where the other may have visited some.
  Result<std::vector<StoredEntry>> read(const ReadRequest& request, ReadMode mode) const;
  Result<std::optional<StoredEntry>> last(StreamId stream, ReadMode mode) const {
    return engine_.last(stream, mode);
  }
  Result<Seq> head(StreamId stream, ReadMode mode) const { return engine_.head(stream, mode); }
  Result<Seq> first(StreamId stream, ReadMode mode) const { return engine_.first(stream, mode); }
  Result<std::int64_t> counter(std::string_view key, ReadMode mode) const {
    return engine_.counter(key, mode);
  }

  StoreState state() const { return committer_.state(); }
  CommitterProbe probe() const { return committer_.probe(); }
  EngineStatistics statistics() const { return engine_.statistics(); }

 private:
  Engine& engine_;
  Committer& committer_;
};

}  // namespace reprise::store
