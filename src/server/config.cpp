#include "server/config.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/ip_range.h"
#include "rt/socket.h"
#include "server/limits.h"
#include "server/pool_settings.h"
#include "wire/json.h"

namespace reprise::server {
namespace {

constexpr std::string_view kConfigFlag = "--config";
constexpr std::string_view kConfigVariable = "REPRISE_CONFIG";

std::unexpected<Error> bad(std::string detail) {
  return fail(Code::kBadParameter, std::move(detail));
}

// Says which flag, variable or member a value came from.
Result<> apply(const Setting& setting, Config& config, const std::vector<std::string>& values,
               std::string_view source) {
  if (values.empty()) return bad(fmt::format("{}: a value is missing", source));
  if (values.size() > 1 && setting.kind != Setting::Kind::kList)
    return bad(fmt::format("{}: given {} times; once is enough", source, values.size()));
  if (auto outcome = setting.set(config, values); !outcome)
    return bad(fmt::format("{}: {}", source, outcome.error().detail));
  return {};
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> values;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view value = trim(text.substr(0, comma));
    if (!value.empty()) values.emplace_back(value);
    if (comma == std::string_view::npos) return values;
    text.remove_prefix(comma + 1);
  }
}

// The texts of a member, as if they had been given as flags; a wrong type is an error, so that
// "threads": "4" is told apart from "threads": 4.
Result<std::vector<std::string>> member_values(const Setting& setting, wire::JsonValue value) {
  switch (setting.kind) {
    case Setting::Kind::kText:
      if (auto text = value.as_string()) return std::vector{std::move(*text)};
      return bad("must be a string");
    case Setting::Kind::kNumber:
      if (const auto number = value.as_uint()) return std::vector{std::to_string(*number)};
      return bad("must be a whole number, 0 or more");
    case Setting::Kind::kSwitch:
      if (const auto is_on = value.as_bool())
        return std::vector<std::string>{*is_on ? "true" : "false"};
      return bad("must be true or false");
    case Setting::Kind::kList: {
      if (value.type() != wire::JsonType::kArray) return bad("must be an array of strings");
      std::vector<std::string> texts;
      for (const wire::JsonValue element : value.elements()) {
        auto text = element.as_string();
        if (!text) return bad("must be an array of strings");
        texts.push_back(std::move(*text));
      }
      return texts;
    }
  }
  return bad("has an unknown kind");
}

Result<std::string> read_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) return bad(fmt::format("cannot read the configuration file '{}'", name));
  std::string text(kMaxConfigFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) return bad(fmt::format("cannot read the configuration file '{}'", name));
  if (text.size() > kMaxConfigFileBytes)
    return bad(fmt::format("the configuration file '{}' is larger than {} bytes", name,
                           kMaxConfigFileBytes));
  return text;
}

Result<std::optional<std::string>> config_file_name(const FlagValues& flags,
                                                    const Environment& environment) {
  if (const auto found = flags.find(std::string(kConfigFlag)); found != flags.end()) {
    if (found->second.size() != 1) return bad("--config: give one file");
    return found->second.front();
  }
  auto named = environment(std::string(kConfigVariable));
  if (named && named->empty()) named.reset();
  return named;
}

Result<> check_listen(const Config& config) {
  auto endpoint = rt::parse_endpoint(config.listen);
  if (!endpoint) return bad(fmt::format("--listen: {}", endpoint.error().detail));
  in6_addr ignored{};
  if (endpoint->host != "localhost" &&
      ::inet_pton(AF_INET, endpoint->host.c_str(), &ignored) != 1 &&
      ::inet_pton(AF_INET6, endpoint->host.c_str(), &ignored) != 1)
    return bad(
        fmt::format("--listen: '{}' is not an IP address; write 127.0.0.1, [::1] or, for all "
                    "interfaces, 0.0.0.0",
                    endpoint->host));
  if (!rt::is_loopback(endpoint->host) && config.tokens_file.empty())
    return bad(
        fmt::format("--listen: {} can be reached from other machines, so callers need tokens: make "
                    "one with 'reprise token new --name NAME', put its entry into a file and "
                    "start with --tokens-file FILE; or listen on 127.0.0.1",
                    config.listen));
  return {};
}

