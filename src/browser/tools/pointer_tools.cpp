// The mouse by coordinates, for what has no element: canvases, maps, pictures.
#include "browser/tools/limits.h"
#include "browser/tools/tables.h"

namespace reprise::browser {
namespace {

Parameter x(std::string_view name = "x") {
  return needed(number(name, "CSS pixels from the left of the page's visible part."));
}
Parameter y(std::string_view name = "y") {
  return needed(number(name, "CSS pixels from the top of the page's visible part."));
}
Parameter button() {
  return with_default(choice("button", {"left", "right", "middle"}, "Which button."), "\"left\"");
}

}  // namespace

std::vector<Tool> pointer_tools() {
  return {
      {.name = "browser_mouse_move_xy",
       .title = "Move the mouse",
       .description = "Moves the mouse to a point.",
       .effect = Effect::kChanges,
       .parameters = {x(), y()}},
      {.name = "browser_mouse_click_xy",
       .title = "Click at a point",
       .description =
           "Clicks at a point. Where there is an element, browser_click is better: it waits for "
           "it.",
       .effect = Effect::kDestroys,
       .parameters = {x(), y(), button(),
                      with_default(integer("clickCount", 1, kMaxClickCount, "How many times."),
                                   "1"),
                      integer("delay", 0, kMaxClickDelayMs, "Milliseconds between down and up.")}},
      {.name = "browser_mouse_drag_xy",
       .title = "Drag from point to point",
       .description = "Presses the left button at one point and lets it go at another.",
       .effect = Effect::kDestroys,
       .parameters = {x("startX"), y("startY"), x("endX"), y("endY")}},
      {.name = "browser_mouse_down",
       .title = "Press a mouse button",
       .description = "Presses a mouse button where the mouse is, and keeps it down.",
       .effect = Effect::kDestroys,
       .parameters = {button()}},
      {.name = "browser_mouse_up",
       .title = "Let go of a mouse button",
       .description = "Lets go of a mouse button where the mouse is.",
       .effect = Effect::kDestroys,
       .parameters = {button()}},
      {.name = "browser_mouse_wheel",
       .title = "Turn the mouse wheel",
       .description = "Scrolls what is under the mouse.",
       .effect = Effect::kChanges,
       .parameters = {with_default(number("deltaX", "CSS pixels to the right."), "0"),
                      with_default(number("deltaY", "CSS pixels down."), "0")}},
  };
}

}  // namespace reprise::browser
