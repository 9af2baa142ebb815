// ExternalPools: pools of browsers that other processes keep, as far as they tell us of them.
//
// Such a pool registers, and then beats. Who has not beaten for three of its intervals is stale
// until it beats again. That it registered, and that it fell silent, is stored; a heartbeat is a
// note in memory and costs no write. After a restart every pool that was not stale gets its full
// time again, so that none is stale because the server was away.
//
// We open no contexts in them: they are on record, so that people see all browsers in one place.
//
// Threads: belongs to the browsers' loop.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "rt/cancel.h"
#include "rt/loop.h"
#include "rt/task.h"
#include "rt/turns.h"
#include "session/service.h"

namespace reprise::browser {

// What a process says of its pool, once.
struct ExternalPoolFacts {
  std::uint64_t max_contexts = 0;
  std::string location;  // a note for people of where it runs
  std::uint64_t heartbeat_seconds = 0;
  TimePoint registered_at;
  std::optional<TimePoint> stale_since;
};
std::string encode_external_pool(const ExternalPoolFacts& facts);
// kCorrupt.
Result<ExternalPoolFacts> decode_external_pool(std::string_view json);

// What it says with a heartbeat.
struct PoolBeat {
  std::optional<std::uint64_t> contexts;
  std::optional<std::uint64_t> waiting;
  std::optional<std::string> last_error;  // empty: there is none any more
};

struct ExternalPool {
  ExternalPoolFacts facts;
  std::optional<TimePoint> heartbeat_at;  // since the server started
  std::uint64_t contexts = 0;
  std::uint64_t waiting = 0;
  std::string last_error;
  bool is_stale = false;
};

class ExternalPools {
 public:
  ExternalPools(rt::Loop& loop, session::SessionService& sessions, const Clock& clock)
      : loop_(loop), sessions_(sessions), clock_(clock), writing_(loop) {}

  rt::Task<Result<>> load();
  // Notes who fell silent.
  rt::Task<> run(rt::CancelScope& scope);

  // Whether it is new; registering again counts as a heartbeat. kTooManyRequests.
  rt::Task<Result<bool>> put(std::string key, ExternalPoolFacts facts);
  // kPoolNotFound, and so the others below.
  rt::Task<Result<>> beat(std::string key, PoolBeat beat);
  rt::Task<Result<>> remove(std::string key);

  bool contains(const std::string& key) const { return pools_.contains(key); }
  std::optional<ExternalPool> get(const std::string& key) const;
  // In the order of their keys.
  std::map<std::string, ExternalPool> all() const;

 private:
  struct Entry {
    ExternalPool pool;
    rt::Nanos heard_at{0};
  };
  bool is_silent(const Entry& entry) const;
  ExternalPool view(const Entry& entry) const;
  rt::Task<Result<>> save(std::string key, ExternalPoolFacts facts);
  rt::Task<Result<>> mark_stale(std::string key);

  rt::Loop& loop_;
  session::SessionService& sessions_;
  const Clock& clock_;
  rt::Turns writing_;  // entries come and go only in a turn
  std::map<std::string, Entry> pools_;
};

// Letters, digits, '-', '_' and '.', at most kMaxPoolKeyBytes of them. kBadParameter.
Result<> check_pool_key(std::string_view key);

}  // namespace reprise::browser
