// reprise sessions export | import
#include "server/cli/call.h"
#include "server/cli/transfer.h"

namespace reprise::server::cli {
namespace {

using rt::Task;

// An archive is made before its first byte is sent, and read to its end before it is a session.
constexpr std::chrono::hours kPatience{1};

Task<Outcome<>> import_with(Client& client, SessionToImport session, bool is_json) {
  ClientRequest request{
      .method = "POST",
      .target = "/v1/sessions/import" +
                query({{"newId", session.wants_new_id ? "true" : ""}, {"name", session.name}}),
      .patience = kPatience};
  request.headers.emplace_back("Content-Type", "application/x-tar");
  REPRISE_CO_TRY(const auto response,
                 co_await upload_file(client, std::move(request), session.file));
  REPRISE_CO_TRY(const auto document, body_of(response));
  const wire::JsonValue root = document.root();
  const std::string key = member_text(root, "key");
  co_return print(is_json ? root.minified() + "\n"
                          : fmt::format("{}{}{}, {}, {} events\n", member_text(root, "id"),
                                        key.empty() ? "" : " ", key, member_text(root, "status"),
                                        member_text(root, "lastSeq")));
}

}  // namespace

int export_session(const ClientOptions& options, const SessionToExport& session) {
  return with_client(options, [&](Client& client) {
    return download_file(
        client, {.target = session_target(session.session, "/export"), .patience = kPatience},
        session.output);
  });
}

int import_session(const ClientOptions& options, const SessionToImport& session) {
  return with_client(options,
                     [&](Client& client) { return import_with(client, session, options.is_json); });
}

}  // namespace reprise::server::cli
