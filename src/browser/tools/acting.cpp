// Tools that act on elements: click, hover, drag, type, fill, select, press, upload.
#include <fmt/format.h>

#include "base/json_text.h"
#include "browser/frame_path.h"
#include "browser/keyboard.h"
#include "browser/settle.h"
#include "browser/timing.h"
#include "browser/tools/functions.h"

namespace reprise::browser {
namespace {

unsigned button_bit(std::string_view button) {
  return button == "right" ? 2 : button == "middle" ? 4 : 1;
}

unsigned modifiers_of(const ToolRun& run) {
  unsigned bits = 0;
  if (const auto names = run.value("modifiers"))
    for (const wire::JsonValue name : names->elements())
      bits |= modifier_bit(name.as_string().value_or(""));
  return bits;
}

std::vector<MouseEvent> click_at(Point at, const std::string& button, unsigned clicks,
                                 unsigned modifiers) {
  std::vector<MouseEvent> gesture;
  gesture.push_back({.action = MouseAction::kMove, .at = at, .modifiers = modifiers});
  for (unsigned count = 1; count <= clicks; ++count) {
    gesture.push_back({.action = MouseAction::kDown,
                       .at = at,
                       .button = button,
                       .click_count = count,
                       .modifiers = modifiers,
                       .buttons = button_bit(button)});
    gesture.push_back({.action = MouseAction::kUp,
                       .at = at,
                       .button = button,
                       .click_count = count,
                       .modifiers = modifiers});
  }
  return gesture;
}

rt::Task<Result<>> press(ToolRun& run, Page& page, std::string_view keys) {
  REPRISE_CO_TRY(const auto strokes, parse_keys(keys));
  for (const KeyStroke& stroke : strokes)
    REPRISE_CO_CHECK(co_await page.key(stroke, true, run.within(kActionTimeout)));
  for (auto stroke = strokes.rbegin(); stroke != strokes.rend(); ++stroke)
    REPRISE_CO_CHECK(co_await page.key(*stroke, false, run.within(kActionTimeout)));
  co_return Result<>{};
}

// Character by character, as a person would, for pages that listen to keys.
rt::Task<Result<>> type_slowly(ToolRun& run, Page& page, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t next = at + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) ++next;
    const auto stroke = next == at + 1 ? stroke_of(text[at]) : std::nullopt;
    if (stroke) {
      REPRISE_CO_CHECK(co_await page.key(*stroke, true, run.within(kActionTimeout)));
      REPRISE_CO_CHECK(co_await page.key(*stroke, false, run.within(kActionTimeout)));
    } else {
      REPRISE_CO_CHECK(
          co_await page.insert_text(text.substr(at, next - at), run.within(kActionTimeout)));
    }
    at = next;
  }
  co_return Result<>{};
}

// Whether what is typed here may be stored: not in fields for secrets, nor where that is not known.
bool is_secret_field(const std::string& target) {
  const auto document = wire::parse_json(target);
  if (!document) return true;
  const auto secret = document->root().find("isSecret");
  return !secret || secret->as_bool().value_or(true);
}

// Whether the page has done nothing about it. Describes the field first, all in one call.
rt::Task<Result<bool>> fill(ToolRun& run, Page& page, Element element, std::string text) {
  constexpr auto kFill = R"JS(async (api, element, { text, timeout }) => {
    const target = api.describe(element);
    try {
      await api.prepare(element, { action: 'fill', timeout });
      const { ok, reason, isStill } = await api.fillAndLook(element, text);
      return { target, isStill, failure: ok ? '' : `not_fillable: ${reason}` };
    } catch (error) {
      return { target, isStill: false, failure: error.message };
    }
  })JS";
  REPRISE_CO_TRY(
      const std::string json,
      co_await page.call_on(element, kFill,
                            fmt::format(R"({{"text":{},"timeout":{}}})", json_string(text),
                                        std::chrono::duration_cast<Millis>(kActionTimeout).count()),
                            run.within(kActionTimeout + std::chrono::seconds{1})));
  REPRISE_CO_TRY(const auto told, wire::parse_json(json));
  const auto target = told.root().find("target");
  if (target) co_await run.tell(page, element, target->minified());
  const auto failure = told.root().find("failure");
  if (!failure) co_return fail(Code::kInternal, "the page script did not say what it did");
  if (const std::string why(failure->as_string().value_or("")); !why.empty())
    co_return fail(Code::kToolFailed, why);
  const auto is_still = told.root().find("isStill");
  // What scripts put off is known of the page's own document alone.
  co_return is_still && is_still->as_bool().value_or(false) &&
      element.frame == page.frames().front().id;
}

