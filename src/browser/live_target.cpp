// What a person points at and types into, asked of the page script, inside frames too.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "browser/frame_path.h"
#include "browser/limits.h"
#include "browser/operator.h"
#include "wire/json.h"

namespace reprise::browser {
namespace {

std::string text_of(wire::JsonValue object, std::string_view name) {
  const auto member = object.find(name);
  return member ? member->as_string().value_or("") : "";
}

bool is_set(wire::JsonValue object, std::string_view name, bool otherwise) {
  const auto member = object.find(name);
  return member ? member->as_bool().value_or(otherwise) : otherwise;
}

// The frame that an element of another one shows; empty if there is none.
rt::Task<std::string> frame_in(Page& page, std::string frame, std::string function,
                               std::string argument, rt::Deadline deadline) {
  auto element =
      co_await page.find(std::move(frame), std::move(function), std::move(argument), deadline);
  if (!element) co_return std::string();
  auto child = co_await page.frame_of(std::move(*element), deadline);
  co_return child ? std::move(*child) : std::string();
}

rt::Task<LiveHit> innermost_at(Page& page, Point at, model::TabId tab, rt::Deadline deadline) {
  const auto frames = page.frames();
  LiveHit hit{.target = {.tab = tab},
              .tag = {},
              .frame = frames.empty() ? std::string() : frames.front().id,
              .at = at};
  for (std::size_t step = 0; step < kMaxFrameSteps && !hit.frame.empty(); ++step) {
    const std::string point = fmt::format(R"({{"x":{},"y":{}}})", hit.at.x, hit.at.y);
    auto told = co_await page.call(hit.frame, "(api, point) => api.hitInfo(point.x, point.y)",
                                   point, deadline);
    if (!told || *told == "null") co_return hit;
    const auto document = wire::parse_json(*told);
    if (!document) co_return hit;
    hit.tag = text_of(document->root(), "tag");
    hit.target.place = fmt::format("{}|{}", hit.frame, text_of(document->root(), "selector"));
    hit.target.description = std::move(*told);
    const auto inside = document->root().find("frame");
    const auto x = inside ? inside->find("x") : std::nullopt;
    const auto y = inside ? inside->find("y") : std::nullopt;
    if (!x || !y) co_return hit;
    std::string child =
        co_await frame_in(page, hit.frame, "(api, point) => api.elementAt(point)", point, deadline);
    if (child.empty()) co_return hit;
    hit.frame = std::move(child);
    hit.at = {x->as_double().value_or(0), y->as_double().value_or(0)};
  }
  co_return hit;
}

}  // namespace

rt::Task<LiveHit> hit_at(Page& page, Point at, model::TabId tab, rt::Deadline deadline) {
  LiveHit hit = co_await innermost_at(page, at, tab, deadline);
  if (!hit.frame.empty() && hit.target.description != "null")
    hit.target.description = with_frames(std::move(hit.target.description),
                                         co_await describe_frames(page, hit.frame, deadline));
  co_return hit;
}

rt::Task<GestureTarget> focus_of(Operator& person, Page& page, model::TabId tab,
                                 rt::Deadline deadline) {
  const auto frames = page.frames();
  std::string frame = frames.empty() ? std::string() : frames.front().id;
  for (std::size_t step = 0; step < kMaxFrameSteps && !frame.empty(); ++step) {
    const bool is_known = person.focus_frame == frame && person.focus.tab == tab;
    auto told = co_await page.call(frame, "(api, isAnew) => api.focusInfo(isAnew)",
                                   is_known ? "false" : "true", deadline);
    if (!told || *told == "null") break;
    const auto document = wire::parse_json(*told);
    if (!document) break;
    if (is_set(document->root(), "isFrame", false)) {
      frame = co_await frame_in(page, frame, "(api) => api.focused()", "null", deadline);
      continue;
    }
    const bool is_secret = is_set(document->root(), "isSecret", true);
    const auto description = document->root().find("target");
    if (!is_set(document->root(), "isSame", false) && description) {
      person.focus = {.description = with_frames(description->minified(),
                                                 co_await describe_frames(page, frame, deadline)),
                      .place = fmt::format("{}|{}", frame, text_of(*description, "selector")),
                      .is_secret = is_secret,
                      .tab = tab};
      person.focus_frame = frame;
    }
    person.focus.is_secret = is_secret;
    co_return person.focus;
  }
  // Nobody knows what it is typed into.
  person.focus_frame.clear();
  co_return GestureTarget{.tab = tab};
}

}  // namespace reprise::browser
