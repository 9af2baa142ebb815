// What a person does who has taken over: done in order, each in its turn, and recorded as theirs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json_text.h"
#include "base/log.h"
#include "browser/command.h"
#include "browser/keyboard.h"
#include "browser/limits.h"
#include "browser/live_service.h"
#include "browser/operator.h"
#include "browser/service.h"
#include "browser/timing.h"
#include "browser/tools/functions.h"

namespace reprise::browser {
namespace {

unsigned button_bit(std::string_view button) {
  return button == "right" ? 2 : button == "middle" ? 4 : 1;
}

constexpr unsigned kChord = 1 | 2 | 4;  // Alt, Control, Meta

std::string key_name(const KeyInput& key) {
  std::string name;
  for (const auto& [bit, word] : {std::pair(2U, "Control"), {1U, "Alt"}, {4U, "Meta"}})
    if ((key.modifiers & bit) != 0 && key.key != word) name += fmt::format("{}+", word);
  if ((key.modifiers & 8U) != 0 && key.key.size() > 1 && key.key != "Shift") name += "Shift+";
  return name + (key.key == " " ? "Space" : key.key);
}

// How a key of a person's keyboard is sent; without a code for one that no US keyboard has.
KeyStroke stroke_for(const KeyInput& key) {
  KeyStroke stroke{.key = key.key, .code = {}, .text = {}};
  if (key.key.size() == 1) {
    stroke = stroke_of(key.key.front()).value_or(stroke);
  } else if (const auto named = parse_keys(key.key); named && named->size() == 1) {
    stroke = named->front();
    stroke.modifiers = 0;
  }
  stroke.modifiers |= key.modifiers;
  if ((stroke.modifiers & kChord) != 0) stroke.text.clear();
  return stroke;
}

// One character that is not of a US keyboard: it is put in as text.
bool is_foreign_character(const KeyInput& key) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  return key.key.size() > 1 && static_cast<unsigned char>(key.key.front()) >= 0xC0 &&
         std::ranges::all_of(key.key.substr(1), continues) && (key.modifiers & kChord) == 0;
}

// What a person answers is stored by its length: nobody knows what the page asked for.
rt::Task<Result<>> answer_dialog(ToolRun& run) {
  run.outcome.hides_text = true;
  return tool_handle_dialog(run);
}

Error no_page() { return Error{Code::kToolFailed, "no tab is shown"}; }

// The tab that input goes to; not while it asks something.
Result<std::shared_ptr<Tab>> shown_tab(const Operator& person) {
  auto tab = person.browser->active();
  if (tab == nullptr || tab->page == nullptr) return fail(no_page());
  if (tab->page->dialog())
    return fail(Code::kToolFailed, "dialog: the page asks something; answer it first");
  return tab;
}

}  // namespace

struct LiveService::ByHand {
  std::string tool;
  std::string arguments;
  GestureTarget target;
  bool hides_text = false;
  TimePoint started_at;
  TimePoint ended_at;
  std::optional<Error> error = std::nullopt;
  // How far the pages were when it was over; nothing: as far as they are.
  std::optional<JournalMarks> until = std::nullopt;
};

rt::Task<> LiveService::operate(std::shared_ptr<Operator> person) {
  rt::Loop& loop = browsers_.around_.loop;
  rt::CancelScope scope;
  while (!person->is_over) {
    if (person->queue.empty()) {
      const bool is_pending = person->log.last_at().has_value();
      const auto waited = co_await person->changed.wait(
          scope, is_pending ? rt::Deadline::after(loop, kGesturePause) : rt::Deadline::never());
      if (!waited) person->log.finish();  // they have paused
    } else {
      Operator::Waiting next = std::move(person->queue.front());
      person->queue.pop_front();
      person->before_input = person->browser->journal_marks();
      if (person->log.is_empty()) person->before_gesture = person->before_input;
      auto done = co_await act(*person, next.input);
      const auto tab = person->browser->active();
      if (tab != nullptr && tab->page != nullptr) tab->page->ask_title();
      if (LiveSink* sink = sink_of({person->session, next.viewer}))
        sink->answer({.id = next.input.id,
                      .error = done ? std::nullopt : std::optional(std::move(done).error())});
    }
    co_await record_done(*person);
  }
  person->log.finish();
  co_await record_done(*person);
  for (const Operator::Waiting& left : std::exchange(person->queue, {}))
    if (LiveSink* sink = sink_of({person->session, left.viewer}))
      sink->answer(
          {.id = left.input.id, .error = Error{Code::kForbidden, "the take-over is over"}});
}

