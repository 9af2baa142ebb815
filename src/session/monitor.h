// The monitor: a live list of sessions. Rows of a snapshot, then every later change, resumable from
// any frame's id.
//
// A monitor reads the 16 feeds from the store whenever the hub says one has grown. Each frame after
// the snapshot has as its id the position in all feeds, so a client that comes back with it misses
// nothing; a position that the feeds no longer reach back to gets a fresh snapshot, and so does a
// reader that was too slow for the feeds' retention.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "rt/cancel.h"
#include "rt/task.h"
#include "session/feed.h"
#include "session/list.h"
#include "session/monitor_id.h"
#include "session/service.h"
#include "stream/hub.h"
#include "stream/tail.h"

namespace reprise::session {

// How the face writes what a monitor tells. An empty id is none.
class MonitorFrames {
 public:
  virtual ~MonitorFrames() = default;
  virtual void session(std::string& out, const StoredSession& session, std::size_t subscribers,
                       std::string_view id) const = 0;
  virtual void snapshot_complete(std::string& out, std::string_view id) const = 0;
  virtual void removed(std::string& out, SessionId session, std::string_view id) const = 0;
  virtual void deleted(std::string& out, SessionId session, std::string_view id) const = 0;
  virtual void heartbeat(std::string& out, std::string_view id) const = 0;
};

struct MonitorRequest {
  Filter filter;
  std::optional<MonitorId> after;  // none: begin with a snapshot
  rt::Nanos heartbeat_interval{std::chrono::seconds{15}};
};

class Monitor {
 public:
  Monitor(SessionService& service, stream::Outlet& outlet, const MonitorFrames& frames,
          MonitorRequest request);
  ~Monitor();

  // To be awaited first; kOverloaded if a loop is too busy.
  rt::Task<Result<>> subscribe();
  // Until the scope is cancelled or the connection is gone.
  rt::Task<Result<>> follow(rt::CancelScope& scope);

 private:
  struct FeedSubscriber;
  REPRISE_OWN_FRAME rt::Task<Result<bool>> reaches_back();
  REPRISE_OWN_FRAME rt::Task<Result<>> snapshot(rt::CancelScope& scope);
  rt::Task<Result<>> push(std::shared_ptr<const std::string> frames, rt::CancelScope& scope);
  // Reads what is new in one feed; true if there may be more.
  REPRISE_OWN_FRAME rt::Task<Result<bool>> advance(std::size_t feed, rt::CancelScope& scope);

  SessionService& service_;
  stream::Hub& hub_;
  stream::Outlet& outlet_;
  const MonitorFrames& frames_;
  MonitorRequest request_;
  MonitorId position_;
  rt::Signal changed_;
  std::array<bool, kFeeds> has_news_{};
  bool is_too_late_ = false;  // entries it had not read are gone
  rt::Deadline heartbeat_due_ = rt::Deadline::never();
  std::vector<std::unique_ptr<FeedSubscriber>> feeds_;
};

}  // namespace reprise::session
