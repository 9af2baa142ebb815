// CLI11 is slow to compile, so this is the only file that sees it.
#include "server/cli/command_line.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <locale>
#include <numeric>
#include <set>
#include <sstream>
#include <tuple>

#include "server/cli/commands.h"
#include "server/cli/help_text.h"
#include "server/cli/outcome.h"
#include "server/config.h"
#include "server/serve.h"
#include "server/version.h"

// Optimising CLI11 takes longer than all else in this file, and a command line has time. What is
// included above stays optimised: the linker may choose this file's copies of std::string's members
// for the whole program (compiled with -O0 they cost a tenth of the append rate).
#pragma clang optimize off
#include <CLI/CLI.hpp>

namespace reprise::server::cli {
namespace {

constexpr std::size_t kNameColumns = 30;

// Everything the arguments can set. `chosen` is what to do.
struct Parsed {
  ClientOptions client;
  FlagValues serve;
  SessionFilter filter;
  NewSession new_session;
  EventsToAppend events;
  TailOptions tail;
  NewToken token;
  std::string session;
  std::string data_directory;
  std::function<int()> chosen;
};

CLI::App* add_command(CLI::App* parent, const std::string& name, const std::string& description,
                      const std::string& footer = "") {
  CLI::App* command = parent->add_subcommand(name, description);
  command->get_formatter()->column_width(kNameColumns);
  if (!footer.empty()) command->footer(footer);
  return command;
}

CLI::Option* shown(CLI::Option* option, const std::string& placeholder) {
  return option->option_text(placeholder);
}

void add_json(CLI::App* command, ClientOptions& options) {
  command->add_flag("--json", options.is_json, "Print JSON only");
}

void add_client_options(CLI::App* command, Parsed& parsed) {
  ClientOptions& options = parsed.client;
  const std::string group = "Server";
  shown(command->add_option("--server", options.server,
                            wrapped(fmt::format("Where the server is [{}; REPRISE_SERVER]",
                                                ClientOptions{}.server))),
        "URL")
      ->group(group);
  shown(command->add_option("--token", options.token,
                            wrapped("Bearer token; the variable keeps it out of the shell's "
                                    "history [REPRISE_TOKEN]")),
        "TOKEN")
      ->group(group);
  shown(command->add_option("--tls-ca", options.tls_ca,
                            wrapped("Authorities to trust for https [the system's]")),
        "FILE")
      ->group(group);
  add_json(command, options);
}

void add_session(CLI::App* command, std::string& session) {
  command->add_option("SESSION", session, "A session's id (UUID) or key (app:name)")
      ->required()
      ->option_text(" ");
}

void add_serve(CLI::App& app, Parsed& parsed) {
  CLI::App* command = add_command(&app, "serve", "Run the server", serve_footer());
  shown(command
            ->add_option("--config", parsed.serve["--config"],
                         wrapped("JSON file with the settings below [REPRISE_CONFIG]"))
            ->allow_extra_args(false),
        "FILE")
      ->group("Where");
  for (const Setting& setting : settings()) {
    auto& values = parsed.serve[setting.flag];
    const std::string text = wrapped(setting_help(setting));
    if (setting.kind == Setting::Kind::kSwitch) {
      command->add_flag_callback(
                 setting.flag, [&values] { values = {"true"}; }, text)
          ->group(setting.group);
      continue;
    }
    shown(command->add_option(setting.flag, values, text)->allow_extra_args(false),
          setting.placeholder)
        ->group(setting.group);
  }
  command->callback([&parsed] {
    parsed.chosen = [&parsed] {
      std::erase_if(parsed.serve, [](const auto& flag) { return flag.second.empty(); });
      auto config = load_config(parsed.serve, process_environment);
      if (!config) return report(Failure(config.error()), false);
      if (auto checked = check(*config); !checked) return report(Failure(checked.error()), false);
      return serve(*config);
    };
  });
}

void add_sessions(CLI::App& app, Parsed& parsed) {
  CLI::App* sessions = add_command(&app, "sessions", "List, show, create and delete sessions");
  sessions->require_subcommand(1);

  CLI::App* list = add_command(sessions, "list", "List sessions, newest first",
                               "Example:\n  reprise sessions list --app slack --status ACTIVE");
  SessionFilter& filter = parsed.filter;
  shown(list->add_option("--app", filter.app, "Only this app's"), "APP");
  shown(list->add_option("--graph", filter.graph, "Only this graph's"), "GRAPH");
  shown(list->add_option("--status", filter.status, "Only with this status"), "STATUS");
  shown(list->add_option("--owner", filter.owner, "Only this agent's"), "AGENT");
  shown(list->add_option("--q", filter.name_prefix, "Only names that begin so"), "PREFIX");
  shown(list->add_option("--limit", filter.limit, "At most this many a page [50]")
            ->check(CLI::Range(1, 500)),
        "N");
  list->add_flag("--all", filter.wants_all, "All pages");
  add_client_options(list, parsed);
  list->callback([&parsed] {
    parsed.chosen = [&parsed] { return list_sessions(parsed.client, parsed.filter); };
  });

  CLI::App* show = add_command(sessions, "show", "Show one session's record");
  add_session(show, parsed.session);
  add_client_options(show, parsed);
  show->callback([&parsed] {
    parsed.chosen = [&parsed] { return show_session(parsed.client, parsed.session); };
  });

  CLI::App* create =
      add_command(sessions, "create", "Create a session",
                  "Example:\n  reprise sessions create --app slack --name C01 --ttl 3600 \\\n"
                  "      --metadata '{\"team\":\"blue\"}'");
  NewSession& session = parsed.new_session;
  shown(create->add_option("--app", session.app, "Its app [default]"), "APP");
  shown(create->add_option("--name", session.name, "Its name: with the app, its key"), "NAME");
  shown(create->add_option("--graph", session.graph, "The graph it runs"), "GRAPH");
  shown(create->add_option("--owner", session.owner, "The agent that owns it"), "AGENT");
  shown(create->add_option("--ttl", session.ttl_seconds, "Idle time it lives"), "SECONDS");
  shown(create->add_option("--metadata", session.metadata, "A JSON object"), "JSON");
  shown(create->add_option("--status", session.status, "INITIALIZING or ACTIVE"), "STATUS");
  add_client_options(create, parsed);
  create->callback([&parsed] {
    parsed.chosen = [&parsed] { return create_session(parsed.client, parsed.new_session); };
  });

  CLI::App* remove = add_command(sessions, "delete", "Delete a session and all it holds");
  add_session(remove, parsed.session);
  add_client_options(remove, parsed);
  remove->callback([&parsed] {
    parsed.chosen = [&parsed] { return delete_session(parsed.client, parsed.session); };
  });
}

void add_events(CLI::App& app, Parsed& parsed) {
  CLI::App* events = add_command(&app, "events", "Append events");
  events->require_subcommand(1);
  CLI::App* append =
      add_command(events, "append", "Append an event, or one per line of input", append_footer());
  EventsToAppend& given = parsed.events;
  add_session(append, given.session);
  shown(append->add_option("--type", given.type, "The events' type")->required(), "TYPE");
  shown(append
            ->add_option("--data", given.data,
                         wrapped("The event's data as JSON, or - for standard input"))
            ->allow_extra_args(false),
        "JSON|-");
  append->add_flag("--lines", given.is_lines,
                   wrapped("Each line of standard input is one event's data (JSON)"));
  append->add_flag("--ephemeral", given.is_ephemeral, "Deliver live, store nothing");
  shown(append->add_option("--expected-seq", given.expected_seq, "Append only if the head is this"),
        "N");
  shown(append->add_option("--idempotency-key", given.idempotency_key,
                           wrapped("Stored once, however often it is sent [a new one]")),
        "KEY");
  add_client_options(append, parsed);
  append->callback([&parsed] {
    parsed.chosen = [&parsed] {
      const EventsToAppend& to_append = parsed.events;
      const bool is_from_input = to_append.data.empty() || to_append.data == "-";
      if (to_append.data.empty() && !to_append.is_lines)
        return report(Failure(Error{Code::kBadParameter, "--data is required"}),
                      parsed.client.is_json);
      if (to_append.is_lines && !is_from_input)
        return report(Failure(Error{Code::kBadParameter,
                                    "--lines reads standard input: leave --data away, or '-'"}),
                      parsed.client.is_json);
      return append_events(parsed.client, to_append);
    };
  });
}

void add_tail(CLI::App& app, Parsed& parsed) {
  CLI::App* command =
      add_command(&app, "tail", "Show a session's events: all so far, then live", tail_footer());
  TailOptions& given = parsed.tail;
  add_session(command, given.session);
  shown(command->add_option("--after", given.after, "Only events after this number [0]"), "N");
  command->add_flag("!--no-follow", given.is_following, "Stop where live would begin");
  shown(command->add_option("--types", given.types, "Only these types")
            ->delimiter(',')
            ->allow_extra_args(false),
        "TYPE,...");
  add_client_options(command, parsed);
  command->callback(
      [&parsed] { parsed.chosen = [&parsed] { return tail(parsed.client, parsed.tail); }; });
}

void add_doctor(CLI::App& app, Parsed& parsed) {
  CLI::App* command =
      add_command(&app, "doctor", "Check the installation, the data directory and the server",
                  "Exit status 1 if a check found an error. A running server is not disturbed.");
  shown(command->add_option("--data", parsed.data_directory,
                            fmt::format("Directory to look at [{}; REPRISE_DATA]", Config{}.data)),
        "DIR");
  add_client_options(command, parsed);
  command->callback([&parsed] {
    parsed.chosen = [&parsed] { return doctor(parsed.client, parsed.data_directory); };
  });
}

void add_token(CLI::App& app, Parsed& parsed) {
  CLI::App* token = add_command(&app, "token", "Make bearer tokens");
  token->require_subcommand(1);
  CLI::App* make =
      add_command(token, "new", "Make a token and its entry for the tokens file", token_footer());
  NewToken& given = parsed.token;
  shown(make->add_option("--name", given.name, "Whose it is; shown in logs")->required(), "NAME");
  shown(
      make->add_option("--scopes", given.scopes,
                       wrapped("What it allows: read, write, admin; each includes those before it "
                               "[read,write]"))
          ->delimiter(',')
          ->allow_extra_args(false),
      "SCOPE,...");
  shown(make->add_option("--apps", given.apps, "Only these apps [*, every app]")
            ->delimiter(',')
            ->allow_extra_args(false),
        "APP,...");
  add_json(make, parsed.client);
  make->callback([&parsed] {
    parsed.chosen = [&parsed] { return new_token(parsed.token, parsed.client.is_json); };
  });
}

void add_version(CLI::App& app, Parsed& parsed) {
  CLI::App* command = add_command(&app, "version", "Print the version");
  add_json(command, parsed.client);
  command->callback(
      [&parsed] { parsed.chosen = [&parsed] { return show_version(parsed.client.is_json); }; });
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

// CLI11 repeats unknown arguments with their values; after a misspelt --token that is the token.
std::string without_values(const CLI::App& app, const CLI::ParseError& error) {
  const bool is_about_extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const bool is_about_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const auto extras = app.remaining(true);
  if (extras.empty() || (!is_about_extras && !is_about_missing)) return error.what();
  const auto is_flag = [](const std::string& text) { return text.starts_with('-'); };
  if (const auto flag = std::ranges::find_if(extras, is_flag); flag != extras.end())
    return fmt::format("unknown option {}", flag->substr(0, flag->find('=')));
  return fmt::format("{} '{}'", is_about_extras ? "unexpected argument" : "unknown command",
                     extras.front());
}

}  // namespace

int run(int count, char** arguments) {
  Parsed parsed;
  parsed.client.server.clear();
  CLI::App app("Reprise: durable sessions for AI agents", "reprise");
  app.require_subcommand(1);
  app.get_formatter()->column_width(kNameColumns);
  app.footer(main_footer());
  app.set_version_flag("--version", fmt::format("reprise {}", kVersion));
  add_serve(app, parsed);
  add_sessions(app, parsed);
  add_events(app, parsed);
  add_tail(app, parsed);
  add_doctor(app, parsed);
  add_token(app, parsed);
  add_version(app, parsed);
  try {
    app.parse(count, arguments);
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help and --version
  } catch (const CLI::ParseError& error) {
    hide_token(count, arguments);
    const std::string problem = without_values(app, error);
    return report(
        Failure(Error{Code::kBadParameter, fmt::format("{} (see 'reprise --help')", problem)}),
        parsed.client.is_json);
  }
  hide_token(count, arguments);
  fill_in(parsed.client.server, "REPRISE_SERVER", ClientOptions{}.server);
  fill_in(parsed.client.token, "REPRISE_TOKEN", "");
  fill_in(parsed.data_directory, "REPRISE_DATA", Config{}.data);
  return parsed.chosen();
}

}  // namespace reprise::server::cli
