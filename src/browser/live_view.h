// LiveView: what one session's browser shows, to any number of viewers.
//
// One screencast of the tab that is shown serves all of them; it runs while there is a viewer who
// can take a picture. Pictures go out at most ten times a second, as the bytes that every viewer
// shares, and only the latest: each viewer may have kMaxPicturesUnderWay that it has not
// acknowledged, and gets the newest one when it acknowledges. What is open, asked and held is told
// as one state, whole, and likewise only the latest. So nothing is ever queued here, and a viewer
// that skips has missed nothing that is still true.
//
//     LiveView view(loop, probe);
//     view.show({.state = …, .tab = …, .cast = …});     // whenever something has changed
//     const auto id = view.join(sink);                  // told the state, then pictures
//     view.picture_taken(id); view.state_taken(id);     // as the viewer takes them
//     view.leave(id);
//
// The pace: a picture that is due goes out at once. Until the next one is due the browser is not
// told to go on, so it draws for us no more than it must; then it is, and its next picture goes
// out, or, if it has none, the last one that came meanwhile. A browser drops what it draws while it
// waits, so if it may have dropped the last change, the screencast is started anew for one picture.
//
// Threads: belongs to the browsers' loop.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "browser/driver.h"
#include "browser/live_message.h"
#include "rt/loop.h"
#include "rt/timer_queue.h"

namespace reprise::browser {

using SharedText = std::shared_ptr<const std::string>;

// One viewer's side. Called on the browsers' loop.
class LiveSink {
 public:
  virtual ~LiveSink() = default;
  virtual void show(SharedText picture) = 0;
  virtual void tell(SharedText state) = 0;
  virtual void answer(LiveAnswer answer) = 0;
  // Nothing comes any more; the socket is to be closed so.
  virtual void end(std::uint16_t code, std::string reason) = 0;
};

struct LiveProbe {
  std::atomic<std::uint64_t> viewers{0};      // now
  std::atomic<std::uint64_t> screencasts{0};  // that run now
  std::atomic<std::uint64_t> pictures{0};     // that came from browsers and went out
  std::atomic<std::uint64_t> sent{0};         // to viewers
  std::atomic<std::uint64_t> skipped{0};      // by viewers that were too slow
  std::atomic<std::uint64_t> refused{0};      // viewers
  std::atomic<std::uint64_t> take_overs{0};   // so far
};

// What is to be seen now.
struct LiveScene {
  std::string state;  // JSON
  std::string tab;    // the id of the tab that is shown
  std::string url;
  std::string title;
  std::shared_ptr<Screencast> cast;  // none: there is no page
};

class LiveView {
 public:
  // Both outlive it.
  LiveView(rt::Loop& loop, LiveProbe& probe);
  ~LiveView();
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  void show(LiveScene scene);
  std::uint64_t join(std::shared_ptr<LiveSink> sink);
  void leave(std::uint64_t viewer);
  bool has_viewer(std::uint64_t viewer) const { return viewers_.contains(viewer); }
  LiveSink* sink(std::uint64_t viewer) const;
  std::size_t viewers() const { return viewers_.size(); }
  void picture_taken(std::uint64_t viewer);
  void state_taken(std::uint64_t viewer);
  // All viewers are told, and gone.
  void end(std::uint16_t code, const std::string& reason);

 private:
  struct Viewer {
    std::shared_ptr<LiveSink> sink;
    unsigned under_way = 0;    // pictures
    bool has_skipped = false;  // a picture that is still the latest
    bool is_state_under_way = false;
    bool has_new_state = false;
  };
  void start_cast();
  void stop_cast();
  void on_frame(ScreencastFrame frame);
  void send_out(ScreencastFrame frame);
  void go_on();
  void fall_back();
  void send_state(Viewer& viewer);
  void send_picture(Viewer& viewer);
  bool can_anyone_take() const;

  rt::Loop& loop_;
  LiveProbe& probe_;
  LiveScene scene_;
  SharedText state_;
  SharedText picture_;  // the latest that went out; of the tab that is shown
  std::map<std::uint64_t, Viewer> viewers_;
  std::uint64_t last_viewer_ = 0;
  std::uint64_t last_picture_ = 0;
  bool is_casting_ = false;
  std::optional<ScreencastFrame> waiting_;  // came before it was due
  std::size_t untold_ = 0;                  // pictures since the browser was told to go on
  bool may_have_dropped_ = false;           // some change since the last picture
  bool is_held_ = false;                    // due, but nobody could take one
  rt::Nanos due_{0};
  rt::Timer pace_;
  rt::Timer quiet_;
};

}  // namespace reprise::browser
