// Pages of a session's artifacts.
#include "base/bytes.h"
#include "session/artifacts_internal.h"

namespace reprise::session {

rt::Task<Result<ArtifactPage>> ArtifactService::list(SessionRef session, ArtifactQuery query) {
  REPRISE_CO_TRY(const SessionView view, co_await sessions_.get(std::move(session)));
  if (!query.after.empty() && !query.after.starts_with(query.prefix))
    co_return fail(Code::kBadCursor, "the cursor was made for another list");
  store::AsyncStore& store = sessions_.store_here();
  const std::string table =
      query.wants_versions ? version_prefix(view.stream) : artifact_prefix(view.stream);
  const std::string end = prefix_end(table + query.prefix);
  std::string begin = query.after.empty() ? table + query.prefix : table + query.after + '\0';
  ArtifactPage page{.artifacts = {}, .next = {}, .usage = {}, .max_bytes = 0};
  REPRISE_CO_TRY(page.usage, co_await read_usage(store, view.stream));
  page.max_bytes = options_.max_session_bytes;
  std::size_t examined = 0;
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto rows,
                   co_await store.scan({.begin = begin, .end = end, .limit = query.limit + 1}));
    has_more = rows.has_more;
    for (const auto& row : rows.records) {
      // There is at least one more row.
      if (page.artifacts.size() == query.limit || examined == kMaxExaminedRows) co_return page;
      ++examined;
      begin = row.key + '\0';
      page.next = row.key.substr(table.size());
      ArtifactView one;
      if (query.wants_versions) {
        REPRISE_CO_TRY(one.version, decode_version(row.key, row.value));
      } else {
        REPRISE_CO_TRY(StoredArtifact artifact, decode_artifact(row.key, row.value));
        one = {.version = std::move(artifact.newest), .versions = artifact.versions};
      }
      const bool is_wanted = !query.kind || one.version.artifact.kind == *query.kind;
      if (is_wanted && is_visible(view, one.version)) page.artifacts.push_back(std::move(one));
    }
    if (has_more) co_await rt::yield(here());
  }
  page.next.clear();
  co_return page;
}

}  // namespace reprise::session
