#include "browser/settle.h"
#include "browser/timing.h"

#include <algorithm>

namespace reprise::browser {
namespace {

// A timer that is due at once still counts, or a page that sets one after another is never settled.
constexpr rt::Nanos kFramePause = std::chrono::milliseconds{20};

rt::Deadline earlier(rt::Deadline one, rt::Deadline other) {
  return one.at() < other.at() ? one : other;
}

}  // namespace

rt::Task<Settling> Settling::begin(Page& page, rt::Deadline deadline) {
  co_await page.watch(deadline);
  co_return Settling(page);
}

Settling Settling::begin_for_script(Page& page) {
  page.send_watch();
  return Settling(page);
}

Settling::Settling(Page& page) : page_(page), before_(page.activity()) {}

bool Settling::is_stopped() const {
  return page_.dialog().has_value() || page_.is_closed() || page_.is_crashed();
}

bool Settling::is_idle() const {
  return !is_stopped() && !page_.activity().is_navigating &&
         page_.in_flight_since(before_.requests) == 0;
}

rt::Task<> Settling::two_frames(rt::Loop& loop, rt::Deadline deadline) {
  const auto frames = page_.frames();
  if (frames.empty() || is_stopped()) co_return;
  // A document that goes meanwhile fails the call, which is an answer too.
  (void)co_await page_.call(frames.front().id, "(api) => api.quiet()", "null",
                            earlier(deadline, rt::Deadline::after(loop, kFramePatience)));
}

rt::Task<> Settling::wait(rt::Loop& loop, rt::Deadline deadline) {
  const rt::Deadline for_requests = earlier(deadline, rt::Deadline::after(loop, kSettleRequests));
  const rt::Deadline for_navigation =
      earlier(deadline, rt::Deadline::after(loop, kSettleNavigation));
  // Time that was slept, and not time that passed: a machine that draws slowly misses no timer.
  rt::Nanos left_for_timers = kSettleTimers;
  rt::CancelScope scope;
  co_await two_frames(loop, deadline);
  while (!is_stopped()) {
    const PageActivity now = page_.activity();
    if (now.is_navigating && !for_navigation.has_passed(loop)) {
      (void)co_await page_.changed().wait(scope, for_navigation);
      if (!page_.activity().is_navigating) co_await two_frames(loop, deadline);
      continue;
    }
    if (page_.in_flight_since(before_.requests) > 0 && !for_requests.has_passed(loop)) {
      (void)co_await page_.changed().wait(scope, for_requests);
      if (page_.in_flight_since(before_.requests) == 0) co_await two_frames(loop, deadline);
      continue;
    }
    const PutOff put_off = co_await page_.put_off(WatchEnd::kIfNone, deadline);
    if (!put_off.timer && !put_off.has_frames) co_return;
    // Frames alone are those of an animation: they do not end.
    if (!put_off.timer || left_for_timers <= rt::Nanos{0}) break;
    const rt::Nanos pause = std::min<rt::Nanos>(*put_off.timer, left_for_timers);
    left_for_timers -= std::max<rt::Nanos>(pause, kFramePause);
    (void)co_await rt::sleep_for(loop, pause, scope);
    co_await two_frames(loop, deadline);
  }
  (void)co_await page_.put_off(WatchEnd::kNow, deadline);
}

rt::Task<> Settling::wait_after_text(rt::Loop& loop, bool is_still, rt::Deadline deadline) {
  if (is_still && is_idle()) {
    const PutOff put_off = co_await page_.put_off(WatchEnd::kIfNone, deadline);
    if (!put_off.timer && !put_off.has_frames && is_idle()) co_return;
  }
  co_await wait(loop, deadline);
}

}  // namespace reprise::browser
