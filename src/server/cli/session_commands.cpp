// How the commands about sessions and their workers are written.
#include "server/cli/arguments.h"
#include "server/cli/help_text.h"

namespace reprise::server::cli {
namespace {

constexpr NumberRange kPageLimits{.least = 1, .most = 500};

void add_list(Command sessions, Arguments& arguments) {
  Command list = sessions.add("list", "List sessions, newest first",
                              "Example:\n  reprise sessions list --app slack --status ACTIVE");
  SessionFilter& filter = arguments.filter;
  list.option({"--app", "APP", "Only this app's"}, filter.app);
  list.option({"--graph", "GRAPH", "Only this graph's"}, filter.graph);
  list.option({"--status", "STATUS", "Only with this status"}, filter.status);
  list.option({"--owner", "AGENT", "Only this agent's"}, filter.owner);
  list.option({"--q", "PREFIX", "Only names that begin so"}, filter.name_prefix);
  list.option({"--limit", "N", "At most this many a page [50]"}, filter.limit, kPageLimits);
  list.flag("--all", filter.wants_all, "All pages");
  add_client_options(list, arguments);
  list.chosen([&arguments] {
    arguments.chosen = [&arguments] { return list_sessions(arguments.client, arguments.filter); };
  });
}

void add_create(Command sessions, Arguments& arguments) {
  Command create =
      sessions.add("create", "Create a session",
                   "Example:\n  reprise sessions create --app slack --name C01 --ttl 3600 \\\n"
                   "      --metadata '{\"team\":\"blue\"}'");
  NewSession& session = arguments.new_session;
  create.option({"--app", "APP", "Its app [default]"}, session.app);
  create.option({"--name", "NAME", "Its name: with the app, its key"}, session.name);
  create.option({"--graph", "GRAPH", "The graph it runs"}, session.graph);
  create.option({"--owner", "AGENT", "The agent that owns it"}, session.owner);
  create.option({"--ttl", "SECONDS", "Idle time it lives"}, session.ttl_seconds);
  create.option({"--metadata", "JSON", "A JSON object"}, session.metadata);
  create.option({"--status", "STATUS", "INITIALIZING or ACTIVE"}, session.status);
  add_client_options(create, arguments);
  create.chosen([&arguments] {
    arguments.chosen = [&arguments] {
      return create_session(arguments.client, arguments.new_session);
    };
  });
}

void add_archives(Command sessions, Arguments& arguments) {
  Command write = sessions.add("export", "Write a session as an archive, with all it holds",
                               "Example:\n  reprise sessions export slack:C01 -o C01.tar");
  add_session(write, arguments.session_to_export.session);
  write.option({"-o,--output", "FILE|-", "The archive; - is standard output [-]"},
               arguments.session_to_export.output);
  add_client_options(write, arguments);
  write.chosen([&arguments] {
    arguments.chosen = [&arguments] {
      return export_session(arguments.client, arguments.session_to_export);
    };
  });

  Command read = sessions.add("import", "Make a session from an archive",
                              "Examples:\n  reprise sessions import C01.tar\n"
                              "  reprise sessions export slack:C01 | \\\n"
                              "      reprise sessions import - --server http://127.0.0.1:7460");
  SessionToImport& session = arguments.session_to_import;
  read.operand("FILE", session.file, "The archive; - is standard input");
  read.flag("--new-id", session.wants_new_id, "Under a new id, beside the session it was");
  read.option({"--name", "NAME", "Under another name: its key is taken"}, session.name);
  add_client_options(read, arguments);
  read.chosen([&arguments] {
    arguments.chosen = [&arguments] {
      return import_session(arguments.client, arguments.session_to_import);
    };
  });
}

}  // namespace

void add_sessions(Command root, Arguments& arguments) {
  Command sessions = root.add("sessions", "List, show, create, delete, export and import sessions");
  sessions.require_one();
  add_list(sessions, arguments);

  Command show = sessions.add("show", "Show one session's record");
  add_session(show, arguments.session);
  add_client_options(show, arguments);
  show.chosen([&arguments] {
    arguments.chosen = [&arguments] { return show_session(arguments.client, arguments.session); };
  });

  add_create(sessions, arguments);

  Command remove = sessions.add("delete", "Delete a session and all it holds");
  add_session(remove, arguments.session);
  add_client_options(remove, arguments);
  remove.chosen([&arguments] {
    arguments.chosen = [&arguments] { return delete_session(arguments.client, arguments.session); };
  });

  add_archives(sessions, arguments);
}

void add_agents(Command root, Arguments& arguments) {
  Command command = root.add("agents", "List agents: workers that beat, and lost ones",
                             "Example:\n  reprise agents --status lost");
  AgentFilter& filter = arguments.agents;
  command.option({"--status", "STATUS", "Only alive or lost ones"}, filter.status);
  command.option({"--limit", "N", "At most this many a page [50]"}, filter.limit, kPageLimits);
  command.flag("--all", filter.wants_all, "All pages");
  add_client_options(command, arguments);
  command.chosen([&arguments] {
    arguments.chosen = [&arguments] { return list_agents(arguments.client, arguments.agents); };
  });
}

void add_events(Command root, Arguments& arguments) {
  Command events = root.add("events", "Append events");
  events.require_one();
  Command append =
      events.add("append", "Append an event, or one per line of input", append_footer());
  EventsToAppend& given = arguments.events;
  add_session(append, given.session);
  append.option(
      {.name = "--type", .placeholder = "TYPE", .help = "The events' type", .is_required = true},
      given.type);
  append.option({"--data", "JSON|-", wrapped("The event's data as JSON, or - for standard input")},
                given.data);
  append.flag("--lines", given.is_lines,
              wrapped("Each line of standard input is one event's data (JSON)"));
  append.flag("--ephemeral", given.is_ephemeral, "Deliver live, store nothing");
  append.option({"--expected-seq", "N", "Append only if the head is this"}, given.expected_seq);
  append.option(
      {"--idempotency-key", "KEY", wrapped("Stored once, however often it is sent [a new one]")},
      given.idempotency_key);
  add_client_options(append, arguments);
  append.chosen([&arguments] {
    arguments.chosen = [&arguments] {
      const EventsToAppend& to_append = arguments.events;
      const bool is_from_input = to_append.data.empty() || to_append.data == "-";
      if (to_append.data.empty() && !to_append.is_lines)
        return wrong_usage(arguments, "--data is required");
      if (to_append.is_lines && !is_from_input)
        return wrong_usage(arguments, "--lines reads standard input: leave --data away, or '-'");
      return append_events(arguments.client, to_append);
    };
  });
}

void add_tail(Command root, Arguments& arguments) {
  Command command =
      root.add("tail", "Show a session's events: all so far, then live", tail_footer());
  TailOptions& given = arguments.tail;
  add_session(command, given.session);
  command.option({"--after", "N", "Only events after this number [0]"}, given.after);
  command.flag(
      "--no-follow", [&given] { given.is_following = false; }, "Stop where live would begin");
  command.list({"--types", "TYPE,...", "Only these types"}, given.types);
  add_client_options(command, arguments);
  command.chosen([&arguments] {
    arguments.chosen = [&arguments] { return tail(arguments.client, arguments.tail); };
  });
}

void add_attach(Command root, Arguments& arguments) {
  Command command =
      root.add("attach", "Show a session's events and answer its questions", attach_footer());
  AttachOptions& given = arguments.attach;
  add_session(command, given.session);
  command.flag("--lines", given.answers_by_line,
               wrapped("Each line of standard input answers the next question"));
  add_client_options(command, arguments);
  command.chosen([&arguments] {
    arguments.chosen = [&arguments] { return attach(arguments.client, arguments.attach); };
  });
}

}  // namespace reprise::server::cli
