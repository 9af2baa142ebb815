#include "api/graph_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "api/access.h"
#include "api/pools.h"
#include "api/session_json.h"
#include "base/bytes.h"
#include "base/json_text.h"
#include "browser/limits.h"
#include "browser/reading.h"

namespace reprise::api {
namespace {

using session::BrowserNode;
using session::SessionView;

// What a position begins with: after this key, or from this one on.
constexpr char kAfter = '=';
constexpr char kFrom = '~';
// The part of an id that is chance; what is before it is the time at which it was made.
constexpr std::size_t kChanceBytes = 10;

std::string node_json(std::string_view id, std::string_view type, std::string_view key,
                      std::string_view properties) {
  return fmt::format(R"({{"id":{},"type":"{}","key":{},"properties":{}}})", json_string(id), type,
                     json_string(key), properties);
}

// A key without what tells one row from another of the same time.
std::string_view coarse(std::string_view key) {
  return key.substr(0, key.size() - std::min(key.size(), kChanceBytes));
}

std::unexpected<Error> bad_cursor() {
  return fail(Code::kBadCursor, "the cursor is not one of this query");
}

}  // namespace

std::string session_node(const session::SessionView& view) {
  const auto& state = view.state;
  return node_json(state.id.to_string(), "Session",
                   state.has_key() ? state.key().to_string() : state.id.to_string(),
                   session_json(view, model::Vocabulary::kStandard));
}

std::string pool_node(std::string_view key, const std::optional<browser::PoolReport>& pool) {
  return node_json(fmt::format("{}{}", kPoolNodePrefix, key), "Pool", key,
                   pool ? pool_json(*pool) : fmt::format(R"({{"poolKey":{}}})", json_string(key)));
}

std::string context_node(const model::ContextFacts& context) {
  return node_json(context.id.to_string(), "Context", context.key, context_json(context));
}

std::string tab_node(const model::TabFacts& tab, std::optional<model::TabId> active) {
  return node_json(tab.id.to_string(), "Tab", tab.key, tab_json(tab, active));
}

std::string edge_json(std::string_view type, std::string_view from, std::string_view to,
                      std::string_view properties, std::string_view node) {
  return fmt::format(R"({{"type":"{}","from":{},"to":{},"properties":{},"node":{}}})", type,
                     json_string(from), json_string(to), properties, node);
}

void GraphList::add_node(std::string_view node) {
  if (node.empty()) return;
  if (size_++ > 0) json_ += ',';
  json_ += node;
}

void GraphList::add_edge(std::string_view type, std::string_view from, std::string_view to,
                         std::string_view properties, std::string_view node) {
  add_node(edge_json(type, from, to, properties, node));
}

std::string GraphList::next_json() const {
  return next.empty() ? "null" : json_string(to_base64url(next));
}

rt::Task<Result<std::optional<SessionView>>> GraphReader::session(SessionId id) {
  auto view = co_await browsers_.sessions().get(id);
  if (!view && view.error().code == Code::kSessionNotFound) co_return std::optional<SessionView>();
  if (!view) co_return fail(std::move(view).error());
  if (!check_app_access(exchange_, view->state.app)) co_return std::optional<SessionView>();
  co_return std::optional(std::move(*view));
}

rt::Task<Result<std::optional<model::ContextFacts>>> GraphReader::context(StreamId stream,
                                                                          model::ContextId id) {
  REPRISE_CO_TRY(const auto row, co_await store().get(session::context_row_key(stream, id)));
  if (!row) co_return std::optional<model::ContextFacts>();
  REPRISE_CO_TRY(auto facts, model::decode_context(row->value));
  co_return std::optional(std::move(facts));
}

rt::Task<Result<std::optional<model::TabFacts>>> GraphReader::tab(StreamId stream,
                                                                  model::TabId id) {
  REPRISE_CO_TRY(const auto row, co_await store().get(session::tab_row_key(stream, id)));
  if (!row) co_return std::optional<model::TabFacts>();
  REPRISE_CO_TRY(auto facts, model::decode_tab(row->value));
  co_return std::optional(std::move(facts));
}

rt::Task<Result<std::string>> GraphReader::node(const Uuid& id) {
  REPRISE_CO_TRY(const auto place, co_await browser::find_node(store(), id));
  if (!place) co_return std::string();
  REPRISE_CO_TRY(const auto view, co_await session(place->session));
  if (!view || view->stream != place->stream) co_return std::string();
  if (place->type == BrowserNode::kContext) {
    REPRISE_CO_TRY(const auto facts, co_await context(place->stream, model::ContextId{id}));
    co_return facts ? context_node(*facts) : std::string();
  }
  REPRISE_CO_TRY(const auto facts, co_await tab(place->stream, model::TabId{id}));
  co_return facts ? tab_node(*facts, view->state.active_tab) : std::string();
}

Result<std::string> GraphReader::position() const {
  REPRISE_TRY(const auto cursor, exchange_.query("cursor"));
  auto bytes = cursor ? from_base64url(*cursor) : std::optional<std::string>("");
  if (!bytes || (cursor && bytes->empty())) return bad_cursor();
  return std::move(*bytes);
}

rt::Task<Result<>> add_command_edges(GraphReader& reader, const SessionView& view,
                                     browser::CommandQuery query, std::string position,
                                     GraphList& list) {
  if (!position.empty() && position.size() != sizeof(std::uint64_t)) co_return bad_cursor();
  if (!position.empty()) query.after = Seq{get_be64(position)};
  REPRISE_CO_TRY(const auto page,
                 co_await browser::read_commands(reader.store(), view.stream, std::move(query)));
  for (const browser::StoredCommand& command : page.commands) {
    const auto facts = model::decode_command(command.data);
    const std::string to = facts && facts->tab ? facts->tab->to_string() : std::string();
    list.add_edge("SessionCommand", view.state.id.to_string(), to, command_json(command), "null");
  }
  if (page.has_more) put_be64(list.next, page.next_after.value);
  co_return Result<>{};
}

Result<> IndexWalk::start(std::string position) {
  if (position.empty()) return {};
  const std::string key = position.substr(1);
  const bool is_after = position.front() == kAfter;
  // A cursor is a key of this index, or it is none of ours.
  if ((!is_after && position.front() != kFrom) || key < begin_ || key >= end_) return bad_cursor();
  begin_ = is_after ? key + '\0' : key;
  return {};
}

rt::Task<Result<>> IndexWalk::read_more() {
  if (begin_ >= end_) {
    has_more_ = false;
    co_return Result<>{};
  }
  REPRISE_CO_TRY(auto rows,
                 co_await reader_.store().scan(
                     {.begin = begin_, .end = end_, .is_reverse = false, .limit = limit_ + 1}));
  has_more_ = rows.has_more;
  for (auto& row : rows.records) keys_.push_back(std::move(row.key));
  if (!keys_.empty()) begin_ = keys_.back() + '\0';
  std::ranges::reverse(keys_);
  co_return Result<>{};
}

rt::Task<Result<std::optional<Uuid>>> IndexWalk::next() {
  while (keys_.empty() && has_more_) REPRISE_CO_CHECK(co_await read_more());
  if (keys_.empty()) co_return std::optional<Uuid>();
  if (taken_.size() >= limit_ || examined_ >= browser::kMaxGraphExamined) {
    is_cut_ = true;
    co_return std::optional<Uuid>();
  }
  ++examined_;
  present_ = std::move(keys_.back());
  keys_.pop_back();
  const auto id = session::id_of_browser_index(present_);
  if (!id) co_return fail(Code::kCorrupt, "an index key does not decode");
  co_return id;
}

void IndexWalk::take(std::string node) {
  if (!node.empty()) taken_.push_back({.key = present_, .node = std::move(node)});
}

GraphList IndexWalk::list() const {
  GraphList list;
  const bool is_full = taken_.size() >= limit_;
  // Among rows that the caller may not see: go on from their time, so that what was taken of that
  // time comes on the next page instead of twice.
  const std::string_view stop = is_cut_ && !is_full ? coarse(present_) : std::string_view();
  for (const Taken& taken : taken_)
    if (stop.empty() || coarse(taken.key) != stop) list.add_node(taken.node);
  if (!is_cut_) return list;
  list.next = is_full ? kAfter + taken_.back().key : kFrom + std::string(stop);
  return list;
}

}  // namespace reprise::api
