// All of a session's artifacts at one moment, for an export.
#include "base/bytes.h"
#include "session/artifacts_internal.h"

namespace reprise::session {

// What a record still names stays; where none does any more, whoever dropped it has noted that.
ArtifactSnapshot::~ArtifactSnapshot() {
  for (auto& [hash, pin] : contents) pin.settle();
}

rt::Task<Result<ArtifactSnapshot>> ArtifactService::snapshot(SessionId id) {
  rt::Loop& origin = here();
  if (!co_await rt::switch_to(home_of(id).loop))
    co_return fail(Code::kOverloaded, "the session's loop has too much waiting");
  auto made = co_await snapshot_held(id);
  co_await rt::return_to(origin);
  co_return made;
}

// While it is held, every version has been told by an event up to the session's head, and none is
// dropped; a deletion of the whole session comes through all the same, and is noticed by who reads
// its events.
rt::Task<Result<ArtifactSnapshot>> ArtifactService::snapshot_held(SessionId id) {
  REPRISE_CO_TRY(const Holds::Held held, co_await home_of(id).holds.take(id));
  ArtifactSnapshot snapshot;
  REPRISE_CO_TRY(snapshot.session, co_await sessions_.get(id));
  const StreamId stream = snapshot.session.stream;
  store::AsyncStore& store = sessions_.store_here();
  std::string begin = artifact_prefix(stream);
  std::string end = prefix_end(begin);
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto page, co_await store.scan({.begin = begin, .end = end}));
    has_more = page.has_more;
    for (const auto& row : page.records) {
      begin = row.key + '\0';
      REPRISE_CO_TRY(const auto artifact, decode_artifact(row.key, row.value));
      if (is_visible(snapshot.session, artifact.newest))
        snapshot.last_numbers.emplace(artifact.newest.artifact.path, artifact.last_number);
    }
  }
  begin = version_prefix(stream);
  end = prefix_end(begin);
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto page, co_await store.scan({.begin = begin, .end = end}));
    has_more = page.has_more;
    for (const auto& row : page.records) {
      begin = row.key + '\0';
      REPRISE_CO_TRY(auto version, decode_version(row.key, row.value));
      if (!snapshot.last_numbers.contains(version.artifact.path)) continue;
      snapshot.versions.push_back(std::move(version));
    }
  }
  // It waits where a file is being removed, so not on the loop.
  REPRISE_CO_CHECK(co_await pool_.run(here(), [&]() -> Result<> {
    for (const StoredVersion& version : snapshot.versions) {
      const std::string& hash = version.artifact.sha256;
      if (!snapshot.contents.contains(hash)) snapshot.contents.emplace(hash, files_.pin(hash));
    }
    return {};
  }));
  co_return snapshot;
}

}  // namespace reprise::session
