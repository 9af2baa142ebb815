// What a change of a session's record writes besides the record: indexes, counters, the expiry
// index.
#pragma once

#include "model/session_state.h"
#include "session/stored_session.h"
#include "store/commit.h"

namespace reprise::session {

// Index entries and counters of a new session.
void add_creation(store::Commit& commit, const StoredSession& created);
// Only what differs between the two.
void add_index_changes(store::Commit& commit, const model::SessionState& before,
                       const model::SessionState& after);
// Everything but the key's record, and a note that the stream's entries are to be swept.
void add_removal(store::Commit& commit, const StoredSession& session);

// Keeps the expiry index right: it holds a lower bound of the session's expiry, moved earlier at
// once and later only when `must_refile` (the janitor came and found that it was too early). Sets
// `after.filed_expiry`; true if that changed.
bool file_expiry(store::Commit& commit, const StoredSession& before, StoredSession& after,
                 bool must_refile);

}  // namespace reprise::session
