#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json_text.h"
#include "base/log.h"
#include "browser/chromium/browser.h"
#include "browser/chromium/client.h"
#include "browser/chromium/json_access.h"
#include "browser/chromium/storage_page.h"
#include "browser/timing.h"

namespace reprise::browser::chromium {

ChromiumContext::ChromiumContext(std::shared_ptr<ChromiumBrowser> browser, std::string name,
                                 ContextOptions options, ContextEvents& events)
    : browser_(std::move(browser)),
      name_(std::move(name)),
      options_(std::move(options)),
      events_(events),
      scope_(std::make_shared<SessionScope>(name_)),
      creating_(browser_->connection().loop()),
      storage_turns_(browser_->connection().loop()) {}

ChromiumContext::~ChromiumContext() {
  browser_->forget(*this);
  for (const auto& [target, page] : pages_) page->gone();
}

void ChromiumContext::page_attached(PageBirth birth) {
  if (pages_.contains(birth.target)) return;
  if (held_births_ && birth.opener.empty()) {
    held_births_->push_back(std::move(birth));
    return;
  }
  const std::string target = birth.target;
  auto page =
      std::make_shared<ChromiumPage>(browser_->connection(), *this, options_, std::move(birth));
  pages_.emplace(target, page);
  preparing_.emplace(target, std::make_shared<rt::Signal>(browser_->connection().loop()));
  rt::spawn(browser_->gate(), prepare(page));
}

// The page holds on to its context's options: the context outlives its gate's tasks because the
// session that owns it waits for them (Context::close).
rt::Task<> ChromiumContext::prepare(std::shared_ptr<ChromiumPage> page) {
  const std::string target = page->target();
  const auto ready = preparing_.at(target);
  const auto prepared =
      co_await page->prepare(rt::Deadline::after(browser_->connection().loop(), kPagePatience));
  if (!prepared && !page->is_closed())
    log::warning("a page could not be prepared", {{"detail", prepared.error().detail}});
  if (!is_closed_ && !page->is_closed()) events_.on_page_opened(page);
  preparing_.erase(target);
  ready->notify();
}

void ChromiumContext::page_detached(const std::string& target) {
  if (held_births_)
    std::erase_if(*held_births_, [&](const PageBirth& birth) { return birth.target == target; });
  if (storage_page_ != nullptr && storage_page_->target() == target) storage_page_->gone();
  const auto found = pages_.find(target);
  if (found == pages_.end()) return;
  const auto page = found->second;
  pages_.erase(found);
  page->gone();
  if (!is_closed_) events_.on_page_closed(*page);
}

void ChromiumContext::page_moved(const std::string& target, std::string url) {
  const auto found = pages_.find(target);
  if (found != pages_.end()) found->second->moved_to(std::move(url));
}

void ChromiumContext::page_crashed(const std::string& target) {
  const auto found = pages_.find(target);
  if (found != pages_.end()) found->second->crashed();
}

void ChromiumContext::page_changed(Page& page) {
  // One that is being prepared has not been told of.
  if (!is_closed_ && !preparing_.contains(page.target())) events_.on_page_changed(page);
}

void ChromiumContext::page_asks(Page& page) {
  if (!is_closed_) events_.on_dialog(page);
}

void ChromiumContext::lost() {
  if (std::exchange(is_closed_, true)) return;
  for (const auto& [target, page] : pages_) page->gone();
  events_.on_lost();
}

bool ChromiumContext::has_frame(const std::string& frame) const {
  return std::ranges::any_of(pages_,
                             [&](const auto& entry) { return entry.second->has_frame(frame); });
}

void ChromiumContext::download(const DownloadNews& news) {
  has_files_ = true;
  if (!is_closed_) events_.on_download(news);
}

rt::Task<Result<rt::Descriptor>> ChromiumContext::take_download(std::string id) {
  co_return co_await browser_->pool().run(browser_->connection().loop(),
                                          [files = browser_->files(), context = name_, id] {
                                            return files->take_download(context, id);
                                          });
}

void ChromiumContext::cancel_download(const std::string& id) {
  browser_->connection().send(
      "", "Browser.cancelDownload",
      fmt::format(R"({{"guid":{},"browserContextId":"{}"}})", json_string(id), name_));
}

void ChromiumContext::renew_downloads() {
  browser_->connection().send(
      "", "Browser.setDownloadBehavior",
      options_.accepts_downloads
          ? fmt::format(R"({{"behavior":"allowAndName","downloadPath":{},"eventsEnabled":true,)"
                        R"("browserContextId":"{}"}})",
                        json_string(download_directory()), name_)
          : fmt::format(R"({{"behavior":"deny","browserContextId":"{}"}})", name_));
}

std::string ChromiumContext::download_directory() const {
  return browser_->files()->downloads_of(name_).string();
}

rt::Task<Result<LentFile>> ChromiumContext::lend_file(std::string name) {
  if (is_closed_) co_return fail(Code::kBrowserGone, "the context is closed");
  has_files_ = true;
  co_return co_await browser_->pool().run(
      browser_->connection().loop(),
      [files = browser_->files(), context = name_, name] { return files->lend(context, name); });
}

rt::Task<Result<std::shared_ptr<Page>>> ChromiumContext::open(std::string url,
                                                              rt::Deadline deadline) {
  rt::CancelScope scope;
  REPRISE_CO_TRY(std::string target, co_await create(std::move(url), deadline));
  for (auto found = preparing_.find(target); found != preparing_.end();
       found = preparing_.find(target)) {
    const auto ready = found->second;
    REPRISE_CO_CHECK(co_await ready->wait(scope, deadline));
  }
  const auto page = pages_.find(target);
  if (page == pages_.end()) co_return fail(Code::kBrowserError, "the page closed at once");
  co_return std::shared_ptr<Page>(page->second);
}

rt::Task<> ChromiumContext::pages_told(rt::Deadline deadline) {
  rt::CancelScope scope;
  while (!preparing_.empty() && !deadline.has_passed(browser_->connection().loop())) {
    const auto ready = preparing_.begin()->second;
    (void)co_await ready->wait(scope, deadline);
  }
}

rt::Task<Result<std::string>> ChromiumContext::create(std::string url, rt::Deadline deadline) {
  rt::CancelScope scope;
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await creating_.take(scope, deadline));
  REPRISE_CO_TRY(
      const CdpReply reply,
      co_await browser_->connection().call(
          "", "Target.createTarget",
          fmt::format(R"({{"url":{},"browserContextId":"{}","width":{},"height":{}}})",
                      json_string(url), name_, options_.viewport.width, options_.viewport.height),
          deadline));
  co_return reply.text("targetId");
}

