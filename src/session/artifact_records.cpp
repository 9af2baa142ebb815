#include "session/artifact_records.h"

#include <array>

#include "base/bytes.h"
#include "session/limits.h"

namespace reprise::session {
namespace {

constexpr std::size_t kHashBytes = 32;
constexpr std::size_t kPrefixBytes = 2 + 16;  // the table and the stream

std::string stream_key(std::string_view table, StreamId stream) {
  return std::string(table).append(stream.view());
}

std::unexpected<Error> damaged() {
  return fail(Code::kCorrupt, "an artifact's record does not decode");
}

bool read_version_body(ByteReader& reader, StoredVersion& version) {
  std::uint8_t kind = 0;
  std::uint64_t at = 0;
  std::string_view hash;
  if (!reader.varint(version.artifact.version) || !reader.byte(kind) ||
      kind >= model::kArtifactKinds.size() || !reader.text(version.artifact.content_type) ||
      !reader.varint(version.artifact.size) || !reader.take(kHashBytes, hash) ||
      !reader.varint(version.seq.value) || !reader.varint(at) || !reader.text(version.by))
    return false;
  version.artifact.kind = static_cast<model::ArtifactKind>(kind);
  version.artifact.sha256 = hash;
  version.at.ms = static_cast<std::int64_t>(at);
  return true;
}

}  // namespace

std::string artifact_prefix(StreamId stream) { return stream_key("fa", stream); }
std::string artifact_key(StreamId stream, std::string_view path) {
  return artifact_prefix(stream).append(path);
}
std::string version_prefix(StreamId stream) { return stream_key("fv", stream); }
std::string version_prefix(StreamId stream, std::string_view path) {
  return version_prefix(stream).append(path) + '\0';
}
std::string version_key(StreamId stream, std::string_view path, std::uint64_t number) {
  std::string key = version_prefix(stream, path);
  put_be64(key, number);
  return key;
}
std::string reference_prefix(std::string_view hash) { return "fr" + std::string(hash); }
std::string reference_key(std::string_view hash, StreamId stream, Seq seq) {
  std::string key = reference_prefix(hash).append(stream.view());
  put_be64(key, seq.value);
  return key;
}
std::string usage_key(StreamId stream) { return stream_key("fu", stream); }
std::string temporary_prefix() { return "ft"; }
std::string temporary_key(StreamId stream) { return stream_key("ft", stream); }
std::string garbage_prefix() { return "fg"; }
std::string garbage_key(std::string_view hash) { return "fg" + std::string(hash); }
std::optional<std::string> hash_of_garbage_key(std::string_view key) {
  if (key.size() != 2 + kHashBytes) return std::nullopt;
  return std::string(key.substr(2));
}

std::string encode_version(const StoredVersion& version) {
  std::string out;
  put_varint(out, version.artifact.version);
  out.push_back(static_cast<char>(version.artifact.kind));
  put_text(out, version.artifact.content_type);
  put_varint(out, version.artifact.size);
  out += version.artifact.sha256;
  put_varint(out, version.seq.value);
  put_varint(out, static_cast<std::uint64_t>(version.at.ms));
  put_text(out, version.by);
  return out;
}

std::string encode_artifact(const StoredArtifact& artifact) {
  std::string out;
  put_varint(out, artifact.last_number);
  put_varint(out, artifact.versions);
  return out + encode_version(artifact.newest);
}

std::string encode_usage(const ArtifactUsage& usage) {
  std::string out;
  put_varint(out, usage.bytes);
  put_varint(out, usage.versions);
  return out;
}

Result<StoredArtifact> decode_artifact(std::string_view key, std::string_view value) {
  StoredArtifact artifact;
  ByteReader reader(value);
  if (key.size() <= kPrefixBytes || !reader.varint(artifact.last_number) ||
      !reader.varint(artifact.versions) || !read_version_body(reader, artifact.newest) ||
      !reader.at_end())
    return damaged();
  artifact.newest.artifact.path = key.substr(kPrefixBytes);
  return artifact;
}

Result<StoredVersion> decode_version(std::string_view key, std::string_view value) {
  constexpr std::size_t kSuffixBytes = 1 + 8;
  StoredVersion version;
  ByteReader reader(value);
  if (key.size() <= kPrefixBytes + kSuffixBytes || !read_version_body(reader, version) ||
      !reader.at_end())
    return damaged();
  version.artifact.path = key.substr(kPrefixBytes, key.size() - kPrefixBytes - kSuffixBytes);
  return version;
}

Result<ArtifactUsage> decode_usage(std::string_view value) {
  ArtifactUsage usage;
  ByteReader reader(value);
  if (!reader.varint(usage.bytes) || !reader.varint(usage.versions) || !reader.at_end())
    return damaged();
  return usage;
}

rt::Task<Result<std::optional<StoredArtifact>>> read_artifact(store::AsyncStore& store,
                                                              StreamId stream, std::string path) {
  const std::string key = artifact_key(stream, path);
  REPRISE_CO_TRY(const auto record, co_await store.get(key));
  if (!record) co_return std::nullopt;
  co_return decode_artifact(key, record->value);
}

rt::Task<Result<std::optional<StoredVersion>>> read_version(store::AsyncStore& store,
                                                            StreamId stream, std::string path,
                                                            std::uint64_t number) {
  const std::string key = version_key(stream, path, number);
  REPRISE_CO_TRY(const auto record, co_await store.get(key));
  if (!record) co_return std::nullopt;
  co_return decode_version(key, record->value);
}

rt::Task<Result<ArtifactUsage>> read_usage(store::AsyncStore& store, StreamId stream) {
  REPRISE_CO_TRY(const auto record, co_await store.get(usage_key(stream)));
  if (!record) co_return ArtifactUsage{};
  REPRISE_CO_TRY(ArtifactUsage usage, decode_usage(record->value));
  usage.record_version = record->version;
  co_return usage;
}

rt::Task<Result<std::vector<StoredVersion>>> read_versions(store::AsyncStore& store,
                                                           StreamId stream, std::string path) {
  std::vector<StoredVersion> versions;
  std::string begin = version_prefix(stream, path);
  const std::string end = prefix_end(begin);
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto page, co_await store.scan({.begin = begin, .end = end}));
    for (const auto& row : page.records) {
      REPRISE_CO_TRY(auto version, decode_version(row.key, row.value));
      versions.push_back(std::move(version));
    }
    has_more = page.has_more;
    if (has_more) begin = page.records.back().key + '\0';
  }
  co_return versions;
}

