#include "stream/idempotency.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/hash.h"
#include "stream/limits.h"

namespace reprise::stream {
namespace {
constexpr char kRecordTable = 'i';
constexpr char kExpiryTable = 'j';
constexpr std::size_t kHashBytes = 32;
}  // namespace

Result<IdempotencyClaim> make_claim(std::string_view route, std::string_view key,
                                    std::string_view body) {
  const bool has_control = std::any_of(key.begin(), key.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (key.empty() || key.size() > kMaxIdempotencyKeyBytes || has_control)
    return fail(Code::kBadParameter,
                fmt::format("Idempotency-Key has {} bytes; 1 to {} printable ones are allowed",
                            key.size(), kMaxIdempotencyKeyBytes));
  std::string identity(route);
  identity.push_back('\0');
  identity += key;
  return IdempotencyClaim{sha256(identity), sha256(body)};
}

std::string idempotency_prefix(StreamId stream) {
  std::string key(1, kRecordTable);
  key += stream.view();
  return key;
}

std::string idempotency_key(StreamId stream, const IdempotencyClaim& claim) {
  return idempotency_prefix(stream) + claim.key_hash;
}

void remember(store::Commit& commit, StreamId stream, const IdempotencyClaim& claim,
              std::string_view answer, TimePoint now) {
  const auto expires = static_cast<std::uint64_t>((now + kIdempotencyWindow).ms);
  std::string value;
  put_be64(value, expires);
  value += claim.body_hash;
  value += answer;
  commit.puts.push_back(
      {.key = idempotency_key(stream, claim), .value = std::move(value), .only_if = {}});
  std::string expiry(1, kExpiryTable);
  put_be64(expiry, expires);
  expiry += stream.view();
  expiry += claim.key_hash;
  commit.puts.push_back({.key = std::move(expiry), .value = {}, .only_if = {}});
}

Result<std::optional<std::string>> recall(const std::optional<store::Record>& record,
                                          const IdempotencyClaim& claim, TimePoint now) {
  if (!record) return std::nullopt;
  ByteReader reader(record->value);
  std::uint64_t expires = 0;
  std::string_view body_hash;
  if (!reader.be64(expires) || !reader.take(kHashBytes, body_hash))
    return fail(Code::kCorrupt, "a stored idempotency record does not decode");
  if (static_cast<std::int64_t>(expires) <= now.ms) return std::nullopt;
  if (body_hash != claim.body_hash)
    return fail(Code::kIdempotencyMismatch,
                "this Idempotency-Key was used with another body; use a new key for a new call");
  return std::string(reader.rest());
}

std::string expiry_range_begin() { return std::string(1, kExpiryTable); }

std::string expiry_range_end(TimePoint now) {
  std::string end(1, kExpiryTable);
  put_be64(end, static_cast<std::uint64_t>(std::max<std::int64_t>(now.ms, 0)) + 1);
  return end;
}

Result<std::string> record_of_expiry(std::string_view expiry_key) {
  if (expiry_key.size() != 1 + 8 + 16 + kHashBytes)
    return fail(Code::kCorrupt, "a stored idempotency expiry key does not decode");
  std::string record(1, kRecordTable);
  record += expiry_key.substr(9);
  return record;
}

void forget_due(store::Commit& commit, std::string_view expiry_key,
                const std::optional<store::Record>& record) {
  const bool is_own = record && record->value.substr(0, 8) == expiry_key.substr(1, 8);
  if (is_own) {
    std::string record_key(1, kRecordTable);
    record_key += expiry_key.substr(9);
    commit.erases.push_back(
        {.key = std::move(record_key), .only_if = store::Precondition::version(record->version)});
  }
  commit.erases.push_back({.key = std::string(expiry_key), .only_if = {}});
}

void forget(store::Commit& commit, std::string_view record_key, std::string_view value) {
  std::string expiry(1, kExpiryTable);
  expiry += value.substr(0, 8);
  expiry += record_key.substr(1);
  commit.erases.push_back({.key = std::move(expiry), .only_if = {}});
  commit.erases.push_back({.key = std::string(record_key), .only_if = {}});
}

}  // namespace reprise::stream
