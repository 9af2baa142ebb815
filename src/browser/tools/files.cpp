// Tools that give files to pages: artifacts of the session, and nothing else.
#include <fmt/format.h>

#include <utility>

#include "browser/settle.h"
#include "browser/timing.h"
#include "browser/tools/functions.h"

namespace reprise::browser {
namespace {

// Which files a call names is the caller's fault, and told as an outcome.
rt::Task<Result<std::vector<std::string>>> lent_files(ToolRun& run) {
  std::vector<std::string> artifacts;
  if (const auto paths = run.value("paths"))
    for (const wire::JsonValue path : paths->elements())
      artifacts.push_back(path.as_string().value_or(""));
  const auto context = run.browser.held_context();
  if (context == nullptr) co_return fail(Code::kNoBrowser, "the session has no browser");
  auto lent = co_await run.browser.lender().lend(*context, std::move(artifacts));
  if (lent) co_return lent;
  const Code code = lent.error().code;
  if (code == Code::kArtifactNotFound || code == Code::kBadPath || code == Code::kBodyTooLarge)
    co_return fail(Code::kToolFailed,
                   fmt::format("{}: {}", error_row(code).name, lent.error().detail));
  co_return lent;
}

}  // namespace

rt::Task<Result<>> tool_file_upload(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page(ToolRun::Asking::kFiles));
  const auto chooser = page->file_chooser();
  if (!chooser)
    co_return fail(Code::kToolFailed,
                   "no_file_chooser: the page has not asked for files; click what opens its file "
                   "chooser first");
  if (!run.value("paths")) {
    page->dismiss_file_chooser();
    run.outcome.text = "the file chooser was cancelled";
    co_return Result<>{};
  }
  REPRISE_CO_TRY(std::vector<std::string> files, co_await lent_files(run));
  run.outcome.changes_page = true;
  const std::size_t count = files.size();
  Settling settling = co_await Settling::begin(*page, run.within(kActionTimeout));
  auto set = co_await page->set_files(*chooser, std::move(files), run.within(kActionTimeout));
  if (!set && set.error().code == Code::kBrowserError)
    co_return fail(Code::kToolFailed, set.error().detail);
  if (!set) co_return set;
  co_await settling.wait(run.loop(), run.within(kToolTimeout));
  run.outcome.text = fmt::format("gave {} files to the page", count);
  run.outcome.result = fmt::format(R"({{"files":{}}})", count);
  co_return Result<>{};
}

rt::Task<Result<>> tool_drop(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  REPRISE_CO_TRY(const Element element, co_await run.element(*page));
  DropData data;
  if (const auto items = run.value("data"))
    for (const wire::JsonMember& item : items->members())
      data.items.emplace_back(item.name, item.value.as_string().value_or(""));
  REPRISE_CO_TRY(data.files, co_await lent_files(run));
  if (data.files.empty() && data.items.empty())
    co_return fail(Code::kToolFailed, "nothing_to_drop: give paths of artifacts, or data");
  REPRISE_CO_TRY(const Point at, co_await point_for(run, *page, element, "hover"));
  run.outcome.changes_page = true;
  Settling settling = co_await Settling::begin(*page, run.within(kActionTimeout));
  REPRISE_CO_CHECK(co_await page->drop(at, std::move(data), run.within(kActionTimeout)));
  co_await settling.wait(run.loop(), run.within(kToolTimeout));
  co_return Result<>{};
}

}  // namespace reprise::browser
