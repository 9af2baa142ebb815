// The inputs of a session, open and over, by id: a small record for each, which says where in its
// stream they stand; and what was rolled back.
//
//     ui stream id    varint queued, byte state, varint started (0: never), varint finished (0: not
//                     yet): the numbers of its three events
//     uq stream queued  16 bytes id: in the order in which they came; `queued` is big-endian
//     uv stream to    varint from: the events from..to are void; `to` is big-endian
//
// Written in the commit of the events they tell of; the janitor removes them with the stream.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/input.h"
#include "model/session_state.h"
#include "rt/task.h"
#include "store/async.h"
#include "store/commit.h"

namespace reprise::session {

struct InputRecord {
  model::InputId id;
  Seq queued;
  model::InputState state = model::InputState::kQueued;
  Seq started;
  Seq finished;
};

std::string input_prefix(StreamId stream);
std::string input_key(StreamId stream, model::InputId id);
std::string encode_input(const InputRecord& record);
// From a key and its value; kCorrupt.
Result<InputRecord> decode_input(std::string_view key, std::string_view value);

std::string input_order_prefix(StreamId stream);
std::string input_order_key(StreamId stream, Seq queued);

std::string void_prefix(StreamId stream);
std::string void_key(StreamId stream, Seq to);
std::string encode_void(Seq from);
Result<Seq> decode_void(std::string_view value);

// What an event (not folded into `before` yet) means for the records.
void add_input_change(store::Commit& commit, StreamId stream, const model::SessionState& before,
                      Seq seq, const model::Event& event);

// Whether an event was rolled back. Asks the store only where the session's state leaves it open.
rt::Task<Result<bool>> is_void(store::AsyncStore& store, StreamId stream,
                               const model::InputQueue& inputs, Seq seq);

}  // namespace reprise::session
