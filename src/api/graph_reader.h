// Reads the graph for one caller, who sees only what its token's apps hold: nodes and edges as
// JSON, and walks over indexes.
//
// Threads: on the loop of the request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/browsers.h"
#include "base/error.h"
#include "browser/pool_report.h"
#include "http/exchange.h"
#include "session/browser_rows.h"

namespace reprise::api {

inline constexpr std::string_view kPoolNodePrefix = "pool:";

std::string session_node(const session::SessionView& view);
// One that is gone is still what contexts of the past came from.
std::string pool_node(std::string_view key, const std::optional<browser::PoolReport>& pool);
std::string context_node(const model::ContextFacts& context);
std::string tab_node(const model::TabFacts& tab, std::optional<model::TabId> active);

std::string edge_json(std::string_view type, std::string_view from, std::string_view to,
                      std::string_view properties, std::string_view node);

// A list of nodes or edges that grows.
class GraphList {
 public:
  void add_node(std::string_view node);  // empty: nothing
  void add_edge(std::string_view type, std::string_view from, std::string_view to,
                std::string_view properties, std::string_view node);
  std::size_t size() const { return size_; }
  std::string json() const { return json_ + ']'; }
  // Where it goes on; empty: there are no more.
  std::string next;
  // "nextCursor" as JSON.
  std::string next_json() const;

 private:
  std::string json_ = "[";
  std::size_t size_ = 0;
};

class GraphReader {
 public:
  GraphReader(const BrowserRoutes& routes, const http::Exchange& exchange)
      : browsers_(routes.browsers), exchange_(exchange) {}

  store::AsyncStore& store() { return browsers_.sessions().store_here(); }
  browser::BrowserService& browsers() { return browsers_; }
  const http::Exchange& exchange() const { return exchange_; }

  // Nothing for one that is gone or not the caller's.
  rt::Task<Result<std::optional<session::SessionView>>> session(SessionId id);
  rt::Task<Result<std::optional<model::ContextFacts>>> context(StreamId stream,
                                                               model::ContextId id);
  rt::Task<Result<std::optional<model::TabFacts>>> tab(StreamId stream, model::TabId id);
  // A context or a tab as a node; empty if the caller may not see it.
  rt::Task<Result<std::string>> node(const Uuid& id);

  // The present position of a walk: empty, or a cursor that it gave. kBadCursor.
  Result<std::string> position() const;

 private:
  browser::BrowserService& browsers_;
  const http::Exchange& exchange_;
};

// Commands as edges from their session to their tab, from a position on.
rt::Task<Result<>> add_command_edges(GraphReader& reader, const session::SessionView& view,
                                     browser::CommandQuery query, std::string position,
                                     GraphList& list);

// A walk over an index whose keys end in an id, in the order of the keys.
//
//     IndexWalk walk(reader, begin, end, limit);
//     REPRISE_CO_CHECK(walk.start(position));
//     while (true) {
//       REPRISE_CO_TRY(const auto id, co_await walk.next());
//       if (!id) break;
//       ... walk.take(node);                       // empty: the caller may not see it
//     }
//     GraphList list = walk.list();
//
// What a caller may not see is passed over, and its id is in no cursor: a page goes on until it is
// full, and one that has to stop among such rows, after kMaxGraphExamined of them, says only from
// which time on to go on.
class IndexWalk {
 public:
  IndexWalk(GraphReader& reader, std::string begin, std::string end, std::size_t limit)
      : reader_(reader), begin_(std::move(begin)), end_(std::move(end)), limit_(limit) {}

  Result<> start(std::string position);
  rt::Task<Result<std::optional<Uuid>>> next();
  void take(std::string node);

  // What was taken, and where to go on.
  GraphList list() const;

 private:
  struct Taken {
    std::string key;
    std::string node;
  };
  rt::Task<Result<>> read_more();

  GraphReader& reader_;
  std::string begin_;
  const std::string end_;
  const std::size_t limit_;
  std::vector<std::string> keys_;  // read, and not looked at, in reverse
  bool has_more_ = true;           // rows behind them
  std::string present_;            // the key of what was given last
  std::size_t examined_ = 0;
  std::vector<Taken> taken_;
  bool is_cut_ = false;  // it stopped before the index's end
};

}  // namespace reprise::api
