// Where a session's checkpoints stand in the store.
//
//     pn stream name             the name: varint last_number, varint how many versions, each
//                                varint version, varint seq, varint at, varint size, oldest first
//     pd stream name NUL number  what was saved: minified JSON; the number is big-endian
//
// Written in the commit of the event that tells of them. Whether a version counts is decided when
// it is read: not if a reset or a rollback came after it. The next change of the name removes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "model/checkpoint.h"
#include "rt/task.h"
#include "store/async.h"
#include "store/commit.h"

namespace reprise::session {

struct CheckpointRow {
  std::string name;               // in the key
  std::uint64_t last_number = 0;  // the highest a version has had
  std::vector<model::CheckpointVersion> versions;
};

std::string checkpoint_prefix(StreamId stream);
std::string checkpoint_key(StreamId stream, std::string_view name);
std::string checkpoint_data_key(StreamId stream, std::string_view name, std::uint64_t number);
std::string encode_checkpoint(const CheckpointRow& row);
// From a key and its value; kCorrupt.
Result<CheckpointRow> decode_checkpoint(std::string_view key, std::string_view value);

rt::Task<Result<std::optional<CheckpointRow>>> read_checkpoint(store::AsyncStore& store,
                                                               StreamId stream, std::string name);

// Erases the data of these versions.
void erase_versions(store::Commit& commit, StreamId stream, std::string_view name,
                    const std::vector<model::CheckpointVersion>& versions);
// Erases a name with all of its versions.
void erase_checkpoint(store::Commit& commit, StreamId stream, const CheckpointRow& row);

// All records of a deleted session.
rt::Task<Result<>> sweep_checkpoints(store::AsyncStore& store, StreamId stream);

}  // namespace reprise::session
