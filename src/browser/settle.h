// Settling: waiting, after something was done to a page, until what it set off is over.
//
// Driven by what happens, never by a fixed time. Two frames are drawn first; then requests and
// navigations that began since, and timers that the page has set for the next half second, are
// waited for, and after each of them two frames again; each kind has its cap. A page that does
// nothing costs two frames.
//
//     Settling settling = co_await Settling::begin(page, deadline);  // before the input
//     co_await page.mouse(...);
//     co_await settling.wait(loop, deadline);
#pragma once

#include "browser/driver.h"

namespace reprise::browser {

class Settling {
 public:
  // What the page does from now on counts: its timers are watched when this is over.
  static rt::Task<Settling> begin(Page& page, rt::Deadline deadline);
  // The same for what is done by a script, which cannot overtake the watch: nothing is awaited.
  static Settling begin_for_script(Page& page);
  // Also over when the page asks something, has crashed or was closed.
  rt::Task<> wait(rt::Loop& loop, rt::Deadline deadline);
  // After a text that went into a field. A page that is still, and has put nothing off, will not
  // stir: that costs no frame.
  rt::Task<> wait_after_text(rt::Loop& loop, bool is_still, rt::Deadline deadline);

 private:
  explicit Settling(Page& page);
  rt::Task<> two_frames(rt::Loop& loop, rt::Deadline deadline);
  bool is_stopped() const;
  bool is_idle() const;

  Page& page_;
  const PageActivity before_;
};

}  // namespace reprise::browser
