// The graph that sessions, contexts, tabs and commands are: Pool → Session → Context → Tab, read by
// index. Nothing is stored for it: nodes are records, and edges are how one names the other.
#include <fmt/format.h>

#include <algorithm>

#include "api/access.h"
#include "api/browsers.h"
#include "api/graph_reader.h"
#include "api/parameters.h"
#include "base/bytes.h"
#include "browser/limits.h"
#include "browser/reading.h"
#include "session/browser_rows.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using session::BrowserNode;

rt::Task<Result<Reply>> nodes_by_key(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"key"}));
  REPRISE_CO_TRY(const auto key, exchange.query("key"));
  if (!key || key->empty()) co_return fail(Code::kBadParameter, "key is needed");
  const std::string& type = exchange.captured.at(0);
  GraphReader reader(routes, exchange);
  std::string nodes;
  const auto add = [&](std::string node) {
    if (node.empty()) return;
    if (!nodes.empty()) nodes += ',';
    nodes += node;
  };
  if (type == "Pool") {
    REPRISE_CO_TRY(const auto pool, co_await routes.browsers.pool_report(*key));
    if (pool) add(pool_node(*key, pool));
  } else if (type == "Session") {
    REPRISE_CO_TRY(auto ref, parse_session_ref(*key));
    const auto view = co_await routes.browsers.sessions().get(std::move(ref));
    if (!view && view.error().code != Code::kSessionNotFound) co_return fail(view.error());
    if (view && check_app_access(exchange, view->state.app)) add(session_node(*view));
  } else if (type == "Context" || type == "Tab") {
    const std::string prefix = session::node_by_key_prefix(
        type == "Tab" ? BrowserNode::kTab : BrowserNode::kContext, *key);
    REPRISE_CO_TRY(const auto page,
                   co_await browser::read_ids(reader.store(), prefix, prefix_end(prefix), "",
                                              browser::kMaxGraphPage));
    for (const Uuid& id : page.ids) {
      REPRISE_CO_TRY(std::string node, co_await reader.node(id));
      add(std::move(node));
    }
  } else {
    co_return fail(Code::kNodeNotFound, "a node is a Pool, Session, Context or Tab");
  }
  co_return Reply::json(200, "{\"nodes\":[" + nodes + "]}");
}

std::unexpected<Error> no_node(std::string_view id) {
  return fail(Code::kNodeNotFound, fmt::format("there is no node '{}'", id));
}

// A session, context or tab that the caller may see, by the id in the path.
struct Found {
  Uuid id;
  std::optional<session::NodePlace> place;  // none: it is a session
  session::SessionView view;
};

rt::Task<Result<Found>> find(GraphReader& reader, const std::string& text) {
  const auto id = parse_uuid(text);
  if (!id) co_return no_node(text);
  Found found{.id = *id, .place = {}, .view = {}};
  REPRISE_CO_TRY(found.place, co_await browser::find_node(reader.store(), *id));
  REPRISE_CO_TRY(auto view,
                 co_await reader.session(found.place ? found.place->session : SessionId{*id}));
  if (!view) co_return no_node(text);
  found.view = std::move(*view);
  co_return found;
}

rt::Task<Result<>> add_pool_sessions(GraphReader& reader, const std::string& pool,
                                     std::string position, std::size_t limit, GraphList& edges) {
  const std::string prefix = session::pool_sessions_prefix(pool);
  IndexWalk walk(reader, prefix, prefix_end(prefix), limit);
  REPRISE_CO_CHECK(walk.start(std::move(position)));
  for (;;) {
    REPRISE_CO_TRY(const auto id, co_await walk.next());
    if (!id) break;
    REPRISE_CO_TRY(const auto view, co_await reader.session(SessionId{*id}));
    if (view)
      walk.take(edge_json("PoolHasSession", fmt::format("{}{}", kPoolNodePrefix, pool),
                          format_uuid(*id), "{}", session_node(*view)));
  }
  edges = walk.list();
  co_return Result<>{};
}

std::string tab_index(const model::TabFacts& tab) {
  return fmt::format(R"({{"tab_index":{}}})", tab.index);
}

rt::Task<Result<>> add_out(GraphReader& reader, const Found& found, std::string_view edge,
                           std::string after, std::size_t limit, GraphList& edges) {
  const std::string id = format_uuid(found.id);
  const StreamId stream = found.view.stream;
  if (edge == "SessionHasContext" && !found.place) {
    REPRISE_CO_TRY(const auto contexts, co_await browser::read_contexts(reader.store(), stream));
    // One at a time: the newest is the session's, those before are history.
    if (!contexts.empty())
      edges.add_edge(edge, id, contexts.back().id.to_string(), "{}", context_node(contexts.back()));
  } else if (edge == "ContextHasTab" && found.place && found.place->type == BrowserNode::kContext) {
    REPRISE_CO_TRY(const auto tabs, co_await browser::read_tabs(reader.store(), stream));
    for (const model::TabFacts& tab : tabs)
      if (tab.context.bytes == found.id)
        edges.add_edge(edge, id, tab.id.to_string(), tab_index(tab),
                       tab_node(tab, found.view.state.active_tab));
  } else if (edge == "SessionCommand" && !found.place) {
    browser::CommandQuery query{.is_ok = {}, .tool = {}, .tab = {}, .limit = limit};
    co_return co_await add_command_edges(reader, found.view, std::move(query), after, edges);
  }
  co_return Result<>{};
}

