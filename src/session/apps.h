// Apps: namespaces of sessions, and what holds for all sessions of one.
//
//     N app              the settings
//     E app NUL time id  ended sessions of an app, by when they ended
//
// An app comes to be with its first session, or by settings that are made for it. What they say
// about new sessions is looked up when one is created; sessions that are there stay as they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "store/store.h"

namespace reprise::session {

struct AppSettings {
  std::string description;
  std::optional<std::uint64_t> default_ttl_seconds;
  std::optional<std::uint64_t> default_max_lifetime_seconds;
  // Ended sessions are removed after this, or after the server's own retention if that is shorter.
  std::optional<std::uint64_t> retention_seconds;
  // Living ones. It is looked at before a session is created: callers that race may pass it by as
  // many as they are.
  std::optional<std::uint64_t> max_sessions;
  // Inputs and outputs of tool calls are kept whole, secrets and all, besides their summaries.
  bool keeps_raw_tool_payloads = false;
  friend bool operator==(const AppSettings&, const AppSettings&) = default;
};

struct App {
  std::string id;
  AppSettings settings;
  TimePoint created_at;
  TimePoint updated_at;
  friend bool operator==(const App&, const App&) = default;
};

std::unexpected<Error> no_such_app(std::string_view id);

std::string app_key(std::string_view id);
std::string app_range_begin();
std::string app_range_end();
std::string encode_app(const App& app);
// From a key and its value.
Result<App> decode_app(std::string_view key, std::string_view value);

// What a creation commits about its app: that it is new, or as it was when it was looked at.
struct AppHold {
  std::string key;
  std::string fresh;  // the record of a new app; empty: it is there
  store::Precondition only_if;
  void add_to(store::Commit& commit) const;
};

struct AppPage {
  std::vector<App> apps;
  std::string next;  // the last id, if there are more
};

struct PutApp {
  App app;
  bool is_new = false;
};

// What became of the sessions of an app that was closed.
struct CloseReport {
  struct Failure {
    SessionId id;
    Error error;
  };
  std::uint64_t closed = 0;
  std::uint64_t failed = 0;
  std::vector<Failure> failures;  // the first kMaxCloseFailures
};

}  // namespace reprise::session