Result<> check_readable(std::string_view flag, const std::string& file) {
  if (file.empty() || ::access(file.c_str(), R_OK) == 0) return {};
  return bad(fmt::format("{}: cannot read '{}'", flag, file));
}

Result<> check_range(std::string_view flag, std::uint64_t value, std::uint64_t least,
                     std::uint64_t most) {
  if (value >= least && value <= most) return {};
  return bad(fmt::format("{}: {} is not between {} and {}", flag, value, least, most));
}

Result<> check_milliseconds(std::string_view flag, Millis value) {
  constexpr std::uint64_t kDay = 24ULL * 60 * 60 * 1000;
  return check_range(flag, static_cast<std::uint64_t>(value.count()), 1, kDay);
}

// scheme://host[:port], exactly as a browser sends it: a path or a final slash would never match.
Result<> check_origin(const std::string& origin) {
  const bool has_scheme = origin.starts_with("http://") || origin.starts_with("https://");
  const std::size_t host = origin.find("://");
  if (has_scheme && origin.size() > host + 3 &&
      origin.find_first_of("/?#*@ \t", host + 3) == std::string::npos)
    return {};
  return bad(
      fmt::format("--cors-origin: '{}' is not an origin such as https://app.example or "
                  "http://localhost:3000 (no path, no '*')",
                  origin));
}

Result<> check_host(const std::string& host) {
  if (!host.empty() && host.find_first_of("/?#*@ \t,") == std::string::npos) return {};
  return bad(fmt::format("--allowed-host: '{}' is not a host name such as reprise.example", host));
}

Result<> check_webhook_range(const std::string& text) {
  const auto range = parse_ip_range(text);
  if (range) return {};
  return bad(fmt::format("--webhook-allow: {}", range.error().detail));
}

// A copy of the data must not have the key in it.
// Without a slash at the end, and absolute also while it does not exist.
std::filesystem::path data_directory(const Config& config) {
  std::error_code ignored;
  auto path =
      std::filesystem::weakly_canonical(std::filesystem::absolute(config.data, ignored), ignored);
  return path.has_filename() ? path : path.parent_path();
}

Result<> check_state_key(const Config& config) {
  std::error_code ignored;
  const auto data = data_directory(config);
  const auto file = std::filesystem::weakly_canonical(state_key_file(config), ignored);
  const auto [end, rest] = std::ranges::mismatch(data, file);
  if (end != data.end()) return {};
  return bad(fmt::format("--state-key-file: {} is inside the data directory", file.string()));
}

Result<> check_pools(const Config& config) {
  const auto pools = parse_pool_settings(config.pools);
  if (!pools) return bad(fmt::format("--pool: {}", pools.error().detail));
  for (const PoolSetting& pool : *pools) REPRISE_CHECK(check_readable("--pool", pool.path));
  return {};
}

}  // namespace

std::filesystem::path state_key_file(const Config& config) {
  if (!config.state_key_file.empty()) return std::filesystem::absolute(config.state_key_file);
  std::filesystem::path file = data_directory(config);
  file += ".state-key";
  return file;
}

model::RedactionRules redaction_rules(const Config& config) {
  return {.keys = config.redact_keys, .prefixes = config.redact_prefixes};
}

