// Pool: browsers of one kind, kept running, and the places for contexts in them.
//
//     REPRISE_CO_TRY(Pool::Opened opened, co_await pool.open(options, events, scope, deadline));
//     ... opened.context ...                  // the place is given back when `opened` goes
//
// The first browser is started when the first context is asked for, a further one when all are
// full. When no more may be started, callers wait in line, and beyond a number of them are refused.
// A browser that has had many contexts, or takes much memory, gets no new ones and ends when its
// last context has gone.
//
// How many places are taken is counted from the places themselves, so that it cannot drift.
//
// Threads: belongs to the browsers' loop.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "browser/driver.h"
#include "rt/cancel.h"
#include "rt/gate.h"
#include "rt/turns.h"

namespace reprise::browser {

struct PoolOptions {
  std::string key = "default";
  std::string kind = {};  // as people know it; empty: the driver's
  std::size_t max_browsers = 1;
  std::size_t max_contexts_per_browser = 150;
  std::size_t max_contexts = 300;
  // Programs that speak a browser's own protocol. Each is told of every new page in the browser, so
  // that a browser that has so many gets no new contexts.
  std::size_t max_clients_per_browser = 50;
  std::size_t max_waiting = 1'000;
  Millis queue_timeout{30'000};
  std::uint64_t recycle_after_contexts = 5'000;
  std::uint64_t recycle_above_bytes = 8ULL << 30;
};

struct PoolProbe {
  std::uint64_t started = 0;
  std::uint64_t crashed = 0;
  std::uint64_t recycled = 0;
  std::uint64_t opened = 0;
  std::uint64_t refused = 0;
};

class Pool {
  struct Slot;

 public:
  Pool(rt::Loop& loop, const Clock& clock, std::unique_ptr<Driver> driver, PoolOptions options);
  ~Pool();

  // One client's seat in a browser; dropping it makes room.
  class Seat {
   public:
    Seat(Pool& pool, std::shared_ptr<Slot> slot);
    ~Seat();
    Seat(Seat&& other) noexcept;
    Seat& operator=(Seat&&) = delete;

   private:
    Pool* pool_;
    std::shared_ptr<Slot> slot_;
  };

  // One context's place; dropping it makes room.
  class Place {
   public:
    explicit Place(Pool& pool, std::shared_ptr<Slot> slot);
    ~Place();
    Place(Place&& other) noexcept;
    Place& operator=(Place&& other) noexcept;
    const std::string& browser_version() const;
    int browser_pid() const;
    // kTooManyRequests if the browser has all the clients it may have.
    Result<Seat> seat();

   private:
    void leave();
    Pool* pool_;
    std::shared_ptr<Slot> slot_;
  };
  struct Opened {
    std::shared_ptr<Context> context;
    Place place;
    Millis queued{0};
  };

  // kPoolFull when too many wait, or for too long; kBrowserError where no browser starts.
  rt::Task<Result<Opened>> open(ContextOptions options, ContextEvents& events,
                                rt::CancelScope& scope);
  // What an earlier server left behind is removed. Before anything is opened.
  rt::Task<Result<>> sweep() { return driver_->sweep(); }
  // Looks after the browsers until it is told to stop.
  rt::Task<> run(rt::CancelScope& scope);
  // Ends all browsers; nothing is opened any more.
  rt::Task<> close();

  struct BrowserView {
    int pid = 0;
    std::string version;
    std::size_t contexts = 0;
    std::size_t clients = 0;
    std::uint64_t memory_bytes = 0;
    bool is_draining = false;
  };
  std::vector<BrowserView> browsers() const;
  std::size_t contexts() const;
  std::size_t waiting() const { return line_.waiting(); }
  const PoolOptions& options() const { return options_; }
  const PoolProbe& probe() const { return probe_; }
  std::string_view kind() const {
    return options_.kind.empty() ? driver_->kind() : std::string_view(options_.kind);
  }
  TimePoint heartbeat_at() const { return heartbeat_at_; }
  // Why the last browser did not start; empty: it did.
  const std::string& last_error() const { return last_error_; }

 private:
  rt::Task<Result<std::shared_ptr<Slot>>> find_slot(rt::CancelScope& scope, rt::Deadline deadline);
  rt::Task<Result<std::shared_ptr<Slot>>> start_browser();
  std::shared_ptr<Slot> slot_with_room() const;
  std::size_t running() const;
  void retire(const std::shared_ptr<Slot>& slot);
  rt::Task<> stop_slot(std::shared_ptr<Slot> slot);
  rt::Task<> look_after(std::shared_ptr<Slot> slot);
  std::unexpected<Error> full();

  rt::Loop& loop_;
  const Clock& clock_;
  std::unique_ptr<Driver> driver_;
  const PoolOptions options_;
  std::list<std::shared_ptr<Slot>> slots_;
  rt::Turns line_;
  rt::Signal room_;
  rt::Gate stopping_;
  bool is_closed_ = false;
  PoolProbe probe_;
  TimePoint heartbeat_at_;
  std::string last_error_;
};

}  // namespace reprise::browser
