// A command: one call of a tool on a session's browser, as it is asked, answered and stored.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "browser/driver.h"
#include "browser/tools/run.h"
#include "model/browsing.h"
#include "model/redact.h"

namespace reprise::browser {

// The source of what a person does who has taken over.
inline constexpr std::string_view kOperatorSource = "operator";
// Of a call of the API, and of one that does again what was done in another session.
inline constexpr std::string_view kRestSource = "rest";
inline constexpr std::string_view kReplaySource = "replay";

struct CommandCall {
  std::string tool;
  std::string arguments = "{}";                   // as the catalogue gives them (tools/catalogue.h)
  std::string source = std::string(kRestSource);  // mcp, cdp, operator, replay
  std::string by;
  std::optional<Generation> lease = {};
  std::string client = {};               // what the caller says that it is; nobody has checked it
  std::optional<model::TabId> tab = {};  // for browser_tabs: which one, instead of its index
};

// The page that a command left behind, for whoever tells a model about it.
struct PageGlance {
  std::string url;
  std::string title;
  bool is_crashed = false;
  std::optional<Dialog> dialog;  // which waits for an answer
  bool waits_for_files = false;  // a file chooser is open
  std::size_t console_errors = 0;
  std::size_t console_warnings = 0;
};
struct TabGlance {
  std::string url;
  std::string title;
  bool is_active = false;
};

struct CommandAnswer {
  bool is_ok = false;
  Seq seq;
  std::string tool;
  std::optional<model::TabId> tab;
  Millis duration{0};
  std::string result = "null";  // JSON
  std::string error_code;       // of one that is not ok
  std::string error;
  std::string text;  // for models
  std::vector<Picture> pictures;
  // What happened besides, a line each: downloads.
  std::vector<std::string> events = {};
  std::optional<PageGlance> page = {};  // of the tab it worked on, afterwards
  std::vector<TabGlance> tabs = {};     // the open ones, in their order
};

// What a failed tool says: the word before its first colon is the code, if it is one.
struct ToolError {
  std::string code;
  std::string message;
};
ToolError tool_error(const Error& error);

// What is stored of a command's arguments: secrets by name and by look are replaced, and texts that
// went into fields for secrets are told by their length alone.
std::string stored_arguments(const std::string& arguments, bool hides_text,
                             const model::Redactor& redactor);

struct CommandRecord {
  std::string id;
  const CommandCall& call;
  const ToolOutcome& outcome;
  const CommandAnswer& answer;
  TimePoint started_at;
  std::string capture;   // what its pictures are named by; empty: there are none
  bool has_log = false;  // whether what the page said and asked for is among them
};
model::Event command_event(const CommandRecord& record, const model::Redactor& redactor);

// Where the capture of a command stands among the session's artifacts.
std::string capture_picture_path(std::string_view name);
std::string capture_snapshot_path(std::string_view name);
std::string capture_log_path(std::string_view name);  // browser/command_log.h

}  // namespace reprise::browser
