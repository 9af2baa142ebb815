// A session's record in the store: the snapshot of the fold, and what the service files about it.
//
//     byte     1          the version
//     bytes    stream     16
//     varint   expiry     1 + milliseconds under which it stands in the expiry index; 0: not there
//     byte     slid       1 if activity was noted without an event since the last one that was
//     varint   slid_at    that activity, in milliseconds (only if slid)
//     varint   revision   rises with every change that people see; the etag
//     bytes    state      model::encode_state, to the end
//
// A plain append does not write the record: the newest entry's header carries the counters, and
// bring_up_to() puts snapshot and entry together.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "model/session_state.h"
#include "store/commit.h"
#include "store/engine.h"

namespace reprise::session {

struct StoredSession {
  model::SessionState state;
  StreamId stream;
  std::optional<TimePoint> filed_expiry;
  std::optional<TimePoint> slid_at;
  std::uint64_t revision = 1;  // the etag
  store::Version version = 0;  // of the record in the store
};

std::string encode_stored(const StoredSession& session);
Result<StoredSession> decode_stored(std::string_view bytes, store::Version version);

// Brings the snapshot up to the newest entry of its stream and the activity written down since.
Result<> bring_up_to(StoredSession& session, const std::optional<store::StoredEntry>& newest);

// Activity without an event is written down at most once per tenth of the window, so whoever loads
// a session gives it the time that may not have been written: late, never early, and never later
// than now.
void grant_unwritten_activity(StoredSession& session, TimePoint now);

}  // namespace reprise::session
