// The configuration of `reprise serve`: flags over environment over file over these defaults.
//
//     Result<Config> config = load_config(flags, environment);   // flags: {"--threads", {"4"}},
//     ... REPRISE_CHECK(check(*config));
//
// Each setting has one row in settings(), from which its flag (`--idle-timeout-ms`), its variable
// (`REPRISE_IDLE_TIMEOUT_MS`), its member in the file (`idleTimeoutMs`) and its line in --help are
// made: a setting cannot exist in one of them only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/time.h"
#include "model/redact.h"

namespace reprise::server {

struct Config {
  std::string listen = "127.0.0.1:7450";
  std::string data = "./data";
  // Network loops; 0: one less than the cores, at least one, at most kMaxThreads
  std::uint32_t threads = 0;
  std::string tokens_file;  // empty: no tokens
  std::string tls_cert;
  std::string tls_key;
  std::vector<std::string> cors_origins;
  std::vector<std::string> allowed_hosts;  // besides the address listened on and localhost
  std::uint32_t max_connections = 20'000;
  std::uint32_t max_in_flight = 4'096;  // per network thread
  std::uint64_t max_body_bytes = 8 * 1024 * 1024 + 64 * 1024;
  Millis idle_timeout{75'000};     // a kept-alive connection without a request
  Millis request_timeout{30'000};  // from the first byte of a request to its last
  Millis heartbeat{15'000};        // comments on quiet streams
  Millis long_poll_timeout{20'000};
  std::uint64_t retention_seconds = 0;  // ended sessions are removed after this; 0: never
  std::uint64_t max_artifact_bytes = 4ULL << 30;
  std::uint64_t max_session_artifact_bytes = 10ULL << 30;
  std::uint64_t max_import_bytes = 16ULL << 30;
  Millis drain_timeout{10'000};
  log::Level log_level = log::Level::kInfo;
  log::Format log_format = log::Format::kText;
  std::uint32_t block_cache_mb = 64;
  bool allow_loopback_webhooks = false;
  bool strict_apps = false;
  std::vector<std::string> webhook_allows;  // addresses and ranges that are not public
  std::string browser_path;                 // empty: Debian's, where it is
  std::string browser_dir;                  // of running browsers' files; empty: one below /tmp
  bool browser_no_sandbox = false;
  std::string state_key_file;  // what storage states are sealed with; empty: beside `data`
  std::uint32_t pool_browsers = 1;
  std::uint32_t pool_contexts = 300;
  std::vector<std::string> pools;         // further ones (server/pool_settings.h)
  std::uint32_t pool_clients = 50;        // of the DevTools endpoint, for each browser
  std::uint64_t hibernate_seconds = 600;  // a paused session's context goes to sleep after this
  Millis takeover_grace{30'000};          // a take-over outlasts its live socket for so long
  std::vector<std::string> redact_keys;   // see model/redact.h
  std::vector<std::string> redact_prefixes;
};

// Where the key of storage states is, or would be.
std::filesystem::path state_key_file(const Config& config);

// What is redacted from tool calls besides what always is.
model::RedactionRules redaction_rules(const Config& config);

// Checks what can be checked before anything is opened: an address that is not loopback needs
// tokens, a certificate needs its key, files can be read, numbers are in range.
Result<> check(const Config& config);

// One setting of Config, in all its spellings.
struct Setting {
  enum class Kind : std::uint8_t { kText, kNumber, kSwitch, kList };
  std::string flag;         // --cors-origin
  std::string variable;     // REPRISE_CORS_ORIGINS
  std::string member;       // corsOrigins
  std::string placeholder;  // ORIGIN
  std::string group;        // the heading in --help
  std::string help;
  Kind kind = Kind::kText;
  // Takes the values given (exactly one unless a list); kBadParameter with what would be right.
  std::function<Result<>(Config&, const std::vector<std::string>&)> set;
  // The value as one would write it on the command line; empty if there is none.
  std::function<std::string(const Config&)> show;
};

const std::vector<Setting>& settings();

// By flag (`--listen`), the values given for it. A switch that is given has the value "true".
using FlagValues = std::map<std::string, std::vector<std::string>>;
// A variable's value, or nullopt if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// Reads the file named by `--config` or REPRISE_CONFIG if there is one, then the environment, then
// the flags. kBadParameter names the flag, variable or member that is wrong. An empty variable
// counts as not set.
Result<Config> load_config(const FlagValues& flags, const Environment& environment);

// Puts a configuration file's settings over `config`; `file_name` is for messages.
Result<> apply_config_text(Config& config, std::string text, std::string_view file_name);

// The process's own environment.
std::optional<std::string> process_environment(const std::string& name);

}  // namespace reprise::server
