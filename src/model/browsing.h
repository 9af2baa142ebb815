// What a session's browser did, as events of the session: contexts, tabs and commands.
//
//     context_opened   the context whole: {"contextId":…,"contextKey":…,"poolKey":…,
//     context_closed    "browserType":"chromium","status":"open|hibernated|orphaned|closed",
//                       "openedAt":…,"closedAt":…,"reason":…}
//     tab_opened       the tab whole: {"tabId":…,"tabKey":…,"contextId":…,"index":0,
//     tab_updated       "status":"open|crashed|closed","url":…,"title":…,"openerTabId":…,
//     tab_closed        "isPopup":false,"createdAt":…,"closedAt":…,"activeTabId":…}
//     command          {"tool":…,"args":{…},"ok":true,"startedAt":…,"durationMs":12,"tabId":…,
//                       "source":"rest|mcp|cdp|operator|replay","client":…,"error":{…},
//                       "target":{…},"capture":{"picture":…,"snapshot":…,"log":…}}, paths of
//                       artifacts; "client" where the caller named itself
//
// Every event of a context or a tab has all there is to know of it, so that the records people read
// are the newest event of each (session/browser_rows.h). `activeTabId` is the session's after the
// event. Commands are part of the audit (model/audit.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/event.h"

namespace reprise::model {

struct SessionState;

using ContextId = detail::UuidId<struct ContextIdTag>;
using TabId = detail::UuidId<struct TabIdTag>;

namespace event_type {
inline constexpr std::string_view kContextOpened = "context_opened";
inline constexpr std::string_view kContextClosed = "context_closed";
inline constexpr std::string_view kTabOpened = "tab_opened";
inline constexpr std::string_view kTabUpdated = "tab_updated";
inline constexpr std::string_view kTabClosed = "tab_closed";
inline constexpr std::string_view kCommand = "command";
}  // namespace event_type

enum class ContextStatus : std::uint8_t { kOpen, kHibernated, kOrphaned, kClosed };
std::string_view word(ContextStatus status);
std::optional<ContextStatus> parse_context_status(std::string_view text);

enum class TabStatus : std::uint8_t { kOpen, kCrashed, kClosed };
std::string_view word(TabStatus status);
std::optional<TabStatus> parse_tab_status(std::string_view text);

struct ContextFacts {
  ContextId id;
  std::string key;
  std::string pool_key;
  std::string browser_type = "chromium";
  ContextStatus status = ContextStatus::kOpen;
  TimePoint opened_at;
  std::optional<TimePoint> closed_at;
  std::string reason;  // why it is what it is; empty: nobody said
  friend bool operator==(const ContextFacts&, const ContextFacts&) = default;
};

struct TabFacts {
  TabId id;
  std::string key;
  ContextId context;
  std::uint64_t index = 0;
  TabStatus status = TabStatus::kOpen;
  std::string url;
  std::string title;
  std::optional<TabId> opener;
  bool is_popup = false;
  TimePoint created_at;
  std::optional<TimePoint> closed_at;
  friend bool operator==(const TabFacts&, const TabFacts&) = default;
};

// What an index needs to know of a command.
struct CommandFacts {
  std::string tool;
  bool is_ok = false;
  std::optional<TabId> tab;
  std::string source;
};

Event context_event(std::string_view type, const ContextFacts& context, TimePoint now);
Event tab_event(std::string_view type, const TabFacts& tab, std::optional<TabId> active,
                TimePoint now);

// kCorrupt where the data does not decode.
Result<ContextFacts> decode_context(std::string_view data);
Result<TabFacts> decode_tab(std::string_view data);
Result<CommandFacts> decode_command(std::string_view data);

bool is_context_type(std::string_view type);
bool is_tab_type(std::string_view type);

// The part of evolve() (model/session_state.h) for these events: which tab is active.
Result<> apply_browser_event(SessionState& state, const EntryView& event);

}  // namespace reprise::model
