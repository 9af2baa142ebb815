// Ready-made questions to the graph, each answered by an index: GET /v1/graph/queries/{name}.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/access.h"
#include "api/graph_reader.h"
#include "api/parameters.h"
#include "api/session_json.h"
#include "base/bytes.h"
#include "base/json_text.h"
#include "browser/limits.h"
#include "browser/reading.h"
#include "session/keys.h"
#include "session/limits.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using session::BrowserNode;
using session::SessionView;

struct Asked {
  GraphReader& reader;
  Exchange& exchange;
  std::size_t limit = 0;
};

using Answer = rt::Task<Result<std::string>> (*)(Asked);
struct Query {
  std::string_view name;
  std::string_view parameter;  // its own; empty: none
  Answer answer;
};

// --- parameters

Result<std::string> needed(const Asked& asked, std::string_view name) {
  REPRISE_TRY(auto value, asked.exchange.query(name));
  if (!value || value->empty()) return fail(Code::kBadParameter, fmt::format("{} is needed", name));
  return std::move(*value);
}

// Until when; now, if nobody says.
Result<TimePoint> cutoff(const Asked& asked) {
  REPRISE_TRY(const auto text, asked.exchange.query("before"));
  if (!text) return asked.reader.browsers().sessions().clock().now();
  const auto at = parse_time(*text);
  if (!at)
    return fail(
        Code::kBadParameter,
        fmt::format("before is '{}'; it must be a time such as 2026-11-15T18:13:02Z", *text));
  return *at;
}

// The session that `session` names, if the caller may see it.
rt::Task<Result<SessionView>> named_session(Asked asked) {
  REPRISE_CO_TRY(const std::string text, needed(asked, "session"));
  REPRISE_CO_TRY(auto ref, parse_session_ref(text));
  auto view = co_await asked.reader.browsers().sessions().get(std::move(ref));
  if (view && check_app_access(asked.exchange, view->state.app)) co_return std::move(*view);
  if (!view && view.error().code != Code::kSessionNotFound) co_return fail(view.error());
  co_return fail(Code::kSessionNotFound, fmt::format("there is no session {}", text));
}

std::string answer_json(std::string_view member, const GraphList& list) {
  return fmt::format(R"({{"{}":{},"nextCursor":{}}})", member, list.json(), list.next_json());
}

// --- sessions

// A list of sessions as the sessions' own indexes give it, newest first.
rt::Task<Result<std::string>> list_of(Asked asked, session::Filter filter) {
  filter.allowed_apps = asked.exchange.principal.apps;
  REPRISE_CO_TRY(const auto cursor, asked.exchange.query("cursor"));
  REPRISE_CO_TRY(
      const auto found,
      co_await asked.reader.browsers().sessions().list(
          {.filter = std::move(filter), .limit = asked.limit, .cursor = cursor.value_or("")}));
  GraphList list;
  for (std::size_t i = 0; i < found.page.sessions.size(); ++i)
    list.add_node(session_node(view_of(found.page.sessions[i], found.subscribers[i])));
  co_return fmt::format(
      R"({{"nodes":{},"nextCursor":{}}})", list.json(),
      found.page.next_cursor.empty() ? "null" : json_string(found.page.next_cursor));
}

rt::Task<Result<std::string>> sessions_by_owner(Asked asked) {
  session::Filter filter;
  REPRISE_CO_TRY(filter.owner_agent, needed(asked, "ownerAgent"));
  co_return co_await list_of(asked, std::move(filter));
}

rt::Task<Result<std::string>> sessions_by_status(Asked asked) {
  REPRISE_CO_TRY(const std::string word, needed(asked, "status"));
  const auto status = model::parse_status(word);
  if (!status)
    co_return fail(Code::kBadParameter, fmt::format("status is '{}', which is none", word));
  session::Filter filter;
  filter.statuses.push_back(*status);
  co_return co_await list_of(asked, std::move(filter));
}

// Which sessions of an index are meant; the index may say less than is asked.
using IsMeant = bool (*)(const model::SessionState& state, TimePoint until);
bool any_session(const model::SessionState&, TimePoint) { return true; }
bool is_expired(const model::SessionState& state, TimePoint until) {
  const auto at = state.expires_at();
  return model::is_living(state.status) && at && *at <= until;
}
bool has_failed(const model::SessionState& state, TimePoint) {
  return state.status == model::Status::kFailed;
}

