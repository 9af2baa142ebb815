// Where a session's records live in the store. One letter names the table; numbers are big-endian,
// so that byte order is numeric order; texts that are followed by something end in NUL (names hold
// no control characters).
//
//     s id             the session: its state, stream and filed times (session/stored_session.h)
//     k app NUL name   the key: the id of the session that holds it or held it last
//     a app NUL id     index by app
//     g graph NUL id   index by graph
//     o owner NUL id   index by owner
//     t status id      index by status
//     n name NUL id    index by name
//     w id             waiting for a person
//     x time id        expiry: a lower bound of when the session may expire
//     e time id        ended at
//     q stream id      interaction (session/interactions.h)
//     N app            settings of an app (session/apps.h)
//     E app time id    ended at, by app
//     d stream         deleted: entries and idempotency keys of this stream are still to be swept
//     f                artifacts (session/artifact_records.h)
//     h                webhooks of apps (session/webhooks/webhook.h)
//     i, j             idempotency (stream/idempotency.h)
//     A id             an agent (model/agent.h); written when it registers or is lost, not when it
//                      beats: its version is what a lease is checked against inside a commit
//     A NUL            the last generation given to an agent, a varint; never erased
//     c                tool calls (session/tool_call_rows.h)
//     p                checkpoints (session/checkpoint_records.h)
//     u                inputs, and what was rolled back (session/input_records.h)
//     b stream         contexts, tabs and commands of its browser (session/browser_rows.h)
//     B                indexes over them
//     I stream         an import under way (session/archives.h): what there is of this stream
//                      becomes a session, or is swept
//
// Ids are UUIDv7, so the order of ids is the order of creation and an index read backwards is
// newest first.
//
// Counters: "n" scope NUL status counts sessions; scopes are all, app, graph, and app with graph.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/session_state.h"

namespace reprise::session {

std::string session_key(SessionId id);
std::string name_key(const model::SessionKey& key);

// Prefixes of the indexes; an index key is its prefix and the id.
std::string all_prefix();
std::string app_prefix(std::string_view app);
std::string graph_prefix(std::string_view graph_id);
std::string owner_prefix(std::string_view owner);
std::string status_prefix(model::Status status);
std::string name_prefix(
    std::string_view start_of_name);  // followed by the rest of the name, NUL, id
std::string waiting_prefix();

std::string expiry_key(TimePoint at, SessionId id);
std::string expiry_range_begin();
std::string expiry_range_end(TimePoint now);  // everything due at `now`
std::string ended_key(TimePoint at, SessionId id);
std::string ended_range_begin();
std::string ended_range_end(TimePoint until);
std::string app_ended_prefix(std::string_view app);
std::string app_ended_range_end(std::string_view app, TimePoint until);
std::string deleted_key(StreamId stream);
std::string deleted_prefix();
std::optional<StreamId> stream_of_deleted_key(std::string_view key);
std::string import_key(StreamId stream);
std::string import_prefix();
std::optional<StreamId> stream_of_import_key(std::string_view key);

std::string agent_key(std::string_view id);
std::string agent_range_begin();
std::string agent_range_end();
std::string_view id_of_agent_key(std::string_view key);
std::string last_generation_key();

// The id at the end of an index key.
std::optional<SessionId> id_of_index_key(std::string_view key);

// Every index entry a session in this state has, except the expiry (which is a filed lower bound).
std::vector<std::string> index_keys(const model::SessionState& state);

std::string counter_key(std::string_view app, std::string_view graph_id, model::Status status);
// The counters a session in this state adds one to.
std::vector<std::string> counter_keys(const model::SessionState& state);

// The monitor's feeds: 16 streams by session id.
inline constexpr std::size_t kFeeds = 16;
std::size_t feed_of(SessionId id);
StreamId feed_stream(std::size_t feed);

}  // namespace reprise::session
