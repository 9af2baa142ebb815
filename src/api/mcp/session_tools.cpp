#include "api/mcp/session_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/browsers.h"
#include "api/mcp/result_text.h"
#include "api/mcp/session_handle.h"
#include "api/session_json.h"
#include "base/json_text.h"
#include "browser/reading.h"
#include "session/list.h"

namespace reprise::api {
namespace {

using Outcome = ToolHost::Outcome;
using browser::BrowserService;
using session::SessionView;

std::optional<std::string> text_of(const SessionToolCall& call, std::string_view name) {
  const auto value = call.arguments.find(name);
  return value ? value->as_string() : std::nullopt;
}

std::optional<std::uint64_t> number_of(const SessionToolCall& call, std::string_view name) {
  const auto value = call.arguments.find(name);
  return value ? value->as_uint() : std::nullopt;
}

// --- what is told -------------------------------------------------------------------------------

std::string name_of(const model::SessionState& state) {
  return state.has_key() ? state.key().to_string() : state.id.to_string();
}

std::string session_lines(const model::SessionState& state) {
  std::string lines = fmt::format("- Session: {}\n- Id: {}\n- Status: {}\n", name_of(state),
                                  state.id.to_string(), model::word(state.status));
  if (const auto expires = state.expires_at())
    lines += fmt::format("- Expires: {}\n", format_time(*expires));
  return lines;
}

// The open tabs of a session, as stored.
rt::Task<Result<std::vector<model::TabFacts>>> open_tabs(BrowserService& browsers,
                                                         StreamId stream) {
  REPRISE_CO_TRY(auto tabs, co_await browser::read_tabs(browsers.sessions().store_here(), stream));
  std::erase_if(tabs, [](const auto& tab) { return tab.status == model::TabStatus::kClosed; });
  co_return tabs;
}

std::string tab_lines(const std::vector<model::TabFacts>& tabs,
                      std::optional<model::TabId> active) {
  std::vector<browser::TabGlance> glances;
  for (const model::TabFacts& tab : tabs)
    glances.push_back({.url = tab.url, .title = tab.title, .is_active = active == tab.id});
  return tabs.empty() ? "No tab is open.\n" : mcp_tab_lines(glances);
}

std::string tabs_json(const std::vector<model::TabFacts>& tabs,
                      std::optional<model::TabId> active) {
  std::string json = "[";
  for (const model::TabFacts& tab : tabs) {
    if (json.back() != '[') json += ',';
    json += tab_json(tab, active);
  }
  return json + ']';
}

// The session as it is now, with its tabs.
rt::Task<Result<Outcome>> tell_session(BrowserService& browsers, SessionId id) {
  REPRISE_CO_TRY(const SessionView view, co_await browsers.sessions().get(id));
  REPRISE_CO_TRY(const auto tabs, co_await open_tabs(browsers, view.stream));
  co_return Outcome{
      .text = fmt::format("### Result\n{}\n### Open tabs\n{}", session_lines(view.state),
                          tab_lines(tabs, view.state.active_tab)),
      .structured = fmt::format(R"({{"session":{},"tabs":{}}})", session_json(view),
                                tabs_json(tabs, view.state.active_tab))};
}

// --- start and end ------------------------------------------------------------------------------

// What the arguments say about the browser, as POST …/browser takes it; empty: nothing.
std::string wanted_browser(const SessionToolCall& call) {
  std::string json;
  const auto add = [&](std::string_view argument, std::string_view member) {
    const auto value = call.arguments.find(argument);
    if (!value) return;
    json += fmt::format(R"({}"{}":{})", json.empty() ? "" : ",", member, value->minified());
  };
  add("viewport", "viewport");
  add("userAgent", "userAgent");
  add("locale", "locale");
  add("timezone", "timezoneId");
  add("pool", "poolKey");
  return json;
}

rt::Task<Result<>> open_browser(SessionToolCall& call, SessionId id) {
  const std::string wanted = wanted_browser(call);
  browser::BrowserOptions options;
  {
    REPRISE_CO_TRY(const auto document, wire::parse_json('{' + wanted + '}'));
    REPRISE_CO_TRY(options, browser::parse_browser_options(document.root()));
  }
  auto opened = co_await call.browsers.open(id, std::move(options));
  // Who asked for nothing in particular gets the browser that is there, as it is.
  if (!opened && opened.error().code == Code::kConflict && wanted.empty()) co_return Result<>{};
  if (!opened) co_return fail(std::move(opened).error());
  co_return Result<>{};
}

rt::Task<Result<Outcome>> start(SessionToolCall& call) {
  const auto ttl = number_of(call, "ttlSeconds");
  session::SessionService& sessions = call.browsers.sessions();
  REPRISE_CO_TRY(const McpSession found,
                 co_await get_or_make_mcp_session(sessions, call.caller, ttl));
  const SessionId id = found.view.state.id;
  if (ttl && found.view.state.ttl_seconds != ttl) {
    session::MergePatch patch;
    patch.ttl_seconds.emplace(ttl);
    REPRISE_CO_CHECK(co_await sessions.call(id, {.action = std::move(patch), .wants_view = false}));
  }
  REPRISE_CO_CHECK(co_await open_browser(call, id));
  Outcome went;
  if (const auto url = text_of(call, "url")) {
    auto navigate = mcp_command(call.caller, "browser_navigate",
                                fmt::format(R"({{"url":{}}})", json_string(*url)));
    REPRISE_CO_TRY(went,
                   co_await run_mcp_command(call.browsers, id, std::move(navigate), call.scope));
  }
  REPRISE_CO_TRY(Outcome outcome, co_await tell_session(call.browsers, id));
  // The session is there, also where its first page is not.
  outcome.is_error = went.is_error;
  if (went.is_error) outcome.text = went.text + '\n' + outcome.text;
  co_return outcome;
}

rt::Task<Result<Outcome>> end(SessionToolCall& call) {
  session::SessionService& sessions = call.browsers.sessions();
  REPRISE_CO_TRY(const SessionView view, co_await find_mcp_session(sessions, call.caller));
  if (!model::is_terminal(view.state.status)) {
    model::Close close{.reason = "ended over MCP"};
    REPRISE_CO_CHECK(co_await sessions.call(
        view.state.id, {.action = model::Command(std::move(close)), .wants_view = false}));
  }
  REPRISE_CO_TRY(const SessionView after, co_await sessions.get(view.state.id));
  co_return Outcome{.text = "### Result\n" + session_lines(after.state),
                    .structured = fmt::format(R"({{"session":{}}})", session_json(after))};
}

// --- list and inspect ---------------------------------------------------------------------------

rt::Task<Result<Outcome>> list(SessionToolCall& call) {
  session::ListQuery query;
  query.filter.allowed_apps = call.caller.principal.apps;
  query.filter.app = text_of(call, "app");
  query.limit = number_of(call, "limit").value_or(20);
  if (const auto wanted = text_of(call, "status"))
    for (const model::Status status : model::kStatuses)
      if (model::word(status, model::Vocabulary::kBrowser) == *wanted)
        query.filter.statuses.push_back(status);
  REPRISE_CO_TRY(const auto found, co_await call.browsers.sessions().list(std::move(query)));
  std::string lines;
  std::string json = "[";
  for (std::size_t i = 0; i < found.page.sessions.size(); ++i) {
    const model::SessionState& state = found.page.sessions[i].state;
    lines += fmt::format("- {} ({}, last active {})\n", name_of(state), model::word(state.status),
                         format_time(state.last_activity_at));
    if (json.back() != '[') json += ',';
    json += session_json(view_of(found.page.sessions[i], found.subscribers[i]));
  }
  if (lines.empty()) lines = "There are no sessions.\n";
  if (!found.page.next_cursor.empty()) lines += "There are more: narrow it by app or status.\n";
  co_return Outcome{.text = "### Result\n" + lines,
                    .structured = fmt::format(R"({{"sessions":{}],"hasMore":{}}})", json,
                                              !found.page.next_cursor.empty())};
}

// "- 12: browser_click, 34 ms" and what went wrong.
std::string command_line(const browser::StoredCommand& command) {
  const auto document = wire::parse_json(command.data);
  if (!document) return {};
  const auto member = [&](std::string_view name) { return document->root().find(name); };
  const auto tool = member("tool");
  const auto duration = member("durationMs");
  const auto error = member("error");
  const auto message = error ? error->find("message") : std::nullopt;
  return fmt::format("- {}: {}, {} ms{}\n", command.seq.value,
                     tool ? tool->as_string().value_or("") : "",
                     duration ? duration->as_uint().value_or(0) : 0,
                     message ? ", failed: " + message->as_string().value_or("") : "");
}

rt::Task<Result<Outcome>> inspect(SessionToolCall& call) {
  REPRISE_CO_TRY(const SessionView view,
                 co_await find_mcp_session(call.browsers.sessions(), call.caller));
  store::AsyncStore& store = call.browsers.sessions().store_here();
  REPRISE_CO_TRY(const auto contexts, co_await browser::read_contexts(store, view.stream));
  REPRISE_CO_TRY(const auto tabs, co_await open_tabs(call.browsers, view.stream));
  REPRISE_CO_TRY(const auto commands,
                 co_await browser::read_latest_commands(store, view.stream,
                                                        number_of(call, "commands").value_or(10)));
  std::string text = "### Result\n" + session_lines(view.state);
  text += contexts.empty()
              ? std::string("- Browser: none yet\n")
              : fmt::format("- Browser: {}, pool {}\n", model::word(contexts.back().status),
                            contexts.back().pool_key);
  text += "\n### Open tabs\n" + tab_lines(tabs, view.state.active_tab);
  std::string commands_json = "[";
  if (!commands.empty()) text += "\n### Latest commands\n";
  for (const browser::StoredCommand& command : commands) {
    text += command_line(command);
    if (commands_json.back() != '[') commands_json += ',';
    commands_json += command_json(command);
  }
  co_return Outcome{
      .text = std::move(text),
      .structured =
          fmt::format(R"({{"session":{},"browser":{},"tabs":{},"commands":{}]}})",
                      session_json(view), contexts.empty() ? "null" : context_json(contexts.back()),
                      tabs_json(tabs, view.state.active_tab), commands_json)};
}

// --- tabs ---------------------------------------------------------------------------------------

rt::Task<Result<Outcome>> tabs(SessionToolCall& call) {
  REPRISE_CO_TRY(const McpSession found,
                 co_await get_or_make_mcp_session(call.browsers.sessions(), call.caller));
  REPRISE_CO_TRY(const auto open, co_await open_tabs(call.browsers, found.view.stream));
  const auto active = found.view.state.active_tab;
  co_return Outcome{.text = "### Result\n" + tab_lines(open, active),
                    .structured = fmt::format(R"({{"tabs":{}}})", tabs_json(open, active))};
}

// A command about tabs, and then the tabs as they are.
rt::Task<Result<Outcome>> work_on_tabs(SessionToolCall& call, std::string_view action) {
  std::optional<model::TabId> tab;
  if (const auto id = text_of(call, "tab")) {
    tab = model::TabId::parse(*id);
    if (!tab) co_return invalid("/tab", fmt::format("'{}' is no tab's id", *id));
    if (call.arguments.find("index")) co_return invalid("/index", "a tab is named by id or index");
  }
  std::string arguments = fmt::format(R"({{"action":"{}")", action);
  if (const auto url = text_of(call, "url")) arguments += ",\"url\":" + json_string(*url);
  if (const auto index = number_of(call, "index"))
    arguments += fmt::format(",\"index\":{}", *index);
  REPRISE_CO_TRY(const McpSession found,
                 co_await get_or_make_mcp_session(call.browsers.sessions(), call.caller));
  auto command = mcp_command(call.caller, "browser_tabs", std::move(arguments) + '}');
  command.tab = tab;
  const SessionId id = found.view.state.id;
  REPRISE_CO_TRY(Outcome outcome,
                 co_await run_mcp_command(call.browsers, id, std::move(command), call.scope));
  REPRISE_CO_TRY(const SessionView view, co_await call.browsers.sessions().get(id));
  REPRISE_CO_TRY(const auto open, co_await open_tabs(call.browsers, view.stream));
  outcome.structured = fmt::format(R"({{"tabs":{}}})", tabs_json(open, view.state.active_tab));
  co_return outcome;
}

rt::Task<Result<Outcome>> new_tab(SessionToolCall& call) { return work_on_tabs(call, "new"); }
rt::Task<Result<Outcome>> close_tab(SessionToolCall& call) { return work_on_tabs(call, "close"); }
rt::Task<Result<Outcome>> set_active_page(SessionToolCall& call) {
  if (!call.arguments.find("tab") && !call.arguments.find("index"))
    co_return invalid("/tab", "is needed, or index: which tab is to be the active one");
  co_return co_await work_on_tabs(call, "select");
}

}  // namespace

browser::CommandCall mcp_command(const ToolHost::Caller& caller, std::string tool,
                                 std::string arguments) {
  browser::CommandCall call{.tool = std::move(tool),
                            .arguments = std::move(arguments),
                            .source = "mcp",
                            .by = caller.principal.name};
  if (call.by == "anonymous") call.by.clear();
  call.client = caller.client;
  return call;
}

rt::Task<Result<Outcome>> run_mcp_command(BrowserService& browsers, SessionId session,
                                          browser::CommandCall call, rt::CancelScope& scope) {
  REPRISE_CO_TRY(const auto answer, co_await browsers.call_tool(session, std::move(call), &scope));
  if (!answer.is_ok && scope.is_cancelled()) co_return fail(scope.reason());
  co_return mcp_outcome(answer);
}

SessionTool mcp_session_tool(std::string_view name) {
  static const std::unordered_map<std::string_view, SessionTool> kTools = {
      {"playwright_session_start", start},
      {"playwright_session_end", end},
      {"playwright_session_list", list},
      {"playwright_session_inspect", inspect},
      {"playwright_session_tabs", tabs},
      {"playwright_session_new_tab", new_tab},
      {"playwright_session_close_tab", close_tab},
      {"playwright_session_set_active_page", set_active_page},
  };
  const auto found = kTools.find(name);
  return found == kTools.end() ? nullptr : found->second;
}

}  // namespace reprise::api