void drop_version(store::Commit& commit, StreamId stream, const StoredVersion& version) {
  const model::ArtifactVersion& artifact = version.artifact;
  commit.erases.push_back(
      {.key = version_key(stream, artifact.path, artifact.version), .only_if = {}});
  commit.erases.push_back(
      {.key = reference_key(artifact.sha256, stream, version.seq), .only_if = {}});
  commit.puts.push_back({.key = garbage_key(artifact.sha256), .value = {}, .only_if = {}});
}

rt::Task<Result<>> sweep_artifacts(store::AsyncStore& store, StreamId stream) {
  const std::string artifacts = artifact_prefix(stream);
  const std::array<std::string, 2> prefixes = {version_prefix(stream), artifacts};
  for (const std::string& prefix : prefixes) {
    for (bool has_more = true; has_more;) {
      REPRISE_CO_TRY(const auto page,
                     co_await store.scan(
                         {.begin = prefix, .end = prefix_end(prefix), .limit = kJanitorBatch}));
      store::Commit commit;
      for (const auto& row : page.records) {
        if (prefix == artifacts) {
          commit.erases.push_back({.key = row.key, .only_if = {}});
          continue;
        }
        REPRISE_CO_TRY(const auto version, decode_version(row.key, row.value));
        drop_version(commit, stream, version);
      }
      has_more = page.has_more;
      if (!commit.is_empty()) REPRISE_CO_CHECK(co_await store.commit(std::move(commit)));
    }
  }
  REPRISE_CO_TRY(const auto usage, co_await store.get(usage_key(stream)));
  if (!usage) co_return Result<>{};  // there never was an artifact
  store::Commit rest;
  rest.erases.push_back({.key = usage_key(stream), .only_if = {}});
  rest.erases.push_back({.key = temporary_key(stream), .only_if = {}});
  REPRISE_CO_CHECK(co_await store.commit(std::move(rest)));
  co_return Result<>{};
}

}  // namespace reprise::session
