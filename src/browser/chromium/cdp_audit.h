// CdpAudit: what is put on record of what a client does in its pages.
//
// Its commands that navigate, act or make and close things, in the order in which they were sent,
// each with its outcome. Nobody waits longer than kMaxOutcomeWait for one that has none yet: those
// behind it go first, and it follows when it is over. Input has no outcome unless it was refused.
// Keystrokes on one page that follow each other are one command, and so are turns of the wheel;
// moves of the mouse are none, and releases of its buttons only where they end a drag. What is
// typed is told by its length: which field it went into is not known here.
//
//     audit.note(…);     // from the hooks of CdpClient
//     audit.outcome(…);
//     audit.write();     // after each message: hands over what is ready
//
// Threads: belongs to the browsers' loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "browser/chromium/cdp_scope.h"
#include "browser/protocol_client.h"
#include "rt/loop.h"
#include "rt/timer_queue.h"
#include "wire/json.h"

namespace reprise::browser::chromium {

class CdpAudit {
 public:
  CdpAudit(rt::Loop& loop, std::function<void(ProtocolCommand)> record);

  void note(const AuditNote& note);
  void outcome(const AuditOutcome& outcome);
  void write();
  // Everything is put on record; what has no outcome is told to have none.
  void finish();
  // What waits for an outcome, or for more of the same.
  std::size_t waiting() const { return waiting_.size(); }

 private:
  // What input adds up to.
  enum class Sum : std::uint8_t { kNone, kKeys, kWheel };
  struct Entry {
    std::uint64_t number = 0;
    ProtocolCommand command;
    bool is_over = false;
    Sum sum = Sum::kNone;
    std::size_t keys = 0;
    std::size_t characters = 0;
    std::vector<std::string> named;  // keys that type nothing: Enter, Tab
    std::vector<std::string> order;  // JSON: how many characters, then which key, and so on
    std::size_t run = 0;             // characters since the last of them
    bool is_cut = false;             // there was more than `order` says
    double x = 0;
    double y = 0;
    double wheel_x = 0;
    double wheel_y = 0;
  };
  // Where a button was pressed last, to tell a drag from a click.
  struct Press {
    std::string target;
    double x = 0;
    double y = 0;
  };
  void note_keys(const AuditNote& note, wire::JsonValue params);
  void note_wheel(const AuditNote& note, wire::JsonValue params);
  // Whether an event of the mouse is worth a command of its own.
  bool is_gesture(const AuditNote& note, wire::JsonValue params, std::string_view type);
  static void end_run(Entry& keys);
  // The entry that more of the same goes into, if that is what came last on this page.
  Entry& sum(const AuditNote& note, Sum kind);
  void end_sum();
  Entry entry_of(const AuditNote& note) const;

  rt::Loop& loop_;
  const std::function<void(ProtocolCommand)> record_;
  std::deque<Entry> waiting_;
  Press press_;
  rt::Timer timer_;
};

}  // namespace reprise::browser::chromium
