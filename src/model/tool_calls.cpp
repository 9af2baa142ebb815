#include "model/tool_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "base/json_text.h"
#include "model/browsing.h"
#include "model/limits.h"
#include "model/session_state.h"
#include "wire/json.h"

namespace reprise::model {
namespace {

constexpr std::array<std::string_view, 4> kStatusWords = {"open", "success", "failure",
                                                          "cancelled"};

std::unexpected<Error> corrupt(std::string_view type, std::string_view why) {
  return fail(Code::kCorrupt, fmt::format("a stored {} event does not decode: {}", type, why));
}

void add_text(std::string& json, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  json += fmt::format(",\"{}\":", name);
  append_json_string(json, text);
}

std::vector<Event> one_event(std::string_view type, TimePoint now, std::string data,
                             const std::string& by) {
  std::vector<Event> events;
  events.push_back({.type = std::string(type), .at = now, .data = std::move(data), .by = by});
  return events;
}

Result<> check_living(const SessionState& state) {
  if (!is_terminal(state.status)) return {};
  return fail(Code::kSessionEnded, fmt::format("the session is {}", word(state.status)));
}

template <typename Calls>
auto find_open(Calls& calls, const ToolCallId& id) {
  return std::ranges::find(calls, id, &OpenToolCall::id);
}

// A member that must be there as a text.
std::optional<std::string> text_of(wire::JsonValue object, std::string_view name) {
  const auto member = object.find(name);
  return member ? member->as_string() : std::nullopt;
}

// One that may be absent; nullopt if it is something else than a text.
std::optional<std::string> text_or_empty(wire::JsonValue object, std::string_view name) {
  const auto member = object.find(name);
  return member ? member->as_string() : std::string();
}

std::optional<std::uint64_t> number_of(wire::JsonValue object, std::string_view name) {
  const auto member = object.find(name);
  return member ? member->as_uint() : std::nullopt;
}

std::optional<ToolCallId> id_of(wire::JsonValue object) {
  const auto text = text_of(object, "id");
  return text ? ToolCallId::parse(*text) : std::nullopt;
}

Result<> apply_started(SessionState& state, Seq seq, const EntryView& event) {
  REPRISE_TRY(ToolStarted started, decode_tool_started(event.data));
  if (find_open(state.open_tool_calls, started.id) != state.open_tool_calls.end())
    return corrupt(event.type, "the call was started before");
  state.open_tool_calls.push_back({.id = started.id,
                                   .started = seq,
                                   .started_at = event.at,
                                   .tool_name = std::move(started.tool_name)});
  return {};
}

Result<> apply_finished(SessionState& state, const EntryView& event) {
  REPRISE_TRY(const ToolFinished finished, decode_tool_finished(event.data));
  const auto open = find_open(state.open_tool_calls, finished.id);
  if (open == state.open_tool_calls.end()) return corrupt(event.type, "the call is not open");
  if (open->started != finished.started || open->tool_name != finished.tool_name)
    return corrupt(event.type, "it does not belong to the call's start");
  state.open_tool_calls.erase(open);
  return {};
}

}  // namespace

std::string_view word(ToolCallStatus status) {
  return kStatusWords[static_cast<std::size_t>(status)];
}

std::optional<ToolCallStatus> parse_tool_call_status(std::string_view text) {
  for (std::size_t i = 0; i < kStatusWords.size(); ++i)
    if (kStatusWords[i] == text) return static_cast<ToolCallStatus>(i);
  return std::nullopt;
}

Result<> check_tool_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_.:/-").contains(c);
  };
  if (!name.empty() && name.size() <= kMaxToolNameBytes && std::ranges::all_of(name, is_allowed))
    return {};
  return invalid("/toolName", fmt::format("toolName has 1 to {} letters, digits and _ . : / -",
                                          kMaxToolNameBytes));
}

