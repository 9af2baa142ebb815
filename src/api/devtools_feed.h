// DevtoolsFeed: what happens in the server, as it happens, for those who watch it.
//
// Sources are the sessions' loops (session/observer.h), the connections (http/observer.h) and the
// routes that stream. What they see goes through a bounded mailbox to the feed's loop, is numbered
// there and kept in a ring; listeners read the ring at their own pace. So nothing waits for a
// listener: what finds no room in the mailbox is dropped, counted and told (`dropped`), and a
// listener that is slower than the ring is cut off.
//
// While nobody listens, and has not for kDevtoolsAfterglow, nothing is recorded: sources look at
// is_recording() first, one relaxed load.
//
// Threads: the sources' members from any loop; listeners' as said there.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/devtools_ring.h"
#include "api/limits.h"
#include "base/ids.h"
#include "base/time.h"
#include "http/observer.h"
#include "rt/cancel.h"
#include "rt/loop.h"
#include "rt/mailbox.h"
#include "session/observer.h"

namespace reprise::api {

struct DevtoolsProbe {
  std::uint64_t listeners = 0;
  std::uint64_t told = 0;  // numbered since the start
  std::uint64_t dropped = 0;
  std::uint64_t refused = 0;  // listeners that were too many
  std::uint64_t cut = 0;      // listeners that were too slow
};

// Somebody connected to a stream of ours.
struct DevtoolsClient {
  std::string_view stream;  // "events", "monitor"
  std::string client;       // its client id; empty: none
  std::string address;
  std::optional<SessionId> session = std::nullopt;
  std::string app = {};
  std::string name = {};  // with the app, the session's key; empty: none
};

// One who listens. Belongs to the loop it was made for.
class DevtoolsListener {
 public:
  explicit DevtoolsListener(rt::Loop& loop) : news(loop), loop_(loop) {}
  rt::Signal news;
  bool has_news = true;

 private:
  friend class DevtoolsFeed;
  rt::Loop& loop_;
  bool is_told_ = false;  // the feed's
};

class DevtoolsFeed final : public session::Observer, public http::RequestObserver {
 public:
  struct Options {
    std::size_t max_kept = kMaxDevtoolsKept;
    std::size_t max_waiting = kMaxDevtoolsMailbox;
    std::size_t max_listeners = kMaxDevtoolsListeners;
  };
  DevtoolsFeed(rt::Loop& home, const Clock& clock, Random& random, Options options);
  DevtoolsFeed(rt::Loop& home, const Clock& clock, Random& random)
      : DevtoolsFeed(home, clock, random, Options()) {}
  ~DevtoolsFeed() override;

  bool is_recording() const { return session::Observer::is_watching(); }

  void on_created(const model::SessionState& state) override;
  void on_events(const model::SessionState& state, const stream::Batch& batch) override;
  void on_removed(const model::SessionState& last) override;
  void on_request(const http::Exchange& exchange, int status, std::uint64_t micros) override;
  // Does nothing unless is_recording().
  void on_client(DevtoolsType type, const DevtoolsClient& client);

  struct Opened {
    std::shared_ptr<DevtoolsListener> listener;
    DevtoolsRing::Start start;
    std::uint64_t last = 0;
  };
  // On any loop; the listener is of that one. leave() must follow. kTooManyRequests, kBadCursor,
  // kCursorBeyondHead, kOverloaded.
  rt::Task<Result<Opened>> listen(std::optional<std::string> last_event_id);
  void leave(std::shared_ptr<DevtoolsListener> listener);
  // On the listener's loop. kOverloaded: try again a little later.
  rt::Task<Result<DevtoolsRing::Read>> read(std::shared_ptr<DevtoolsListener> listener,
                                            std::uint64_t after, const DevtoolsFilter& filter);
  void count_cut() { cut_.fetch_add(1, std::memory_order_relaxed); }
  std::string id(std::uint64_t n) const { return ring_.id(n); }
  TimePoint now() const { return clock_.now(); }

  DevtoolsProbe probe() const;

 private:
  void tell(Happening happening);
  void take(std::vector<Happening> happenings);
  void set_recording(bool is_recording);
  Result<Opened> add_listener(rt::Loop& loop, const std::optional<std::string>& last_event_id);
  void remove_listener(const std::shared_ptr<DevtoolsListener>& listener);

  rt::Loop& home_;
  const Clock& clock_;
  const Options options_;
  DevtoolsRing ring_;
  std::vector<std::shared_ptr<DevtoolsListener>> listeners_;
  rt::Timer afterglow_;
  std::atomic<std::uint64_t> untold_drops_{0};
  std::atomic<std::uint64_t> listening_{0};
  std::atomic<std::uint64_t> told_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> cut_{0};
  rt::Mailbox<Happening> mailbox_;
};

}  // namespace reprise::api
