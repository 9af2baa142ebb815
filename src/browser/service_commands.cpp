// How a command is run: in its turn, recorded, answered, and its picture taken.
#include <fmt/format.h>

#include "base/log.h"
#include "browser/limits.h"
#include "browser/service.h"
#include "browser/snapshot.h"
#include "browser/timing.h"
#include "browser/tools/catalogue.h"

namespace reprise::browser {
namespace {

// What is kept of a command: a picture that is larger is not, and a snapshot is cut.
constexpr int kCaptureQuality = 60;
constexpr std::size_t kMaxCaptureBytes = 2 * 1024 * 1024;
constexpr std::size_t kCaptureSnapshotBytes = 64 * 1024;

PageGlance glance_at(const SessionBrowser& browser, const Page& page) {
  PageGlance glance{.url = page.url(),
                    .title = page.title(),
                    .is_crashed = page.is_crashed(),
                    .dialog = page.dialog(),
                    .waits_for_files = browser.waits_for_files(page)};
  for (const ConsoleMessage& message : page.console()) {
    if (message.level == "error") ++glance.console_errors;
    if (message.level == "warning") ++glance.console_warnings;
  }
  return glance;
}

std::vector<TabGlance> glance_at_tabs(const SessionBrowser& browser) {
  std::vector<TabGlance> tabs;
  const auto active = browser.active();
  for (const auto& tab : browser.tabs())
    tabs.push_back({.url = tab->facts.url, .title = tab->facts.title, .is_active = tab == active});
  return tabs;
}

}  // namespace

rt::Task<Result<CommandAnswer>> BrowserService::call_tool(session::SessionRef session,
                                                          CommandCall call,
                                                          rt::CancelScope* caller) {
  if (find_tool(call.tool) == nullptr || tool_function(call.tool) == nullptr)
    co_return fail(Code::kToolNotFound, fmt::format("there is no tool '{}'", call.tool));
  REPRISE_CO_TRY(session::SessionView view, co_await around_.sessions.get(std::move(session)));
  if (model::is_terminal(view.state.status))
    co_return fail(Code::kSessionEnded,
                   fmt::format("the session is {}", model::word(view.state.status)));
  // Work counts as activity from its beginning; and a worker that was replaced does nothing.
  REPRISE_CO_CHECK(co_await around_.sessions.call(
      view.state.id, {.action = session::Touch{}, .lease = call.lease, .wants_view = false}));
  rt::Loop& origin = *rt::Loop::current();
  // The caller's scope belongs to the loop of the call; what it says is carried to this one.
  const auto scope = std::make_shared<rt::CancelScope>();
  std::optional<rt::CancelScope::Listener> carrier;
  if (caller != nullptr)
    carrier.emplace(*caller, [loop = &around_.loop, scope, caller] {
      loop->post([scope, detail = caller->reason().detail] {
        scope->cancel(Error{Code::kCancelled, detail});
      });
    });
  if (!co_await rt::switch_to(around_.loop))
    co_return fail(Code::kOverloaded, "the browsers' loop has too much waiting");
  auto answer = co_await call_here(std::move(view), std::move(call), *scope);
  co_await rt::return_to(origin);
  co_return answer;
}

rt::Task<Result<CommandAnswer>> BrowserService::call_here(session::SessionView view,
                                                          CommandCall call,
                                                          rt::CancelScope& scope) {
  const rt::CancelScope::Listener closing(scope_, [&] { scope.cancel(scope_.reason()); });
  if (is_closed_) co_return fail(Code::kShuttingDown, "the server is stopping");
  REPRISE_CO_TRY(Held browser, co_await browser_of(view));
  REPRISE_CO_CHECK(check_free(*browser));
  if (browser->turns().waiting() >= kMaxQueuedCommands)
    co_return fail(Code::kTooManyRequests, fmt::format("{} commands wait for this session already",
                                                       browser->turns().waiting()));
  const ToolFunction function = tool_function(call.tool);
  co_return co_await perform(std::move(browser), std::move(call), function, scope);
}

rt::Task<Result<CommandAnswer>> BrowserService::perform(Held browser, CommandCall call,
                                                        ToolFunction function,
                                                        rt::CancelScope& scope) {
  REPRISE_CO_TRY(rt::Turns::Turn turn, co_await browser->turns().take(scope));
  if (scope.is_cancelled()) co_return fail(scope.reason());
  // What waited in line while a person took over is not done behind their back.
  if (call.source != kOperatorSource) REPRISE_CO_CHECK(check_free(*browser));
  browser->note_use();
  const TimePoint started_at = around_.clock.now();
  const rt::Nanos began = around_.loop.now();
  REPRISE_CO_TRY(const auto arguments, wire::parse_json(call.arguments));
  if (const auto context = browser->held_context()) {
    if (browser->had_clients()) context->renew_downloads();
    co_await context->pages_told(rt::Deadline::after(around_.loop, kNewPagePatience));
  }
  const std::uint64_t downloads = browser->downloads().begun();
  const JournalMarks before = browser->journal_marks();
  ToolRun run(*browser, arguments.root(), scope);
  run.named_tab = call.tab;
  // Tools notice where they wait for time; a navigation has to be told.
  const rt::CancelScope::Listener giving_up(scope, [&run] {
    if (run.tab && run.tab->page) run.tab->page->stop_loading();
  });
  auto ran = co_await function(run);
  if (!ran && scope.is_cancelled()) ran = fail(scope.reason());
  co_await browser->downloads().wait_for_new(downloads, scope,
                                             rt::Deadline::after(around_.loop, kDownloadPatience));
  if (const auto context = browser->held_context())
    co_await context->pages_told(rt::Deadline::after(around_.loop, kNewPagePatience));
  CommandAnswer answer{.is_ok = ran.has_value(),
                       .tool = call.tool,
                       .tab = run.tab ? std::optional(run.tab->facts.id) : std::nullopt,
                       .duration = std::chrono::duration_cast<Millis>(around_.loop.now() - began)};
  if (ran) {
    answer.result = run.outcome.result;
    answer.text = run.outcome.text;
    answer.pictures = std::move(run.outcome.pictures);
  } else {
    // Only what happened on the page is an outcome; what happened to us is an error.
    const Code code = ran.error().code;
    if (code != Code::kToolFailed && code != Code::kBrowserError && code != Code::kBrowserGone &&
        code != Code::kDeadline && code != Code::kUrlRefused && code != Code::kCancelled)
      co_return fail(ran.error());
    ToolError told = tool_error(ran.error());
    answer.error_code = std::move(told.code);
    answer.error = std::move(told.message);
  }
  if (run.tab && run.tab->page && run.outcome.changes_page) run.tab->page->ask_title();
  answer.events = browser->downloads().take_notes();
  if (run.tab && run.tab->page) answer.page = glance_at(*browser, *run.tab->page);
  answer.tabs = glance_at_tabs(*browser);
  const Capture wanted = browser->options().capture;
  const bool is_captured =
      wanted != Capture::kNone && run.tab && run.tab->page &&
      (!answer.is_ok || (wanted == Capture::kActions && run.outcome.changes_page));
  CommandLog log;
  if (is_captured) {
    const PageJournal& journal = run.tab->page->journal();
    log = {.part = journal.between(before.of(run.tab->page), journal.mark()),
           .hides_text = run.outcome.hides_text};
  }
  const std::string id = format_uuid(make_uuid_v7(started_at, around_.random));
  auto seq = co_await browser->record(command_event({.id = id,
                                                     .call = call,
                                                     .outcome = run.outcome,
                                                     .answer = answer,
                                                     .started_at = started_at,
                                                     .capture = is_captured ? id : "",
                                                     .has_log = !log.part.is_empty()},
                                                    redactor_),
                                      call.lease);
  if (!seq) co_return fail(std::move(seq).error());
  answer.seq = *seq;
  commands_.fetch_add(1, std::memory_order_relaxed);
  if (!answer.is_ok) failed_.fetch_add(1, std::memory_order_relaxed);
  browser->note_use();
  browser->note_state(true);
  // After the answer and before the next command: the turn goes with it.
  if (is_captured)
    rt::spawn(background_, capture(browser,
                                   {.name = id,
                                    .tab = run.tab,
                                    .target = std::move(run.outcome.element),
                                    .log = std::move(log)},
                                   std::move(turn)));
  co_return answer;
}

rt::Task<> BrowserService::capture(Held browser, Captured what, rt::Turns::Turn turn) {
  const rt::Turns::Turn held = std::move(turn);
  co_await rt::yield(around_.loop);  // the answer first
  const auto page = what.tab->page;
  const auto& target = what.target;
  if (!what.log.part.is_empty())
    (void)co_await browser->keep(capture_log_path(what.name), "application/json",
                                 command_log_json(what.log, redactor_));
  if (page == nullptr || page->dialog() || page->is_crashed()) co_return;
  const rt::Deadline deadline = rt::Deadline::after(around_.loop, kCapturePatience);
  const auto frames = page->frames();
  if (frames.empty()) co_return;
  for (const FrameInfo& frame : frames)
    (void)co_await page->call(frame.id, "(api) => api.maskSecrets(true)", "null", deadline);
  // An element whose document has gone, or that is not drawn, has no box.
  if (target)
    (void)co_await page->call_on(*target, "(api, element) => api.markTarget(element)", "null",
                                 deadline);
  auto picture = co_await page->picture(
      {.format = "jpeg", .quality = kCaptureQuality, .clip_at = std::nullopt}, deadline);
  for (const FrameInfo& frame : frames)
    (void)co_await page->call(frame.id, "(api) => api.maskSecrets(false)", "null", deadline);
  if (target)
    (void)co_await page->call(target->frame, "(api) => api.markTarget(null)", "null", deadline);
  auto snapshot = co_await take_snapshot(
      *page, {.depth = std::nullopt, .max_bytes = kCaptureSnapshotBytes, .root = {}}, deadline);
  if (picture && picture->bytes.size() <= kMaxCaptureBytes)
    (void)co_await browser->keep(capture_picture_path(what.name), "image/jpeg",
                                 std::move(picture->bytes));
  if (snapshot)
    (void)co_await browser->keep(capture_snapshot_path(what.name), "text/yaml; charset=utf-8",
                                 std::move(snapshot->text));
  captures_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace reprise::browser
