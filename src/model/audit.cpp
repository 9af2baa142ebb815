#include "model/audit.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/hash.h"
#include "model/browsing.h"

namespace reprise::model {
namespace {

constexpr std::string_view kExtraStart("\x01\x20", 2);

std::string_view view(const AuditHash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

void put_sized(std::string& out, std::string_view text) {
  put_be32(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

AuditHash as_hash(std::string_view bytes) {
  AuditHash hash{};
  std::ranges::copy(bytes, hash.begin());
  return hash;
}

}  // namespace

bool is_audited_type(std::string_view type) {
  return type == event_type::kToolStarted || type == event_type::kToolFinished ||
         type == event_type::kCommand;
}

AuditHash audit_hash(const AuditHash& previous, Seq seq, const EntryView& entry) {
  std::string bytes(view(previous));
  put_be64(bytes, seq.value);
  put_be64(bytes, static_cast<std::uint64_t>(entry.at.ms));
  put_sized(bytes, entry.type);
  put_sized(bytes, entry.by);
  put_sized(bytes, entry.data);
  return as_hash(sha256(bytes));
}

void extend(AuditChain& chain, Seq seq, const EntryView& entry) {
  chain.head = audit_hash(chain.head, seq, entry);
  ++chain.entries;
}

std::string to_hex(const AuditHash& hash) { return reprise::to_hex(view(hash)); }

std::optional<AuditHash> parse_audit_hash(std::string_view hex) {
  const auto bytes = from_hex(hex);
  if (!bytes || bytes->size() != AuditHash{}.size()) return std::nullopt;
  return as_hash(*bytes);
}

std::string audit_extra(const AuditHash& hash) {
  std::string extra(kExtraStart);
  extra += view(hash);
  return extra;
}

std::optional<AuditHash> hash_in_extra(std::string_view extra) {
  if (!extra.starts_with(kExtraStart)) return std::nullopt;
  extra.remove_prefix(kExtraStart.size());
  if (extra.size() != AuditHash{}.size()) return std::nullopt;
  return as_hash(extra);
}

void AuditVerifier::blame(Seq seq, std::string reason) {
  if (!report_.is_valid) return;
  report_ = {.is_valid = false, .first_bad = seq, .reason = std::move(reason)};
}

void AuditVerifier::stored(Seq seq, std::string_view bytes) {
  if (seq != last_.next())
    blame(last_.next(), fmt::format("entry {} is missing", last_.next().value));
  last_ = seq;
  const auto entry = decode_entry(bytes);
  if (!entry) return blame(seq, fmt::format("entry {} does not decode", seq.value));
  if (entry->type == event_type::kMessage) ++message_count_;
  if (entry->type == event_type::kSessionReset) message_count_ = 0;
  if (!is_audited_type(entry->type)) {
    if (hash_in_extra(entry->extra))
      blame(seq, fmt::format("entry {} was audited as another type", seq.value));
    return;
  }
  audited(seq, *entry, hash_in_extra(entry->extra));
  // What the hash does not cover is the counter and the spelling of the entry's own numbers.
  const Event event{.type = std::string(entry->type),
                    .at = entry->at,
                    .data = std::string(entry->data),
                    .by = std::string(entry->by)};
  if (encode_entry(event, {.message_count = message_count_}, entry->extra) != bytes)
    blame(seq, fmt::format("entry {} is not spelled as it was written", seq.value));
}

void AuditVerifier::audited(Seq seq, const EntryView& entry,
                            const std::optional<AuditHash>& claimed) {
  extend(chain_, seq, entry);
  if (claimed == chain_.head) return;
  blame(seq, claimed ? fmt::format("the hash of entry {} does not match", seq.value)
                     : fmt::format("entry {} carries no hash", seq.value));
}

AuditReport AuditVerifier::finish(const AuditChain& recorded, std::optional<Seq> head) const {
  AuditReport report = report_;
  const bool is_cut = head && last_ < *head;
  if (!report.is_valid || (recorded == chain_ && !is_cut)) return report;
  report.is_valid = false;
  if (is_cut) {
    report.first_bad = last_.next();
    report.reason =
        fmt::format("the entries end with {} but the record says {}", last_.value, head->value);
  } else if (recorded.entries != chain_.entries) {
    report.reason = fmt::format("there are {} audited entries but the record says {}",
                                chain_.entries, recorded.entries);
  } else {
    report.reason = "the last hash is not the record's";
  }
  return report;
}

}  // namespace reprise::model
