// What the commands that call a server share: a loop, a client made from the options, and responses
// that are either a success or a Failure.
//
//     int show(const ClientOptions& options) {
//       return with_client(options, [](Client& client) { return show_with(client, ...); });
//     }
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/cli/client.h"
#include "server/cli/commands.h"
#include "server/cli/outcome.h"
#include "wire/json.h"

namespace reprise::server::cli {

using ClientCommand = std::function<rt::Task<Outcome<>>(Client&)>;

// Runs the command on a loop of its own, reports a failure and gives the exit status.
int with_client(const ClientOptions& options, const ClientCommand& command);

// The response, if it is a 2xx.
rt::Task<Outcome<wire::Response>> call(Client& client, ClientRequest request);
// The body as JSON.
Outcome<wire::JsonDocument> body_of(const wire::Response& response);

// /v1/sessions/{s} and what follows.
std::string session_target(const std::string& session, std::string_view rest = "");

// …/artifacts/{path}: the slashes of a path stay, all else that is not plain is encoded.
std::string artifact_target(const std::string& session, std::string_view path,
                            std::string_view query_text = "");

// "?a=1&b=2", percent-encoded; empty values are left out.
std::string query(const std::vector<std::pair<std::string, std::string>>& parameters);

// A member as a person reads it: strings bare, null and absent as "", the rest as JSON.
std::string member_text(wire::JsonValue object, std::string_view name);

}  // namespace reprise::server::cli
