// Going places, and waiting until a page is there.
#include <fmt/format.h>

#include "base/json_text.h"
#include "browser/chromium/json_access.h"
#include "browser/chromium/page.h"
#include "browser/timing.h"

namespace reprise::browser::chromium {

// Until the document that `wanted` names, or one that came after it, has its content; or the page
// asks something, which stops it.
rt::Task<Result<>> ChromiumPage::wait_for_document(std::string old_loader, std::string wanted,
                                                   rt::Deadline deadline) {
  for (;;) {
    const Frame* main = frames_.main();
    const bool is_new =
        main != nullptr &&
        (main->loader == wanted || (main->loader != old_loader && main->loader != failed_));
    if ((is_new && main->is_content_loaded) || dialog_) co_return Result<>{};
    REPRISE_CO_CHECK(co_await usable());
    const auto waited = co_await changed_.wait(scope_, deadline);
    if (!waited && waited.error().code == Code::kDeadline)
      co_return fail(Code::kToolFailed, "timeout: the document did not come in time");
    if (!waited) co_return waited;
  }
}

// The rest of the document, as long as it is worth waiting for.
rt::Task<Result<>> ChromiumPage::wait_for_load(rt::Deadline deadline) {
  for (;;) {
    const Frame* main = frames_.main();
    if (main == nullptr || main->is_loaded || dialog_ || is_crashed_) co_return Result<>{};
    const auto waited = co_await changed_.wait(scope_, deadline);
    if (!waited && waited.error().code == Code::kDeadline) co_return Result<>{};
    if (!waited) co_return waited;
  }
}

// What the browser shows in place of a document that did not come. It comes a moment later than the
// news, and would be taken for what the next command leads to.
rt::Task<> ChromiumPage::wait_for_error_page(std::string loader) {
  const rt::Deadline soon = rt::Deadline::after(connection_.loop(), kErrorPagePatience);
  for (bool is_over = loader.empty(); !is_over;) {
    const Frame* main = frames_.main();
    if (main == nullptr || is_closed_ || dialog_) co_return;
    if (main->loader == loader && main->is_content_loaded) co_return;
    is_over = !(co_await changed_.wait(scope_, soon)).has_value();
  }
}

rt::Task<Result<Navigation>> ChromiumPage::navigate(std::string url, rt::Deadline deadline) {
  if (is_closed_) co_return fail(Code::kToolFailed, "the page was closed");
  const Frame* main = frames_.main();
  const std::string old_loader = main == nullptr ? "" : main->loader;
  auto reply = co_await connection_.call(
      session_, "Page.navigate", fmt::format(R"({{"url":{}}})", json_string(url)), deadline);
  if (!reply && reply.error().code == Code::kBrowserError)
    co_return fail(Code::kToolFailed, reply.error().detail);
  if (!reply) co_return fail(std::move(reply).error());
  const std::string loader = reply->text("loaderId");
  Navigation outcome{.error = reply->text("errorText"),
                     .failed_url = traffic_.document_url(loader),
                     .is_download = is_set(reply->result(), "isDownload")};
  if (outcome.is_download) outcome.error.clear();
  if (!outcome.error.empty()) {
    failed_ = loader;
    co_await wait_for_error_page(loader);
    co_return outcome;
  }
  // Without a loader it was a move within the document.
  if (outcome.is_download || loader.empty()) co_return outcome;
  REPRISE_CO_CHECK(co_await wait_for_document(old_loader, loader, deadline));
  const rt::Deadline patience = rt::Deadline::after(connection_.loop(), kLoadPatience);
  REPRISE_CO_CHECK(co_await wait_for_load(patience.at() < deadline.at() ? patience : deadline));
  co_await read_title();
  const Frame* now = frames_.main();
  outcome.http_status = traffic_.document_status(now == nullptr ? loader : now->loader);
  co_return outcome;
}

void ChromiumPage::stop_loading() {
  if (!is_closed_) connection_.send(session_, "Page.stopLoading");
}

rt::Task<> ChromiumPage::read_title() {
  if (is_closed_ || is_crashed_ || dialog_) co_return;
  const auto reply = co_await connection_.call(
      session_, "Runtime.evaluate",
      R"({"expression":"document.title","returnByValue":true,"silent":true})",
      rt::Deadline::after(connection_.loop(), kTitlePatience));
  const auto told = reply ? reply->result().find("result") : std::nullopt;
  if (const auto value = told ? told->find("value") : std::nullopt) note_title(*value);
}

rt::Task<Result<bool>> ChromiumPage::go(int by, rt::Deadline deadline) {
  REPRISE_CO_TRY(const CdpReply history,
                 co_await connection_.call(session_, "Page.getNavigationHistory", "{}", deadline));
  const auto entries = history.result().find("entries");
  const int wanted = number_of(history.result(), "currentIndex") + by;
  const auto all = entries ? entries->elements() : std::vector<wire::JsonValue>{};
  if (wanted < 0 || wanted >= static_cast<int>(all.size())) co_return false;
  const Frame* main = frames_.main();
  const std::string old_loader = main == nullptr ? "" : main->loader;
  const std::uint64_t navigations = navigations_;
  REPRISE_CO_CHECK(co_await connection_.call(
      session_, "Page.navigateToHistoryEntry",
      fmt::format(R"({{"entryId":{}}})", number_of(all[static_cast<std::size_t>(wanted)], "id")),
      deadline));
  // A move within the document begins no navigation. One that does has begun within this time.
  const rt::Deadline soon = rt::Deadline::after(connection_.loop(), kHistoryPatience);
  for (bool is_over = false; !is_over && navigations == navigations_;)
    is_over = !(co_await changed_.wait(scope_, soon)).has_value();
  if (navigations == navigations_) co_return true;
  REPRISE_CO_CHECK(co_await wait_for_document(old_loader, "", deadline));
  co_await read_title();
  co_return true;
}

rt::Task<Result<>> ChromiumPage::reload(rt::Deadline deadline) {
  if (is_closed_) co_return fail(Code::kToolFailed, "the page was closed");
  const Frame* main = frames_.main();
  const std::string old_loader = main == nullptr ? "" : main->loader;
  REPRISE_CO_CHECK(co_await connection_.call(session_, "Page.reload", "{}", deadline));
  REPRISE_CO_CHECK(co_await wait_for_document(old_loader, "", deadline));
  const rt::Deadline patience = rt::Deadline::after(connection_.loop(), kLoadPatience);
  co_return co_await wait_for_load(patience.at() < deadline.at() ? patience : deadline);
}

rt::Task<Result<>> ChromiumPage::close(rt::Deadline deadline) {
  if (is_closed_) co_return Result<>{};
  auto reply = co_await connection_.call("", "Target.closeTarget",
                                         fmt::format(R"({{"targetId":"{}"}})", target_), deadline);
  if (!reply && reply.error().code != Code::kBrowserError) co_return fail(std::move(reply).error());
  // It is told of as gone by an event.
  while (!is_closed_) {
    const auto waited = co_await changed_.wait(scope_, deadline);
    if (!waited && !is_closed_) co_return waited;
  }
  co_return Result<>{};
}

rt::Task<Result<>> ChromiumPage::bring_to_front(rt::Deadline deadline) {
  REPRISE_CO_CHECK(co_await connection_.call(session_, "Page.bringToFront", "{}", deadline));
  co_return Result<>{};
}

rt::Task<Result<>> ChromiumPage::answer_dialog(bool is_accepted, std::optional<std::string> text,
                                               rt::Deadline deadline) {
  if (!dialog_) co_return fail(Code::kToolFailed, "no dialog is open");
  REPRISE_CO_CHECK(co_await connection_.call(
      session_, "Page.handleJavaScriptDialog",
      fmt::format(R"({{"accept":{}{}}})", is_accepted,
                  text ? fmt::format(R"(,"promptText":{})", json_string(*text)) : ""),
      deadline));
  dialog_.reset();
  co_return Result<>{};
}

}  // namespace reprise::browser::chromium
