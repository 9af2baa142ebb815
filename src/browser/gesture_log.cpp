#include "browser/gesture_log.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/json_text.h"
#include "browser/limits.h"

namespace reprise::browser {
namespace {

// A hand is not steady: within so many pixels a press and its release are a click.
constexpr double kClickReach = 4;

bool is_near(Point one, Point other) {
  return std::abs(one.x - other.x) <= kClickReach && std::abs(one.y - other.y) <= kClickReach;
}

}  // namespace

Gesture& GestureLog::begin(GestureKind kind, GestureTarget target, TimePoint now) {
  finish();
  pending_.emplace();
  pending_->kind = kind;
  pending_->target = std::move(target);
  pending_->started_at = pending_->last_at = now;
  return *pending_;
}

void GestureLog::mouse_down(Point at, const std::string& button, unsigned clicks,
                            GestureTarget target, TimePoint now) {
  // The second click of a double click.
  const bool is_again = pending_ && pending_->kind == GestureKind::kClick && !pending_->is_down &&
                        clicks > pending_->clicks && pending_->button == button &&
                        is_near(pending_->to, at);
  Gesture& click = is_again ? *pending_ : begin(GestureKind::kClick, std::move(target), now);
  click.button = button;
  click.clicks = clicks;
  click.from = click.to = at;
  click.is_down = true;
  click.last_at = now;
}

void GestureLog::mouse_up(Point at, TimePoint now) {
  if (!pending_ || pending_->kind != GestureKind::kClick || !pending_->is_down) return;
  pending_->to = at;
  pending_->is_down = false;
  pending_->last_at = now;
}

void GestureLog::wheel(Point at, Point by, GestureTarget target, TimePoint now) {
  const bool goes_on =
      pending_ && pending_->kind == GestureKind::kWheel && is_near(pending_->from, at);
  Gesture& turn = goes_on ? *pending_ : begin(GestureKind::kWheel, std::move(target), now);
  turn.from = at;
  turn.by.x += by.x;
  turn.by.y += by.y;
  turn.last_at = now;
}

void GestureLog::typed(std::string_view text, const GestureTarget& target, TimePoint now) {
  // One field, one command: where the focus moves by itself, what went before and what comes after
  // are two, and a secret among them is hidden alone.
  const bool goes_on =
      pending_ && pending_->kind == GestureKind::kText && pending_->target.place == target.place &&
      pending_->target.is_secret == target.is_secret && pending_->target.tab == target.tab &&
      pending_->text.size() + text.size() <= kMaxTypedBytes;
  Gesture& typing = goes_on ? *pending_ : begin(GestureKind::kText, target, now);
  typing.text += text;
  typing.last_at = now;
}

void GestureLog::pressed(const std::string& key, const GestureTarget& target, TimePoint now) {
  const bool goes_on = pending_ && pending_->kind == GestureKind::kKey && pending_->text == key &&
                       pending_->target.place == target.place;
  if (goes_on) {
    ++pending_->count;
    pending_->last_at = now;
    return;
  }
  begin(GestureKind::kKey, target, now).text = key;
}

void GestureLog::finish() {
  if (!pending_) return;
  done_.push_back(command_of(std::move(*pending_)));
  pending_.reset();
}

std::optional<GestureCommand> GestureLog::take_done() {
  if (done_.empty()) return std::nullopt;
  GestureCommand first = std::move(done_.front());
  done_.pop_front();
  return first;
}

std::optional<TimePoint> GestureLog::last_at() const {
  // A button that is held is no pause, however long.
  return pending_ && !pending_->is_down ? std::optional(pending_->last_at) : std::nullopt;
}

GestureCommand GestureLog::command_of(Gesture gesture) {
  GestureCommand command{.tool = {},
                         .arguments = {},
                         .target = std::move(gesture.target),
                         .started_at = gesture.started_at,
                         .ended_at = gesture.last_at};
  switch (gesture.kind) {
    case GestureKind::kClick:
      if (is_near(gesture.from, gesture.to)) {
        command.tool = "browser_mouse_click_xy";
        command.arguments =
            fmt::format(R"({{"x":{},"y":{},"button":"{}","clickCount":{}}})", gesture.from.x,
                        gesture.from.y, gesture.button, gesture.clicks);
      } else {
        command.tool = "browser_mouse_drag_xy";
        command.arguments = fmt::format(R"({{"startX":{},"startY":{},"endX":{},"endY":{}}})",
                                        gesture.from.x, gesture.from.y, gesture.to.x, gesture.to.y);
      }
      break;
    case GestureKind::kWheel:
      command.tool = "browser_mouse_wheel";
      command.arguments = fmt::format(R"({{"x":{},"y":{},"deltaX":{},"deltaY":{}}})",
                                      gesture.from.x, gesture.from.y, gesture.by.x, gesture.by.y);
      break;
    case GestureKind::kText:
      command.tool = "browser_type";
      command.arguments = fmt::format(R"({{"text":{}}})", json_string(gesture.text));
      command.hides_text = command.target.is_secret;
      break;
    case GestureKind::kKey:
      command.tool = "browser_press_key";
      command.arguments =
          fmt::format(R"({{"key":{},"count":{}}})", json_string(gesture.text), gesture.count);
      if (gesture.count == 1)
        command.arguments = fmt::format(R"({{"key":{}}})", json_string(gesture.text));
      break;
  }
  return command;
}

}  // namespace reprise::browser
