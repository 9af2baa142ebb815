// LiveService: who looks at sessions' browsers, and who has taken one over.
//
// A viewer is shown the active tab of a session, whichever that is, and told what is open and
// asked; it keeps nothing alive, and stays through sleep and crashes of the browser until the
// session ends. A person may take a browser over: an exclusive lease, during which the session is
// paused, commands of others are refused, and what the person does by the lease's socket is done
// and recorded as theirs. The lease lapses a while after its socket has gone; it is in memory, and
// a server that starts again resumes what it paused.
//
// Threads: what returns a Task may be called on any loop of the session service, and so may the
// members that take a LiveTicket; the rest belongs to the browsers' loop.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "base/time.h"
#include "browser/live_view.h"
#include "browser/session_browser.h"
#include "rt/task.h"
#include "session/service.h"

namespace reprise::browser {

class BrowserService;
struct Operator;

// One viewer of one session.
struct LiveTicket {
  SessionId session;
  std::uint64_t viewer = 0;
};

// What a person is told who has taken over.
struct TakeOver {
  std::string lease;
  std::string by;  // empty: nobody in particular
  TimePoint taken_at;
  TimePoint expires_at;     // unless its socket is there by then
  bool is_pausing = false;  // the session is paused for this alone
};

// Why a viewer was sent away, by the code of the socket's close.
inline constexpr std::uint16_t kLiveSessionEnded = 4001;
inline constexpr std::uint16_t kLiveRefused = 4009;

class LiveService final : public BrowserWatcher {
 public:
  LiveService(BrowserService& browsers, Millis grace);
  ~LiveService() override;

  // kSessionEnded, kTooManyRequests.
  rt::Task<Result<LiveTicket>> watch(session::SessionRef session, std::shared_ptr<LiveSink> sink);
  void leave(LiveTicket ticket);
  void picture_taken(LiveTicket ticket);
  void state_taken(LiveTicket ticket);
  // The viewer is the person `by` who has the lease; answered.
  void claim(LiveTicket ticket, LiveClaim claim, std::string by);
  // Done in the order of the calls, and answered; refused unless the viewer holds the lease.
  void input(LiveTicket ticket, LiveInput input);

  // kNoBrowser, kTakenOver, kSessionEnded.
  rt::Task<Result<TakeOver>> take_over(session::SessionRef session, std::string by);
  // kConflict if nobody has it.
  rt::Task<Result<>> hand_back(session::SessionRef session);

  const LiveProbe& probe() const { return probe_; }

  void browser_changed(SessionBrowser& browser) override;
  bool has_viewers(SessionId id) const { return views_.contains(id); }
  void session_ended(SessionId id, const std::string& reason);
  // Resumes what take-overs had paused when the server last stopped.
  rt::Task<Result<>> load();
  void close();

 private:
  using Held = std::shared_ptr<SessionBrowser>;
  rt::Task<Result<LiveTicket>> watch_here(session::SessionRef session,
                                          std::shared_ptr<LiveSink> sink);
  void leave_here(LiveTicket ticket);
  void refresh(SessionId id);
  void refresh_all();
  LiveScene scene_of(SessionId id) const;
  LiveSink* sink_of(LiveTicket ticket) const;
  Operator* operator_of(LiveTicket ticket) const;

  rt::Task<Result<TakeOver>> take_over_here(session::SessionRef session, std::string by);
  rt::Task<Result<>> begin(std::shared_ptr<Operator> person);
  rt::Task<Result<>> pause(Operator& person);
  rt::Task<Result<>> hand_back_here(session::SessionRef session);
  rt::Task<> end_take_over(std::shared_ptr<Operator> person, std::string why);
  rt::Task<Result<>> resume(SessionId id, StreamId stream, std::string why);
  static rt::Task<> wait_for(Operator& person);
  void arm_lapse(const std::shared_ptr<Operator>& person);

  // live_operator.cpp
  rt::Task<> operate(std::shared_ptr<Operator> person);
  rt::Task<Result<>> act(Operator& person, LiveInput& input);
  rt::Task<Result<>> act_on(Operator& person, MouseInput& mouse);
  rt::Task<Result<>> act_on(Operator& person, KeyInput& key);
  rt::Task<Result<>> act_on(Operator& person, TextInput& text);
  rt::Task<Result<>> act_on(Operator& person, NavigateInput& navigate);
  rt::Task<Result<>> act_on(Operator& person, HistoryInput& history);
  rt::Task<Result<>> act_on(Operator& person, TabInput& tab);
  rt::Task<Result<>> act_on(Operator& person, DialogInput& dialog);
  rt::Task<Result<>> act_on(Operator& person, SelectInput& select);
  rt::Task<Result<>> act_on(Operator& person, FilesInput& files);
  rt::Task<Result<>> press(Operator& person, MouseInput& mouse, std::shared_ptr<Tab> tab);
  struct ByHand;
  rt::Task<> record_done(Operator& person);
  rt::Task<> record(Operator& person, ByHand done);
  using Function = rt::Task<Result<>> (*)(class ToolRun&);
  rt::Task<Result<>> call(Operator& person, std::string tool, std::string arguments,
                          Function function);

  BrowserService& browsers_;
  const Millis grace_;
  LiveProbe probe_;
  std::unordered_map<SessionId, std::unique_ptr<LiveView>> views_;
  std::unordered_map<SessionId, std::shared_ptr<Operator>> operators_;
  std::set<SessionId> changed_;  // to be shown anew in this turn
  bool is_closed_ = false;
};

}  // namespace reprise::browser
