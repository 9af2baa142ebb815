// The audit: a chain of hashes over a session's tool calls, so that whoever changes, drops, swaps
// or cuts off an entry is found out.
//
// Each audited entry carries a hash of itself and of the hash before it:
//
//     hash = SHA-256( previous   32 bytes; zeros before the first entry
//                     seq        8 bytes, big-endian, as all numbers here
//                     at         8 bytes, milliseconds since 1970
//                     type       4 bytes of length, then the bytes; so also the next two
//                     by         who did it, empty if nobody said
//                     data )     the entry's JSON exactly as it is stored and shown
//
// The session's id is no part of it: a session imported under a new one still verifies. The record
// holds how many entries there are and the last hash, so an end that was cut off is missed too. Who
// can rewrite the whole store can make a new chain; against that, keep a copy of the last hash
// elsewhere.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "model/event.h"

namespace reprise::model {

using AuditHash = std::array<unsigned char, 32>;

// What the record knows of the chain.
struct AuditChain {
  std::uint64_t entries = 0;
  AuditHash head{};  // of the last entry
  friend bool operator==(const AuditChain&, const AuditChain&) = default;
};

// Types whose entries are part of the chain; all of them are reserved.
bool is_audited_type(std::string_view type);

AuditHash audit_hash(const AuditHash& previous, Seq seq, const EntryView& entry);
// Adds an entry to the end.
void extend(AuditChain& chain, Seq seq, const EntryView& entry);

std::string to_hex(const AuditHash& hash);
std::optional<AuditHash> parse_audit_hash(std::string_view hex);

// How an entry carries its hash: in `extra` (model/event.h), as a byte 1, a byte 32 and the hash.
std::string audit_extra(const AuditHash& hash);
std::optional<AuditHash> hash_in_extra(std::string_view extra);

struct AuditReport {
  bool is_valid = true;
  std::optional<Seq> first_bad;  // where it can be told
  std::string reason;            // for people; empty if valid
};

// Follows a chain from its first entry and remembers the first thing that is wrong.
//
//     AuditVerifier verifier;
//     for (const auto& entry : all_entries_of_the_stream) verifier.stored(entry.seq, entry.bytes);
//     AuditReport report = verifier.finish(recorded, head);
class AuditVerifier {
 public:
  // The next entry of the stream, audited or not, as it is stored.
  void stored(Seq seq, std::string_view bytes);
  // The next audited entry, with the hash it claims; for what is read from an export.
  void audited(Seq seq, const EntryView& entry, const std::optional<AuditHash>& claimed);
  // Compares with what the record holds. `head` is the last entry of the stream, for a verifier
  // that was shown all of it.
  AuditReport finish(const AuditChain& recorded, std::optional<Seq> head = std::nullopt) const;

  // What was seen.
  const AuditChain& chain() const { return chain_; }

 private:
  void blame(Seq seq, std::string reason);

  AuditChain chain_;
  Seq last_;
  std::uint64_t message_count_ = 0;
  AuditReport report_;
};

}  // namespace reprise::model
