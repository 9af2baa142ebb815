// Tools for what sites keep in the browser. Values are secrets: they are answered, and never
// recorded.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json_text.h"
#include "browser/limits.h"
#include "browser/timing.h"
#include "browser/tools/functions.h"
#include "model/artifact.h"
#include "wire/url.h"

namespace reprise::browser {
namespace {

constexpr double kLongAgo = 1;  // seconds since 1970

// The context, open.
rt::Task<Result<std::shared_ptr<Context>>> context_of(ToolRun& run) {
  REPRISE_CO_TRY(run.tab, co_await run.browser.need_active(run.scope));
  auto context = run.browser.held_context();
  if (context == nullptr) co_return fail(Code::kNoBrowser, "the session has no browser");
  co_return context;
}

void tell_cookies(ToolRun& run, const std::vector<Cookie>& cookies) {
  std::string list;
  for (const Cookie& cookie : cookies) {
    if (!list.empty()) list += ',';
    list += cookie_json(cookie);
    run.outcome.text += fmt::format("{}={} (domain: {}, path: {})\n", cookie.name, cookie.value,
                                    cookie.domain, cookie.path);
  }
  if (cookies.empty()) run.outcome.text = "no cookies";
  run.outcome.result = fmt::format(R"({{"cookies":[{}]}})", list);
}

bool is_of_domain(const Cookie& cookie, std::string_view domain) {
  std::string_view own = cookie.domain;
  if (own.starts_with('.')) own.remove_prefix(1);
  if (domain.starts_with('.')) domain.remove_prefix(1);
  return own == domain ||
         (own.ends_with(domain) && own.substr(0, own.size() - domain.size()).ends_with('.'));
}

rt::Task<Result<std::vector<Cookie>>> cookies_of(ToolRun& run, const auto& is_wanted) {
  REPRISE_CO_TRY(const auto context, co_await context_of(run));
  REPRISE_CO_TRY(auto cookies, co_await context->cookies(run.within(kActionTimeout)));
  std::erase_if(cookies, [&](const Cookie& cookie) { return !is_wanted(cookie); });
  co_return cookies;
}

// Calls a function of (storage, argument) on the page's local or session storage.
rt::Task<Result<std::string>> on_storage(ToolRun& run, bool is_local, std::string_view function) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  const auto frames = page->frames();
  if (frames.empty()) co_return fail(Code::kToolFailed, "the page has no document");
  const auto key = run.text("key");
  const auto value = run.text("value");
  const std::string argument = fmt::format(
      R"({{"key":{},"value":{}}})", json_string(key.value_or("")), json_string(value.value_or("")));
  auto answer = co_await page->call(
      frames.front().id,
      fmt::format("(api, argument) => {{ let storage; try {{ storage = {}; }} catch (error) {{ "
                  "throw new Error('no_storage: the page is not of an origin that keeps "
                  "anything'); }} return ({})(storage, argument); }}",
                  is_local ? "localStorage" : "sessionStorage", function),
      argument, run.within(kActionTimeout));
  co_return answer;
}

rt::Task<Result<>> list_storage(ToolRun& run, bool is_local) {
  REPRISE_CO_TRY(const std::string json,
                 co_await on_storage(run, is_local,
                                     "storage => Object.keys(storage).map(key => ({key, value: "
                                     "storage.getItem(key)}))"));
  REPRISE_CO_TRY(const auto items, wire::parse_json(json));
  for (const wire::JsonValue item : items.root().elements()) {
    const auto text = [&](std::string_view name) {
      const auto value = item.find(name);
      return value ? value->as_string().value_or("") : std::string();
    };
    run.outcome.text += fmt::format("{}={}\n", text("key"), text("value"));
  }
  if (run.outcome.text.empty()) run.outcome.text = "nothing is stored";
  run.outcome.result = fmt::format(R"({{"items":{}}})", json);
  co_return Result<>{};
}

rt::Task<Result<>> get_storage(ToolRun& run, bool is_local) {
  REPRISE_CO_TRY(
      const std::string json,
      co_await on_storage(run, is_local, "(storage, argument) => storage.getItem(argument.key)"));
  REPRISE_CO_TRY(const auto value, wire::parse_json(json));
  run.outcome.text = value.root().as_string().value_or("there is no such item");
  run.outcome.result = fmt::format(R"({{"value":{}}})", json);
  co_return Result<>{};
}

rt::Task<Result<>> change_storage(ToolRun& run, bool is_local, std::string_view function) {
  run.outcome.hides_text = true;
  REPRISE_CO_CHECK(co_await on_storage(run, is_local, function));
  run.outcome.text = "done";
  co_return Result<>{};
}

constexpr std::string_view kSet =
    "(storage, argument) => { storage.setItem(argument.key, argument.value); }";
constexpr std::string_view kDelete = "(storage, argument) => { storage.removeItem(argument.key); }";
constexpr std::string_view kClear = "storage => { storage.clear(); }";

}  // namespace

rt::Task<Result<>> tool_cookie_list(ToolRun& run) {
  const auto domain = run.text("domain");
  const auto path = run.text("path");
  const auto is_wanted = [&](const Cookie& cookie) {
    return (!domain || is_of_domain(cookie, *domain)) && (!path || cookie.path == *path);
  };
  REPRISE_CO_TRY(const auto cookies, co_await cookies_of(run, is_wanted));
  tell_cookies(run, cookies);
  co_return Result<>{};
}

rt::Task<Result<>> tool_cookie_get(ToolRun& run) {
  const std::string name = run.text("name").value_or("");
  const auto is_wanted = [&](const Cookie& cookie) { return cookie.name == name; };
  REPRISE_CO_TRY(const auto cookies, co_await cookies_of(run, is_wanted));
  tell_cookies(run, cookies);
  co_return Result<>{};
}

