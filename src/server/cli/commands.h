// The commands and what each takes, apart from how they are written on the command line
// (command_line.cpp). Each runs to its end on this thread and returns the exit status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reprise::server::cli {

// What every command that calls a server takes.
struct ClientOptions {
  std::string server = "http://127.0.0.1:7450";
  std::string token;  // never printed
  std::string tls_ca;
  bool is_json = false;
};

struct SessionFilter {
  std::string app;
  std::string graph;
  std::string status;
  std::string owner;
  std::string name_prefix;
  std::uint64_t limit = 50;
  bool wants_all = false;
};

struct AgentFilter {
  std::string status;
  std::uint64_t limit = 50;
  bool wants_all = false;
};

struct NewSession {
  std::optional<std::string> app;
  std::optional<std::string> name;
  std::optional<std::string> graph;
  std::optional<std::string> owner;
  std::optional<std::string> status;
  std::optional<std::uint64_t> ttl_seconds;
  std::optional<std::string> metadata;  // JSON
};

struct EventsToAppend {
  std::string session;
  std::string type;
  std::string data;       // JSON, or "-": from standard input
  bool is_lines = false;  // each line of standard input is one event's data
  bool is_ephemeral = false;
  std::optional<std::uint64_t> expected_seq;
  std::optional<std::string> idempotency_key;
};

struct TailOptions {
  std::string session;
  std::uint64_t after = 0;
  bool is_following = true;
  std::vector<std::string> types;  // empty: all
};

struct AttachOptions {
  std::string session;
  bool answers_by_line = false;  // from standard input, which need not be a terminal
};

struct NewToken {
  std::string name;
  std::vector<std::string> scopes = {"read", "write"};
  std::vector<std::string> apps = {"*"};  // * is every app
};

struct AuditToVerify {
  std::string session;     // asked of the server, or
  std::string file;        // an export, verified here; - is standard input
  std::string known_hash;  // with a file: one that the chain must pass through
};

struct ArtifactFilter {
  std::string session;
  std::string prefix;
  std::string kind;
  bool wants_versions = false;
  std::uint64_t limit = 50;
  bool wants_all = false;
};

struct ArtifactToPut {
  std::string session;
  std::string path;
  std::string file = "-";  // "-": standard input
  std::string kind;
  std::string content_type;
};

struct ArtifactToGet {
  std::string session;
  std::string path;
  std::optional<std::uint64_t> version;
  std::string output = "-";  // "-": standard output
};

struct SessionToExport {
  std::string session;
  std::string output = "-";  // "-": standard output
};

struct SessionToImport {
  std::string file = "-";  // "-": standard input
  bool wants_new_id = false;
  std::string name;  // instead of the one it had
};

struct ReplayOptions {
  std::string session;
  std::vector<std::string> secrets;  // NAME=value
  std::string browser;               // JSON: the options of its browser
  bool keeps_session = false;
  bool ignores_snapshots = false;  // what pages show is not compared
};

int list_sessions(const ClientOptions& options, const SessionFilter& filter);
int show_session(const ClientOptions& options, const std::string& session);
int create_session(const ClientOptions& options, const NewSession& session);
int delete_session(const ClientOptions& options, const std::string& session);
int export_session(const ClientOptions& options, const SessionToExport& session);
int import_session(const ClientOptions& options, const SessionToImport& session);
int list_agents(const ClientOptions& options, const AgentFilter& filter);
int append_events(const ClientOptions& options, const EventsToAppend& events);
int list_artifacts(const ClientOptions& options, const ArtifactFilter& filter);
int put_artifact(const ClientOptions& options, const ArtifactToPut& artifact);
int get_artifact(const ClientOptions& options, const ArtifactToGet& artifact);
int tail(const ClientOptions& options, const TailOptions& tail_options);
int attach(const ClientOptions& options, const AttachOptions& attach_options);
int replay_session(const ClientOptions& options, const ReplayOptions& replay);
int verify_audit(const ClientOptions& options, const AuditToVerify& audit);
int export_audit(const ClientOptions& options, const std::string& session);
int doctor(const ClientOptions& options, const std::string& data_directory);
int new_token(const NewToken& token, bool is_json);
int show_version(bool is_json);

}  // namespace reprise::server::cli
