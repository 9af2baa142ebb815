// Where what a session's browser did stands in the store, so that it is found without reading
// streams. Derived from the session's events (model/browsing.h), in their commits.
//
//     b stream c context     the context, as its newest event tells it
//     b stream t tab         the tab, likewise
//     b stream m seq         a command: byte ok, a byte 0 or a byte 1 and the tab's 16 bytes, text
//                            tool; what it said stands in its event
//     b stream f seq         a command that failed: the same value
//     b stream s tab seq     a command of a tab: the same value
//     b stream r key         the index entry `key` belongs to this session
//
//     B n id                 a context or a tab by its id: byte type, session, stream
//     B k type key NUL id    by its key
//     B p pool NUL session   a session of a pool: its context
//     B x status id          a context by status
//     B o id                 an open tab
//     B e type time id       a context or tab by when it was closed
//     B v session            a person took its browser over, and paused it for that: stream
//     B P key                a pool of another process (browser/external_pools.h): JSON
//     B U app                what an app's pages may reach (browser/app_policies.h): JSON
//
// Everything of a session is under `b stream`, and so are the names of its index entries: a deleted
// session is swept by that prefix alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/browsing.h"
#include "model/event.h"
#include "rt/task.h"
#include "store/async.h"
#include "store/commit.h"

namespace reprise::session {

enum class BrowserNode : std::uint8_t { kContext = 1, kTab = 2 };

// Where a context or a tab stands.
struct NodePlace {
  BrowserNode type = BrowserNode::kContext;
  SessionId session;
  StreamId stream;
};

struct CommandRow {
  bool is_ok = false;
  std::optional<model::TabId> tab;
  std::string tool;
};

std::string browser_prefix(StreamId stream);
std::string context_rows_prefix(StreamId stream);
std::string tab_rows_prefix(StreamId stream);
std::string context_row_key(StreamId stream, model::ContextId id);
std::string tab_row_key(StreamId stream, model::TabId id);
// Commands of a session; of one tab; failed ones. The key ends in the event's number.
std::string command_rows_prefix(StreamId stream);
std::string failed_rows_prefix(StreamId stream);
std::string tab_command_rows_prefix(StreamId stream, model::TabId tab);
Seq seq_of_row_key(std::string_view key);

std::string node_key(const Uuid& id);
std::string node_by_key_prefix(BrowserNode type, std::string_view key);
std::string pool_sessions_prefix(std::string_view pool_key);
std::string external_pools_prefix();
std::string app_policy_key(std::string_view app);
std::string context_status_prefix(model::ContextStatus status);
std::string open_tabs_prefix();
std::string closed_prefix(BrowserNode type);
std::string closed_range_end(BrowserNode type, TimePoint until);
// The id at the end of an index key.
std::optional<Uuid> id_of_browser_index(std::string_view key);

Result<NodePlace> decode_node(std::string_view value);
Result<CommandRow> decode_command_row(std::string_view value);

// What an event of a browser changes in the rows; part of the event's commit. Other events change
// nothing.
void add_browser_rows(store::Commit& commit, SessionId session, StreamId stream, Seq seq,
                      const model::Event& event);
// The same for an imported session, whose contexts and tabs are history: found through it, and in
// no index, where an archive could stand in another session's place.
void add_browser_history(store::Commit& commit, StreamId stream, Seq seq,
                         const model::Event& event);
// As add_browser_rows for what became of a context or a tab when no event can tell it any more: the
// session has ended.
void put_context_row(store::Commit& commit, SessionId session, StreamId stream,
                     const model::ContextFacts& context);
void put_tab_row(store::Commit& commit, SessionId session, StreamId stream,
                 const model::TabFacts& tab);

// A session that is paused because a person has its browser, so that a server that starts again
// finds it.
std::string takeovers_prefix();
void put_takeover_row(store::Commit& commit, SessionId session, StreamId stream);
void erase_takeover_row(store::Commit& commit, SessionId session, StreamId stream);

// All rows of a deleted session, and what indexes say of it.
rt::Task<Result<>> sweep_browser_rows(store::AsyncStore& store, StreamId stream);

}  // namespace reprise::session