Result<std::vector<Event>> decide_on(const SessionState& state, const StartToolCall& start,
                                     TimePoint now) {
  REPRISE_CHECK(check_tool_name(start.tool_name));
  REPRISE_CHECK(check_living(state));
  if (state.open_tool_calls.size() >= kMaxOpenToolCalls)
    return fail(Code::kTooManyToolCalls,
                fmt::format("{} tool calls of the session are open; finish some of them first",
                            state.open_tool_calls.size()));
  REPRISE_ASSERT(find_open(state.open_tool_calls, start.id) == state.open_tool_calls.end());
  std::string data =
      fmt::format(R"({{"id":"{}","toolName":"{}")", start.id.to_string(), start.tool_name);
  add_text(data, "inputSummary", start.input_summary.view());
  if (!start.raw_input.empty()) data += ",\"input\":" + start.raw_input;
  data += '}';
  return one_event(event_type::kToolStarted, now, std::move(data), start.by);
}

Result<std::vector<Event>> decide_on(const SessionState& state, const FinishToolCall& finish,
                                     TimePoint now) {
  REPRISE_ASSERT(finish.status != ToolCallStatus::kOpen);
  const auto open = find_open(state.open_tool_calls, finish.id);
  if (open == state.open_tool_calls.end())
    return fail(Code::kToolCallFinished,
                fmt::format("the tool call {} is finished already", finish.id.to_string()));
  REPRISE_CHECK(check_living(state));
  std::string data =
      fmt::format(R"({{"id":"{}","toolName":"{}","status":"{}","startedSeq":{},"durationMs":{})",
                  finish.id.to_string(), open->tool_name, word(finish.status), open->started.value,
                  std::max<std::int64_t>((now - open->started_at).count(), 0));
  add_text(data, "outputSummary", finish.output_summary.view());
  add_text(data, "error", finish.error.view());
  if (!finish.raw_output.empty()) data += ",\"output\":" + finish.raw_output;
  data += '}';
  return one_event(event_type::kToolFinished, now, std::move(data), finish.by);
}

Result<> apply_tool_event(SessionState& state, Seq seq, const EntryView& event) {
  if (event.type == event_type::kToolStarted) {
    REPRISE_CHECK(apply_started(state, seq, event));
  } else if (event.type == event_type::kToolFinished) {
    REPRISE_CHECK(apply_finished(state, event));
  } else {
    REPRISE_CHECK(decode_command(event.data));
  }
  extend(state.audit, seq, event);
  return {};
}

Result<ToolStarted> decode_tool_started(std::string_view data) {
  const auto document = wire::parse_json(std::string(data));
  if (!document) return corrupt(event_type::kToolStarted, document.error().detail);
  const wire::JsonValue root = document->root();
  const auto id = id_of(root);
  auto tool_name = text_of(root, "toolName");
  auto input = text_or_empty(root, "inputSummary");
  if (!id || !tool_name || !input)
    return corrupt(event_type::kToolStarted, "a member is missing or of the wrong kind");
  return ToolStarted{
      .id = *id, .tool_name = std::move(*tool_name), .input_summary = std::move(*input)};
}

Result<ToolFinished> decode_tool_finished(std::string_view data) {
  const auto document = wire::parse_json(std::string(data));
  if (!document) return corrupt(event_type::kToolFinished, document.error().detail);
  const wire::JsonValue root = document->root();
  const auto id = id_of(root);
  auto tool_name = text_of(root, "toolName");
  const auto status_word = text_of(root, "status");
  const auto status = status_word ? parse_tool_call_status(*status_word) : std::nullopt;
  const auto started = number_of(root, "startedSeq");
  const auto duration = number_of(root, "durationMs");
  auto output = text_or_empty(root, "outputSummary");
  auto error = text_or_empty(root, "error");
  if (!id || !tool_name || !status || *status == ToolCallStatus::kOpen || !started || !duration ||
      !output || !error)
    return corrupt(event_type::kToolFinished, "a member is missing or of the wrong kind");
  return ToolFinished{.id = *id,
                      .tool_name = std::move(*tool_name),
                      .status = *status,
                      .started = Seq{*started},
                      .duration_ms = *duration,
                      .output_summary = std::move(*output),
                      .error = std::move(*error)};
}

}  // namespace reprise::model