// As a person types who has clicked before: to what is there, not instead of it.
rt::Task<Result<>> type_into_focus(ToolRun& run, Page& page) {
  REPRISE_CO_TRY(Element element, co_await find_focused(page, run.within(kActionTimeout)));
  co_await run.note_target(page, std::move(element));
  run.outcome.hides_text = is_secret_field(run.outcome.target);
  run.outcome.changes_page = true;
  Settling settling = co_await Settling::begin(page, run.within(kActionTimeout));
  REPRISE_CO_CHECK(co_await type_slowly(run, page, run.text("text").value_or("")));
  if (run.flag("submit")) REPRISE_CO_CHECK(co_await press(run, page, "Enter"));
  co_await settling.wait(run.loop(), run.within(kToolTimeout));
  co_return Result<>{};
}

rt::Task<Result<>> set_checked(ToolRun& run, Page& page, Element element, bool is_wanted) {
  REPRISE_CO_TRY(const std::string before,
                 co_await page.call_on(element, "(api, element) => api.isChecked(element)", "null",
                                       run.within(kActionTimeout)));
  if ((before == "true") == is_wanted) co_return Result<>{};
  REPRISE_CO_TRY(const Point at, co_await point_for(run, page, element, "click"));
  REPRISE_CO_CHECK(co_await page.mouse(click_at(at, "left", 1, 0), run.within(kActionTimeout)));
  co_return Result<>{};
}

rt::Task<Result<std::string>> select(ToolRun& run, Page& page, Element element,
                                     std::string values) {
  REPRISE_CO_CHECK(co_await point_for(run, page, element, "select"));
  co_return co_await page.call_on(element,
                                  "(api, element, values) => api.selectOptions(element, values)",
                                  std::move(values), run.within(kActionTimeout));
}

}  // namespace

rt::Task<Result<Point>> point_for(ToolRun& run, Page& page, Element element,
                                  std::string_view action) {
  REPRISE_CO_TRY(
      const std::string json,
      co_await page.call_on(element, "(api, element, options) => api.prepare(element, options)",
                            fmt::format(R"({{"action":"{}","timeout":{}}})", action,
                                        std::chrono::duration_cast<Millis>(kActionTimeout).count()),
                            run.within(kActionTimeout + std::chrono::seconds{1})));
  REPRISE_CO_TRY(const auto document, wire::parse_json(json));
  const auto x = document.root().find("x");
  const auto y = document.root().find("y");
  if (!x || !y) co_return fail(Code::kInternal, "the page script gave no point");
  Point at{x->as_double().value_or(0), y->as_double().value_or(0)};
  if (element.frame != page.frames().front().id) {
    REPRISE_CO_TRY(const Point origin,
                   co_await page.origin_of(element.frame, run.within(kActionTimeout)));
    at.x += origin.x;
    at.y += origin.y;
  }
  co_return at;
}

rt::Task<Result<>> tool_click(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  REPRISE_CO_TRY(const Element element, co_await run.element(*page));
  REPRISE_CO_TRY(const Point at, co_await point_for(run, *page, element, "click"));
  run.outcome.changes_page = true;
  Settling settling = co_await Settling::begin(*page, run.within(kActionTimeout));
  REPRISE_CO_CHECK(
      co_await page->mouse(click_at(at, run.text("button").value_or("left"),
                                    run.flag("doubleClick") ? 2 : 1, modifiers_of(run)),
                           run.within(kActionTimeout)));
  co_await settling.wait(run.loop(), run.within(kToolTimeout));
  co_return Result<>{};
}

rt::Task<Result<>> tool_hover(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  REPRISE_CO_TRY(const Element element, co_await run.element(*page));
  REPRISE_CO_TRY(const Point at, co_await point_for(run, *page, element, "hover"));
  run.outcome.changes_page = true;
  Settling settling = co_await Settling::begin(*page, run.within(kActionTimeout));
  REPRISE_CO_CHECK(
      co_await page->mouse({{.action = MouseAction::kMove, .at = at}}, run.within(kActionTimeout)));
  co_await settling.wait(run.loop(), run.within(kToolTimeout));
  co_return Result<>{};
}

