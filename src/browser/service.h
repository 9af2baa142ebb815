// BrowserService: the browsers of all sessions.
//
// A session gets its context when it first asks for one, or when its first tool is called; it keeps
// it until the session ends, or until it is put to sleep and woken again by its next command.
// Commands of one session run one after another, those of different sessions side by side. Each is
// an event of its session, durable before it is answered.
//
// Threads: the awaitable members may be called on any loop of the session service; they work on the
// browsers' loop.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "browser/attached_client.h"
#include "browser/command.h"
#include "browser/command_log.h"
#include "browser/external_pools.h"
#include "browser/live_service.h"
#include "browser/pool.h"
#include "browser/pool_report.h"
#include "browser/session_browser.h"
#include "browser/state_vault.h"
#include "model/redact.h"
#include "rt/gate.h"
#include "session/artifacts.h"
#include "session/service.h"

namespace reprise::browser {

struct BrowserServiceOptions {
  Millis hibernate_after{600'000};  // a paused session keeps its context for so long
  Millis takeover_grace{30'000};    // a take-over outlasts its socket for so long
  // What cookies and storage are sealed with (browser/state_vault.h); empty: they are not kept.
  std::filesystem::path state_key_file = {};
  bool is_sandboxed = true;  // what operators are told; the drivers see to it
};

// Who attaches.
struct ClientCall {
  std::string by;
  std::optional<Generation> lease = {};
};

struct BrowserProbe {
  std::uint64_t commands = 0;
  std::uint64_t failed_commands = 0;
  std::uint64_t captures = 0;
  std::uint64_t hibernated = 0;
  std::uint64_t kept_states = 0;
  std::uint64_t sessions = 0;  // with a context, now
};

class BrowserService {
 public:
  // Everything given outlives it.
  BrowserService(rt::Loop& loop, Outside& outside, session::SessionService& sessions,
                 session::ArtifactService& artifacts, const Clock& clock, Random& random,
                 const model::Redactor& redactor, BrowserServiceOptions options);
  ~BrowserService();

  // Before the loops run.
  void add_pool(std::unique_ptr<Pool> pool);

  // kConflict if it has a context already that was asked for otherwise; kPoolNotFound, kPoolFull.
  rt::Task<Result<bool>> open(session::SessionRef session, BrowserOptions options);
  // Ends the context; the session goes on. kNoBrowser.
  rt::Task<Result<>> release(session::SessionRef session);
  // Whoever is no longer interested cancels `caller`, on the loop of the call: a command that waits
  // for its turn is given up, and one that runs ends where it waits, and is recorded.
  rt::Task<Result<CommandAnswer>> call_tool(session::SessionRef session, CommandCall call,
                                            rt::CancelScope* caller = nullptr);
  rt::Task<Result<model::TabId>> open_tab(session::SessionRef session, std::string url);
  rt::Task<Result<>> close_tab(session::SessionRef session, model::TabId tab);
  rt::Task<Result<>> activate_tab(session::SessionRef session, model::TabId tab);
  rt::Task<Result<Picture>> screenshot(session::SessionRef session, model::TabId tab,
                                       PictureOptions options);

  // Cookies and local storage, as they are now, or were when the context went to sleep.
  rt::Task<Result<StorageState>> storage_state(session::SessionRef session);
  // Lets a program in that speaks the browser's own protocol (browser/attached_client.h); opens a
  // context, and a page, if the session has none. kTooManyRequests, kUnsupportedBrowser.
  rt::Task<Result<std::shared_ptr<AttachedClient>>> attach(session::SessionRef session,
                                                           ClientCall call);
  // The loop as what sockets live on.
  rt::RealLoop& network_loop() { return around_.outside.loop; }

  // Pools of other processes (browser/external_pools.h); kConflict for one of our own.
  rt::Task<Result<bool>> put_pool(std::string key, ExternalPoolFacts facts);
  rt::Task<Result<>> beat_pool(std::string key, PoolBeat beat);
  rt::Task<Result<>> remove_pool(std::string key);
  rt::Task<Result<BrowserReport>> report();
  rt::Task<Result<std::optional<PoolReport>>> pool_report(std::string key);

  // What stood open when the server last stopped sleeps now. Before anything is asked.
  rt::Task<Result<>> load();
  // Puts contexts to sleep, and looks after pools.
  rt::Task<> run(rt::CancelScope& scope);
  // A session has ended, was reset or deleted; on its home loop.
  void session_ended(SessionId id);
  rt::Task<> close();

  // Our own; they stay as they are once the loops run.
  const std::map<std::string, std::unique_ptr<Pool>>& pools() const { return pools_; }
  LiveService& live() { return live_; }
  rt::Loop& loop() { return around_.loop; }
  session::SessionService& sessions() { return around_.sessions; }
  BrowserProbe probe() const;

 private:
  friend class LiveService;
  using Held = std::shared_ptr<SessionBrowser>;
  rt::Task<Result<Held>> browser_of(const session::SessionView& view);
  rt::Task<Result<>> keep_proxy_password(StreamId stream, const BrowserOptions& options);
  rt::Task<> find_proxy_password(StreamId stream, BrowserOptions& options);
  rt::Task<Result<Held>> living(session::SessionRef session);
  rt::Task<Result<bool>> open_here(session::SessionView view, BrowserOptions options);
  using TabAction = rt::Task<Result<>> (SessionBrowser::*)(std::shared_ptr<Tab>);
  rt::Task<Result<>> with_tab(session::SessionRef session, model::TabId id, TabAction action);
  rt::Task<Result<Picture>> screenshot_here(session::SessionRef session, model::TabId id,
                                            PictureOptions options);
  rt::Task<Result<StorageState>> state_here(session::SessionRef session);
  rt::Task<Result<std::shared_ptr<AttachedClient>>> attach_here(session::SessionView view,
                                                                std::string by);
  rt::Task<Result<CommandAnswer>> call_here(session::SessionView view, CommandCall call,
                                            rt::CancelScope& scope);
  rt::Task<Result<CommandAnswer>> perform(Held browser, CommandCall call, ToolFunction function,
                                          rt::CancelScope& scope);
  // What is kept of a command, and where.
  struct Captured {
    std::string name;
    std::shared_ptr<Tab> tab;
    std::optional<Element> target = std::nullopt;
    CommandLog log;
  };
  rt::Task<> capture(Held browser, Captured what, rt::Turns::Turn turn);
  rt::Task<> end_session(SessionId id);
  rt::Task<> put_to_sleep();
  rt::Task<> put_down(Held browser, model::ContextStatus status, std::string reason);
  rt::Task<Result<>> mark_asleep(SessionId id, StreamId stream, model::ContextId context);
  rt::Task<Result<Pool*>> pool_of(const std::string& key);
  BrowserReport report_here() const;
  template <typename T>
  rt::Task<Result<T>> at_pools(const std::string& key, rt::Task<Result<T>> work);
  static Result<> check_free(const SessionBrowser& browser);

  StateVault vault_;
  Surroundings around_;
  const model::Redactor& redactor_;
  const BrowserServiceOptions options_;
  std::map<std::string, std::unique_ptr<Pool>> pools_;
  ExternalPools external_;
  std::unordered_map<SessionId, Held> browsers_;
  rt::Turns opening_;  // two calls must not make a session's browser twice
  rt::Gate background_;
  rt::CancelScope scope_;
  bool is_closed_ = false;
  LiveService live_;
  std::atomic<std::uint64_t> commands_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint64_t> captures_{0};
  std::atomic<std::uint64_t> hibernated_{0};
  std::atomic<std::uint64_t> open_{0};
};

}  // namespace reprise::browser