rt::Task<Result<std::string>> walk_sessions(Asked asked, std::string begin, std::string end,
                                            IsMeant is_meant, TimePoint until) {
  IndexWalk walk(asked.reader, std::move(begin), std::move(end), asked.limit);
  REPRISE_CO_TRY(std::string position, asked.reader.position());
  REPRISE_CO_CHECK(walk.start(std::move(position)));
  for (;;) {
    REPRISE_CO_TRY(const auto id, co_await walk.next());
    if (!id) break;
    REPRISE_CO_TRY(const auto view, co_await asked.reader.session(SessionId{*id}));
    if (view && is_meant(view->state, until)) walk.take(session_node(*view));
  }
  co_return answer_json("nodes", walk.list());
}

rt::Task<Result<std::string>> sessions_of_pool(Asked asked) {
  REPRISE_CO_TRY(const std::string pool, needed(asked, "poolKey"));
  const std::string prefix = session::pool_sessions_prefix(pool);
  co_return co_await walk_sessions(asked, prefix, prefix_end(prefix), any_session, {});
}

rt::Task<Result<std::string>> expired_sessions(Asked asked) {
  REPRISE_CO_TRY(const TimePoint until, cutoff(asked));
  co_return co_await walk_sessions(asked, session::expiry_range_begin(),
                                   session::expiry_range_end(until), is_expired, until);
}

rt::Task<Result<std::string>> ended_before(Asked asked, IsMeant is_meant) {
  REPRISE_CO_TRY(const TimePoint until, cutoff(asked));
  co_return co_await walk_sessions(asked, session::ended_range_begin(),
                                   session::ended_range_end(until), is_meant, until);
}
rt::Task<Result<std::string>> ended_sessions(Asked asked) {
  return ended_before(asked, any_session);
}
rt::Task<Result<std::string>> failed_sessions(Asked asked) {
  return ended_before(asked, has_failed);
}

// --- contexts and tabs

rt::Task<Result<std::string>> walk_nodes(Asked asked, std::string begin, std::string end) {
  IndexWalk walk(asked.reader, std::move(begin), std::move(end), asked.limit);
  REPRISE_CO_TRY(std::string position, asked.reader.position());
  REPRISE_CO_CHECK(walk.start(std::move(position)));
  for (;;) {
    REPRISE_CO_TRY(const auto id, co_await walk.next());
    if (!id) break;
    REPRISE_CO_TRY(std::string node, co_await asked.reader.node(*id));
    walk.take(std::move(node));
  }
  co_return answer_json("nodes", walk.list());
}

rt::Task<Result<std::string>> contexts_by_status(Asked asked) {
  REPRISE_CO_TRY(const std::string word, needed(asked, "status"));
  const auto status = model::parse_context_status(word);
  if (!status || *status == model::ContextStatus::kClosed)
    co_return fail(Code::kBadParameter,
                   "status is one of open, hibernated, orphaned; closed "
                   "contexts are found by closedContexts");
  const std::string prefix = session::context_status_prefix(*status);
  co_return co_await walk_nodes(asked, prefix, prefix_end(prefix));
}

rt::Task<Result<std::string>> orphaned_contexts(Asked asked) {
  const std::string prefix = session::context_status_prefix(model::ContextStatus::kOrphaned);
  co_return co_await walk_nodes(asked, prefix, prefix_end(prefix));
}

rt::Task<Result<std::string>> open_tabs(Asked asked) {
  const std::string prefix = session::open_tabs_prefix();
  co_return co_await walk_nodes(asked, prefix, prefix_end(prefix));
}

rt::Task<Result<std::string>> closed_before(Asked asked, BrowserNode type) {
  REPRISE_CO_TRY(const TimePoint until, cutoff(asked));
  co_return co_await walk_nodes(asked, session::closed_prefix(type),
                                session::closed_range_end(type, until));
}
rt::Task<Result<std::string>> closed_contexts(Asked asked) {
  return closed_before(asked, BrowserNode::kContext);
}
rt::Task<Result<std::string>> closed_tabs(Asked asked) {
  return closed_before(asked, BrowserNode::kTab);
}

rt::Task<Result<std::string>> tabs_of_session(Asked asked) {
  REPRISE_CO_TRY(const SessionView view, co_await named_session(asked));
  const std::string prefix = session::tab_rows_prefix(view.stream);
  IndexWalk walk(asked.reader, prefix, prefix_end(prefix), asked.limit);
  REPRISE_CO_TRY(std::string position, asked.reader.position());
  REPRISE_CO_CHECK(walk.start(std::move(position)));
  for (;;) {
    REPRISE_CO_TRY(const auto id, co_await walk.next());
    if (!id) break;
    REPRISE_CO_TRY(const auto tab, co_await asked.reader.tab(view.stream, model::TabId{*id}));
    if (tab) walk.take(tab_node(*tab, view.state.active_tab));
  }
  co_return answer_json("nodes", walk.list());
}