rt::Task<Result<>> tool_drag(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  REPRISE_CO_TRY(const Element from, co_await run.element(*page, "startTarget"));
  REPRISE_CO_TRY(const Point start, co_await point_for(run, *page, from, "click"));
  REPRISE_CO_TRY(const Element to, co_await run.element(*page, "endTarget"));
  REPRISE_CO_TRY(const Point end, co_await point_for(run, *page, to, "hover"));
  run.outcome.changes_page = true;
  Settling settling = co_await Settling::begin(*page, run.within(kActionTimeout));
  std::vector<MouseEvent> gesture;
  gesture.push_back({.action = MouseAction::kMove, .at = start});
  gesture.push_back({.action = MouseAction::kDown,
                     .at = start,
                     .button = "left",
                     .click_count = 1,
                     .buttons = 1});
  // In steps, so that what is dragged is seen to move.
  constexpr int kSteps = 5;
  for (int step = 1; step <= kSteps; ++step)
    gesture.push_back({.action = MouseAction::kMove,
                       .at = {start.x + (end.x - start.x) * step / kSteps,
                              start.y + (end.y - start.y) * step / kSteps},
                       .button = "left",
                       .buttons = 1});
  gesture.push_back({.action = MouseAction::kUp, .at = end, .button = "left", .click_count = 1});
  REPRISE_CO_CHECK(co_await page->mouse(std::move(gesture), run.within(kActionTimeout)));
  co_await settling.wait(run.loop(), run.within(kToolTimeout));
  co_return Result<>{};
}

rt::Task<Result<>> tool_type(ToolRun& run) {
  run.outcome.hides_text = true;  // until the field is known
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  if (!run.text("target")) co_return co_await type_into_focus(run, *page);
  run.outcome.changes_page = true;
  const std::string text = run.text("text").value_or("");
  if (run.flag("slowly")) {
    REPRISE_CO_TRY(const Element element, co_await run.element(*page));
    run.outcome.hides_text = is_secret_field(run.outcome.target);
    REPRISE_CO_CHECK(co_await point_for(run, *page, element, "fill"));
    REPRISE_CO_CHECK(co_await page->call_on(element, "(api, element) => api.focus(element)", "null",
                                            run.within(kActionTimeout)));
    Settling settling = co_await Settling::begin(*page, run.within(kActionTimeout));
    REPRISE_CO_CHECK(co_await type_slowly(run, *page, text));
    if (run.flag("submit")) REPRISE_CO_CHECK(co_await press(run, *page, "Enter"));
    co_await settling.wait(run.loop(), run.within(kToolTimeout));
    co_return Result<>{};
  }
  REPRISE_CO_TRY(const Element element, co_await run.find(*page));
  Settling settling = Settling::begin_for_script(*page);
  const auto is_still = co_await fill(run, *page, element, text);
  run.outcome.hides_text = is_secret_field(run.outcome.target);
  if (!is_still) co_return fail(is_still.error());
  if (run.flag("submit")) REPRISE_CO_CHECK(co_await press(run, *page, "Enter"));
  co_await settling.wait_after_text(run.loop(), *is_still && !run.flag("submit"),
                                    run.within(kToolTimeout));
  co_return Result<>{};
}

rt::Task<Result<>> tool_press_key(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  run.outcome.changes_page = true;
  Settling settling = co_await Settling::begin(*page, run.within(kActionTimeout));
  REPRISE_CO_CHECK(co_await press(run, *page, run.text("key").value_or("")));
  co_await settling.wait(run.loop(), run.within(kToolTimeout));
  co_return Result<>{};
}

rt::Task<Result<>> tool_select_option(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  REPRISE_CO_TRY(const Element element, co_await run.element(*page));
  run.outcome.changes_page = true;
  Settling settling = co_await Settling::begin(*page, run.within(kActionTimeout));
  const auto values = run.value("values");
  REPRISE_CO_TRY(run.outcome.result,
                 co_await select(run, *page, element, values ? values->minified() : "[]"));
  co_await settling.wait(run.loop(), run.within(kToolTimeout));
  co_return Result<>{};
}

rt::Task<Result<>> tool_fill_form(ToolRun& run) {
  run.outcome.hides_text = true;
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  run.outcome.changes_page = true;
  const auto fields = run.value("fields");
  bool is_secret = false;
  std::size_t index = 0;
  Settling settling = co_await Settling::begin(*page, run.within(kActionTimeout));
  for (const wire::JsonValue field : fields ? fields->elements() : std::vector<wire::JsonValue>{}) {
    ToolRun one(run.browser, field, run.scope);
    REPRISE_CO_TRY(const Element element, co_await one.element(*page));
    is_secret = is_secret || is_secret_field(one.outcome.target);
    run.outcome.targets.emplace_back(fmt::format("fields/{}", index++), one.outcome.target);
    const std::string kind = one.text("type").value_or("textbox");
    const std::string value = one.text("value").value_or("");
    if (kind == "checkbox" || kind == "radio") {
      REPRISE_CO_CHECK(co_await set_checked(run, *page, element, value == "true"));
    } else if (kind == "combobox") {
      REPRISE_CO_CHECK(
          co_await select(run, *page, element, fmt::format("[{}]", json_string(value))));
    } else {
      REPRISE_CO_CHECK(co_await fill(one, *page, element, value));
    }
  }
  run.outcome.hides_text = is_secret;
  co_await settling.wait(run.loop(), run.within(kToolTimeout));
  co_return Result<>{};
}

}  // namespace reprise::browser
