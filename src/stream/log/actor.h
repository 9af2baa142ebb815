// LogActor: the one that appends to a log, on the log's home loop.
//
// Appends queue. While a commit is in flight the next ones gather and become one commit, each
// decided on the state that the earlier ones will have made. What others change (creating, forking,
// deleting: stream/log/service.h) is noticed by the commit's preconditions, and the appends are
// decided again.
//
// Threads: belongs to its home loop.
#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "rt/gate.h"
#include "rt/task.h"
#include "store/async.h"
#include "stream/hub.h"
#include "stream/log/commands.h"
#include "stream/log/decide.h"
#include "stream/log/log_probe.h"

namespace reprise::stream {

enum class LogChange : std::uint8_t { kCreated, kAppended, kRemoved };
// Told once it is durable, on the loop of whoever changed it: news of one log may come in another
// order than what they tell of.
using LogListener =
    std::function<void(const std::string& path, StreamId stream, Seq tail, LogChange change)>;

class LogActor;

struct LogContext {
  store::AsyncStore& store;
  Hub& hub;
  const Clock& clock;
  rt::Gate& gate;
  const LogListener& listener;
  LogProbe& probe;
  // Logs with calls since the last turn of the loop.
  std::vector<std::shared_ptr<LogActor>> ready = {};

  // In a later turn, so that calls of the same turn share a commit; and all of a turn in one go, so
  // that their commits reach the disk together.
  void start_later(std::shared_ptr<LogActor> actor);

 private:
  void start_ready();
};

class LogActor : public std::enable_shared_from_this<LogActor> {
 public:
  LogActor(LogContext& context, std::string path);
  ~LogActor();

  // The log as it is; kStreamNotFound, or kGone for one that is kept for its forks only. A use
  // starts the log's time to live anew.
  rt::Task<Result<LogView>> look(bool is_use);
  rt::Task<Result<AppendOutcome>> append(AppendLog append);

  // Somebody else has written the record: it is loaded before the next call. With an incarnation
  // that is gone, its readers are told.
  void changed(std::optional<StreamId> removed);

  // A log with a live reader does not run out of time.
  void add_reader() { ++readers_; }
  void remove_reader();
  std::size_t readers() const { return readers_; }

  // Begins with the calls that wait. Called by the context.
  void start();

  bool is_idle() const { return !is_running_ && queue_.empty() && readers_ == 0; }
  const std::string& path() const { return path_; }

 private:
  struct Waiting;
  struct Batch;
  struct Answer {
    std::optional<LogView> view;
    std::optional<AppendOutcome> append;
  };
  rt::Task<Result<Answer>> enqueue(std::optional<AppendLog> append, bool is_use);
  rt::Task<> run();
  rt::Task<Result<>> load();
  rt::Task<Result<>> load_producers();
  void decide(Batch& batch);
  Result<Answer> decide_one(Batch& batch, const Waiting& waiting);
  void fill_commit(Batch& batch);
  void apply(Batch& batch, const store::Durable<store::Committed>& durable);
  Result<> check_living(const std::optional<LogRecord>& record) const;
  LogView view() const;

  LogContext& context_;
  const std::string path_;
  const TimePoint knows_uses_since_;
  std::optional<LogRecord> record_;  // applied: durable and told
  store::Version version_ = 0;
  Seq head_;  // of its own entries
  std::unordered_map<std::string, std::optional<ProducerState>> producers_;
  TimePoint used_at_written_;
  std::size_t readers_ = 0;
  bool is_loaded_ = false;
  bool is_running_ = false;
  std::vector<Waiting*> queue_;
};

}  // namespace reprise::stream
