// Everything the arguments can set, and the groups of commands that set it.
#pragma once

#include <functional>
#include <string>

#include "server/cli/commands.h"
#include "server/cli/parser.h"
#include "server/config.h"

namespace reprise::server::cli {

struct Arguments {
  ClientOptions client;
  FlagValues serve;
  SessionFilter filter;
  AgentFilter agents;
  NewSession new_session;
  EventsToAppend events;
  TailOptions tail;
  AttachOptions attach;
  ArtifactFilter artifact_filter;
  ArtifactToPut artifact_to_put;
  ArtifactToGet artifact_to_get;
  SessionToExport session_to_export;
  SessionToImport session_to_import;
  NewToken token;
  AuditToVerify audit;
  ReplayOptions replay;
  std::string session;
  std::string data_directory;
  std::function<int()> chosen;  // what to do
};

void add_json(Command command, ClientOptions& options);
// Where the server is, and what it is shown.
void add_client_options(Command command, Arguments& arguments);
void add_session(Command command, std::string& session, bool is_required = true);
// The action that was asked for in vain: says why.
int wrong_usage(const Arguments& arguments, const std::string& problem);

void add_sessions(Command root, Arguments& arguments);
void add_agents(Command root, Arguments& arguments);
void add_events(Command root, Arguments& arguments);
void add_tail(Command root, Arguments& arguments);
void add_attach(Command root, Arguments& arguments);
void add_artifacts(Command root, Arguments& arguments);
void add_audit(Command root, Arguments& arguments);
void add_replay(Command root, Arguments& arguments);

}  // namespace reprise::server::cli
