// What a page puts off in answer to an input: timers and frames, which no event tells of.
//
// The title is read on the way, for nothing tells of a new one.
//
// While an input is being settled, and no longer, setTimeout and requestAnimationFrame of the
// page's own world are ones that also note which timers for the next half second, and which
// frames, have not come yet. That is seen by a page that looks for it, for some tens of
// milliseconds; nothing else in reach knows of them.
#include <fmt/format.h>

#include "base/json_text.h"
#include "browser/chromium/json_access.h"
#include "browser/chromium/page.h"

namespace reprise::browser::chromium {
namespace {

constexpr std::string_view kBegin = R"JS((() => {
  const key = Symbol.for('reprise.timers');
  if (window[key]) return;
  const set = window.setTimeout, clear = window.clearTimeout, pending = new Map();
  const frame = window.requestAnimationFrame, unframe = window.cancelAnimationFrame;
  const frames = new Set();
  const watched = function setTimeout(callback, delay, ...rest) {
    const ms = Number(delay) || 0;
    if (typeof callback !== 'function' || ms > 500 || pending.size > 1000)
      return set.call(window, callback, delay, ...rest);
    const id = set.call(window, function (...values) {
      pending.delete(id);
      return callback.apply(this, values);
    }, delay, ...rest);
    pending.set(id, performance.now() + ms);
    return id;
  };
  const cleared = function clearTimeout(id) {
    pending.delete(id);
    return clear.call(window, id);
  };
  const framed = function requestAnimationFrame(callback) {
    if (typeof callback !== 'function') return frame.call(window, callback);
    const id = frame.call(window, function (...values) {
      frames.delete(id);
      return callback.apply(this, values);
    });
    frames.add(id);
    return id;
  };
  const unframed = function cancelAnimationFrame(id) {
    frames.delete(id);
    return unframe.call(window, id);
  };
  window.setTimeout = watched;
  window.clearTimeout = cleared;
  window.requestAnimationFrame = framed;
  window.cancelAnimationFrame = unframed;
  const end = () => {
    if (window.setTimeout === watched) window.setTimeout = set;
    if (window.clearTimeout === cleared) window.clearTimeout = clear;
    if (window.requestAnimationFrame === framed) window.requestAnimationFrame = frame;
    if (window.cancelAnimationFrame === unframed) window.cancelAnimationFrame = unframe;
    delete window[key];
  };
  Object.defineProperty(window, key, { value: { pending, frames, end }, configurable: true });
})())JS";

constexpr std::string_view kLeft = R"JS((() => {
  const state = window[Symbol.for('reprise.timers')];
  if (!state) return [-1, 0, document.title];
  let last = -1;
  for (const due of state.pending.values()) last = Math.max(last, due - performance.now());
  const left = state.pending.size ? Math.max(last, 0) : -1;
  const { size } = state.frames;
  if (%END% || (%END_IF_NONE% && left < 0 && size === 0)) state.end();
  return [left, size, document.title];
})())JS";

std::string watch_params() {
  return fmt::format(R"({{"expression":{},"silent":true}})", json_string(kBegin));
}

void replace_word(std::string& script, std::string_view word, bool value) {
  script.replace(script.find(word), word.size(), value ? "true" : "false");
}

}  // namespace

void ChromiumPage::send_watch() {
  if (is_closed_ || is_crashed_ || dialog_) return;
  connection_.send(session_, "Runtime.evaluate", watch_params());
}

rt::Task<> ChromiumPage::watch(rt::Deadline deadline) {
  if (is_closed_ || is_crashed_ || dialog_) co_return;
  (void)co_await call_until_asked(session_, "Runtime.evaluate", watch_params(), deadline);
}

rt::Task<PutOff> ChromiumPage::put_off(WatchEnd end, rt::Deadline deadline) {
  if (is_closed_ || is_crashed_ || dialog_) co_return PutOff{};
  std::string script(kLeft);
  replace_word(script, "%END%", end == WatchEnd::kNow);
  replace_word(script, "%END_IF_NONE%", end == WatchEnd::kIfNone);
  const auto replied = co_await call_until_asked(
      session_, "Runtime.evaluate",
      fmt::format(R"({{"expression":{},"silent":true,"returnByValue":true}})", json_string(script)),
      deadline);
  if (!replied || !*replied) co_return PutOff{};
  const auto result = (*replied)->result().find("result");
  const auto value = result ? result->find("value") : std::nullopt;
  const auto told = value ? value->elements() : std::vector<wire::JsonValue>{};
  if (told.size() != 3) co_return PutOff{};
  note_title(told[2]);
  PutOff put_off{.timer = std::nullopt, .has_frames = told[1].as_double().value_or(0) > 0};
  if (const double left = told[0].as_double().value_or(-1); left >= 0)
    put_off.timer = Millis{static_cast<std::int64_t>(left) + 1};
  co_return put_off;
}

}  // namespace reprise::browser::chromium