rt::Task<Result<>> LiveService::act(Operator& person, LiveInput& input) {
  person.browser->note_use();
  const bool is_gesture = std::holds_alternative<MouseInput>(input.action) ||
                          std::holds_alternative<KeyInput>(input.action) ||
                          std::holds_alternative<TextInput>(input.action);
  // Commands stand in the record in the order in which they were done.
  if (!is_gesture) {
    person.log.finish();
    co_await record_done(person);
  }
  const bool keeps_list = std::holds_alternative<SelectInput>(input.action) ||
                          std::holds_alternative<MouseInput>(input.action);
  if (!keeps_list && std::exchange(person.options, std::nullopt)) browser_changed(*person.browser);
  if (auto* mouse = std::get_if<MouseInput>(&input.action))
    co_return co_await act_on(person, *mouse);
  if (auto* key = std::get_if<KeyInput>(&input.action)) co_return co_await act_on(person, *key);
  if (auto* text = std::get_if<TextInput>(&input.action)) co_return co_await act_on(person, *text);
  if (auto* go = std::get_if<NavigateInput>(&input.action)) co_return co_await act_on(person, *go);
  if (auto* history = std::get_if<HistoryInput>(&input.action))
    co_return co_await act_on(person, *history);
  if (auto* tab = std::get_if<TabInput>(&input.action)) co_return co_await act_on(person, *tab);
  if (auto* dialog = std::get_if<DialogInput>(&input.action))
    co_return co_await act_on(person, *dialog);
  if (auto* select = std::get_if<SelectInput>(&input.action))
    co_return co_await act_on(person, *select);
  co_return co_await act_on(person, std::get<FilesInput>(input.action));
}

rt::Task<Result<>> LiveService::act_on(Operator& person, MouseInput& mouse) {
  REPRISE_CO_TRY(const rt::Turns::Turn turn,
                 co_await person.browser->turns().take(browsers_.scope_));
  REPRISE_CO_TRY(const auto tab, shown_tab(person));
  const auto page = tab->page;
  const rt::Deadline deadline = rt::Deadline::after(browsers_.around_.loop, kInputPatience);
  const TimePoint now = browsers_.around_.clock.now();
  if (mouse.action == MouseAction::kDown) co_return co_await press(person, mouse, tab);
  MouseEvent event{.action = mouse.action, .at = mouse.at, .modifiers = mouse.modifiers};
  if (mouse.action == MouseAction::kUp) {
    if (std::exchange(person.has_no_down, false)) co_return Result<>{};
    person.buttons &= ~button_bit(mouse.button);
    event.button = mouse.button;
    event.click_count = mouse.click_count;
    person.log.mouse_up(mouse.at, now);
  }
  if (mouse.action == MouseAction::kMove && person.buttons != 0)
    event.button = (person.buttons & 1) != 0   ? "left"
                   : (person.buttons & 2) != 0 ? "right"
                                               : "middle";
  if (mouse.action == MouseAction::kWheel) {
    event.wheel = mouse.wheel;
    person.log.wheel(mouse.at, mouse.wheel, {.tab = tab->facts.id}, now);
  }
  event.buttons = person.buttons;
  co_return co_await page->mouse({event}, deadline);
}

