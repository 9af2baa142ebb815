#include "browser/command.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"

namespace reprise::browser {
namespace {

std::string length_only(std::string_view text) {
  return fmt::format(R"({{"redacted":true,"length":{}}})", text.size());
}

// An object whose members with secrets are told by their length.
std::string without_texts(wire::JsonValue object, const model::Redactor& redactor) {
  std::string json = "{";
  for (const wire::JsonMember& member : object.members()) {
    if (json.size() > 1) json += ',';
    append_json_string(json, member.name);
    json += ':';
    const auto text = member.value.as_string();
    const bool is_hidden =
        member.name == "text" || member.name == "value" || member.name == "promptText";
    if (is_hidden && text) {
      json += length_only(*text);
    } else if (member.name == "fields") {
      json += '[';
      for (const wire::JsonValue field : member.value.elements()) {
        if (json.back() != '[') json += ',';
        json += without_texts(field, redactor);
      }
      json += ']';
    } else {
      json += redactor.json(member.value).view();
    }
  }
  return json + '}';
}

// Where one element says less than there is to say.
std::string targets_json(const ToolOutcome& outcome) {
  const bool is_plain = outcome.targets.empty() ||
                        (outcome.targets.size() == 1 && outcome.targets.front().first == "target");
  if (is_plain) return {};
  std::string json;
  for (const auto& [argument, element] : outcome.targets) {
    json += json.empty() ? ",\"targets\":{" : ",";
    json += json_string(argument) + ':' + element;
  }
  return json + '}';
}

// Where it ended up.
std::string page_json(const CommandAnswer& answer, const model::Redactor& redactor) {
  if (!answer.page) return {};
  return fmt::format(R"(,"page":{{"url":{},"title":{}}})",
                     json_string(redactor.text(answer.page->url).view()),
                     json_string(redactor.text(answer.page->title).view()));
}

}  // namespace

ToolError tool_error(const Error& error) {
  const std::size_t colon = error.detail.find(": ");
  const std::string_view code =
      std::string_view(error.detail).substr(0, colon == std::string::npos ? 0 : colon);
  const bool is_code = !code.empty() && code.size() <= 32 &&
                       code.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == code.npos;
  if (error.code == Code::kToolFailed && is_code)
    return {.code = std::string(code), .message = error.detail.substr(colon + 2)};
  return {.code = std::string(error_row(error.code).name), .message = error.detail};
}

std::string stored_arguments(const std::string& arguments, bool hides_text,
                             const model::Redactor& redactor) {
  const auto document = wire::parse_json(arguments);
  if (!document || document->root().type() != wire::JsonType::kObject) return "{}";
  if (hides_text) return without_texts(document->root(), redactor);
  return std::string(redactor.json(document->root()).view());
}

std::string capture_picture_path(std::string_view name) {
  return fmt::format("captures/{}.jpg", name);
}
std::string capture_snapshot_path(std::string_view name) {
  return fmt::format("captures/{}.yaml", name);
}
std::string capture_log_path(std::string_view name) {
  return fmt::format("captures/{}.json", name);
}

model::Event command_event(const CommandRecord& record, const model::Redactor& redactor) {
  const CommandAnswer& answer = record.answer;
  std::string error = "null";
  if (!answer.is_ok)
    error = fmt::format(R"({{"code":{},"message":{}}})", json_string(answer.error_code),
                        json_string(redactor.text(answer.error).view()));
  std::string capture = "null";
  if (!record.capture.empty())
    capture = fmt::format(R"({{"picture":{},"snapshot":{},"log":{}}})",
                          json_string(capture_picture_path(record.capture)),
                          json_string(capture_snapshot_path(record.capture)),
                          record.has_log ? json_string(capture_log_path(record.capture)) : "null");
  const std::string client =
      record.call.client.empty() ? "" : ",\"client\":" + json_string(record.call.client);
  std::string data = fmt::format(
      R"({{"id":"{}","tool":{},"args":{},"ok":{},"startedAt":"{}","durationMs":{},"tabId":{},)"
      R"("source":{}{},"error":{},"target":{},"capture":{}{}{}}})",
      record.id, json_string(record.call.tool),
      stored_arguments(record.call.arguments, record.outcome.hides_text, redactor), answer.is_ok,
      format_time(record.started_at), answer.duration.count(),
      answer.tab ? fmt::format("\"{}\"", answer.tab->to_string()) : "null",
      json_string(record.call.source), client, error, record.outcome.target, capture,
      targets_json(record.outcome), page_json(answer, redactor));
  return {.type = std::string(model::event_type::kCommand),
          .at = record.started_at + answer.duration,
          .data = std::move(data),
          .by = record.call.by};
}

}  // namespace reprise::browser
