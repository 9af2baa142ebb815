// The interactions of a session, open and resolved, by id: a small record for each, which says
// where in the stream the question and its answer stand.
//
//     q stream id    varint the question's seq, byte state, varint the resolving seq (0: open)
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/interaction.h"
#include "model/session_state.h"
#include "store/commit.h"

namespace reprise::session {

struct InteractionRecord {
  model::InteractionId id;
  Seq asked_seq;
  model::InteractionState state = model::InteractionState::kPending;
  Seq resolved_seq;
};

// As callers see it.
struct InteractionView {
  InteractionRecord record;
  TimePoint asked_at;
  std::string question;  // JSON object: what was asked
  std::string asked_by;
  std::optional<TimePoint> resolved_at;
  std::string response;  // JSON; empty where there is none
  std::string resolved_by;
};

std::string interaction_prefix(StreamId stream);
std::string interaction_key(StreamId stream, model::InteractionId id);
std::string encode_interaction(const InteractionRecord& record);
// From a key and its value.
Result<InteractionRecord> decode_interaction(std::string_view key, std::string_view value);

// What an event (not folded into `before` yet) means for the records.
void add_interaction_change(store::Commit& commit, StreamId stream,
                            const model::SessionState& before, Seq seq, const model::Event& event);

}  // namespace reprise::session