// A press on a drop-down opens its list here: the browser would show it where nobody sees it.
rt::Task<Result<>> LiveService::press(Operator& person, MouseInput& mouse,
                                      std::shared_ptr<Tab> tab) {
  const auto page = tab->page;
  const rt::Deadline deadline = rt::Deadline::after(browsers_.around_.loop, kInputPatience);
  const TimePoint now = browsers_.around_.clock.now();
  if (std::exchange(person.options, std::nullopt)) browser_changed(*person.browser);
  LiveHit hit = co_await hit_at(*page, mouse.at, tab->facts.id, deadline);
  if (hit.tag == "select" && mouse.button == "left") {
    auto element =
        co_await page->find(hit.frame, "(api, point) => api.elementAt(point)",
                            fmt::format(R"({{"x":{},"y":{}}})", hit.at.x, hit.at.y), deadline);
    auto offered =
        element ? co_await page->call_on(*element, "(api, element) => api.selectInfo(element)",
                                         "null", deadline)
                : Result<std::string>("null");
    if (offered && *offered != "null") {
      person.has_no_down = true;
      person.log.finish();
      offered->insert(1, fmt::format(R"("tabId":"{}",)", tab->facts.id.to_string()));
      person.options = Operator::OptionList{.element = std::move(*element),
                                            .tab = tab->facts.id,
                                            .offered = std::move(*offered),
                                            .target = std::move(hit.target)};
      browser_changed(*person.browser);
      co_return Result<>{};
    }
  }
  person.has_no_down = false;
  person.buttons |= button_bit(mouse.button);
  person.log.mouse_down(mouse.at, mouse.button, mouse.click_count, std::move(hit.target), now);
  std::vector<MouseEvent> gesture{
      {.action = MouseAction::kMove, .at = mouse.at, .modifiers = mouse.modifiers},
      {.action = MouseAction::kDown,
       .at = mouse.at,
       .button = mouse.button,
       .click_count = mouse.click_count,
       .modifiers = mouse.modifiers,
       .buttons = person.buttons}};
  co_return co_await page->mouse(std::move(gesture), deadline);
}

rt::Task<Result<>> LiveService::act_on(Operator& person, KeyInput& key) {
  if (is_foreign_character(key)) {
    if (!key.is_down) co_return Result<>{};
    TextInput text{key.key};
    co_return co_await act_on(person, text);
  }
  REPRISE_CO_TRY(const rt::Turns::Turn turn,
                 co_await person.browser->turns().take(browsers_.scope_));
  REPRISE_CO_TRY(const auto tab, shown_tab(person));
  const auto page = tab->page;
  const rt::Deadline deadline = rt::Deadline::after(browsers_.around_.loop, kInputPatience);
  const KeyStroke stroke = stroke_for(key);
  if (key.is_down) {
    const GestureTarget focus = co_await focus_of(person, *page, tab->facts.id, deadline);
    const TimePoint now = browsers_.around_.clock.now();
    const bool is_modifier = modifier_bit(key.key) != 0;
    if (!stroke.text.empty() && stroke.key != "Enter")
      person.log.typed(stroke.text, focus, now);
    else if (!is_modifier)  // it shows in what it modifies
      person.log.pressed(key_name(key), focus, now);
    REPRISE_CO_CHECK(co_await page->key(stroke, true, deadline));
  }
  if (!key.is_up) co_return Result<>{};
  // What it set off may be a dialog, which takes the place of everything else.
  if (page->dialog() || page->is_closed()) co_return Result<>{};
  co_return co_await page->key(stroke, false, deadline);
}

rt::Task<Result<>> LiveService::act_on(Operator& person, TextInput& text) {
  REPRISE_CO_TRY(const rt::Turns::Turn turn,
                 co_await person.browser->turns().take(browsers_.scope_));
  REPRISE_CO_TRY(const auto tab, shown_tab(person));
  const auto page = tab->page;
  const rt::Deadline deadline = rt::Deadline::after(browsers_.around_.loop, kInputPatience);
  const GestureTarget focus = co_await focus_of(person, *page, tab->facts.id, deadline);
  person.log.typed(text.text, focus, browsers_.around_.clock.now());
  co_return co_await page->insert_text(std::move(text.text), deadline);
}

