// What the parts of LogService share (service.cpp, lifecycle.cpp, removal.cpp).
#pragma once

#include "stream/log/service.h"

namespace reprise::stream {

struct LogService::Place {
  Place(rt::Loop& on, store::Store& to, Hub& hub_here, rt::Pool& pool, const Clock& clock,
        const LogListener& listener, LogProbe& probe)
      : loop(on),
        store(std::make_unique<store::AsyncStore>(to, on, pool)),
        context{*store, hub_here, clock, gate, listener, probe} {}
  rt::Loop& loop;
  std::unique_ptr<store::AsyncStore> store;
  rt::Gate gate;
  LogContext context;
  // Most recently used first.
  std::list<std::shared_ptr<LogActor>> by_use;
  std::unordered_map<std::string, std::list<std::shared_ptr<LogActor>>::iterator> actors;
};

// A record as it is stored, and what must still be so when it is written.
struct LogService::Found {
  std::optional<LogRecord> record;
  store::Precondition only_if;
};

// A commit that touches several logs, and who must be told of it.
struct LogService::Change {
  store::Commit commit;
  struct Touched {
    std::string path;
    std::optional<StreamId> removed;
  };
  std::vector<Touched> touched;
};

// A commit found a record or a head other than it expected.
bool is_log_race(const Error& error);
std::unexpected<Error> lost_log_races();
// Files a record under when its time is up, or no longer.
void file_log_expiry(store::Commit& commit, const std::string& path, LogRecord& record);

}  // namespace reprise::stream