// --- commands

rt::Task<Result<std::string>> commands(Asked asked, SessionView view, browser::CommandQuery query) {
  REPRISE_CO_TRY(const std::string position, asked.reader.position());
  GraphList list;
  REPRISE_CO_CHECK(
      co_await add_command_edges(asked.reader, view, std::move(query), position, list));
  co_return answer_json("edges", list);
}

rt::Task<Result<std::string>> commands_of_session(Asked asked) {
  REPRISE_CO_TRY(SessionView view, co_await named_session(asked));
  co_return co_await commands(asked, std::move(view),
                              {.is_ok = {}, .tool = {}, .tab = {}, .limit = asked.limit});
}

rt::Task<Result<std::string>> failed_commands(Asked asked) {
  REPRISE_CO_TRY(SessionView view, co_await named_session(asked));
  co_return co_await commands(asked, std::move(view),
                              {.is_ok = false, .tool = {}, .tab = {}, .limit = asked.limit});
}

rt::Task<Result<std::string>> commands_of_tab(Asked asked) {
  REPRISE_CO_TRY(const std::string text, needed(asked, "tab"));
  const auto id = model::TabId::parse(text);
  if (!id) co_return fail(Code::kBadParameter, fmt::format("'{}' is no tab's id", text));
  REPRISE_CO_TRY(const auto place, co_await browser::find_node(asked.reader.store(), id->bytes));
  std::optional<SessionView> view;
  if (place && place->type == BrowserNode::kTab) {
    REPRISE_CO_TRY(view, co_await asked.reader.session(place->session));
  }
  if (!view) co_return fail(Code::kTabNotFound, fmt::format("there is no tab {}", text));
  co_return co_await commands(asked, std::move(*view),
                              {.is_ok = {}, .tool = {}, .tab = id, .limit = asked.limit});
}

// --- pools and counts

rt::Task<Result<std::string>> stale_pools(Asked asked) {
  REPRISE_CO_TRY(const TimePoint until, cutoff(asked));
  REPRISE_CO_TRY(const std::string after, asked.reader.position());
  REPRISE_CO_TRY(const auto report, co_await asked.reader.browsers().report());
  GraphList list;
  std::string last;
  for (const browser::PoolReport& pool : report.pools) {
    if (!pool.is_stale || pool.key <= after) continue;
    if (pool.stale_since && *pool.stale_since > until) continue;
    if (list.size() >= asked.limit) {
      list.next = std::move(last);
      break;
    }
    list.add_node(pool_node(pool.key, pool));
    last = pool.key;
  }
  co_return answer_json("nodes", list);
}

struct Counted {
  std::uint64_t number = 0;
  bool is_exact = true;
};

// Rows of an index that the caller may see; who may see all is not asked row by row.
rt::Task<Result<Counted>> count_rows(GraphReader& reader, std::string prefix, bool sees_all) {
  Counted counted;
  std::string begin = prefix;
  const std::string end = prefix_end(prefix);
  for (std::size_t examined = 0; examined < browser::kMaxGraphExamined;) {
    REPRISE_CO_TRY(const auto rows, co_await reader.store().scan({.begin = begin, .end = end}));
    for (const auto& row : rows.records) {
      ++examined;
      begin = row.key + '\0';
      if (!sees_all) {
        const auto id = session::id_of_browser_index(row.key);
        REPRISE_CO_TRY(const std::string node, co_await reader.node(id.value_or(Uuid{})));
        if (node.empty()) continue;
      }
      ++counted.number;
    }
    if (!rows.has_more) co_return counted;
  }
  counted.is_exact = false;
  co_return counted;
}

struct Counter {
  std::string json;
  bool is_exact = true;
  void add(std::string_view name, const Counted& counted) {
    json += fmt::format(R"({}"{}":{})", json.empty() ? "" : ",", name, counted.number);
    is_exact = is_exact && counted.is_exact;
  }
};

rt::Task<Result<std::string>> counts_of_session(Asked asked) {
  REPRISE_CO_TRY(const SessionView view, co_await named_session(asked));
  Counter counter;
  const std::array<std::pair<std::string_view, std::string>, 4> kinds{
      {{"contexts", session::context_rows_prefix(view.stream)},
       {"tabs", session::tab_rows_prefix(view.stream)},
       {"commands", session::command_rows_prefix(view.stream)},
       {"failedCommands", session::failed_rows_prefix(view.stream)}}};
  for (const auto& [name, prefix] : kinds) {
    REPRISE_CO_TRY(const Counted counted, co_await count_rows(asked.reader, prefix, true));
    counter.add(name, counted);
  }
  co_return fmt::format(R"({{"counts":{{{}}},"isExact":{}}})", counter.json, counter.is_exact);
}

