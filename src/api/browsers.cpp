#include "api/browsers.h"

#include <fmt/format.h>

#include "api/access.h"
#include "api/body.h"
#include "api/parameters.h"
#include "base/json_text.h"
#include "browser/limits.h"
#include "browser/reading.h"
#include "browser/tools/catalogue.h"

namespace reprise::api {
namespace {

using browser::BrowserService;
using http::Exchange;
using http::Reply;

std::string caller(const Exchange& exchange) {
  return exchange.principal.name == "anonymous" ? std::string() : exchange.principal.name;
}

std::string time_or_null(std::optional<TimePoint> at) {
  return at ? fmt::format("\"{}\"", format_time(*at)) : "null";
}

// The session, and what is stored of its browser.
struct Seen {
  session::SessionView view;
  std::optional<model::ContextFacts> context;  // the newest
  std::vector<model::TabFacts> tabs;
};

rt::Task<Result<Seen>> look(BrowserService& browsers, session::SessionRef ref) {
  Seen seen;
  REPRISE_CO_TRY(seen.view, co_await browsers.sessions().get(std::move(ref)));
  store::AsyncStore& store = browsers.sessions().store_here();
  REPRISE_CO_TRY(auto contexts, co_await browser::read_contexts(store, seen.view.stream));
  if (!contexts.empty()) seen.context = std::move(contexts.back());
  REPRISE_CO_TRY(seen.tabs, co_await browser::read_tabs(store, seen.view.stream));
  co_return seen;
}

std::string browser_json(const Seen& seen) {
  std::string json = context_json(*seen.context);
  json.pop_back();
  json += ",\"tabs\":[";
  for (const model::TabFacts& tab : seen.tabs) {
    if (tab.context != seen.context->id || tab.status == model::TabStatus::kClosed) continue;
    if (json.back() != '[') json += ',';
    json += tab_json(tab, seen.view.state.active_tab);
  }
  return json + "]}";
}

rt::Task<Result<Reply>> open_browser(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  browser::BrowserOptions options;
  {
    REPRISE_CO_TRY(const auto body,
                   wire::parse_json(exchange.request.body.empty() ? std::string("{}")
                                                                  : exchange.request.body));
    if (body.root().type() != wire::JsonType::kObject)
      co_return invalid("", "the body must be an object");
    REPRISE_CO_TRY(options, browser::parse_browser_options(body.root()));
  }
  REPRISE_CO_TRY(const bool is_new, co_await routes.browsers.open(ref, std::move(options)));
  REPRISE_CO_TRY(const Seen seen, co_await look(routes.browsers, std::move(ref)));
  Reply reply = Reply::json(is_new ? 201 : 200, browser_json(seen));
  if (is_new) reply.headers.add("Location", exchange.target.path);
  co_return reply;
}

rt::Task<Result<Reply>> get_browser(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  REPRISE_CO_TRY(const Seen seen, co_await look(routes.browsers, std::move(ref)));
  if (!seen.context) co_return fail(Code::kNodeNotFound, "the session never had a browser");
  co_return Reply::json(200, browser_json(seen));
}

rt::Task<Result<Reply>> end_browser(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  REPRISE_CO_CHECK(co_await routes.browsers.release(std::move(ref)));
  co_return Reply::empty(204);
}

rt::Task<Result<Reply>> list_tabs(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"status"}));
  REPRISE_CO_TRY(const auto word, exchange.query("status"));
  std::optional<model::TabStatus> status;
  if (word) {
    status = model::parse_tab_status(*word);
    if (!status) co_return fail(Code::kBadParameter, "status is one of open, crashed, closed");
  }
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  REPRISE_CO_TRY(const Seen seen, co_await look(routes.browsers, std::move(ref)));
  std::string json = "{\"tabs\":[";
  for (const model::TabFacts& tab : seen.tabs) {
    // Closed ones are history: they are shown to those who ask for them.
    if (status ? tab.status != *status : tab.status == model::TabStatus::kClosed) continue;
    if (json.back() != '[') json += ',';
    json += tab_json(tab, seen.view.state.active_tab);
  }
  co_return Reply::json(200, json + "]}");
}

Result<model::TabId> tab_of(const Exchange& exchange) {
  const auto id = model::TabId::parse(exchange.captured.at(1));
  if (!id)
    return fail(Code::kTabNotFound, fmt::format("'{}' is no tab's id", exchange.captured.at(1)));
  return *id;
}