rt::Task<Result<>> tool_cookie_set(ToolRun& run) {
  run.outcome.hides_text = true;
  REPRISE_CO_TRY(const auto context, co_await context_of(run));
  Cookie cookie{.name = run.text("name").value_or(""),
                .value = run.text("value").value_or(""),
                .domain = run.text("domain").value_or(""),
                .path = run.text("path").value_or("/"),
                .expires = run.number("expires").value_or(-1),
                .is_http_only = run.flag("httpOnly"),
                .is_secure = run.flag("secure"),
                .same_site = run.text("sameSite").value_or(""),
                .partition_site = {}};
  if (cookie.domain.empty()) {
    const auto url =
        wire::parse_url(run.tab->page == nullptr ? std::string() : run.tab->page->url());
    if (!url || url->at.host.empty())
      co_return fail(Code::kToolFailed,
                     "no_domain: the page is not of a site; say which domain the cookie is for");
    cookie.domain = url->at.host;
  }
  REPRISE_CO_CHECK(co_await context->set_cookies({std::move(cookie)}, run.within(kActionTimeout)));
  run.outcome.text = "done";
  co_return Result<>{};
}

rt::Task<Result<>> tool_cookie_delete(ToolRun& run) {
  const std::string name = run.text("name").value_or("");
  const auto is_wanted = [&](const Cookie& cookie) { return cookie.name == name; };
  REPRISE_CO_TRY(auto cookies, co_await cookies_of(run, is_wanted));
  for (Cookie& cookie : cookies) cookie.expires = kLongAgo;
  const std::size_t count = cookies.size();
  REPRISE_CO_TRY(const auto context, co_await context_of(run));
  REPRISE_CO_CHECK(co_await context->set_cookies(std::move(cookies), run.within(kActionTimeout)));
  run.outcome.result = fmt::format(R"({{"deleted":{}}})", count);
  run.outcome.text = fmt::format("deleted {}", count);
  co_return Result<>{};
}

rt::Task<Result<>> tool_cookie_clear(ToolRun& run) {
  REPRISE_CO_TRY(const auto context, co_await context_of(run));
  REPRISE_CO_CHECK(co_await context->clear_cookies(run.within(kActionTimeout)));
  run.outcome.text = "done";
  co_return Result<>{};
}

rt::Task<Result<>> tool_localstorage_list(ToolRun& run) { return list_storage(run, true); }
rt::Task<Result<>> tool_localstorage_get(ToolRun& run) { return get_storage(run, true); }
rt::Task<Result<>> tool_localstorage_set(ToolRun& run) { return change_storage(run, true, kSet); }
rt::Task<Result<>> tool_localstorage_delete(ToolRun& run) {
  return change_storage(run, true, kDelete);
}
rt::Task<Result<>> tool_localstorage_clear(ToolRun& run) {
  return change_storage(run, true, kClear);
}
rt::Task<Result<>> tool_sessionstorage_list(ToolRun& run) { return list_storage(run, false); }
rt::Task<Result<>> tool_sessionstorage_get(ToolRun& run) { return get_storage(run, false); }
rt::Task<Result<>> tool_sessionstorage_set(ToolRun& run) {
  return change_storage(run, false, kSet);
}
rt::Task<Result<>> tool_sessionstorage_delete(ToolRun& run) {
  return change_storage(run, false, kDelete);
}
rt::Task<Result<>> tool_sessionstorage_clear(ToolRun& run) {
  return change_storage(run, false, kClear);
}

rt::Task<Result<>> tool_storage_state(ToolRun& run) {
  REPRISE_CO_TRY(const auto context, co_await context_of(run));
  const std::string file =
      run.text("filename")
          .value_or(fmt::format("storage/state-{}.json", run.browser.around().clock.now().ms));
  REPRISE_CO_CHECK(model::check_artifact_path(file));
  REPRISE_CO_TRY(const StorageState state, co_await run.browser.state().read(*context));
  std::string json = storage_state_json(state);
  const std::size_t bytes = json.size();
  REPRISE_CO_CHECK(co_await run.browser.keep(file, "application/json", std::move(json)));
  run.outcome.result =
      fmt::format(R"({{"artifact":{},"bytes":{},"cookies":{},"origins":{}}})", json_string(file),
                  bytes, state.cookies.size(), state.origins.size());
  run.outcome.text = fmt::format("saved as artifact {}", file);
  co_return Result<>{};
}

rt::Task<Result<>> tool_set_storage_state(ToolRun& run) {
  REPRISE_CO_TRY(const auto context, co_await context_of(run));
  // All of it is read and judged before anything is changed.
  auto json = co_await run.browser.fetch(run.text("filename").value_or(""), kMaxStorageStateBytes);
  if (!json) co_return fail(Code::kToolFailed, "not_found: " + json.error().detail);
  const auto document = wire::parse_json(std::move(*json));
  if (!document) co_return fail(Code::kToolFailed, "invalid: " + document.error().detail);
  auto state = parse_storage_state(document->root());
  if (!state) {
    const Error& error = state.error();
    const std::string place = error.fields.empty() ? "" : error.fields.front().pointer + ": ";
    co_return fail(Code::kToolFailed, fmt::format("invalid: {}{}", place, error.detail));
  }
  const std::size_t cookies = state->cookies.size();
  const std::size_t origins = state->origins.size();
  REPRISE_CO_CHECK(co_await run.browser.state().replace(*context, std::move(*state)));
  run.outcome.result = fmt::format(R"({{"cookies":{},"origins":{}}})", cookies, origins);
  run.outcome.text = fmt::format("restored {} cookies and {} origins", cookies, origins);
  co_return Result<>{};
}

}  // namespace reprise::browser
