#include "server/cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/cli/arguments.h"
#include "server/cli/help_text.h"
#include "server/cli/outcome.h"
#include "server/serve.h"
#include "server/version.h"

namespace reprise::server::cli {
namespace {

void add_serve(Command root, Arguments& arguments) {
  Command command = root.add("serve", "Run the server", serve_footer());
  command.repeated({.name = "--config",
                    .placeholder = "FILE",
                    .help = wrapped("JSON file with the settings below [REPRISE_CONFIG]"),
                    .group = "Where"},
                   arguments.serve["--config"]);
  for (const Setting& setting : settings()) {
    auto& values = arguments.serve[setting.flag];
    const std::string text = wrapped(setting_help(setting));
    if (setting.kind == Setting::Kind::kSwitch) {
      command.flag(setting.flag, [&values] { values = {"true"}; }, text, setting.group);
      continue;
    }
    command.repeated({.name = setting.flag,
                      .placeholder = setting.placeholder,
                      .help = text,
                      .group = setting.group},
                     values);
  }
  command.chosen([&arguments] {
    arguments.chosen = [&arguments] {
      std::erase_if(arguments.serve, [](const auto& flag) { return flag.second.empty(); });
      auto config = load_config(arguments.serve, process_environment);
      if (!config) return report(Failure(config.error()), false);
      if (auto checked = check(*config); !checked) return report(Failure(checked.error()), false);
      return serve(*config);
    };
  });
}

void add_doctor(Command root, Arguments& arguments) {
  Command command =
      root.add("doctor", "Check the installation, the data directory and the server",
               "Exit status 1 if a check found an error. A running server is not disturbed.");
  command.option(
      {"--data", "DIR", fmt::format("Directory to look at [{}; REPRISE_DATA]", Config{}.data)},
      arguments.data_directory);
  add_client_options(command, arguments);
  command.chosen([&arguments] {
    arguments.chosen = [&arguments] { return doctor(arguments.client, arguments.data_directory); };
  });
}

void add_token(Command root, Arguments& arguments) {
  Command token = root.add("token", "Make bearer tokens");
  token.require_one();
  Command make = token.add("new", "Make a token and its entry for the tokens file", token_footer());
  NewToken& given = arguments.token;
  make.option({.name = "--name",
               .placeholder = "NAME",
               .help = "Whose it is; shown in logs",
               .is_required = true},
              given.name);
  make.list({"--scopes", "SCOPE,...",
             wrapped("What it allows: read, write, admin; each includes those before it "
                     "[read,write]")},
            given.scopes);
  make.list({"--apps", "APP,...", "Only these apps [*, every app]"}, given.apps);
  add_json(make, arguments.client);
  make.chosen([&arguments] {
    arguments.chosen = [&arguments] {
      return new_token(arguments.token, arguments.client.is_json);
    };
  });
}

void add_version(Command root, Arguments& arguments) {
  Command command = root.add("version", "Print the version");
  add_json(command, arguments.client);
  command.chosen([&arguments] {
    arguments.chosen = [&arguments] { return show_version(arguments.client.is_json); };
  });
}

// What no flag gave, from its variable or the default. Not by CLI11's own means: it also sets the
// variables of commands that were not chosen, and these options are shared by many.
void fill_in(std::string& value, const std::string& variable, const std::string& otherwise) {
  if (value.empty()) value = process_environment(variable).value_or("");
  if (value.empty()) value = otherwise;
}

// Overwrites the value of --token where the system keeps the arguments.
void hide_token(int count, char** arguments) {
  constexpr std::string_view kFlag = "--token";
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    char* secret = nullptr;
    if (argument == kFlag && i + 1 < count) secret = arguments[i + 1];
    if (argument.starts_with("--token=")) secret = arguments[i] + kFlag.size() + 1;
    if (secret != nullptr) std::fill_n(secret, std::string_view(secret).size(), '*');
  }
}

}  // namespace

void add_json(Command command, ClientOptions& options) {
  command.flag("--json", options.is_json, "Print JSON only");
}

void add_client_options(Command command, Arguments& arguments) {
  ClientOptions& options = arguments.client;
  const std::string group = "Server";
  command.option(
      {"--server", "URL",
       wrapped(fmt::format("Where the server is [{}; REPRISE_SERVER]", ClientOptions{}.server)),
       group},
      options.server);
  command.option({"--token", "TOKEN",
                  wrapped("Bearer token; the variable keeps it out of the shell's history "
                          "[REPRISE_TOKEN]"),
                  group},
                 options.token);
  command.option(
      {"--tls-ca", "FILE", wrapped("Authorities to trust for https [the system's]"), group},
      options.tls_ca);
  add_json(command, options);
}

void add_session(Command command, std::string& session, bool is_required) {
  command.operand("SESSION", session, "A session's id (UUID) or key (app:name)", is_required);
}

int wrong_usage(const Arguments& arguments, const std::string& problem) {
  return report(Failure(Error{Code::kBadParameter, problem}), arguments.client.is_json);
}

int run(int count, char** arguments) {
  Arguments parsed;
  parsed.client.server.clear();
  Parser parser({.name = "reprise",
                 .description = "Reprise: durable sessions for AI agents",
                 .version = fmt::format("reprise {}", kVersion),
                 .footer = main_footer()});
  const Command root = parser.root();
  add_serve(root, parsed);
  add_sessions(root, parsed);
  add_agents(root, parsed);
  add_events(root, parsed);
  add_artifacts(root, parsed);
  add_tail(root, parsed);
  add_attach(root, parsed);
  add_audit(root, parsed);
  add_replay(root, parsed);
  add_doctor(root, parsed);
  add_token(root, parsed);
  add_version(root, parsed);
  const Parser::Outcome outcome = parser.parse(count, arguments);
  if (outcome.exit_status) return *outcome.exit_status;
  hide_token(count, arguments);
  if (!outcome.problem.empty())
    return wrong_usage(parsed, fmt::format("{} (see 'reprise --help')", outcome.problem));
  fill_in(parsed.client.server, "REPRISE_SERVER", ClientOptions{}.server);
  fill_in(parsed.client.token, "REPRISE_TOKEN", "");
  fill_in(parsed.data_directory, "REPRISE_DATA", Config{}.data);
  return parsed.chosen();
}

}  // namespace reprise::server::cli
