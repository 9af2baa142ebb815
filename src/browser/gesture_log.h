// GestureLog: what a person does by hand, as few commands: a click and not its two halves, a text
// and not its keystrokes, one way of the wheel; moves of the mouse are none. Named as the tools
// that do the same (tools/catalogue.h).
//
//     log.typed("h", field, now); log.typed("i", field, now);
//     log.pressed("Enter", {}, now);                  // the text is complete
//     while (auto command = log.take_done()) ...      // browser_type {"text":"hi"}
//     if (now - *log.last_at() > pause) log.finish();  // a pause completes the last one too
//
// Threads: one at a time; no I/O.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "base/time.h"
#include "browser/driver.h"
#include "model/browsing.h"

namespace reprise::browser {

// What input goes to, as the page script describes it.
struct GestureTarget {
  std::string description = "null";  // JSON
  std::string place;                 // what tells it from others; empty: not known
  bool is_secret = true;             // or not known
  std::optional<model::TabId> tab;
};

struct GestureCommand {
  std::string tool;
  std::string arguments;  // JSON
  GestureTarget target;
  bool hides_text = false;
  TimePoint started_at;
  TimePoint ended_at;
};

enum class GestureKind : std::uint8_t { kClick, kWheel, kText, kKey };
// What is not complete yet.
struct Gesture {
  GestureKind kind = GestureKind::kClick;
  GestureTarget target;
  TimePoint started_at;
  TimePoint last_at;
  std::string button;  // of a click
  unsigned clicks = 1;
  Point from;
  Point to;
  bool is_down = false;
  Point by;          // of the wheel
  std::string text;  // typed, or the key's name
  unsigned count = 1;
};

class GestureLog {
 public:
  void mouse_down(Point at, const std::string& button, unsigned clicks, GestureTarget target,
                  TimePoint now);
  void mouse_up(Point at, TimePoint now);
  void wheel(Point at, Point by, GestureTarget target, TimePoint now);
  void typed(std::string_view text, const GestureTarget& target, TimePoint now);
  // A key that types nothing, by its name with its modifiers: "Control+A".
  void pressed(const std::string& key, const GestureTarget& target, TimePoint now);

  // Whatever is not complete is, as it stands.
  void finish();
  std::optional<GestureCommand> take_done();
  // Nothing is under way, and nothing is left to take.
  bool is_empty() const { return !pending_ && done_.empty(); }
  // When the last thing was done that a pause would complete; nothing if there is none.
  std::optional<TimePoint> last_at() const;

 private:
  Gesture& begin(GestureKind kind, GestureTarget target, TimePoint now);
  static GestureCommand command_of(Gesture gesture);

  std::optional<Gesture> pending_;
  std::deque<GestureCommand> done_;
};

}  // namespace reprise::browser
