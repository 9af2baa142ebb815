// Tools that point by coordinates.
#include "browser/settle.h"
#include "browser/timing.h"
#include "browser/tools/functions.h"

namespace reprise::browser {
namespace {

unsigned held_by(std::string_view button) {
  return button == "right" ? 2 : button == "middle" ? 4 : 1;
}

Point point(const ToolRun& run, std::string_view x, std::string_view y) {
  return {run.number(x).value_or(0), run.number(y).value_or(0)};
}

rt::Task<Result<>> perform(ToolRun& run, std::vector<MouseEvent> gesture) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  run.outcome.changes_page = true;
  Settling settling = co_await Settling::begin(*page, run.within(kActionTimeout));
  REPRISE_CO_CHECK(co_await page->mouse(std::move(gesture), run.within(kActionTimeout)));
  co_await settling.wait(run.loop(), run.within(kToolTimeout));
  co_return Result<>{};
}

}  // namespace

rt::Task<Result<>> tool_mouse_move_xy(ToolRun& run) {
  run.browser.pointer = point(run, "x", "y");
  return perform(run, {{.action = MouseAction::kMove, .at = run.browser.pointer}});
}

rt::Task<Result<>> tool_mouse_click_xy(ToolRun& run) {
  const Point at = run.browser.pointer = point(run, "x", "y");
  const std::string button = run.text("button").value_or("left");
  const auto clicks = static_cast<unsigned>(run.number("clickCount").value_or(1));
  std::vector<MouseEvent> gesture{{.action = MouseAction::kMove, .at = at}};
  for (unsigned count = 1; count <= clicks; ++count) {
    gesture.push_back({.action = MouseAction::kDown,
                       .at = at,
                       .button = button,
                       .click_count = count,
                       .buttons = held_by(button)});
    gesture.push_back(
        {.action = MouseAction::kUp, .at = at, .button = button, .click_count = count});
  }
  return perform(run, std::move(gesture));
}

rt::Task<Result<>> tool_mouse_drag_xy(ToolRun& run) {
  const Point start = point(run, "startX", "startY");
  const Point end = run.browser.pointer = point(run, "endX", "endY");
  std::vector<MouseEvent> gesture{{.action = MouseAction::kMove, .at = start},
                                  {.action = MouseAction::kDown,
                                   .at = start,
                                   .button = "left",
                                   .click_count = 1,
                                   .buttons = 1}};
  constexpr int kSteps = 5;
  for (int step = 1; step <= kSteps; ++step)
    gesture.push_back({.action = MouseAction::kMove,
                       .at = {start.x + (end.x - start.x) * step / kSteps,
                              start.y + (end.y - start.y) * step / kSteps},
                       .button = "left",
                       .buttons = 1});
  gesture.push_back({.action = MouseAction::kUp, .at = end, .button = "left", .click_count = 1});
  return perform(run, std::move(gesture));
}

rt::Task<Result<>> tool_mouse_down(ToolRun& run) {
  const std::string button = run.text("button").value_or("left");
  return perform(run, {{.action = MouseAction::kDown,
                        .at = run.browser.pointer,
                        .button = button,
                        .click_count = 1,
                        .buttons = held_by(button)}});
}

rt::Task<Result<>> tool_mouse_up(ToolRun& run) {
  return perform(run, {{.action = MouseAction::kUp,
                        .at = run.browser.pointer,
                        .button = run.text("button").value_or("left"),
                        .click_count = 1}});
}

rt::Task<Result<>> tool_mouse_wheel(ToolRun& run) {
  return perform(run, {{.action = MouseAction::kWheel,
                        .at = run.browser.pointer,
                        .wheel = point(run, "deltaX", "deltaY")}});
}

}  // namespace reprise::browser
