// Where a session's artifacts stand in the store.
//
//     fa stream path              the artifact: its newest version, and how many there are
//     fv stream path NUL number   one version of it
//     fr hash stream seq          a reference: the version created by that event has this content
//     fu stream                   what the session's versions take together
//     ft stream                   the session has files under tmp/; the value is its id
//     fg hash                     content that lost a reference: it may be garbage
//
// Records are written in the commit of the event that tells of them. Whoever drops a reference
// writes `fg` in the same commit, and that is erased only when the content has been looked at: so a
// crash leaves nothing behind.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/artifact.h"
#include "rt/task.h"
#include "store/async.h"
#include "store/commit.h"

namespace reprise::session {

struct StoredVersion {
  model::ArtifactVersion artifact;  // with its path, which is in the key
  Seq seq;                          // of the event that made it
  TimePoint at;
  std::string by;
};

struct StoredArtifact {
  StoredVersion newest;
  std::uint64_t last_number = 0;  // the highest a version has had; never given twice
  std::uint64_t versions = 0;     // how many are kept
};

struct ArtifactUsage {
  std::uint64_t bytes = 0;
  std::uint64_t versions = 0;
  store::Version record_version = 0;  // 0: there is no record
  // For one more version, or some less.
  ArtifactUsage plus(std::uint64_t added_bytes) const {
    return {bytes + added_bytes, versions + 1, record_version};
  }
  ArtifactUsage minus(std::uint64_t freed_bytes, std::uint64_t count) const {
    return {bytes - std::min(bytes, freed_bytes), versions - std::min(versions, count),
            record_version};
  }
};

std::string artifact_prefix(StreamId stream);
std::string artifact_key(StreamId stream, std::string_view path);
std::string version_prefix(StreamId stream);
std::string version_prefix(StreamId stream, std::string_view path);
std::string version_key(StreamId stream, std::string_view path, std::uint64_t number);
std::string reference_prefix(std::string_view hash);
std::string reference_key(std::string_view hash, StreamId stream, Seq seq);
std::string usage_key(StreamId stream);
std::string temporary_prefix();
std::string temporary_key(StreamId stream);
std::string garbage_prefix();
std::string garbage_key(std::string_view hash);
std::optional<std::string> hash_of_garbage_key(std::string_view key);

std::string encode_artifact(const StoredArtifact& artifact);
std::string encode_version(const StoredVersion& version);
std::string encode_usage(const ArtifactUsage& usage);
// From a key and its value; kCorrupt.
Result<StoredArtifact> decode_artifact(std::string_view key, std::string_view value);
Result<StoredVersion> decode_version(std::string_view key, std::string_view value);
Result<ArtifactUsage> decode_usage(std::string_view value);

rt::Task<Result<std::optional<StoredArtifact>>> read_artifact(store::AsyncStore& store,
                                                              StreamId stream, std::string path);
rt::Task<Result<std::optional<StoredVersion>>> read_version(store::AsyncStore& store,
                                                            StreamId stream, std::string path,
                                                            std::uint64_t number);
rt::Task<Result<ArtifactUsage>> read_usage(store::AsyncStore& store, StreamId stream);
// Every version of one path, oldest first.
rt::Task<Result<std::vector<StoredVersion>>> read_versions(store::AsyncStore& store,
                                                           StreamId stream, std::string path);

// What the end of a version writes, its artifact's record and the session's usage aside.
void drop_version(store::Commit& commit, StreamId stream, const StoredVersion& version);

// All records of a deleted session; their content becomes garbage.
rt::Task<Result<>> sweep_artifacts(store::AsyncStore& store, StreamId stream);

}  // namespace reprise::session