std::optional<ProtocolAddress> ChromiumContext::protocol_address() const {
  const auto& devtools = browser_->devtools();
  if (!devtools) return std::nullopt;
  return ProtocolAddress{.port = devtools->port, .path = devtools->path};
}

std::unique_ptr<ProtocolClient> ChromiumContext::admit(ProtocolHooks hooks) {
  return std::make_unique<ChromiumClient>(browser_, scope_, options_.proxy_server,
                                          std::move(hooks));
}

rt::Task<Result<>> ChromiumContext::close(rt::Deadline deadline) {
  const bool was_closed = std::exchange(is_closed_, true);
  Result<> outcome;
  if (!was_closed) {
    // What clients have made for themselves goes with the session.
    for (const std::string& sub : scope_->sub_contexts())
      browser_->connection().send("", "Target.disposeBrowserContext",
                                  fmt::format(R"({{"browserContextId":"{}"}})", sub));
    auto reply = co_await browser_->connection().call(
        "", "Target.disposeBrowserContext", fmt::format(R"({{"browserContextId":"{}"}})", name_),
        deadline);
    if (!reply && reply.error().code != Code::kBrowserGone)
      outcome = fail(std::move(reply).error());
  }
  for (const auto& [target, page] : pages_) page->gone();
  rt::CancelScope scope;
  while (!preparing_.empty()) {
    const auto ready = preparing_.begin()->second;
    REPRISE_CO_CHECK(co_await ready->wait(scope));
  }
  if (std::exchange(has_files_, false)) {
    const auto removed = co_await browser_->pool().run(
        browser_->connection().loop(),
        [files = browser_->files(), context = name_] { return files->forget(context); });
    if (!removed)
      log::warning("a context's files could not be removed", {{"detail", removed.error().detail}});
  }
  co_return outcome;
}

}  // namespace reprise::browser::chromium
