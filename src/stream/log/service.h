// LogService: durable streams by path (the protocol of docs/durable-streams.md, without HTTP).
//
// Appends go to the log's actor on its home loop. What happens rarely and may touch several logs
// (creating, forking, deleting, expiring) is one commit with preconditions on every record it has
// read; whoever loses a race looks again.
//
// Threads: every member may be called on any of the loops.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "rt/cancel.h"
#include "rt/gate.h"
#include "rt/loop.h"
#include "rt/pool.h"
#include "rt/task.h"
#include "store/async.h"
#include "stream/hub.h"
#include "stream/limits.h"
#include "stream/log/actor.h"
#include "stream/log/commands.h"

namespace reprise::stream {

struct LogOptions {
  std::size_t max_loaded_per_loop = kMaxLoadedLogs;
};

// Which stream stands under a path, and the number of its last append.
struct LogTail {
  StreamId stream;
  Seq tail;
};

class LogService {
 public:
  LogService(const std::vector<rt::Loop*>& loops, store::Store& store, Hubs& hubs, rt::Pool& pool,
             const Clock& clock, Random& random, LogOptions options = {});
  ~LogService();
  LogService(const LogService&) = delete;
  LogService& operator=(const LogService&) = delete;

  // kStreamNotFound, kGone. A use starts the time to live anew.
  rt::Task<Result<LogView>> look(std::string path, bool is_use);
  rt::Task<Result<AppendOutcome>> append(std::string path, AppendLog append);
  // kConflict where a log of another configuration is there, or was deleted and has forks;
  // kStreamNotFound where the source of a fork is missing; kBadParameter for a fork's position.
  rt::Task<Result<CreatedLog>> create(std::string path, CreateLog create);
  rt::Task<Result<>> remove(std::string path);

  // Before the first call: who is told of every change.
  void set_listener(LogListener listener) { listener_ = std::move(listener); }
  // Every log that is there, whose path begins so and is wanted.
  rt::Task<Result<std::vector<std::string>>> paths_matching(
      std::string prefix, std::function<bool(std::string_view)> is_wanted);
  // As it is stored, without loading the log; none where there is no such log.
  rt::Task<Result<std::optional<LogTail>>> tail_in_store(std::string path);

  // A live reader comes (to be awaited before it looks) and goes.
  rt::Task<Result<>> join(std::string path);
  void leave(std::string path);

  // Removes logs past their time until the scope is cancelled. On the first loop.
  rt::Task<> run_janitor(rt::CancelScope& scope);
  // One round of it.
  rt::Task<Result<>> expire_due();
  rt::Task<Result<>> expire_due(rt::CancelScope& scope);

  // Refuses new work and waits for what is in flight. On the first loop.
  rt::Task<> close();

  // Logs that are held in memory, on all loops together. For tests, while no loop runs.
  std::size_t loaded() const;

  // Of the calling loop.
  store::AsyncStore& store_here();
  Hub& hub_here() { return hubs_.at(here()); }
  const Clock& clock() const { return clock_; }
  const LogProbe& probe() const { return probe_; }

 private:
  // What one loop has.
  struct Place;
  struct Found;
  struct Change;
  std::size_t here() const;
  std::size_t home_index(std::string_view path) const;
  std::shared_ptr<LogActor> actor(Place& place, const std::string& path);
  static rt::Task<> use(std::shared_ptr<LogActor> log);
  // Runs on the log's home loop.
  rt::Task<Result<>> tell(std::string path, std::optional<StreamId> removed);

  rt::Task<Result<Found>> find(std::string path);
  rt::Task<Result<CreatedLog>> try_create(const std::string& path, const CreateLog& create);
  rt::Task<Result<>> add_fork(const std::string& path, const CreateLog& create, LogRecord& record,
                              Change& change);
  rt::Task<Result<>> try_remove(const std::string& path);
  rt::Task<Result<>> be_told(const std::string& path);
  rt::Task<Result<>> remove_expired(const std::string& path, Found found);
  rt::Task<Result<>> remove_found(const std::string& path, Found found);
  rt::Task<Result<>> expire_or_refile(std::string path);
  rt::Task<Result<>> add_removal(std::string path, Found found, Change& change);
  rt::Task<Result<std::string>> entry_at(const LogRecord& record, Seq number);

  store::Store& store_;
  Hubs& hubs_;
  const Clock& clock_;
  Random& random_;
  const LogOptions options_;
  std::vector<rt::Loop*> loops_;
  LogListener listener_;
  LogProbe probe_;
  std::vector<std::unique_ptr<Place>> places_;
};

}  // namespace reprise::stream