// A tool, run and recorded as an agent's would be.
rt::Task<Result<>> LiveService::call(Operator& person, std::string tool, std::string arguments,
                                     Function function) {
  CommandCall call{.tool = std::move(tool),
                   .arguments = std::move(arguments),
                   .source = std::string(kOperatorSource),
                   .by = person.by};
  REPRISE_CO_TRY(
      const CommandAnswer answer,
      co_await browsers_.perform(person.browser, std::move(call), function, person.scope));
  browser_changed(*person.browser);
  if (answer.is_ok) co_return Result<>{};
  co_return fail(Code::kToolFailed, fmt::format("{}: {}", answer.error_code, answer.error));
}

rt::Task<Result<>> LiveService::act_on(Operator& person, NavigateInput& navigate) {
  return call(person, "browser_navigate", fmt::format(R"({{"url":{}}})", json_string(navigate.url)),
              tool_navigate);
}

rt::Task<Result<>> LiveService::act_on(Operator& person, HistoryInput& history) {
  switch (history.move) {
    case HistoryMove::kBack: return call(person, "browser_navigate_back", "{}", tool_navigate_back);
    case HistoryMove::kForward:
      return call(person, "browser_navigate_forward", "{}", tool_navigate_forward);
    case HistoryMove::kReload: break;
  }
  return call(person, "browser_reload", "{}", tool_reload);
}

rt::Task<Result<>> LiveService::act_on(Operator& person, TabInput& input) {
  std::string arguments = R"({"action":"new"})";
  if (input.action == TabAction::kNew) {
    if (!input.url.empty())
      arguments = fmt::format(R"({{"action":"new","url":{}}})", json_string(input.url));
  } else {
    const auto& tabs = person.browser->tabs();
    const auto found =
        std::ranges::find_if(tabs, [&](const auto& tab) { return tab->facts.id == input.tab; });
    if (found == tabs.end()) co_return fail(Code::kTabNotFound, "there is no such open tab");
    arguments =
        fmt::format(R"({{"action":"{}","index":{}}})",
                    input.action == TabAction::kClose ? "close" : "select", found - tabs.begin());
  }
  co_return co_await call(person, "browser_tabs", std::move(arguments), tool_tabs);
}

rt::Task<Result<>> LiveService::act_on(Operator& person, DialogInput& dialog) {
  std::string arguments = fmt::format(R"({{"accept":{}}})", dialog.is_accepted);
  if (dialog.text)
    arguments = fmt::format(R"({{"accept":{},"promptText":{}}})", dialog.is_accepted,
                            json_string(*dialog.text));
  return call(person, "browser_handle_dialog", std::move(arguments), answer_dialog);
}

rt::Task<Result<>> LiveService::act_on(Operator& person, SelectInput& select) {
  auto list = std::exchange(person.options, std::nullopt);
  if (!list) co_return fail(Code::kToolFailed, "no list is open");
  browser_changed(*person.browser);
  if (select.values.empty()) co_return Result<>{};
  const TimePoint started_at = browsers_.around_.clock.now();
  std::string values;
  for (const std::string& value : select.values)
    values += fmt::format("{}{}", values.empty() ? "" : ",", json_string(value));
  const auto tab = person.browser->tab(list->tab);
  if (tab == nullptr || tab->page == nullptr) co_return fail(no_page());
  Result<> outcome;
  {
    REPRISE_CO_TRY(const rt::Turns::Turn turn,
                   co_await person.browser->turns().take(browsers_.scope_));
    auto chosen = co_await tab->page->call_on(
        list->element, "(api, element, values) => api.selectOptions(element, values)",
        fmt::format("[{}]", values), rt::Deadline::after(browsers_.around_.loop, kInputPatience));
    if (!chosen) outcome = fail(std::move(chosen).error());
  }
  co_await record(person, {.tool = "browser_select_option",
                           .arguments = fmt::format(R"({{"values":[{}]}})", values),
                           .target = std::move(list->target),
                           .started_at = started_at,
                           .ended_at = browsers_.around_.clock.now(),
                           .error = outcome ? std::nullopt : std::optional(outcome.error())});
  co_return outcome;
}

