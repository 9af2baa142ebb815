// AsyncStore: the store as coroutines of one loop see it.
//
// Reads are tried in memory first, on the loop itself; only what needs the disk goes to the pool. A
// commit suspends until it is durable and resumes on this loop; completions of one batch arrive
// together, in the order of the commits.
//
//     REPRISE_CO_TRY(auto record, co_await store.get(key));
//     REPRISE_CO_TRY(auto durable, co_await store.commit(std::move(commit)));
//
// Commits made while a Together lives are handed to the committer when it ends, as one batch:
//
//     const AsyncStore::Together together(store);
//     for (Session* session : ready) session->start();      // each commits
//
// Threads: belongs to its loop.
#pragma once

#include <coroutine>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "rt/loop.h"
#include "rt/mailbox.h"
#include "rt/pool.h"
#include "rt/task.h"
#include "store/store.h"

namespace reprise::store {

class AsyncStore {
 public:
  AsyncStore(Store& store, rt::Loop& home, rt::Pool& pool)
      : store_(store),
        home_(home),
        pool_(pool),
        // Every completion has its place: there is one for each commit submitted, and those are
        // bounded.
        completions_(home, std::numeric_limits<std::size_t>::max(),
                     [](std::vector<Finished> batch) {
                       for (Finished& finished : batch) finished.deliver();
                     }) {}

  class Together {
   public:
    explicit Together(AsyncStore& store) : store_(store) {
      REPRISE_ASSERT(!std::exchange(store_.is_gathering_, true));
    }
    ~Together() {
      store_.is_gathering_ = false;
      if (!store_.gathered_.empty()) store_.store_.submit(std::exchange(store_.gathered_, {}));
    }
    Together(const Together&) = delete;
    Together& operator=(const Together&) = delete;

   private:
    AsyncStore& store_;
  };

  rt::Task<Result<std::optional<Record>>> get(std::string key) {
    auto record = store_.get(key, ReadMode::kCached);
    if (!would_block(record)) co_return record;
    co_return co_await pool_.run(home_,
                                 [this, &key] { return store_.get(key, ReadMode::kBlocking); });
  }

  rt::Task<Result<std::optional<StoredEntry>>> last(StreamId stream) {
    auto entry = store_.last(stream, ReadMode::kCached);
    if (!would_block(entry)) co_return entry;
    co_return co_await pool_.run(
        home_, [this, stream] { return store_.last(stream, ReadMode::kBlocking); });
  }

  rt::Task<Result<Seq>> head(StreamId stream) {
    auto seq = store_.head(stream, ReadMode::kCached);
    if (!would_block(seq)) co_return seq;
    co_return co_await pool_.run(
        home_, [this, stream] { return store_.head(stream, ReadMode::kBlocking); });
  }

  rt::Task<Result<Seq>> first(StreamId stream) {
    auto seq = store_.first(stream, ReadMode::kCached);
    if (!would_block(seq)) co_return seq;
    co_return co_await pool_.run(
        home_, [this, stream] { return store_.first(stream, ReadMode::kBlocking); });
  }

  rt::Task<Result<ScanPage>> scan(ScanRequest request) {
    auto page = store_.scan(request, ReadMode::kCached);
    if (!would_block(page)) co_return page;
    co_return co_await pool_.run(
        home_, [this, &request] { return store_.scan(request, ReadMode::kBlocking); });
  }

  // Visits the entries in order. `visitor` may be called on a thread of the pool, while this
  // coroutine waits.
  rt::Task<Result<>> read(ReadRequest request, EntryVisitor& visitor) {
    Progress progress(visitor, request);
    auto outcome = store_.read(request, ReadMode::kCached, progress);
    if (!would_block(outcome) || progress.visited > 0) {
      // What was in memory is an answer; the next call goes on after it.
      if (progress.visited > 0) co_return Result<>{};
      co_return outcome;
    }
    co_return co_await pool_.run(home_, [this, &request, &visitor] {
      return store_.read(request, ReadMode::kBlocking, visitor);
    });
  }

  // Anything else that may wait for the disk, on a thread of the pool; `work` returns a Result.
  template <typename Work>
  auto blocking(Work work) {
    return pool_.run(home_, std::move(work));
  }

  auto commit(Commit commit) {
    struct Awaiter {
      AsyncStore& store;
      Commit commit;
      std::optional<CommitResult> outcome = std::nullopt;
      bool await_ready() const { return false; }
      void await_suspend(std::coroutine_handle<> handle) {
        Completion done = [this, handle, &completions = store.completions_](CommitResult result) {
          completions.try_send(Finished{&outcome, handle, std::move(result)});
        };
        if (store.is_gathering_) {
          store.gathered_.push_back({std::move(commit), std::move(done)});
          return;
        }
        // The completion may come before submit() returns: nothing of this object is touched after
        // it.
        store.store_.submit(std::move(commit), std::move(done));
      }
      CommitResult await_resume() { return std::move(*outcome); }
    };
    return Awaiter{*this, std::move(commit)};
  }

  Store& sync() { return store_; }
  rt::Loop& home() { return home_; }

 private:
  struct Finished {
    std::optional<CommitResult>* place;
    std::coroutine_handle<> handle;
    CommitResult result;
    void deliver() {
      place->emplace(std::move(result));
      handle.resume();
    }
  };

  struct Progress final : EntryVisitor {
    EntryVisitor& inner;
    std::size_t visited = 0;
    Progress(EntryVisitor& to, const ReadRequest&) : inner(to) {}
    bool visit(Seq seq, std::string_view bytes) override {
      ++visited;
      return inner.visit(seq, bytes);
    }
  };

  template <typename R>
  static bool would_block(const R& result) {
    return !result && result.error().code == Code::kWouldBlock;
  }

  Store& store_;
  rt::Loop& home_;
  rt::Pool& pool_;
  rt::Mailbox<Finished> completions_;
  bool is_gathering_ = false;
  std::vector<Submission> gathered_;
};

}  // namespace reprise::store
