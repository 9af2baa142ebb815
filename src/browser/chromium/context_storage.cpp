// What the sites of a context keep: cookies, which the browser tells, and local storage, which only
// frames do.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json_text.h"
#include "browser/chromium/browser.h"
#include "browser/chromium/cookies.h"
#include "browser/chromium/storage_page.h"
#include "browser/limits.h"

namespace reprise::browser::chromium {

rt::Task<Result<std::vector<Cookie>>> ChromiumContext::cookies(rt::Deadline deadline) {
  REPRISE_CO_TRY(const CdpReply reply,
                 co_await browser_->connection().call(
                     "", "Storage.getCookies", fmt::format(R"({{"browserContextId":"{}"}})", name_),
                     deadline));
  const auto all = reply.result().find("cookies");
  co_return all ? read_cookies(*all) : std::vector<Cookie>();
}

rt::Task<Result<>> ChromiumContext::set_cookies(std::vector<Cookie> cookies,
                                                rt::Deadline deadline) {
  if (cookies.empty()) co_return Result<>{};
  auto reply = co_await browser_->connection().call(
      "", "Storage.setCookies",
      fmt::format(R"({{"browserContextId":"{}","cookies":{}}})", name_, cookie_params(cookies)),
      deadline);
  if (!reply && reply.error().code == Code::kBrowserError)
    co_return fail(Code::kToolFailed,
                   "the browser does not take the cookies: " + reply.error().detail);
  if (!reply) co_return fail(std::move(reply).error());
  co_return Result<>{};
}

rt::Task<Result<>> ChromiumContext::clear_cookies(rt::Deadline deadline) {
  REPRISE_CO_CHECK(co_await browser_->connection().call(
      "", "Storage.clearCookies", fmt::format(R"({{"browserContextId":"{}"}})", name_), deadline));
  co_return Result<>{};
}

void ChromiumContext::page_shows(std::string_view url) {
  std::string origin = origin_of_url(url);
  if (!origin.empty() && unread_origins_.size() < kMaxStateOrigins)
    unread_origins_.insert(std::move(origin));
}

// Pages of our own are told apart from those of others who make pages in the same context by the
// answer to the request: until it is there, new pages wait.
rt::Task<Result<std::unique_ptr<StoragePage>>> ChromiumContext::open_storage_page(
    rt::Deadline deadline) {
  rt::CancelScope scope;
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await creating_.take(scope, deadline));
  held_births_.emplace();
  auto reply = co_await browser_->connection().call(
      "", "Target.createTarget",
      fmt::format(R"({{"url":"about:blank","browserContextId":"{}","background":true}})", name_),
      deadline);
  const std::string target = reply ? reply->text("targetId") : "";
  std::unique_ptr<StoragePage> page;
  std::vector<PageBirth> births = std::move(*held_births_);
  held_births_.reset();
  for (PageBirth& birth : births) {
    if (reply && birth.target == target)
      page = std::make_unique<StoragePage>(browser_->connection(), birth.target, birth.session);
    else
      page_attached(std::move(birth));
  }
  if (!reply) co_return fail(std::move(reply).error());
  if (page == nullptr) co_return fail(Code::kBrowserError, "the page closed at once");
  storage_page_ = page.get();
  auto prepared = co_await page->prepare(deadline);
  if (prepared) co_return page;
  close_storage_page(std::move(page));
  co_return fail(std::move(prepared).error());
}

void ChromiumContext::close_storage_page(std::unique_ptr<StoragePage> page) {
  storage_page_ = nullptr;
  browser_->connection().send("", "Target.closeTarget",
                              fmt::format(R"({{"targetId":"{}"}})", page->target()));
}

rt::Task<Result<std::vector<OriginStorage>>> ChromiumContext::local_storage(bool is_complete,
                                                                            rt::Deadline deadline) {
  rt::CancelScope scope;
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await storage_turns_.take(scope, deadline));
  std::set<std::string> wanted = std::exchange(unread_origins_, {});
  std::vector<OriginStorage> found;
  const auto pages = pages_;
  for (const auto& [target, page] : pages) {
    // What is shown may change again before it goes.
    page_shows(page->url());
    if (page->is_crashed() || page->dialog()) continue;
    for (const auto& [origin, session] : page->shown_origins()) {
      if (std::ranges::find(found, origin, &OriginStorage::origin) != found.end()) continue;
      REPRISE_CO_TRY(auto items,
                     co_await shown_storage(browser_->connection(), session, origin, deadline));
      if (!items) continue;
      wanted.erase(origin);
      found.push_back({.origin = origin, .items = std::move(*items)});
    }
  }
  if (!is_complete) unread_origins_.merge(wanted);
  if (!is_complete || wanted.empty()) co_return found;
  if (scope_->has_clients()) {
    // They would be shown the page that nobody is to see: it is opened when they have gone.
    unread_origins_.merge(wanted);
    co_return found;
  }
  auto page = co_await open_storage_page(deadline);
  Result<> read;
  if (page)
    for (const std::string& origin : wanted) {
      auto items = co_await (*page)->read(origin, deadline);
      if (!items) {
        read = fail(std::move(items).error());
        break;
      }
      if (*items) found.push_back({.origin = origin, .items = std::move(**items)});
    }
  else
    read = fail(page.error());
  if (page) close_storage_page(std::move(*page));
  // They are asked for again the next time.
  if (!read) unread_origins_.merge(wanted);
  if (!read) co_return fail(std::move(read).error());
  co_return found;
}

rt::Task<Result<>> ChromiumContext::set_local_storage(std::vector<OriginStorage> origins,
                                                      rt::Deadline deadline) {
  if (origins.empty()) co_return Result<>{};
  rt::CancelScope scope;
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await storage_turns_.take(scope, deadline));
  REPRISE_CO_TRY(auto page, co_await open_storage_page(deadline));
  Result<> written;
  for (OriginStorage& storage : origins) {
    written = co_await page->replace(std::move(storage), deadline);
    if (!written) break;
  }
  close_storage_page(std::move(page));
  co_return written;
}

}  // namespace reprise::browser::chromium
