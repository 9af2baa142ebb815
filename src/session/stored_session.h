// A session's record in the store: the snapshot of the fold, and what the service files about it.
//
//     byte     1          the version
//     bytes    stream     16
//     varint   expiry     1 + milliseconds under which the session stands in the expiry index; 0:
//     it does not byte     slid       1 if activity was noted without an event since the last one
//     that was varint   slid_at    that activity, in milliseconds (only if slid) varint   revision
//     rises with every change that people see; the etag bytes    state      model::encode_state, to
//     the end
//
// A plain append does not write the record: the newest entry's header carries the counters, and
// current() puts snapshot and entry together.
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

// Brings the snapshot up to the newest entry of its stream.
Result<> bring_up_to(StoredSession& session, const std::optional<store::StoredEntry>& newest);

}  // namespace reprise::session
