// Idempotency: a call repeated with the same key and body gets the first answer, and its effects
// happen once.
//
// The ledger's record is part of the same commit as the effects. Keys live as long as
// kIdempotencyWindow; an expiry-ordered key lets the janitor remove old ones without a scan.
//
//     record   "i" stream(16) hash(32)      value: expires(be64) body hash(32) answer
//     expiry   "j" expires(be64) stream(16) hash(32)   value: empty
//
// where hash is SHA-256 of route, NUL, key: keys of any length and content make fixed-size records.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "store/commit.h"
#include "store/engine.h"

namespace reprise::stream {

struct IdempotencyClaim {
  std::string key_hash;   // 32 bytes
  std::string body_hash;  // 32 bytes
};

// kBadParameter for an empty or over-long key or one with control characters.
Result<IdempotencyClaim> make_claim(std::string_view route, std::string_view key,
                                    std::string_view body);

std::string idempotency_key(StreamId stream, const IdempotencyClaim& claim);
// The range of all of a stream's keys, for its removal.
std::string idempotency_prefix(StreamId stream);

// Adds the answer to the commit that has the effects.
void remember(store::Commit& commit, StreamId stream, const IdempotencyClaim& claim,
              std::string_view answer, TimePoint now);

// The remembered answer, nullopt if there is none (or it has expired), kIdempotencyMismatch for
// another body.
Result<std::optional<std::string>> recall(const std::optional<store::Record>& record,
                                          const IdempotencyClaim& claim, TimePoint now);

// The range of expiry keys that are due.
std::string expiry_range_begin();
std::string expiry_range_end(TimePoint now);
// The record that a due expiry key belongs to; kCorrupt if the key does not decode.
Result<std::string> record_of_expiry(std::string_view expiry_key);
// Adds the erases for one due expiry key. The record (as stored now) goes too, unless its key was
// claimed anew after it had expired: then it belongs to a later expiry key.
void forget_due(store::Commit& commit, std::string_view expiry_key,
                const std::optional<store::Record>& record);

// The same for a record of a stream that is being removed, given its key and value.
void forget(store::Commit& commit, std::string_view record_key, std::string_view value);

}  // namespace reprise::stream
