// Tools that go places, and wait.
#include <fmt/format.h>

#include <cmath>

#include "base/json_text.h"
#include "browser/limits.h"
#include "browser/settle.h"
#include "browser/timing.h"
#include "browser/tools/functions.h"

namespace reprise::browser {
namespace {

// What people leave out: https, or http for their own machine.
std::string with_scheme(std::string url) {
  const std::size_t colon = url.find(':');
  const bool has_scheme = url.find("://") != std::string::npos || url.starts_with("about:") ||
                          url.starts_with("data:") || url.starts_with("blob:") ||
                          url.starts_with("javascript:") || url.starts_with("file:") ||
                          url.starts_with("chrome:") || url.starts_with("view-source:");
  if (has_scheme) return url;
  const std::string host = url.substr(0, std::min(colon, url.find('/')));
  const bool is_local = host == "localhost" || host.starts_with("127.") || url.starts_with("[::1]");
  return (is_local ? "http://" : "https://") + url;
}

std::string tab_line(std::size_t number, const Tab& tab, bool is_active) {
  return fmt::format("- {}: {}[{}]({})\n", number, is_active ? "(current) " : "", tab.facts.title,
                     tab.facts.url);
}

void list_tabs(ToolRun& run) {
  std::string json = "[";
  std::string text;
  const auto active = run.browser.active();
  for (std::size_t i = 0; i < run.browser.tabs().size(); ++i) {
    const Tab& tab = *run.browser.tabs()[i];
    const bool is_active = active != nullptr && &tab == active.get();
    if (i > 0) json += ',';
    json += fmt::format(R"({{"index":{},"tabId":"{}","url":{},"title":{},"isActive":{}}})", i,
                        tab.facts.id.to_string(), json_string(tab.facts.url),
                        json_string(tab.facts.title), is_active);
    text += tab_line(i, tab, is_active);
  }
  run.outcome.result = json + ']';
  run.outcome.text = std::move(text);
}

Result<std::shared_ptr<Tab>> tab_by_index(ToolRun& run) {
  if (run.named_tab) {
    auto named = run.browser.tab(*run.named_tab);
    if (named == nullptr)
      return fail(Code::kToolFailed,
                  fmt::format("there is no open tab {}", run.named_tab->to_string()));
    return named;
  }
  const auto index = run.number("index");
  const auto& tabs = run.browser.tabs();
  if (!index) {
    auto active = run.browser.active();
    if (active == nullptr) return fail(Code::kToolFailed, "no tab is open");
    return active;
  }
  if (*index < 0 || *index >= static_cast<double>(tabs.size()))
    return fail(Code::kToolFailed,
                fmt::format("there is no tab {}: {} are open", *index, tabs.size()));
  return tabs[static_cast<std::size_t>(*index)];
}

// Why nothing was loaded. The browser knows no more than that its proxy did not bring it; the proxy
// knows why.
Error why_not_there(const TroubleLog& troubles, const Navigation& went, const std::string& url,
                    std::uint64_t since) {
  const std::string& at = went.failed_url.empty() ? url : went.failed_url;
  const auto why = troubles.find(at, since);
  if (!why) return {Code::kToolFailed, fmt::format("navigation: {} at {}", went.error, at)};
  if (why->code == Code::kUrlRefused) return *why;
  return {Code::kToolFailed,
          fmt::format("net_error: {} could not be reached: {}", at, why->detail)};
}

}  // namespace

rt::Task<Result<>> tool_navigate(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page(ToolRun::Asking::kAnything));
  run.outcome.changes_page = true;
  const std::string url = with_scheme(run.text("url").value_or(""));
  // What the proxy cannot see: schemes. The rest it sees again, when it knows the address.
  const Outside& outside = run.browser.around().outside;
  REPRISE_CO_CHECK(check_url(run.browser.policy(), outside.ports, url));
  const std::uint64_t before = run.browser.troubles().count();
  REPRISE_CO_TRY(const Navigation went,
                 co_await page->navigate(url, run.within(kNavigationTimeout)));
  if (!went.error.empty()) co_return fail(why_not_there(run.browser.troubles(), went, url, before));
  run.outcome.result = fmt::format(
      R"({{"url":{},"title":{},"httpStatus":{},"isDownload":{}}})", json_string(page->url()),
      json_string(page->title()), went.http_status == 0 ? "null" : fmt::to_string(went.http_status),
      went.is_download);
  co_return Result<>{};
}

rt::Task<Result<>> tool_navigate_back(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  run.outcome.changes_page = true;
  REPRISE_CO_TRY(const bool went, co_await page->go(-1, run.within(kNavigationTimeout)));
  if (!went) co_return fail(Code::kToolFailed, "there is no page to go back to");
  run.outcome.result = fmt::format(R"({{"url":{}}})", json_string(page->url()));
  co_return Result<>{};
}

rt::Task<Result<>> tool_navigate_forward(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  run.outcome.changes_page = true;
  REPRISE_CO_TRY(const bool went, co_await page->go(1, run.within(kNavigationTimeout)));
  if (!went) co_return fail(Code::kToolFailed, "there is no page to go forward to");
  run.outcome.result = fmt::format(R"({{"url":{}}})", json_string(page->url()));
  co_return Result<>{};
}

