// reprise agents
#include "server/cli/call.h"
#include "server/cli/table.h"

namespace reprise::server::cli {
namespace {

using rt::Task;

Task<Outcome<>> list_with(Client& client, AgentFilter filter, bool is_json) {
  Table table({"ID", "STATUS", "GENERATION", "BEATS", "HEARD", "REGISTERED", "LOST"});
  std::string rows;  // with --all --json: the agents of all pages
  std::string cursor;
  do {
    REPRISE_CO_TRY(const auto response,
                   co_await call(client, {.target = "/v1/agents" +
                                                    query({{"status", filter.status},
                                                           {"limit", fmt::to_string(filter.limit)},
                                                           {"cursor", cursor}})}));
    REPRISE_CO_TRY(const auto page, body_of(response));
    const wire::JsonValue root = page.root();
    if (is_json && !filter.wants_all) co_return print(root.minified() + "\n");
    if (const auto agents = root.find("agents")) {
      for (const wire::JsonValue agent : agents->elements()) {
        table.add({member_text(agent, "id"), member_text(agent, "status"),
                   member_text(agent, "generation"), member_text(agent, "heartbeatSeconds") + " s",
                   short_time(member_text(agent, "lastHeartbeatAt")),
                   short_time(member_text(agent, "registeredAt")),
                   short_time(member_text(agent, "lostAt"))});
        if (is_json) rows += (rows.empty() ? "" : ",") + agent.minified();
      }
    }
    cursor = member_text(root, "nextCursor");
  } while (filter.wants_all && !cursor.empty());

  if (is_json) co_return print(fmt::format("{{\"agents\":[{}]}}\n", rows));
  if (table.size() == 0) {
    note("no agents");
    co_return Outcome<>{};
  }
  REPRISE_CO_CHECK(print(table.render(terminal_width())));
  if (!cursor.empty()) note("there are more: use --all, or --limit up to 500");
  co_return Outcome<>{};
}

}  // namespace

int list_agents(const ClientOptions& options, const AgentFilter& filter) {
  return with_client(options,
                     [&](Client& client) { return list_with(client, filter, options.is_json); });
}

}  // namespace reprise::server::cli
