// Operator: a person who has taken a session's browser over, as LiveService keeps them.
//
// Threads: belongs to the browsers' loop.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "browser/command_log.h"
#include "browser/gesture_log.h"
#include "browser/live_message.h"
#include "browser/session_browser.h"
#include "rt/cancel.h"
#include "rt/gate.h"
#include "rt/timer_queue.h"

namespace reprise::browser {

struct Operator {
  explicit Operator(rt::Loop& loop) : lapse(loop.timers()), changed(loop) {}

  SessionId session;
  StreamId stream;
  std::shared_ptr<SessionBrowser> browser;
  std::string lease;
  std::string by;
  TimePoint taken_at;
  bool is_pausing = false;  // the session is paused for this alone
  bool has_begun = false;
  bool is_over = false;

  std::optional<std::uint64_t> viewer;  // whose socket is the lease's
  rt::Timer lapse;                      // armed while there is none

  struct Waiting {
    std::uint64_t viewer = 0;  // who is answered
    LiveInput input;
  };
  std::deque<Waiting> queue;
  rt::Signal changed;     // the queue, or it is over
  rt::CancelScope scope;  // cancelled when it is
  rt::Gate running;

  GestureLog log;
  // What pages had said and asked for before the gesture that is under way, and before the last
  // input: whatever comes from then on belongs to the next one.
  JournalMarks before_gesture;
  JournalMarks before_input;
  unsigned buttons = 0;      // of the mouse, held
  bool has_no_down = false;  // the press that the next release belongs to opened a list instead
  GestureTarget focus;       // what was typed into last
  std::string focus_frame;
  // A list of options that is open; the browser would show it in a window of its own.
  struct OptionList {
    Element element;
    model::TabId tab;
    std::string offered;  // JSON, as viewers are told
    GestureTarget target;
  };
  std::optional<OptionList> options;
};

// What is at a point of the page, inside frames too, and where it is found again.
struct LiveHit {
  GestureTarget target;
  std::string tag;
  std::string frame;
  Point at;  // in that frame
};
rt::Task<LiveHit> hit_at(Page& page, Point at, model::TabId tab, rt::Deadline deadline);
// What has the focus, inside frames too; remembered in the operator.
rt::Task<GestureTarget> focus_of(Operator& person, Page& page, model::TabId tab,
                                 rt::Deadline deadline);

}  // namespace reprise::browser
