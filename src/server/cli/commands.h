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
  std::uint32_t limit = 50;
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

struct NewToken {
  std::string name;
  std::vector<std::string> scopes = {"read", "write"};
  std::vector<std::string> apps = {"*"};  // * is every app
};

int list_sessions(const ClientOptions& options, const SessionFilter& filter);
int show_session(const ClientOptions& options, const std::string& session);
int create_session(const ClientOptions& options, const NewSession& session);
int delete_session(const ClientOptions& options, const std::string& session);
int append_events(const ClientOptions& options, const EventsToAppend& events);
int tail(const ClientOptions& options, const TailOptions& tail_options);
int doctor(const ClientOptions& options, const std::string& data_directory);
int new_token(const NewToken& token, bool is_json);
int show_version(bool is_json);

}  // namespace reprise::server::cli
