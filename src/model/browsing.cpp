#include "model/browsing.h"

#include <fmt/format.h>

#include <array>

#include "base/json_text.h"
#include "model/event_data.h"
#include "model/limits.h"
#include "model/session_state.h"

namespace reprise::model {
namespace {

constexpr std::array<std::string_view, 4> kContextWords = {"open", "hibernated", "orphaned",
                                                           "closed"};
constexpr std::array<std::string_view, 3> kTabWords = {"open", "crashed", "closed"};

template <typename Enum, std::size_t N>
std::optional<Enum> parse_word(const std::array<std::string_view, N>& words,
                               std::string_view text) {
  for (std::size_t i = 0; i < N; ++i)
    if (words[i] == text) return static_cast<Enum>(i);
  return std::nullopt;
}

std::string time_or_null(std::optional<TimePoint> at) {
  return at ? fmt::format("\"{}\"", format_time(*at)) : "null";
}

std::string id_or_null(std::optional<TabId> id) {
  return id ? fmt::format("\"{}\"", id->to_string()) : "null";
}

// A time that may be null; false where it is something else.
bool get_time(EventData& data, std::string_view name, std::optional<TimePoint>& at) {
  at.reset();
  if (data.has_null(name)) return true;
  const auto text = data.string(name);
  const auto parsed = text ? parse_time(*text) : fail(Code::kCorrupt);
  if (!parsed) return false;
  at = *parsed;
  return true;
}

bool get_tab_id(EventData& data, std::string_view name, std::optional<TabId>& id) {
  id.reset();
  if (!data.has(name) || data.has_null(name)) return true;
  const auto text = data.string(name);
  id = text ? TabId::parse(*text) : std::nullopt;
  return id.has_value();
}

void note_pool(SessionState& state, const std::string& pool) {
  std::erase(state.pools, pool);
  state.pools.push_back(pool);
  if (state.pools.size() > kMaxSessionPools) state.pools.erase(state.pools.begin());
}

}  // namespace

std::string_view word(ContextStatus status) {
  return kContextWords[static_cast<std::size_t>(status)];
}
std::optional<ContextStatus> parse_context_status(std::string_view text) {
  return parse_word<ContextStatus>(kContextWords, text);
}
std::string_view word(TabStatus status) { return kTabWords[static_cast<std::size_t>(status)]; }
std::optional<TabStatus> parse_tab_status(std::string_view text) {
  return parse_word<TabStatus>(kTabWords, text);
}

Event context_event(std::string_view type, const ContextFacts& context, TimePoint now) {
  std::string data = fmt::format(
      R"({{"contextId":"{}","contextKey":{},"poolKey":{},"browserType":{},"status":"{}",)"
      R"("openedAt":"{}","closedAt":{},"reason":{}}})",
      context.id.to_string(), json_string(context.key), json_string(context.pool_key),
      json_string(context.browser_type), word(context.status), format_time(context.opened_at),
      time_or_null(context.closed_at), json_string(context.reason));
  return {.type = std::string(type), .at = now, .data = std::move(data), .by = {}};
}

Event tab_event(std::string_view type, const TabFacts& tab, std::optional<TabId> active,
                TimePoint now) {
  std::string data = fmt::format(
      R"({{"tabId":"{}","tabKey":{},"contextId":"{}","index":{},"status":"{}","url":{},"title":{},)"
      R"("openerTabId":{},"isPopup":{},"createdAt":"{}","closedAt":{},"activeTabId":{}}})",
      tab.id.to_string(), json_string(tab.key), tab.context.to_string(), tab.index,
      word(tab.status), json_string(tab.url), json_string(tab.title), id_or_null(tab.opener),
      tab.is_popup, format_time(tab.created_at), time_or_null(tab.closed_at), id_or_null(active));
  return {.type = std::string(type), .at = now, .data = std::move(data), .by = {}};
}

Result<ContextFacts> decode_context(std::string_view data) {
  constexpr std::string_view kType = "context";
  REPRISE_TRY(EventData event, EventData::parse(kType, data));
  ContextFacts context;
  const auto id = ContextId::parse(event.string("contextId").value_or(""));
  const auto status = parse_context_status(event.string("status").value_or(""));
  std::optional<TimePoint> opened_at;
  const bool has_times = get_time(event, "openedAt", opened_at) && opened_at &&
                         get_time(event, "closedAt", context.closed_at);
  auto key = event.string("contextKey");
  auto pool_key = event.string("poolKey");
  auto browser_type = event.string("browserType");
  auto reason = event.string("reason");
  if (!id || !status || !has_times || !key || !pool_key || !browser_type || !reason)
    return corrupt(kType, "a member is missing or of the wrong kind");
  context.id = *id;
  context.status = *status;
  context.opened_at = *opened_at;
  context.key = std::move(*key);
  context.pool_key = std::move(*pool_key);
  context.browser_type = std::move(*browser_type);
  context.reason = std::move(*reason);
  return context;
}

Result<TabFacts> decode_tab(std::string_view data) {
  constexpr std::string_view kType = "tab";
  REPRISE_TRY(EventData event, EventData::parse(kType, data));
  TabFacts tab;
  const auto id = TabId::parse(event.string("tabId").value_or(""));
  const auto context = ContextId::parse(event.string("contextId").value_or(""));
  const auto status = parse_tab_status(event.string("status").value_or(""));
  const auto index = event.number("index");
  std::optional<TimePoint> created_at;
  const bool has_times = get_time(event, "createdAt", created_at) && created_at &&
                         get_time(event, "closedAt", tab.closed_at);
  const bool has_opener = get_tab_id(event, "openerTabId", tab.opener);
  const auto is_popup = event.boolean("isPopup");
  auto key = event.string("tabKey");
  auto url = event.string("url");
  auto title = event.string("title");
  if (!id || !context || !status || !index || !has_times || !has_opener || !is_popup || !key ||
      !url || !title)
    return corrupt(kType, "a member is missing or of the wrong kind");
  tab.id = *id;
  tab.context = *context;
  tab.status = *status;
  tab.index = *index;
  tab.created_at = *created_at;
  tab.is_popup = *is_popup;
  tab.key = std::move(*key);
  tab.url = std::move(*url);
  tab.title = std::move(*title);
  return tab;
}

Result<CommandFacts> decode_command(std::string_view data) {
  REPRISE_TRY(EventData event, EventData::parse(event_type::kCommand, data));
  CommandFacts command;
  auto tool = event.string("tool");
  auto source = event.string("source");
  const auto is_ok = event.boolean("ok");
  if (!tool || !source || !is_ok || !get_tab_id(event, "tabId", command.tab))
    return corrupt(event_type::kCommand, "a member is missing or of the wrong kind");
  command.tool = std::move(*tool);
  command.source = std::move(*source);
  command.is_ok = *is_ok;
  return command;
}

bool is_context_type(std::string_view type) {
  return type == event_type::kContextOpened || type == event_type::kContextClosed;
}

bool is_tab_type(std::string_view type) {
  return type == event_type::kTabOpened || type == event_type::kTabUpdated ||
         type == event_type::kTabClosed;
}

Result<> apply_browser_event(SessionState& state, const EntryView& event) {
  if (is_tab_type(event.type)) {
    REPRISE_CHECK(decode_tab(event.data));
    REPRISE_TRY(EventData data, EventData::parse(event.type, event.data));
    std::optional<TabId> active;
    if (!get_tab_id(data, "activeTabId", active) || data.is_damaged())
      return corrupt(event.type, "'activeTabId' is no tab");
    state.active_tab = active;
  } else if (is_context_type(event.type)) {
    REPRISE_TRY(const ContextFacts context, decode_context(event.data));
    // A hibernated context comes back with the tabs it had.
    const bool is_over =
        context.status == ContextStatus::kClosed || context.status == ContextStatus::kOrphaned;
    if (is_over) state.active_tab.reset();
    note_pool(state, context.pool_key);
    // Nobody asked for this one's end, so the record tells of it.
    if (context.status == ContextStatus::kOrphaned && context.reason.size() <= kMaxReasonBytes)
      state.last_error = context.reason;
  }
  return {};
}

}  // namespace reprise::model