// Paths name artifacts of the session; without any the page gets no files.
rt::Task<Result<>> LiveService::act_on(Operator& person, FilesInput& files) {
  std::string paths;
  for (const std::string& path : files.paths)
    paths += fmt::format("{}{}", paths.empty() ? "" : ",", json_string(path));
  return call(person, "browser_file_upload",
              paths.empty() ? "{}" : fmt::format(R"({{"paths":[{}]}})", paths), tool_file_upload);
}

rt::Task<> LiveService::record_done(Operator& person) {
  while (auto done = person.log.take_done()) {
    // One that another follows was over when that one began.
    const bool is_followed = !person.log.is_empty();
    co_await record(person,
                    {.tool = std::move(done->tool),
                     .arguments = std::move(done->arguments),
                     .target = std::move(done->target),
                     .hides_text = done->hides_text,
                     .started_at = done->started_at,
                     .ended_at = done->ended_at,
                     .until = is_followed ? std::optional(person.before_input) : std::nullopt});
  }
}

// Written behind what was done; it stands in the session's line like any other command.
rt::Task<> LiveService::record(Operator& person, ByHand done) {
  const Held browser = person.browser;
  auto turn = co_await browser->turns().take(browsers_.scope_);
  if (!turn) co_return;
  CommandCall call{.tool = std::move(done.tool),
                   .arguments = std::move(done.arguments),
                   .source = std::string(kOperatorSource),
                   .by = person.by};
  ToolOutcome outcome{.target = std::move(done.target.description), .hides_text = done.hides_text};
  CommandAnswer answer{.is_ok = !done.error,
                       .tool = call.tool,
                       .tab = done.target.tab,
                       .duration = done.ended_at - done.started_at};
  if (done.error) {
    ToolError told = tool_error(*done.error);
    answer.error_code = std::move(told.code);
    answer.error = std::move(told.message);
  }
  const auto tab = done.target.tab ? browser->tab(*done.target.tab) : nullptr;
  const bool is_captured = browser->options().capture == Capture::kActions && !person.is_over &&
                           tab != nullptr && tab->page != nullptr;
  JournalMarks until = done.until.value_or(browser->journal_marks());
  CommandLog log;
  if (is_captured)
    log = {.part = tab->page->journal().between(person.before_gesture.of(tab->page),
                                                until.of(tab->page)),
           .hides_text = done.hides_text};
  person.before_gesture = std::move(until);
  const std::string id = format_uuid(make_uuid_v7(done.started_at, browsers_.around_.random));
  auto written = co_await browser->record(command_event({.id = id,
                                                         .call = call,
                                                         .outcome = outcome,
                                                         .answer = answer,
                                                         .started_at = done.started_at,
                                                         .capture = is_captured ? id : "",
                                                         .has_log = !log.part.is_empty()},
                                                        browsers_.redactor_),
                                          std::nullopt);
  if (!written) {
    if (written.error().code != Code::kSessionEnded)
      log::warning("what a person did could not be stored",
                   {{"session", person.session.to_string()}, {"detail", written.error().detail}});
    co_return;
  }
  browsers_.commands_.fetch_add(1, std::memory_order_relaxed);
  browser->note_state(true);
  if (is_captured)
    rt::spawn(browsers_.background_,
              browsers_.capture(browser, {.name = id, .tab = tab, .log = std::move(log)},
                                std::move(*turn)));
}

}  // namespace reprise::browser