Result<> check(const Config& config) {
  REPRISE_CHECK(check_listen(config));
  if (config.data.empty()) return bad("--data: the directory's name is empty");
  REPRISE_CHECK(check_state_key(config));
  if (config.tls_cert.empty() != config.tls_key.empty())
    return bad("--tls-cert and --tls-key belong together: give both or neither");
  REPRISE_CHECK(check_readable("--tokens-file", config.tokens_file));
  REPRISE_CHECK(check_readable("--tls-cert", config.tls_cert));
  REPRISE_CHECK(check_readable("--tls-key", config.tls_key));
  for (const std::string& origin : config.cors_origins) REPRISE_CHECK(check_origin(origin));
  for (const std::string& host : config.allowed_hosts) REPRISE_CHECK(check_host(host));
  for (const std::string& range : config.webhook_allows) REPRISE_CHECK(check_webhook_range(range));
  if (const auto rules = model::check(redaction_rules(config)); !rules)
    return bad(fmt::format("--redact-key, --redact-prefix: {}", rules.error().detail));
  REPRISE_CHECK(check_range("--threads", config.threads, 0, kMaxThreads));
  REPRISE_CHECK(check_range("--max-connections", config.max_connections, 1, 1'000'000));
  REPRISE_CHECK(check_range("--max-in-flight", config.max_in_flight, 1, 1'000'000));
  REPRISE_CHECK(check_range("--max-body-bytes", config.max_body_bytes, 1024, kMaxBodyBytesLimit));
  constexpr std::uint64_t kMaxArtifactLimit = 1ULL << 50;
  REPRISE_CHECK(
      check_range("--max-artifact-bytes", config.max_artifact_bytes, 1, kMaxArtifactLimit));
  REPRISE_CHECK(check_range("--max-session-artifact-bytes", config.max_session_artifact_bytes, 1,
                            kMaxArtifactLimit));
  REPRISE_CHECK(check_range("--max-import-bytes", config.max_import_bytes, 1, kMaxArtifactLimit));
  REPRISE_CHECK(check_range("--pool-browsers", config.pool_browsers, 1, kMaxPoolBrowsers));
  REPRISE_CHECK(check_range("--pool-contexts", config.pool_contexts, 1, kMaxPoolContexts));
  REPRISE_CHECK(check_pools(config));
  REPRISE_CHECK(check_range("--pool-clients", config.pool_clients, 0, 10'000));
  REPRISE_CHECK(check_range("--hibernate-seconds", config.hibernate_seconds, 1, 365ULL * 86'400));
  REPRISE_CHECK(check_readable("--browser-path", config.browser_path));
  REPRISE_CHECK(check_range("--block-cache-mb", config.block_cache_mb, 1, 1024 * 1024));
  REPRISE_CHECK(check_milliseconds("--idle-timeout-ms", config.idle_timeout));
  REPRISE_CHECK(check_milliseconds("--request-timeout-ms", config.request_timeout));
  REPRISE_CHECK(check_milliseconds("--heartbeat-ms", config.heartbeat));
  REPRISE_CHECK(check_milliseconds("--long-poll-timeout-ms", config.long_poll_timeout));
  return check_milliseconds("--drain-timeout-ms", config.drain_timeout);
}

Result<> apply_config_text(Config& config, std::string text, std::string_view file_name) {
  auto document = wire::parse_json(std::move(text));
  if (!document) return bad(fmt::format("{}: {}", file_name, document.error().detail));
  const wire::JsonValue root = document->root();
  if (root.type() != wire::JsonType::kObject)
    return bad(fmt::format("{}: the file must hold one JSON object", file_name));
  for (const wire::JsonMember& member : root.members()) {
    const auto found = std::ranges::find(settings(), member.name, &Setting::member);
    if (found == settings().end())
      return bad(fmt::format("{}: unknown member \"{}\"; 'reprise serve --help' lists the settings",
                             file_name, member.name));
    const std::string source = fmt::format("{}: \"{}\"", file_name, member.name);
    auto values = member_values(*found, member.value);
    if (!values) return bad(fmt::format("{} {}", source, values.error().detail));
    if (found->kind == Setting::Kind::kList && values->empty()) {
      REPRISE_CHECK(found->set(config, *values));
      continue;
    }
    REPRISE_CHECK(apply(*found, config, *values, source));
  }
  return {};
}

Result<Config> load_config(const FlagValues& flags, const Environment& environment) {
  Config config;
  REPRISE_TRY(const auto file_name, config_file_name(flags, environment));
  if (file_name) {
    REPRISE_TRY(std::string text, read_file(*file_name));
    REPRISE_CHECK(apply_config_text(config, std::move(text), *file_name));
  }
  for (const Setting& setting : settings()) {
    const auto value = environment(setting.variable);
    if (!value || value->empty()) continue;
    const bool is_list = setting.kind == Setting::Kind::kList;
    REPRISE_CHECK(apply(setting, config, is_list ? split_list(*value) : std::vector{*value},
                        setting.variable));
  }
  for (const Setting& setting : settings()) {
    const auto given = flags.find(setting.flag);
    if (given == flags.end()) continue;
    REPRISE_CHECK(apply(setting, config, given->second, setting.flag));
  }
  return config;
}

std::optional<std::string> process_environment(const std::string& name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing changes the environment yet
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

}  // namespace reprise::server
