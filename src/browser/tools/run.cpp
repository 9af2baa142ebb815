#include "browser/tools/run.h"
#include "browser/frame_path.h"
#include "browser/timing.h"

#include <fmt/format.h>

#include "base/json_text.h"

namespace reprise::browser {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// e12, or f3e12: an element of a snapshot. The part before the e names its document.
std::optional<std::string> prefix_of_ref(std::string_view target) {
  const std::size_t e = target.find('e');
  if (e == std::string_view::npos || !is_digits(target.substr(e + 1))) return std::nullopt;
  const std::string_view prefix = target.substr(0, e);
  if (prefix.empty()) return std::string();
  if (prefix.front() != 'f' || !is_digits(prefix.substr(1))) return std::nullopt;
  return std::string(prefix);
}

}  // namespace

std::optional<std::string> ToolRun::text(std::string_view name) const {
  const auto value = arguments_.find(name);
  return value ? value->as_string() : std::nullopt;
}

bool ToolRun::flag(std::string_view name) const {
  const auto value = arguments_.find(name);
  return value && value->as_bool().value_or(false);
}

std::optional<double> ToolRun::number(std::string_view name) const {
  const auto value = arguments_.find(name);
  return value ? value->as_double() : std::nullopt;
}

rt::Task<Result<Page*>> ToolRun::page(Asking may_ask) {
  REPRISE_CO_TRY(tab, co_await browser.need_active(scope));
  if (tab->page == nullptr) co_return fail(Code::kToolFailed, "the tab has no page");
  Page* found = tab->page.get();
  if (may_ask == Asking::kAnything) co_return found;
  if (found->is_crashed())
    co_return fail(Code::kToolFailed, "crashed: the page has crashed; navigate it anew");
  if (found->dialog())
    co_return fail(Code::kToolFailed,
                   fmt::format("dialog: the page shows a {} \"{}\"; answer it with "
                               "browser_handle_dialog first",
                               found->dialog()->kind, found->dialog()->message));
  if (may_ask != Asking::kFiles && browser.waits_for_files(*found))
    co_return fail(Code::kToolFailed,
                   "file_chooser: the page waits for files; give it some with browser_file_upload, "
                   "or none by leaving out its paths, first");
  co_return found;
}

rt::Task<Result<Element>> ToolRun::element(Page& page, std::string_view argument) {
  REPRISE_CO_TRY(const Element found, co_await find(page, argument));
  co_await note_target(page, found, argument);
  co_return found;
}

rt::Task<Result<Element>> ToolRun::find(Page& page, std::string_view argument) {
  const std::string target = text(argument).value_or("");
  const auto prefix = prefix_of_ref(target);
  const auto frames = page.frames();
  if (frames.empty()) co_return fail(Code::kToolFailed, "the page has no document");
  std::string frame;
  const std::string query = fmt::format(R"({{"ref":{}}})", json_string(target));
  FramedSelector selector;
  if (prefix) {
    for (const FrameInfo& info : frames)
      if (info.ref_prefix == *prefix) frame = info.id;
    if (frame.empty())
      co_return fail(
          Code::kToolFailed,
          fmt::format("stale_ref: {} is of a document that is gone; take a new snapshot", target));
  } else {
    REPRISE_CO_TRY(selector, parse_framed(target));
  }
  const rt::Deadline deadline = within(kActionTimeout);
  // A selector may name what is about to appear.
  for (;;) {
    auto found = prefix ? co_await page.find(frame, "(api, query) => api.resolve(query)", query,
                                             within(kActionTimeout))
                        : co_await find_framed(page, selector, within(kActionTimeout));
    if (found) {
      outcome.element = *found;
      co_return found;
    }
    const bool may_come = !prefix && found.error().detail.starts_with("not_found:");
    if (!may_come || deadline.has_passed(loop())) co_return found;
    (void)co_await rt::sleep_for(loop(), kLookAgain, scope);
    if (scope.is_cancelled()) co_return fail(scope.reason());
  }
}

rt::Task<> ToolRun::note_target(Page& page, Element element, std::string_view argument) {
  outcome.element = element;
  auto told = co_await page.call_on(element, "(api, element) => api.describe(element)", "null",
                                    within(kActionTimeout));
  if (told) co_await tell(page, std::move(element), std::move(*told), argument);
}

rt::Task<> ToolRun::tell(Page& page, Element element, std::string description,
                         std::string_view argument) {
  // In a frame it is found again only by way of it.
  const auto frames = page.frames();
  if (!frames.empty() && frames.front().id != element.frame)
    description = with_frames(
        std::move(description),
        co_await describe_frames(page, std::move(element.frame), within(kActionTimeout)));
  outcome.targets.emplace_back(argument, description);
  outcome.target = std::move(description);
}

}  // namespace reprise::browser
