// The table of settings: every row is a flag, a variable and a member of the file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <utility>

#include "server/config.h"

namespace reprise::server {
namespace {

using Values = std::vector<std::string>;

template <typename Number>
Result<Number> parse_number(const std::string& text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc::result_out_of_range)
    return fail(Code::kBadParameter, fmt::format("{} is too large", text));
  if (error != std::errc{} || stop != end)
    return fail(Code::kBadParameter, fmt::format("'{}' is not a whole number", text));
  return number;
}

// What a row knows of its field: how to set it from text and how to show it.
void bind(Setting& row, std::string Config::* field) {
  row.kind = Setting::Kind::kText;
  row.set = [field](Config& config, const Values& values) -> Result<> {
    config.*field = values.front();
    return {};
  };
  row.show = [field](const Config& config) { return config.*field; };
}

template <typename Number>
  requires std::is_integral_v<Number> && (!std::is_same_v<Number, bool>)
void bind(Setting& row, Number Config::* field) {
  row.kind = Setting::Kind::kNumber;
  row.set = [field](Config& config, const Values& values) -> Result<> {
    REPRISE_TRY(config.*field, parse_number<Number>(values.front()));
    return {};
  };
  row.show = [field](const Config& config) { return std::to_string(config.*field); };
}

void bind(Setting& row, Millis Config::* field) {
  row.kind = Setting::Kind::kNumber;
  row.set = [field](Config& config, const Values& values) -> Result<> {
    REPRISE_TRY(const auto count, parse_number<std::uint32_t>(values.front()));
    config.*field = Millis{count};
    return {};
  };
  row.show = [field](const Config& config) { return std::to_string((config.*field).count()); };
}

void bind(Setting& row, bool Config::* field) {
  row.kind = Setting::Kind::kSwitch;
  row.set = [field](Config& config, const Values& values) -> Result<> {
    const std::string& text = values.front();
    if (text != "true" && text != "false" && text != "1" && text != "0")
      return fail(Code::kBadParameter, fmt::format("'{}' is not true or false", text));
    config.*field = text == "true" || text == "1";
    return {};
  };
  row.show = [](const Config&) { return std::string{}; };
}

void bind(Setting& row, std::vector<std::string> Config::* field) {
  row.kind = Setting::Kind::kList;
  row.set = [field](Config& config, const Values& values) -> Result<> {
    config.*field = values;
    return {};
  };
  row.show = [field](const Config& config) {
    return fmt::format("{}", fmt::join(config.*field, ","));
  };
}

// One of a few words.
template <typename Word>
using Words = std::vector<std::pair<std::string_view, Word>>;

template <typename Word>
void bind_words(Setting& row, Word Config::* field, Words<Word> words) {
  row.kind = Setting::Kind::kText;
  row.set = [field, words](Config& config, const Values& values) -> Result<> {
    std::string allowed;
    for (const auto& [text, word] : words) {
      if (values.front() == text) {
        config.*field = word;
        return {};
      }
      allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", text);
    }
    return fail(Code::kBadParameter, fmt::format("'{}' is not one of {}", values.front(), allowed));
  };
  row.show = [field, words](const Config& config) {
    for (const auto& [text, word] : words)
      if (config.*field == word) return std::string(text);
    return std::string{};
  };
}

// "cors-origins" is REPRISE_CORS_ORIGINS and corsOrigins.
std::string as_variable(std::string_view name) {
  std::string variable = "REPRISE_";
  for (const char c : name)
    variable += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return variable;
}

std::string as_member(std::string_view name) {
  std::string member;
  bool is_after_dash = false;
  for (const char c : name) {
    if (c == '-') {
      is_after_dash = true;
      continue;
    }
    member += static_cast<char>(is_after_dash && c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    is_after_dash = false;
  }
  return member;
}

class Table {
 public:
  void group(std::string heading) { group_ = std::move(heading); }

  template <typename Field>
  void add(std::string name, std::string placeholder, Field field, std::string help) {
    bind(row(std::move(name), std::move(placeholder), std::move(help)), field);
    // A list is given one value at a time on the command line, and whole elsewhere.
    std::string& flag = rows_.back().flag;
    if (rows_.back().kind == Setting::Kind::kList)
      flag.resize(flag.size() - (flag.ends_with("xes") ? 2 : 1));
  }
  template <typename Word>
  void add_words(std::string name, std::string placeholder, Word Config::* field, Words<Word> words,
                 std::string help) {
    bind_words(row(std::move(name), std::move(placeholder), std::move(help)), field,
               std::move(words));
  }
  std::vector<Setting> take() { return std::move(rows_); }

 private:
  Setting& row(std::string name, std::string placeholder, std::string help) {
    rows_.push_back({.flag = "--" + name,
                     .variable = as_variable(name),
                     .member = as_member(name),
                     .placeholder = std::move(placeholder),
                     .group = group_,
                     .help = std::move(help)});
    return rows_.back();
  }
  std::string group_;
  std::vector<Setting> rows_;
};

std::vector<Setting> make_settings() {
  Table table;
  table.group("Where");
  table.add("listen", "HOST:PORT", &Config::listen,
            "Address to listen on; port 0 lets the system pick one. Anything but loopback needs "
            "--tokens-file");
  table.add("data", "DIR", &Config::data, "Directory of the database; made if it does not exist");
  table.add("threads", "N", &Config::threads,
            "Network threads; 0 is one less than the cores, at least one");

  table.group("Who may call");
  table.add("tokens-file", "FILE", &Config::tokens_file,
            "Who may call, as JSON: hashes of bearer tokens (see 'reprise token new')");
  table.add("tls-cert", "FILE", &Config::tls_cert, "PEM certificate chain; turns on TLS");
  table.add("tls-key", "FILE", &Config::tls_key, "PEM key of the certificate");
  table.add("cors-origins", "ORIGIN", &Config::cors_origins,
            "Web origin whose pages may call, such as https://app.example; may be repeated");
  table.add("allowed-hosts", "HOST", &Config::allowed_hosts,
            "Host name clients may use besides the address and localhost; may be repeated");
  table.add("allow-loopback-webhooks", "", &Config::allow_loopback_webhooks,
            "Let webhooks call addresses of this machine");
  table.add("webhook-allows", "RANGE", &Config::webhook_allows,
            "Address or range, such as 10.0.0.0/8, that webhooks may call though it is not public; "
            "may be repeated");

  table.group("Limits");
  table.add("max-connections", "N", &Config::max_connections, "Connections at one time");
  table.add("max-in-flight", "N", &Config::max_in_flight,
            "Requests being answered at one time by one network thread; beyond: 503");
  table.add("max-body-bytes", "N", &Config::max_body_bytes, "Largest body of a request");
  table.add("idle-timeout-ms", "N", &Config::idle_timeout,
            "Close a kept-alive connection after this long without a request");
  table.add("request-timeout-ms", "N", &Config::request_timeout,
            "Time a request has from its first byte to its last");
  table.add("heartbeat-ms", "N", &Config::heartbeat, "Comment on a quiet event stream this often");
  table.add("long-poll-timeout-ms", "N", &Config::long_poll_timeout,
            "Longest time a long poll is held");
  table.add("drain-timeout-ms", "N", &Config::drain_timeout,
            "Time that requests in flight have to finish after SIGTERM");

  table.group("Storage");
  table.add("strict-apps", "", &Config::strict_apps,
            "sessions only for apps that were made with PUT /v1/apps/{id}");
  table.add("retention-seconds", "N", &Config::retention_seconds,
            "Remove ended sessions after this long; 0 keeps them");
  table.add("max-artifact-bytes", "N", &Config::max_artifact_bytes, "Largest file of a session");
  table.add("max-session-artifact-bytes", "N", &Config::max_session_artifact_bytes,
            "What the files of one session may take together, all versions counted");
  table.add("max-import-bytes", "N", &Config::max_import_bytes,
            "Largest archive of a session that is imported");
  table.add("block-cache-mb", "N", &Config::block_cache_mb, "Memory for the store's block cache");

  table.group("Browsers");
  table.add("browser-path", "FILE", &Config::browser_path,
            "Browser to start instead of Debian's chromium-headless-shell");
  table.add("browser-dir", "DIR", &Config::browser_dir,
            "Where running browsers keep their files; below /tmp unless given");
  table.add("browser-no-sandbox", "", &Config::browser_no_sandbox,
            "Start browsers without their sandbox");
  table.add("state-key-file", "FILE", &Config::state_key_file,
            "Key that cookies and storage of sessions are encrypted with; outside the data "
            "directory, made on first use; the data directory's name and .state-key unless given");
  table.add("pool-browsers", "N", &Config::pool_browsers, "Browsers that run at once, at most");
  table.add("pool-contexts", "N", &Config::pool_contexts,
            "Sessions that have a browser context at once, at most; further ones wait in line");
  table.add(
      "pools", "KEY=KIND[,browsers=N,contexts=N,path=FILE]", &Config::pools,
      "Further pool of browsers: headless-shell, chromium (all of it) or dedicated (a browser "
      "for each session); may be repeated");
  table.add("pool-clients", "N", &Config::pool_clients,
            "DevTools clients of one browser at once, at most; it gets no new sessions then. 0: "
            "none, and "
            "no port for them");
  table.add("hibernate-seconds", "N", &Config::hibernate_seconds,
            "A paused session's context is put to sleep after this long without a command");
  table.add("takeover-grace-ms", "N", &Config::takeover_grace,
            "A person's take-over of a browser ends this long after their live view is gone");

  table.group("Audit");
  table.add("redact-keys", "NAME", &Config::redact_keys,
            "Name whose values are secrets too, in inputs and outputs of tools; case and - _ . do "
            "not count; may be repeated");
  table.add("redact-prefixes", "PREFIX", &Config::redact_prefixes,
            "Beginning of words that are secrets too, such as acme_live_; may be repeated");

  table.group("Logs (on standard error)");
  table.add_words("log-level", "LEVEL", &Config::log_level,
                  Words<log::Level>{{"debug", log::Level::kDebug},
                                    {"info", log::Level::kInfo},
                                    {"warning", log::Level::kWarning},
                                    {"error", log::Level::kError}},
                  "debug, info, warning or error");
  table.add_words("log-format", "FORMAT", &Config::log_format,
                  Words<log::Format>{{"text", log::Format::kText}, {"json", log::Format::kJson}},
                  "text or json");
  return table.take();
}

}  // namespace

const std::vector<Setting>& settings() {
  static const std::vector<Setting> rows = make_settings();
  return rows;
}

}  // namespace reprise::server