rt::Task<Result<>> add_in(GraphReader& reader, const Found& found, std::string_view edge,
                          std::string after, std::size_t limit, GraphList& edges) {
  const std::string id = format_uuid(found.id);
  const std::string session = found.view.state.id.to_string();
  const bool is_tab = found.place && found.place->type == BrowserNode::kTab;
  if (edge == "SessionHasContext" && found.place && !is_tab) {
    edges.add_edge(edge, session, id, "{}", session_node(found.view));
  } else if (edge == "ContextHasTab" && is_tab) {
    REPRISE_CO_TRY(const auto tab, co_await reader.tab(found.view.stream, model::TabId{found.id}));
    if (!tab) co_return Result<>{};
    REPRISE_CO_TRY(const auto context, co_await reader.context(found.view.stream, tab->context));
    if (context)
      edges.add_edge(edge, context->id.to_string(), id, tab_index(*tab), context_node(*context));
  } else if (edge == "SessionCommand" && is_tab) {
    browser::CommandQuery query{
        .is_ok = {}, .tool = {}, .tab = model::TabId{found.id}, .limit = limit};
    co_return co_await add_command_edges(reader, found.view, std::move(query), after, edges);
  } else if (edge == "PoolHasSession" && !found.place) {
    REPRISE_CO_TRY(const auto contexts,
                   co_await browser::read_contexts(reader.store(), found.view.stream));
    if (contexts.empty()) co_return Result<>{};
    const std::string& key = contexts.back().pool_key;
    REPRISE_CO_TRY(const auto pool, co_await reader.browsers().pool_report(key));
    edges.add_edge(edge, fmt::format("{}{}", kPoolNodePrefix, key), session, "{}",
                   pool_node(key, pool));
  }
  co_return Result<>{};
}

bool is_edge(std::string_view text) {
  return text == "PoolHasSession" || text == "SessionHasContext" || text == "ContextHasTab" ||
         text == "SessionCommand";
}

rt::Task<Result<Reply>> edges_of(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({"limit", "cursor"}));
  const std::string& id = exchange.captured.at(0);
  const std::string& direction = exchange.captured.at(1);
  const std::string& edge = exchange.captured.at(2);
  if ((direction != "out" && direction != "in") || !is_edge(edge))
    co_return fail(Code::kNodeNotFound,
                   "out or in, and PoolHasSession, SessionHasContext, ContextHasTab or "
                   "SessionCommand");
  REPRISE_CO_TRY(const auto wanted,
                 number_parameter(exchange, "limit", 1, browser::kMaxCommandPageLimit));
  const std::size_t limit = wanted.value_or(browser::kDefaultCommandPageLimit);
  GraphReader reader(routes, exchange);
  REPRISE_CO_TRY(std::string position, reader.position());
  GraphList edges;
  if (id.starts_with(kPoolNodePrefix)) {
    const std::string pool = id.substr(kPoolNodePrefix.size());
    REPRISE_CO_TRY(const auto known, co_await routes.browsers.pool_report(pool));
    if (!known) co_return no_node(id);
    if (direction == "out" && edge == "PoolHasSession")
      REPRISE_CO_CHECK(co_await add_pool_sessions(reader, pool, std::move(position), limit, edges));
  } else {
    REPRISE_CO_TRY(const Found found, co_await find(reader, id));
    if (direction == "out") {
      REPRISE_CO_CHECK(co_await add_out(reader, found, edge, std::move(position), limit, edges));
    } else {
      REPRISE_CO_CHECK(co_await add_in(reader, found, edge, std::move(position), limit, edges));
    }
  }
  co_return Reply::json(
      200, fmt::format(R"({{"edges":{},"nextCursor":{}}})", edges.json(), edges.next_json()));
}

}  // namespace

void add_graph_routes(http::Router& router, const BrowserRoutes& routes) {
  using enum wire::Method;
  router.add(kGet, "/v1/graph/nodes/{type}", http::Scope::kRead,
             [&routes](Exchange& exchange) { return nodes_by_key(routes, exchange); });
  router.add(kGet, "/v1/graph/nodes/{id}/{direction}/{edge}", http::Scope::kRead,
             [&routes](Exchange& exchange) { return edges_of(routes, exchange); });
}

}  // namespace reprise::api
