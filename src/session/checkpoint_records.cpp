#include "session/checkpoint_records.h"

#include "base/bytes.h"
#include "session/limits.h"

namespace reprise::session {
namespace {

constexpr std::size_t kPrefixBytes = 2 + 16;  // the table and the stream

bool read_version(ByteReader& reader, model::CheckpointVersion& version) {
  std::uint64_t at = 0;
  if (!reader.varint(version.version) || !reader.varint(version.seq.value) || !reader.varint(at) ||
      !reader.varint(version.size))
    return false;
  version.at.ms = static_cast<std::int64_t>(at);
  return true;
}

}  // namespace

std::string checkpoint_prefix(StreamId stream) { return "pn" + std::string(stream.view()); }
std::string checkpoint_key(StreamId stream, std::string_view name) {
  return checkpoint_prefix(stream).append(name);
}
std::string checkpoint_data_key(StreamId stream, std::string_view name, std::uint64_t number) {
  std::string key = "pd" + std::string(stream.view());
  key += name;
  key.push_back('\0');
  put_be64(key, number);
  return key;
}

std::string encode_checkpoint(const CheckpointRow& row) {
  std::string out;
  put_varint(out, row.last_number);
  put_varint(out, row.versions.size());
  for (const model::CheckpointVersion& version : row.versions) {
    put_varint(out, version.version);
    put_varint(out, version.seq.value);
    put_varint(out, static_cast<std::uint64_t>(version.at.ms));
    put_varint(out, version.size);
  }
  return out;
}

Result<CheckpointRow> decode_checkpoint(std::string_view key, std::string_view value) {
  const auto damaged = [] { return fail(Code::kCorrupt, "a checkpoint's record does not decode"); };
  CheckpointRow row;
  ByteReader reader(value);
  std::uint64_t count = 0;
  if (key.size() <= kPrefixBytes || !reader.varint(row.last_number) || !reader.varint(count))
    return damaged();
  for (std::uint64_t i = 0; i < count; ++i) {
    model::CheckpointVersion version;
    const bool is_sound = read_version(reader, version);
    if (!is_sound || version.version == 0 || version.version > row.last_number ||
        (!row.versions.empty() && (version.version <= row.versions.back().version ||
                                   version.seq <= row.versions.back().seq)))
      return damaged();
    row.versions.push_back(version);
  }
  if (!reader.at_end()) return damaged();
  row.name = key.substr(kPrefixBytes);
  return row;
}

rt::Task<Result<std::optional<CheckpointRow>>> read_checkpoint(store::AsyncStore& store,
                                                               StreamId stream, std::string name) {
  const std::string key = checkpoint_key(stream, name);
  REPRISE_CO_TRY(const auto record, co_await store.get(key));
  if (!record) co_return std::nullopt;
  co_return decode_checkpoint(key, record->value);
}

void erase_versions(store::Commit& commit, StreamId stream, std::string_view name,
                    const std::vector<model::CheckpointVersion>& versions) {
  for (const model::CheckpointVersion& version : versions)
    commit.erases.push_back(
        {.key = checkpoint_data_key(stream, name, version.version), .only_if = {}});
}

void erase_checkpoint(store::Commit& commit, StreamId stream, const CheckpointRow& row) {
  erase_versions(commit, stream, row.name, row.versions);
  commit.erases.push_back({.key = checkpoint_key(stream, row.name), .only_if = {}});
}

// By the names, which are small: what was saved is not read to be erased.
rt::Task<Result<>> sweep_checkpoints(store::AsyncStore& store, StreamId stream) {
  const std::string prefix = checkpoint_prefix(stream);
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(
        const auto page,
        co_await store.scan({.begin = prefix, .end = prefix_end(prefix), .limit = kJanitorBatch}));
    store::Commit commit;
    for (const auto& record : page.records) {
      REPRISE_CO_TRY(const CheckpointRow row, decode_checkpoint(record.key, record.value));
      erase_checkpoint(commit, stream, row);
    }
    has_more = page.has_more;
    if (!commit.is_empty()) REPRISE_CO_CHECK(co_await store.commit(std::move(commit)));
  }
  co_return Result<>{};
}

}  // namespace reprise::session