rt::Task<Result<Reply>> show_tab(const BrowserRoutes& routes, session::SessionRef ref,
                                 model::TabId id, int status) {
  REPRISE_CO_TRY(const Seen seen, co_await look(routes.browsers, std::move(ref)));
  for (const model::TabFacts& tab : seen.tabs)
    if (tab.id == id) co_return Reply::json(status, tab_json(tab, seen.view.state.active_tab));
  co_return fail(Code::kTabNotFound, fmt::format("there is no tab {}", id.to_string()));
}

rt::Task<Result<Reply>> open_tab(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  REPRISE_CO_TRY(Body body, Body::parse(exchange));
  const auto url = body.text("url", browser::kMaxKeptUrlBytes);
  REPRISE_CO_CHECK(body.done());
  REPRISE_CO_TRY(const model::TabId id, co_await routes.browsers.open_tab(ref, url.value_or("")));
  co_return co_await show_tab(routes, std::move(ref), id, 201);
}

rt::Task<Result<Reply>> close_tab(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  REPRISE_CO_TRY(const model::TabId id, tab_of(exchange));
  REPRISE_CO_CHECK(co_await routes.browsers.close_tab(std::move(ref), id));
  co_return Reply::empty(204);
}

rt::Task<Result<Reply>> activate_tab(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  REPRISE_CO_TRY(const model::TabId id, tab_of(exchange));
  REPRISE_CO_CHECK(co_await routes.browsers.activate_tab(ref, id));
  co_return co_await show_tab(routes, std::move(ref), id, 200);
}

rt::Task<Result<Reply>> screenshot(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"format", "fullPage"}));
  REPRISE_CO_TRY(const auto format, exchange.query("format"));
  if (format && *format != "png" && *format != "jpeg" && *format != "webp")
    co_return fail(Code::kBadParameter, "format is one of png, jpeg, webp");
  REPRISE_CO_TRY(const auto full, boolean_parameter(exchange, "fullPage"));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  REPRISE_CO_TRY(const model::TabId id, tab_of(exchange));
  browser::PictureOptions options{.format = format.value_or("png"),
                                  .is_full_page = full.value_or(false),
                                  .clip_at = std::nullopt};
  REPRISE_CO_TRY(browser::Picture picture,
                 co_await routes.browsers.screenshot(std::move(ref), id, std::move(options)));
  Reply reply;
  reply.headers.add("Content-Type", picture.type);
  reply.headers.add("Cache-Control", "no-store");
  reply.body = std::move(picture.bytes);
  co_return reply;
}

std::string answer_json(const browser::CommandAnswer& answer) {
  std::string json =
      fmt::format(R"({{"ok":{},"seq":{},"tool":{},"tabId":{},"durationMs":{})", answer.is_ok,
                  answer.seq.value, json_string(answer.tool),
                  answer.tab ? fmt::format("\"{}\"", answer.tab->to_string()) : "null",
                  answer.duration.count());
  if (answer.page)
    json += fmt::format(R"(,"page":{{"url":{},"title":{}}})", json_string(answer.page->url),
                        json_string(answer.page->title));
  if (!answer.events.empty()) {
    json += ",\"events\":[";
    for (const std::string& event : answer.events) {
      if (json.back() != '[') json += ',';
      json += json_string(event);
    }
    json += ']';
  }
  if (answer.is_ok)
    json += ",\"result\":" + answer.result;
  else
    json += fmt::format(R"(,"error":{{"code":{},"message":{}}})", json_string(answer.error_code),
                        json_string(answer.error));
  return json + '}';
}

rt::Task<Result<Reply>> call_tool(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"source"}));
  REPRISE_CO_TRY(const auto source, exchange.query("source"));
  // The others are what they are by the way they come.
  if (source && *source != browser::kRestSource && *source != browser::kReplaySource)
    co_return fail(Code::kBadParameter, "source is one of rest, replay");
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  browser::CommandCall call{.tool = exchange.captured.at(1), .by = caller(exchange)};
  const browser::Tool* tool = browser::find_tool(call.tool);
  if (tool == nullptr || !tool->is_page_tool)
    co_return fail(Code::kToolNotFound, fmt::format("there is no tool '{}'", call.tool));
  {
    REPRISE_CO_TRY(const auto body,
                   wire::parse_json(exchange.request.body.empty() ? std::string("{}")
                                                                  : exchange.request.body));
    REPRISE_CO_TRY(call.arguments, browser::read_arguments(*tool, body.root()));
  }
  REPRISE_CO_TRY(call.lease, lease_of(exchange));
  if (source) call.source = *source;
  REPRISE_CO_TRY(const auto answer,
                 co_await routes.browsers.call_tool(std::move(ref), std::move(call)));
  co_return Reply::json(200, answer_json(answer));
}

