#include "browser/live_view.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "browser/limits.h"
#include "browser/timing.h"

namespace reprise::browser {

LiveView::LiveView(rt::Loop& loop, LiveProbe& probe)
    : loop_(loop), probe_(probe), pace_(loop.timers()), quiet_(loop.timers()) {}

LiveView::~LiveView() {
  stop_cast();
  probe_.viewers.fetch_sub(viewers_.size(), std::memory_order_relaxed);
}

void LiveView::show(LiveScene scene) {
  const bool is_other_page = scene.cast != scene_.cast || scene.tab != scene_.tab;
  const bool is_new_state = !state_ || scene.state != *state_;
  if (is_other_page) {
    stop_cast();
    picture_ = nullptr;
    for (auto& [id, viewer] : viewers_) viewer.has_skipped = false;
  }
  scene_ = std::move(scene);
  // The state first: a picture never comes of a tab that has not been told of.
  if (is_new_state) {
    state_ = std::make_shared<const std::string>(scene_.state);
    for (auto& [id, viewer] : viewers_) send_state(viewer);
  }
  if (is_other_page) start_cast();
}

std::uint64_t LiveView::join(std::shared_ptr<LiveSink> sink) {
  const std::uint64_t id = ++last_viewer_;
  Viewer& viewer = viewers_[id];
  viewer.sink = std::move(sink);
  probe_.viewers.fetch_add(1, std::memory_order_relaxed);
  if (state_) send_state(viewer);
  if (picture_) send_picture(viewer);
  start_cast();
  if (is_held_) go_on();
  return id;
}

void LiveView::leave(std::uint64_t viewer) {
  if (viewers_.erase(viewer) == 0) return;
  probe_.viewers.fetch_sub(1, std::memory_order_relaxed);
  if (viewers_.empty()) {
    stop_cast();
    picture_ = nullptr;  // it grows old unseen
  }
}

LiveSink* LiveView::sink(std::uint64_t viewer) const {
  const auto found = viewers_.find(viewer);
  return found == viewers_.end() ? nullptr : found->second.sink.get();
}

void LiveView::end(std::uint16_t code, const std::string& reason) {
  stop_cast();
  const auto viewers = std::exchange(viewers_, {});
  probe_.viewers.fetch_sub(viewers.size(), std::memory_order_relaxed);
  for (const auto& [id, viewer] : viewers) viewer.sink->end(code, reason);
}

void LiveView::send_state(Viewer& viewer) {
  viewer.has_new_state = viewer.is_state_under_way;
  if (viewer.is_state_under_way) return;
  viewer.is_state_under_way = true;
  viewer.sink->tell(state_);
}

void LiveView::state_taken(std::uint64_t id) {
  const auto found = viewers_.find(id);
  if (found == viewers_.end()) return;
  found->second.is_state_under_way = false;
  if (found->second.has_new_state) send_state(found->second);
}

void LiveView::send_picture(Viewer& viewer) {
  viewer.has_skipped = viewer.under_way >= kMaxPicturesUnderWay;
  if (viewer.has_skipped) {
    probe_.skipped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ++viewer.under_way;
  probe_.sent.fetch_add(1, std::memory_order_relaxed);
  viewer.sink->show(picture_);
}

void LiveView::picture_taken(std::uint64_t id) {
  const auto found = viewers_.find(id);
  if (found == viewers_.end() || found->second.under_way == 0) return;  // it was never sent one
  --found->second.under_way;
  if (found->second.has_skipped) send_picture(found->second);
  if (is_held_ && can_anyone_take()) go_on();
}

bool LiveView::can_anyone_take() const {
  return std::ranges::any_of(
      viewers_, [](const auto& entry) { return entry.second.under_way < kMaxPicturesUnderWay; });
}

void LiveView::start_cast() {
  if (is_casting_ || viewers_.empty() || scene_.cast == nullptr) return;
  is_casting_ = true;
  may_have_dropped_ = false;
  untold_ = 0;
  probe_.screencasts.fetch_add(1, std::memory_order_relaxed);
  scene_.cast->start({}, [this](ScreencastFrame frame) { on_frame(std::move(frame)); });
}

void LiveView::stop_cast() {
  if (!std::exchange(is_casting_, false)) return;
  probe_.screencasts.fetch_sub(1, std::memory_order_relaxed);
  pace_.cancel();
  quiet_.cancel();
  waiting_.reset();
  is_held_ = false;
  scene_.cast->stop();
}

void LiveView::on_frame(ScreencastFrame frame) {
  quiet_.cancel();
  // The second one and those after it may have had others behind them that were dropped.
  may_have_dropped_ = ++untold_ > 1;
  if (loop_.now() < due_ || is_held_) {
    waiting_ = std::move(frame);
    if (!pace_.is_armed() && !is_held_) pace_.arm(due_, [this] { go_on(); });
    return;
  }
  send_out(std::move(frame));
}

void LiveView::send_out(ScreencastFrame frame) {
  waiting_.reset();
  due_ = loop_.now() + kFrameInterval;
  picture_ = std::make_shared<const std::string>(encode_live_picture({.number = ++last_picture_,
                                                                      .tab = scene_.tab,
                                                                      .url = scene_.url,
                                                                      .title = scene_.title,
                                                                      .frame = std::move(frame)}));
  probe_.pictures.fetch_add(1, std::memory_order_relaxed);
  for (auto& [id, viewer] : viewers_) send_picture(viewer);
  pace_.arm(due_, [this] { go_on(); });
}

// The next picture is due.
void LiveView::go_on() {
  is_held_ = !can_anyone_take();
  if (is_held_) return;
  untold_ = 0;
  scene_.cast->go_on();
  if (waiting_ || may_have_dropped_)
    quiet_.arm(loop_.now() + kFreshFramePatience, [this] { fall_back(); });
}

// The browser had nothing newer.
void LiveView::fall_back() {
  if (waiting_) {
    // A copy of it is not kept: what is sent out is no longer waiting.
    send_out(std::move(*waiting_));
    return;
  }
  if (!std::exchange(may_have_dropped_, false)) return;
  scene_.cast->start({}, [this](ScreencastFrame frame) { on_frame(std::move(frame)); });
}

}  // namespace reprise::browser