rt::Task<Result<std::string>> sessions_by_count(Asked asked) {
  session::SessionService& sessions = asked.reader.browsers().sessions();
  session::ListQuery query;
  query.filter.allowed_apps = asked.exchange.principal.apps;
  query.limit = 1;
  REPRISE_CO_TRY(const auto found, co_await sessions.list(std::move(query)));
  std::string json;
  for (const auto& [status, count] : found.counts)
    json += fmt::format(R"({}"{}":{})", json.empty() ? "" : ",", model::word(status), count);
  co_return '{' + json + '}';
}

rt::Task<Result<std::string>> counts(Asked asked) {
  REPRISE_CO_TRY(const auto session, asked.exchange.query("session"));
  if (session) co_return co_await counts_of_session(asked);
  const bool sees_all = !asked.exchange.principal.apps;
  REPRISE_CO_TRY(const std::string sessions, co_await sessions_by_count(asked));
  Counter contexts;
  using enum model::ContextStatus;
  for (const model::ContextStatus status : {kOpen, kHibernated, kOrphaned}) {
    REPRISE_CO_TRY(
        const Counted counted,
        co_await count_rows(asked.reader, session::context_status_prefix(status), sees_all));
    contexts.add(model::word(status), counted);
  }
  REPRISE_CO_TRY(const Counted tabs,
                 co_await count_rows(asked.reader, session::open_tabs_prefix(), sees_all));
  REPRISE_CO_TRY(const auto report, co_await asked.reader.browsers().report());
  const auto stale = std::ranges::count_if(report.pools, &browser::PoolReport::is_stale);
  co_return fmt::format(
      R"({{"counts":{{"sessions":{},"contexts":{{{}}},"openTabs":{},"pools":{{"alive":{},)"
      R"("stale":{}}}}},"isExact":{}}})",
      sessions, contexts.json, tabs.number, report.pools.size() - static_cast<std::size_t>(stale),
      stale, contexts.is_exact && tabs.is_exact);
}

// --- the table

const std::vector<Query>& queries() {
  static const std::vector<Query> kQueries = {
      {"sessionsOfPool", "poolKey", sessions_of_pool},
      {"sessionsByOwner", "ownerAgent", sessions_by_owner},
      {"sessionsByStatus", "status", sessions_by_status},
      {"expiredSessions", "before", expired_sessions},
      {"endedSessions", "before", ended_sessions},
      {"failedSessions", "before", failed_sessions},
      {"contextsByStatus", "status", contexts_by_status},
      {"orphanedContexts", "", orphaned_contexts},
      {"closedContexts", "before", closed_contexts},
      {"tabsOfSession", "session", tabs_of_session},
      {"openTabs", "", open_tabs},
      {"closedTabs", "before", closed_tabs},
      {"commandsOfSession", "session", commands_of_session},
      {"commandsOfTab", "tab", commands_of_tab},
      {"failedCommands", "session", failed_commands},
      {"stalePools", "before", stale_pools},
      {"counts", "session", counts},
  };
  return kQueries;
}

rt::Task<Result<Reply>> answer(const BrowserRoutes& routes, Exchange& exchange) {
  const std::string& name = exchange.captured.front();
  const auto found = std::ranges::find(queries(), name, &Query::name);
  if (found == queries().end()) {
    std::string names;
    for (const Query& query : queries())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", query.name);
    co_return fail(Code::kNotFound,
                   fmt::format("there is no query '{}'; there are {}", name, names));
  }
  REPRISE_CO_CHECK(found->parameter.empty()
                       ? exchange.check_query({"limit", "cursor"})
                       : exchange.check_query({found->parameter, "limit", "cursor"}));
  REPRISE_CO_TRY(const auto limit,
                 number_parameter(exchange, "limit", 1, browser::kMaxCommandPageLimit));
  GraphReader reader(routes, exchange);
  REPRISE_CO_TRY(
      std::string json,
      co_await found->answer({.reader = reader,
                              .exchange = exchange,
                              .limit = limit.value_or(browser::kDefaultCommandPageLimit)}));
  co_return Reply::json(200, std::move(json));
}

}  // namespace

void add_graph_query_routes(http::Router& router, const BrowserRoutes& routes) {
  router.add(wire::Method::kGet, "/v1/graph/queries/{name}", http::Scope::kRead,
             [&routes](Exchange& exchange) { return answer(routes, exchange); });
}

}  // namespace reprise::api