rt::Task<Result<Reply>> list_commands(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"ok", "tool", "tab", "after", "limit"}));
  browser::CommandQuery query;
  REPRISE_CO_TRY(query.is_ok, boolean_parameter(exchange, "ok"));
  REPRISE_CO_TRY(query.tool, exchange.query("tool"));
  REPRISE_CO_TRY(const auto tab, exchange.query("tab"));
  if (tab) {
    query.tab = model::TabId::parse(*tab);
    if (!query.tab) co_return fail(Code::kBadParameter, fmt::format("'{}' is no tab's id", *tab));
  }
  REPRISE_CO_TRY(const auto after, number_parameter(exchange, "after", 0, UINT64_MAX / 2));
  query.after = Seq{after.value_or(0)};
  REPRISE_CO_TRY(const auto limit,
                 number_parameter(exchange, "limit", 1, browser::kMaxCommandPageLimit));
  query.limit = limit.value_or(browser::kDefaultCommandPageLimit);
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  REPRISE_CO_TRY(const auto view, co_await routes.browsers.sessions().get(std::move(ref)));
  REPRISE_CO_TRY(const auto page,
                 co_await browser::read_commands(routes.browsers.sessions().store_here(),
                                                 view.stream, std::move(query)));
  std::string json = "{\"commands\":[";
  for (const browser::StoredCommand& command : page.commands) {
    if (json.back() != '[') json += ',';
    json += command_json(command);
  }
  json += fmt::format("],\"nextAfter\":{},\"hasMore\":{}}}", page.next_after.value, page.has_more);
  co_return Reply::json(200, std::move(json));
}

}  // namespace

std::string tab_json(const model::TabFacts& tab, std::optional<model::TabId> active) {
  return fmt::format(
      R"({{"id":"{}","key":{},"contextId":"{}","status":"{}","url":{},"title":{},"index":{},)"
      R"("isActive":{},"openerTabId":{},"isPopup":{},"createdAt":"{}","closedAt":{}}})",
      tab.id.to_string(), json_string(tab.key), tab.context.to_string(), model::word(tab.status),
      json_string(tab.url), json_string(tab.title), tab.index, active == tab.id,
      tab.opener ? fmt::format("\"{}\"", tab.opener->to_string()) : "null", tab.is_popup,
      format_time(tab.created_at), time_or_null(tab.closed_at));
}

std::string context_json(const model::ContextFacts& context) {
  return fmt::format(
      R"({{"id":"{}","key":{},"poolKey":{},"browserType":{},"status":"{}","openedAt":"{}",)"
      R"("closedAt":{},"reason":{}}})",
      context.id.to_string(), json_string(context.key), json_string(context.pool_key),
      json_string(context.browser_type), model::word(context.status),
      format_time(context.opened_at), time_or_null(context.closed_at),
      context.reason.empty() ? "null" : json_string(context.reason));
}

std::string command_json(const browser::StoredCommand& command) {
  std::string json = fmt::format("{{\"seq\":{},", command.seq.value) + command.data.substr(1);
  if (command.by.empty()) return json;
  json.pop_back();
  return json + ",\"by\":" + json_string(command.by) + '}';
}

void add_browser_routes(http::Router& router, const BrowserRoutes& routes) {
  using enum wire::Method;
  using http::Scope;
  using Handler = rt::Task<Result<Reply>> (*)(const BrowserRoutes&, Exchange&);
  const auto add = [&](wire::Method method, std::string path, Scope scope, Handler handler,
                       std::vector<std::string_view> produces = {"application/json"}) {
    router.add(
        method, "/v1" + std::move(path), scope,
        [&routes, handler](Exchange& exchange) { return handler(routes, exchange); },
        std::move(produces));
  };
  add(kPost, "/sessions/{s}/browser", Scope::kWrite, open_browser);
  add(kGet, "/sessions/{s}/browser", Scope::kRead, get_browser);
  add(kDelete, "/sessions/{s}/browser", Scope::kWrite, end_browser);
  add(kGet, "/sessions/{s}/tabs", Scope::kRead, list_tabs);
  add(kPost, "/sessions/{s}/tabs", Scope::kWrite, open_tab);
  add(kDelete, "/sessions/{s}/tabs/{tab}", Scope::kWrite, close_tab);
  add(kPost, "/sessions/{s}/tabs/{tab}/activate", Scope::kWrite, activate_tab);
  add(kGet, "/sessions/{s}/tabs/{tab}/screenshot", Scope::kRead, screenshot,
      {"image/png", "image/jpeg", "image/webp"});
  add(kPost, "/sessions/{s}/tools/{tool}", Scope::kWrite, call_tool);
  add(kGet, "/sessions/{s}/commands", Scope::kRead, list_commands);
  add_browser_state_routes(router, routes);
}

}  // namespace reprise::api