rt::Task<Result<>> tool_reload(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page(ToolRun::Asking::kAnything));
  run.outcome.changes_page = true;
  REPRISE_CO_CHECK(co_await page->reload(run.within(kNavigationTimeout)));
  run.outcome.result = fmt::format(R"({{"url":{}}})", json_string(page->url()));
  co_return Result<>{};
}

rt::Task<Result<>> tool_close(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page(ToolRun::Asking::kAnything));
  (void)page;
  REPRISE_CO_CHECK(co_await run.browser.close_tab(run.tab));
  list_tabs(run);
  co_return Result<>{};
}

rt::Task<Result<>> tool_resize(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  run.outcome.changes_page = true;
  Viewport viewport = run.browser.options().context.viewport;
  viewport.width = static_cast<unsigned>(run.number("width").value_or(viewport.width));
  viewport.height = static_cast<unsigned>(run.number("height").value_or(viewport.height));
  co_return co_await page->resize(viewport, run.within(kActionTimeout));
}

rt::Task<Result<>> tool_tabs(ToolRun& run) {
  const std::string action = run.text("action").value_or("list");
  if (action == "new") {
    // A session without a browser gets one with its first tab.
    const bool was_open = run.browser.is_open();
    REPRISE_CO_CHECK(co_await run.browser.open(run.scope));
    if (was_open || run.browser.active() == nullptr)
      REPRISE_CO_CHECK(co_await run.browser.open_tab("about:blank"));
    run.tab = run.browser.active();
    if (const auto url = run.text("url")) REPRISE_CO_CHECK(co_await tool_navigate(run));
  } else {
    REPRISE_CO_CHECK(co_await run.browser.open(run.scope));
  }
  if (action == "close") {
    REPRISE_CO_TRY(run.tab, tab_by_index(run));
    REPRISE_CO_CHECK(co_await run.browser.close_tab(run.tab));
  }
  if (action == "select") {
    REPRISE_CO_TRY(run.tab, tab_by_index(run));
    REPRISE_CO_CHECK(co_await run.browser.activate(run.tab));
  }
  list_tabs(run);
  co_return Result<>{};
}

rt::Task<Result<>> tool_handle_dialog(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page(ToolRun::Asking::kAnything));
  if (!page->dialog()) co_return fail(Code::kToolFailed, "no dialog is open");
  run.outcome.changes_page = true;
  run.outcome.result =
      fmt::format(R"({{"kind":{},"message":{}}})", json_string(page->dialog()->kind),
                  json_string(page->dialog()->message));
  Settling settling = co_await Settling::begin(*page, run.within(kActionTimeout));
  REPRISE_CO_CHECK(co_await page->answer_dialog(run.flag("accept"), run.text("promptText"),
                                                run.within(kActionTimeout)));
  co_await settling.wait(run.loop(), run.within(kToolTimeout));
  co_return Result<>{};
}

rt::Task<Result<>> tool_wait_for(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page(ToolRun::Asking::kFiles));
  if (const auto seconds = run.number("time")) {
    const double capped = std::min(std::max(*seconds, 0.0), kMaxWaitSeconds);
    REPRISE_CO_CHECK(co_await rt::sleep_for(
        run.loop(), Millis{static_cast<std::int64_t>(std::lround(capped * 1000))}, run.scope));
  }
  for (const bool is_wanted : {true, false}) {
    const auto text = run.text(is_wanted ? "text" : "textGone");
    if (!text) continue;
    const rt::Deadline deadline = run.within(kWaitForText);
    for (;;) {
      const auto frames = page->frames();
      auto seen = co_await page->call(
          frames.front().id, "(api, text) => (document.body?.innerText ?? '').includes(text)",
          json_string(*text), deadline);
      if (seen && (*seen == "true") == is_wanted) break;
      if (page->is_closed()) co_return fail(Code::kToolFailed, "the page was closed");
      if (deadline.has_passed(run.loop()))
        co_return fail(Code::kToolFailed, fmt::format("timeout: the text \"{}\" {} in time", *text,
                                                      is_wanted ? "did not appear" : "did not go"));
      REPRISE_CO_CHECK(co_await rt::sleep_for(run.loop(), kLookAgain, run.scope));
    }
  }
  co_return Result<>{};
}

rt::Task<Result<>> tool_emulate_media(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  run.outcome.changes_page = true;
  std::string features;
  const auto add = [&](std::string_view argument, std::string_view feature) {
    const auto value = run.value(argument);
    if (!value) return;
    if (!features.empty()) features += ',';
    features += fmt::format(R"({{"name":"{}","value":{}}})", feature,
                            json_string(value->as_string().value_or("")));
  };
  add("colorScheme", "prefers-color-scheme");
  add("reducedMotion", "prefers-reduced-motion");
  add("forcedColors", "forced-colors");
  add("contrast", "prefers-contrast");
  std::string params = fmt::format(R"({{"features":[{}])", features);
  if (const auto media = run.value("media"))
    params += fmt::format(R"(,"media":{})", json_string(media->as_string().value_or("")));
  co_return co_await page->emulate_media(params + '}', run.within(kActionTimeout));
}

}  // namespace reprise::browser
