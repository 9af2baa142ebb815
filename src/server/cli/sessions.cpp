// reprise sessions list | show | create | delete
#include "base/json_text.h"
#include "server/cli/call.h"
#include "server/cli/table.h"

namespace reprise::server::cli {
namespace {

using rt::Task;

std::string status_text(wire::JsonValue session) {
  const std::string reason = member_text(session, "pauseReason");
  const std::string status = member_text(session, "status");
  return reason.empty() ? status : fmt::format("{} ({})", status, reason);
}

void add_row(Table& table, wire::JsonValue session) {
  table.add({member_text(session, "key"), status_text(session), member_text(session, "graphId"),
             member_text(session, "ownerAgent"), member_text(session, "lastSeq"),
             short_time(member_text(session, "lastActivityAt")), member_text(session, "id")});
}

ClientRequest list_request(const SessionFilter& filter, const std::string& cursor) {
  return {.target = "/v1/sessions" + query({{"app", filter.app},
                                            {"graphId", filter.graph},
                                            {"status", filter.status},
                                            {"ownerAgent", filter.owner},
                                            {"q", filter.name_prefix},
                                            {"limit", std::to_string(filter.limit)},
                                            {"cursor", cursor}})};
}

Task<Outcome<>> list_with(Client& client, SessionFilter filter, bool is_json) {
  Table table({"KEY", "STATUS", "GRAPH", "OWNER", "EVENTS", "ACTIVE", "ID"});
  std::string rows;  // with --all --json: the sessions of all pages
  std::string cursor;
  do {
    REPRISE_CO_TRY(const auto response, co_await call(client, list_request(filter, cursor)));
    REPRISE_CO_TRY(const auto page, body_of(response));
    const wire::JsonValue root = page.root();
    if (is_json && !filter.wants_all) co_return print(root.minified() + "\n");
    if (const auto sessions = root.find("sessions")) {
      for (const wire::JsonValue session : sessions->elements()) {
        add_row(table, session);
        if (is_json) rows += (rows.empty() ? "" : ",") + session.minified();
      }
    }
    cursor = member_text(root, "nextCursor");
  } while (filter.wants_all && !cursor.empty());

  if (is_json) co_return print(fmt::format("{{\"sessions\":[{}]}}\n", rows));
  if (table.size() == 0) {
    note("no sessions");
    co_return Outcome<>{};
  }
  REPRISE_CO_CHECK(print(table.render(terminal_width())));
  if (!cursor.empty()) note("there are more: use --all, or --limit up to 500");
  co_return Outcome<>{};
}

Task<Outcome<>> show_with(Client& client, std::string session, bool is_json) {
  REPRISE_CO_TRY(const auto response, co_await call(client, {.target = session_target(session)}));
  REPRISE_CO_TRY(const auto document, body_of(response));
  const wire::JsonValue root = document.root();
  if (is_json) co_return print(root.minified() + "\n");
  std::vector<std::pair<std::string, std::string>> fields;
  for (const wire::JsonMember& member : root.members())
    fields.emplace_back(member.name, member_text(root, member.name));
  co_return print(render_record(fields));
}

Outcome<std::string> create_body(const NewSession& session) {
  std::string body;
  const auto add = [&](std::string_view name, const std::string& value) {
    body += fmt::format("{}{}:{}", body.empty() ? "" : ",", json_string(name), value);
  };
  const auto add_text = [&](std::string_view name, const std::optional<std::string>& value) {
    if (value) add(name, json_string(*value));
  };
  add_text("app", session.app);
  add_text("name", session.name);
  add_text("graphId", session.graph);
  add_text("ownerAgent", session.owner);
  add_text("status", session.status);
  if (session.ttl_seconds) add("ttlSeconds", std::to_string(*session.ttl_seconds));
  if (session.metadata) {
    const auto metadata = wire::parse_json(*session.metadata);
    if (!metadata) return usage(fmt::format("--metadata: {}", metadata.error().detail));
    add("metadata", metadata->root().minified());
  }
  return "{" + body + "}";
}

Task<Outcome<>> create_with(Client& client, NewSession session, bool is_json) {
  REPRISE_CO_TRY(std::string body, create_body(session));
  ClientRequest request{.method = "POST", .target = "/v1/sessions", .body = std::move(body)};
  request.is_repeatable = false;
  REPRISE_CO_TRY(const auto response, co_await call(client, std::move(request)));
  REPRISE_CO_TRY(const auto document, body_of(response));
  const wire::JsonValue root = document.root();
  if (is_json) co_return print(root.minified() + "\n");
  co_return print(
      printable(fmt::format("created {} {}", member_text(root, "id"), member_text(root, "key"))) +
      "\n");
}

Task<Outcome<>> delete_with(Client& client, std::string session, bool is_json) {
  ClientRequest request{.method = "DELETE", .target = session_target(session)};
  REPRISE_CO_CHECK(co_await call(client, std::move(request)));
  if (is_json) co_return print(fmt::format("{{\"deleted\":{}}}\n", json_string(session)));
  co_return print(fmt::format("deleted {}\n", printable(session)));
}

}  // namespace

int list_sessions(const ClientOptions& options, const SessionFilter& filter) {
  return with_client(options,
                     [&](Client& client) { return list_with(client, filter, options.is_json); });
}

int show_session(const ClientOptions& options, const std::string& session) {
  return with_client(options,
                     [&](Client& client) { return show_with(client, session, options.is_json); });
}

int create_session(const ClientOptions& options, const NewSession& session) {
  return with_client(options,
                     [&](Client& client) { return create_with(client, session, options.is_json); });
}

int delete_session(const ClientOptions& options, const std::string& session) {
  return with_client(options,
                     [&](Client& client) { return delete_with(client, session, options.is_json); });
}

}  // namespace reprise::server::cli
