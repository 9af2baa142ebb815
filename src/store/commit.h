// A Commit: everything one change writes, and what must still be true for it to be written.
//
// A commit happens whole or not at all, and nobody is told about it before it is durable. It may
// append to several streams (each with the head it expects, or without: then the store numbers it),
// put and erase records (each perhaps only if it is absent or has a known version), add to counters
// and cut streams.
//
//     Commit commit;
//     commit.appends.push_back({.stream = id, .expected_head = Seq{41}, .entries = {bytes}});
//     commit.puts.push_back({.key = key, .value = record, .only_if = Precondition::version(7)});
//
// Commits are checked in the order they were submitted, earlier ones of the same batch included;
// one that fails fails alone. The order of effects within one commit: cuts and erases, then
// appends, puts and counters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"

namespace reprise::store {

// A record's version: it rises with every put of any record, also across restarts, and is never
// reused, so a record that was erased and written anew never has an old version again.
using Version = std::uint64_t;

struct Precondition {
  enum class Kind : std::uint8_t { kNone, kAbsent, kVersion };
  Kind kind = Kind::kNone;
  Version expected = 0;
  static Precondition none() { return {}; }
  static Precondition absent() { return {Kind::kAbsent, 0}; }
  static Precondition version(Version version) { return {Kind::kVersion, version}; }
};

struct StreamAppend {
  StreamId stream;
  std::optional<Seq> expected_head;  // none: any, the store numbers it
  std::vector<std::string> entries;  // at least one; they get consecutive sequence numbers
  // The id was made just now and nobody else has it: the stream is empty without a look.
  bool is_new_stream = false;
};

struct RecordPut {
  std::string key;
  std::string value;
  Precondition only_if;
};

struct RecordErase {
  std::string key;
  Precondition only_if;
};

// A condition on a record that this commit does not write.
struct RecordCheck {
  std::string key;
  Precondition only_if;
};

// Adds to a durable signed 64-bit counter; an absent counter is 0. Counters live in a space of
// their own.
struct CounterAdd {
  std::string key;
  std::int64_t delta;
};

// Removes the entries of a stream up to and including `up_to` (retention). The head and the
// numbering stay as they are: the next entry is head + 1. A cut of a whole stream goes with
// `forget`, after which the stream is as if it had never been; that is only for ids that are never
// used again.
struct StreamCut {
  StreamId stream;
  Seq up_to;
  bool forget = false;
};

struct Commit {
  std::vector<StreamAppend> appends;
  std::vector<RecordPut> puts;
  std::vector<RecordErase> erases;
  std::vector<RecordCheck> checks;
  std::vector<CounterAdd> counters;
  std::vector<StreamCut> cuts;

  bool is_empty() const;
  // Roughly what it adds to the log; bounds the queue and the batch.
  std::size_t byte_size() const;
};

// What the store decided while committing; in the order of the commit's vectors.
struct Committed {
  std::vector<Seq> first_seqs;    // per append: the number of its first entry
  std::vector<Version> versions;  // per put
};

}  // namespace reprise::store
