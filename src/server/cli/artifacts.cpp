// reprise artifacts list | put | get
#include "server/cli/call.h"
#include "server/cli/table.h"
#include "server/cli/transfer.h"

namespace reprise::server::cli {
namespace {

using rt::Task;

Task<Outcome<>> list_with(Client& client, ArtifactFilter filter, bool is_json) {
  Table table({"PATH", "VERSION", "KIND", "SIZE", "TYPE", "CREATED"});
  std::string rows;
  std::string cursor;
  do {
    const std::string target = session_target(filter.session, "/artifacts") +
                               query({{"prefix", filter.prefix},
                                      {"kind", filter.kind},
                                      {"versions", filter.wants_versions ? "true" : ""},
                                      {"limit", std::to_string(filter.limit)},
                                      {"cursor", cursor}});
    REPRISE_CO_TRY(const auto response, co_await call(client, {.target = target}));
    REPRISE_CO_TRY(const auto page, body_of(response));
    const wire::JsonValue root = page.root();
    if (is_json && !filter.wants_all) co_return print(root.minified() + "\n");
    if (const auto artifacts = root.find("artifacts")) {
      for (const wire::JsonValue artifact : artifacts->elements()) {
        const auto size = artifact.find("size");
        table.add({member_text(artifact, "path"), member_text(artifact, "version"),
                   member_text(artifact, "kind"),
                   format_bytes(size ? size->as_uint().value_or(0) : 0),
                   member_text(artifact, "contentType"), member_text(artifact, "createdAt")});
        if (is_json) rows += (rows.empty() ? "" : ",") + artifact.minified();
      }
    }
    cursor = member_text(root, "nextCursor");
  } while (filter.wants_all && !cursor.empty());

  if (is_json) co_return print(fmt::format("{{\"artifacts\":[{}]}}\n", rows));
  if (table.size() == 0) {
    note("no artifacts");
    co_return Outcome<>{};
  }
  REPRISE_CO_CHECK(print(table.render(terminal_width())));
  if (!cursor.empty()) note("there are more: use --all, or --limit up to 500");
  co_return Outcome<>{};
}

Task<Outcome<>> put_with(Client& client, ArtifactToPut artifact, bool is_json) {
  ClientRequest request{
      .method = "PUT",
      .target = artifact_target(artifact.session, artifact.path, query({{"kind", artifact.kind}}))};
  if (!artifact.content_type.empty())
    request.headers.emplace_back("Content-Type", artifact.content_type);
  REPRISE_CO_TRY(const auto response,
                 co_await upload_file(client, std::move(request), artifact.file));
  REPRISE_CO_TRY(const auto document, body_of(response));
  const wire::JsonValue root = document.root();
  co_return print(is_json ? root.minified() + "\n"
                          : fmt::format("{} version {}, {} bytes\n", member_text(root, "path"),
                                        member_text(root, "version"), member_text(root, "size")));
}

Task<Outcome<>> get_with(Client& client, ArtifactToGet artifact) {
  const std::string number = artifact.version ? std::to_string(*artifact.version) : "";
  co_return co_await download_file(
      client,
      {.target = artifact_target(artifact.session, artifact.path, query({{"version", number}}))},
      artifact.output);
}

}  // namespace

int list_artifacts(const ClientOptions& options, const ArtifactFilter& filter) {
  return with_client(options,
                     [&](Client& client) { return list_with(client, filter, options.is_json); });
}

int put_artifact(const ClientOptions& options, const ArtifactToPut& artifact) {
  return with_client(options,
                     [&](Client& client) { return put_with(client, artifact, options.is_json); });
}

int get_artifact(const ClientOptions& options, const ArtifactToGet& artifact) {
  return with_client(options, [&](Client& client) { return get_with(client, artifact); });
}

}  // namespace reprise::server::cli
