// CdpGate: who may let a new page run. One for each browser that CDP clients share.
//
// Clients ask to be attached to every new page before it runs (Target.setAutoAttach with
// waitForDebuggerOnStart), switch on what they want to see, and then say
// Runtime.runIfWaitingForDebugger. Each client has its own connection to the browser, so each is
// attached to the pages of all, its own and those of others, which it must never hear of
// (browser/chromium/cdp_scope.h). Chromium holds a new page in one of two ways (measured,
// Chromium 156):
//
//   a navigation of its own    Target.createTarget with a URL, window.open with noopener, most
//                              links. It goes on when every session that waits has resumed.
//                              Detaching without resuming holds it for ever.
//   a popup of its opener      window.open, canAccessOpener. The opener's script stands still, and
//                              the first resume from any page's session releases both. A tab's
//                              session, which is what Puppeteer is given, cannot release it.
//                              Detaching leaves it to the others. Service workers and shared
//                              workers are held in the same way.
//
// So a client that is attached to somebody else's page resumes it at once in the first case, which
// takes nothing from the owner. In the second it must not: the owner would see the popup only after
// it has begun to run, or never, if the popup stops in an alert(). It detaches, and leaves the
// popup to its owners; without an owner it resumes it. Nobody waits for a client of another
// session.
//
// The clients of one session are owners together. A popup runs when all of them are ready: the
// first one's command is held for the others, at most kMaxResumeWait. The same time is what one of
// them may delay the others' navigations by: then its sessions are resumed for it.
//
// If the last owner goes away before it resumed a popup, or never appears at it, nobody is left who
// could: stranded() asks the server's own connection to attach to the page, resume it and detach.
//
// Threads: the gate and all its clients belong to one loop.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::browser {

// What the gate asks of a client.
class CdpOwner {
 public:
  virtual ~CdpOwner() = default;
  virtual bool owns_context(std::string_view context_id) const = 0;
  // Sends a command that the gate has held.
  virtual void send_held(std::string command) = 0;
  // It kept others waiting: resumes whatever of its own waits for it.
  virtual void resume_all() = 0;
};

struct CdpGateHooks {
  // Calls `fire` once, later, on the same loop. It may come after the gate is gone.
  std::function<void(std::chrono::milliseconds delay, std::function<void()> fire)> start_timer;
  // The server's own connection must resume this page or worker (its target's id).
  std::function<void(std::string target_id)> stranded;
};

class CdpGate {
 public:
  explicit CdpGate(CdpGateHooks hooks);
  ~CdpGate();  // after its clients
  CdpGate(const CdpGate&) = delete;
  CdpGate& operator=(const CdpGate&) = delete;

  // For CdpClient. A client may attach automatically in several of its browser sessions; each
  // counts for itself.
  struct Unit {
    CdpOwner* owner = nullptr;
    std::string browser_session;
    friend bool operator==(const Unit&, const Unit&) = default;
  };
  enum class Pause : std::uint8_t { kNavigation, kOpener, kWorker };
  // What a unit is attached to before it runs.
  struct Taste {
    bool pages = true;
    bool workers = true;
  };

  // The unit is attached to what is new, which waits for it; or no longer.
  void watch(const Unit& unit, Taste taste);
  void unwatch(const Unit& unit);
  void forget(CdpOwner& owner);

  // Whether the pages of a context have had an owner for so long that everything new waits for it.
  bool has_settled_owner(std::string_view context_id) const;
  // Somebody, one of its owners or not, was attached to a page (or a worker) that waits. Whether an
  // owner will resume it, or has.
  bool paused(std::string_view target_id, std::string_view context_id, Pause pause, bool by_owner);
  // The unit was attached to it too late: it does not wait for this one.
  void missed(const Unit& unit, std::string_view target_id, std::string_view context_id,
              Pause pause);
  // The unit is no longer attached to it.
  void left(const Unit& unit, std::string_view target_id);
  // The unit lets the page run. The command is sent now or when the others are ready.
  void resume(const Unit& unit, std::string_view target_id, std::string command);

  // How many new pages are remembered.
  std::size_t page_count() const { return pages_.size(); }

 private:
  struct Watcher {
    Unit unit;
    Taste taste;
    bool is_settled = false;
  };
  struct Held {
    CdpOwner* owner;
    std::string command;
  };
  struct Page {
    Pause pause = Pause::kNavigation;
    std::vector<Unit> missing;  // owners who have not resumed it
    std::vector<Held> held;
    bool is_seen = false;  // by an owner
    bool is_open = false;  // nobody waits any more
    bool has_timer = false;
    std::uint64_t number = 0;  // not reused, for timers
  };
  using Pages = std::map<std::string, Page, std::less<>>;

  Pages::iterator add_page(std::string_view target_id, std::string_view context_id, Pause pause,
                           const Unit* except);
  void start_timer(std::chrono::milliseconds delay, std::function<void(CdpGate&)> then);
  void start_page_timer(std::chrono::milliseconds delay, Pages::iterator page,
                        void (CdpGate::*then)(Pages::iterator));
  void wait_is_over(Pages::iterator page);
  void owners_are_due(Pages::iterator page);
  void memory_is_over(Pages::iterator page);
  // Nobody is missing.
  void settle(Pages::iterator page);
  void remove(const Unit& unit, Pages::iterator page);

  CdpGateHooks hooks_;
  std::vector<Watcher> watchers_;
  Pages pages_;
  std::uint64_t next_number_ = 1;
  std::shared_ptr<CdpGate*> self_;  // timers hold it weakly
};

}  // namespace reprise::browser
