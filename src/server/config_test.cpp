#include "server/config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "server/limits.h"

namespace reprise::server {
namespace {

Environment environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

// A file that is gone at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view text) {
    std::string name = (std::filesystem::temp_directory_path() / "reprise-config-XXXXXX").string();
    const int descriptor = ::mkstemp(name.data());
    EXPECT_GE(descriptor, 0);
    ::close(descriptor);
    name_ = name;
    std::ofstream(name_) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(name_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

Code code_of(const Result<Config>& result) {
  EXPECT_FALSE(result.has_value());
  return result ? Code::kInternal : result.error().code;
}

bool mentions(const Error& error, std::string_view text) {
  return error.detail.find(text) != std::string::npos;
}

// For each setting, a value other than its default, and how `show` gives it back.
const std::map<std::string, std::string> kOtherValues = {
    {"--listen", "127.0.0.1:9"},
    {"--data", "/srv/reprise"},
    {"--threads", "3"},
    {"--tokens-file", "tokens.jsonl"},
    {"--tls-cert", "cert.pem"},
    {"--tls-key", "key.pem"},
    {"--cors-origin", "https://app.example"},
    {"--allowed-host", "reprise.example"},
    {"--allow-loopback-webhooks", "true"},
    {"--strict-apps", "true"},
    {"--webhook-allow", "10.0.0.0/8"},
    {"--redact-key", "customerNumber"},
    {"--redact-prefix", "acme_live_"},
    {"--max-connections", "11"},
    {"--max-in-flight", "12"},
    {"--max-body-bytes", "2048"},
    {"--idle-timeout-ms", "12"},
    {"--request-timeout-ms", "13"},
    {"--heartbeat-ms", "14"},
    {"--long-poll-timeout-ms", "15"},
    {"--drain-timeout-ms", "16"},
    {"--retention-seconds", "17"},
    {"--max-artifact-bytes", "19"},
    {"--max-session-artifact-bytes", "20"},
    {"--max-import-bytes", "21"},
    {"--browser-path", "/usr/bin/browser"},
    {"--browser-dir", "/run/browsers"},
    {"--browser-no-sandbox", "true"},
    {"--state-key-file", "/keys/state"},
    {"--pool-browsers", "22"},
    {"--pool-contexts", "23"},
    {"--pool-clients", "26"},
    {"--pool", "spare=dedicated"},
    {"--takeover-grace-ms", "27"},
    {"--hibernate-seconds", "24"},
    {"--block-cache-mb", "18"},
    {"--log-level", "debug"},
    {"--log-format", "json"},
};

void expect_other_value(const Setting& setting, const Config& config) {
  if (setting.kind != Setting::Kind::kSwitch)
    EXPECT_EQ(setting.show(config), kOtherValues.at(setting.flag)) << setting.flag;
  else if (setting.flag == "--strict-apps")
    EXPECT_TRUE(config.strict_apps);
  else if (setting.flag == "--browser-no-sandbox")
    EXPECT_TRUE(config.browser_no_sandbox);
  else
    EXPECT_TRUE(config.allow_loopback_webhooks);
}

TEST(Config, DefaultsAreThoseOfTheStruct) {
  const auto config = load_config({}, environment({}));
  ASSERT_TRUE(config);
  EXPECT_EQ(config->listen, "127.0.0.1:7450");
  EXPECT_EQ(config->data, "./data");
  EXPECT_EQ(config->heartbeat, Millis{15'000});
  EXPECT_TRUE(check(*config));
}

TEST(Config, EveryFlagSetsItsOwnFieldAndNoOther) {
  for (const Setting& setting : settings()) {
    ASSERT_TRUE(kOtherValues.contains(setting.flag)) << setting.flag;
    const auto config =
        load_config({{setting.flag, {kOtherValues.at(setting.flag)}}}, environment({}));
    ASSERT_TRUE(config) << config.error().detail;
    expect_other_value(setting, *config);
    for (const Setting& other : settings())
      if (&other != &setting) EXPECT_EQ(other.show(*config), other.show(Config{})) << other.flag;
  }
}

TEST(Config, EveryVariableSetsItsField) {
  for (const Setting& setting : settings()) {
    const auto config =
        load_config({}, environment({{setting.variable, kOtherValues.at(setting.flag)}}));
    ASSERT_TRUE(config) << config.error().detail;
    expect_other_value(setting, *config);
  }
}

TEST(Config, EveryMemberOfTheFileSetsItsField) {
  for (const Setting& setting : settings()) {
    const std::string& text = kOtherValues.at(setting.flag);
    const bool is_bare =
        setting.kind == Setting::Kind::kNumber || setting.kind == Setting::Kind::kSwitch;
    std::string value = is_bare ? text : "\"" + text + "\"";
    if (setting.kind == Setting::Kind::kList) value = "[" + value + "]";
    Config config;
    const auto outcome =
        apply_config_text(config, fmt::format("{{\"{}\": {}}}", setting.member, value), "file");
    ASSERT_TRUE(outcome) << outcome.error().detail;
    expect_other_value(setting, config);
  }
}

TEST(Config, NamesFollowOnePattern) {
  std::set<std::string> names;
  for (const Setting& setting : settings()) {
    names.insert({setting.flag, setting.variable, setting.member});
    EXPECT_FALSE(setting.help.empty());
    EXPECT_FALSE(setting.group.empty());
  }
  EXPECT_EQ(names.size(), settings().size() * 3);
  for (const char* name : {"--cors-origin", "REPRISE_CORS_ORIGINS", "corsOrigins",
                           "--idle-timeout-ms", "REPRISE_IDLE_TIMEOUT_MS", "idleTimeoutMs",
                           "REPRISE_TOKENS_FILE", "tokensFile", "--allowed-host", "blockCacheMb"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(Config, FlagsWinOverEnvironmentOverFileOverDefaults) {
  const TemporaryFile file(R"({"threads": 1, "maxConnections": 1, "blockCacheMb": 1})");
  const auto config =
      load_config({{"--config", {file.name()}}, {"--threads", {"3"}}},
                  environment({{"REPRISE_THREADS", "2"}, {"REPRISE_MAX_CONNECTIONS", "2"}}));
  ASSERT_TRUE(config) << config.error().detail;
  EXPECT_EQ(config->threads, 3U);
  EXPECT_EQ(config->max_connections, 2U);
  EXPECT_EQ(config->block_cache_mb, 1U);
  EXPECT_EQ(config->heartbeat, Millis{15'000});
}

TEST(Config, TheFlagForTheFileWinsOverItsVariable) {
  const TemporaryFile named_by_flag(R"({"threads": 1})");
  const TemporaryFile named_by_variable(R"({"threads": 2})");
  const auto variables = environment({{"REPRISE_CONFIG", named_by_variable.name()}});
  EXPECT_EQ(load_config({{"--config", {named_by_flag.name()}}}, variables)->threads, 1U);
  EXPECT_EQ(load_config({}, variables)->threads, 2U);
}

TEST(Config, ListsReplaceTheListBelowThem) {
  Config config;
  ASSERT_TRUE(apply_config_text(config, R"({"corsOrigins": ["http://a", "http://b"]})", "file"));
  EXPECT_EQ(config.cors_origins, (std::vector<std::string>{"http://a", "http://b"}));
  ASSERT_TRUE(apply_config_text(config, R"({"corsOrigins": []})", "file"));
  EXPECT_TRUE(config.cors_origins.empty());

  const auto variables = environment({{"REPRISE_CORS_ORIGINS", "http://c, http://d,"}});
  EXPECT_EQ(load_config({}, variables)->cors_origins,
            (std::vector<std::string>{"http://c", "http://d"}));
  EXPECT_EQ(load_config({{"--cors-origin", {"http://e", "http://f"}}}, variables)->cors_origins,
            (std::vector<std::string>{"http://e", "http://f"}));
}

TEST(Config, AnEmptyVariableCountsAsNotSet) {
  const auto config =
      load_config({}, environment({{"REPRISE_THREADS", ""}, {"REPRISE_CONFIG", ""}}));
  ASSERT_TRUE(config);
  EXPECT_EQ(config->threads, 0U);
}

TEST(Config, AnErrorNamesWhereTheValueCameFrom) {
  const auto flag = load_config({{"--threads", {"many"}}}, environment({}));
  EXPECT_EQ(code_of(flag), Code::kBadParameter);
  EXPECT_TRUE(mentions(flag.error(), "--threads"));

  const auto variable = load_config({}, environment({{"REPRISE_LOG_LEVEL", "loud"}}));
  EXPECT_EQ(code_of(variable), Code::kBadParameter);
  EXPECT_TRUE(mentions(variable.error(), "REPRISE_LOG_LEVEL"));
}

TEST(Config, AnUnknownMemberIsNamed) {
  Config config;
  const auto outcome = apply_config_text(config, R"({"listten": "127.0.0.1:1"})", "reprise.json");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kBadParameter);
  EXPECT_TRUE(mentions(outcome.error(), "listten"));
  EXPECT_TRUE(mentions(outcome.error(), "reprise.json"));
}

TEST(Config, FilesThatAreNotAConfigurationAreRefused) {
  for (const char* text :
       {"", "[]", "{", R"({"threads": "4"})", R"({"threads": -1})", R"({"threads": 1.5})",
        R"({"listen": 7450})", R"({"corsOrigins": "http://a"})", R"({"corsOrigins": [1]})",
        R"({"allowLoopbackWebhooks": "yes"})", R"({"threads": 1, "threads": 2})",
        R"({"logFormat": "xml"})", R"({"threads": 99999999999})"}) {
    Config config;
    const auto outcome = apply_config_text(config, text, "file");
    ASSERT_FALSE(outcome) << text;
    EXPECT_EQ(outcome.error().code, Code::kBadParameter) << text;
  }
  EXPECT_EQ(code_of(load_config({{"--config", {"/nonexistent/reprise.json"}}}, environment({}))),
            Code::kBadParameter);
}

TEST(Config, AFileOfTheLargestSizeIsReadAndALargerOneIsRefused) {
  std::string text = R"({"threads": 5})";
  text.resize(kMaxConfigFileBytes, ' ');
  const TemporaryFile largest(text);
  EXPECT_EQ(load_config({{"--config", {largest.name()}}}, environment({}))->threads, 5U);
  const TemporaryFile larger(text + " ");
  EXPECT_EQ(code_of(load_config({{"--config", {larger.name()}}}, environment({}))),
            Code::kBadParameter);
}

TEST(Config, ASingleValueGivenTwiceIsRefused) {
  EXPECT_EQ(code_of(load_config({{"--threads", {"1", "2"}}}, environment({}))),
            Code::kBadParameter);
}

TEST(ConfigCheck, AnAddressThatIsNotLoopbackNeedsTokens) {
  const TemporaryFile tokens("");
  for (const char* listen : {"0.0.0.0:7450", "[::]:7450", "192.168.1.2:80"}) {
    Config config;
    config.listen = listen;
    const auto refused = check(config);
    ASSERT_FALSE(refused) << listen;
    EXPECT_EQ(refused.error().code, Code::kBadParameter);
    EXPECT_TRUE(mentions(refused.error(), "--tokens-file")) << refused.error().detail;
    config.tokens_file = tokens.name();
    EXPECT_TRUE(check(config)) << listen;
  }
  for (const char* listen : {"127.0.0.1:0", "[::1]:7450", "localhost:7450", "127.9.9.9:1"}) {
    Config config;
    config.listen = listen;
    EXPECT_TRUE(check(config)) << listen;
  }
}

TEST(ConfigCheck, AnAddressMustBeOne) {
  for (const char* listen :
       {"", "7450", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "::1:80", "example.com:80"}) {
    Config config;
    config.listen = listen;
    ASSERT_FALSE(check(config)) << listen;
    EXPECT_EQ(check(config).error().code, Code::kBadParameter);
  }
}

TEST(ConfigCheck, ACertificateNeedsItsKeyAndBothMustBeReadable) {
  const TemporaryFile file("");
  Config config;
  config.tls_cert = file.name();
  EXPECT_FALSE(check(config));
  config.tls_key = file.name();
  EXPECT_TRUE(check(config));
  config.tls_key = "/nonexistent/key.pem";
  EXPECT_FALSE(check(config));
  config = {};
  config.tokens_file = "/nonexistent/tokens";
  EXPECT_FALSE(check(config));
}

TEST(ConfigCheck, NumbersAtTheirLimitsPassAndBeyondThemDoNot) {
  Config config;
  config.threads = kMaxThreads;
  config.max_body_bytes = kMaxBodyBytesLimit;
  EXPECT_TRUE(check(config));
  config.threads = kMaxThreads + 1;
  EXPECT_FALSE(check(config));
  config = {};
  config.max_body_bytes = kMaxBodyBytesLimit + 1;
  EXPECT_FALSE(check(config));
  for (Millis Config::* field :
       {&Config::idle_timeout, &Config::request_timeout, &Config::heartbeat,
        &Config::long_poll_timeout, &Config::drain_timeout}) {
    config = {};
    config.*field = Millis{0};
    EXPECT_FALSE(check(config));
  }
  config = {};
  config.max_connections = 0;
  EXPECT_FALSE(check(config));
}

TEST(ConfigCheck, OriginsAndHostsAreThoseABrowserSends) {
  const auto passes = [](std::string origin, std::string host) {
    Config config;
    if (!origin.empty()) config.cors_origins = {std::move(origin)};
    if (!host.empty()) config.allowed_hosts = {std::move(host)};
    return check(config).has_value();
  };
  EXPECT_TRUE(passes("https://app.example", "reprise.example"));
  EXPECT_TRUE(passes("http://localhost:3000", "reprise.example:8443"));
  for (const char* origin : {"*", "app.example", "https://app.example/", "https://", "ftp://a"})
    EXPECT_FALSE(passes(origin, "")) << origin;
  for (const char* host : {"*", "http://a", "a b"}) EXPECT_FALSE(passes("", host)) << host;
}

TEST(ConfigCheck, RangesForWebhooksAreAddressesOrRanges) {
  Config config;
  config.webhook_allows = {"10.1.2.3", "10.0.0.0/8", "fd00::/8", "::1"};
  EXPECT_TRUE(check(config));
  for (const char* range : {"", "*", "intranet.example", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/",
                            "fd00::/129", "10.0.0.0-10.0.0.9"}) {
    config.webhook_allows = {range};
    const auto refused = check(config);
    ASSERT_FALSE(refused) << range;
    EXPECT_EQ(refused.error().code, Code::kBadParameter);
    EXPECT_TRUE(mentions(refused.error(), "--webhook-allow")) << refused.error().detail;
  }
}

TEST(ConfigCheck, TheKeyOfStorageStatesIsOutsideTheData) {
  Config config;
  config.data = "/srv/reprise/data/";
  EXPECT_EQ(state_key_file(config), "/srv/reprise/data.state-key");
  EXPECT_TRUE(check(config));
  for (const char* inside : {"/srv/reprise/data/key", "/srv/reprise/data/../data/a/key"}) {
    config.state_key_file = inside;
    const auto refused = check(config);
    ASSERT_FALSE(refused) << inside;
    EXPECT_EQ(refused.error().code, Code::kBadParameter) << inside;
  }
  config.state_key_file = "/srv/reprise/database-key";
  EXPECT_TRUE(check(config));
  config.data = "not-there-yet";
  config.state_key_file = "not-there-yet/key";
  EXPECT_FALSE(check(config));
}

TEST(Config, RulesOfRedactionAreChecked) {
  Config config;
  config.redact_keys = {"customer_number"};
  config.redact_prefixes = {"acme_live_"};
  EXPECT_TRUE(check(config));
  config.redact_prefixes = {"a"};
  const auto refused = check(config);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(mentions(refused.error(), "--redact-prefix")) << refused.error().detail;
}

}  // namespace
}  // namespace reprise::server
