// What the parts of decide share: collecting what is wrong, and writing an event's data.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_text.h"
#include "model/event.h"
#include "model/limits.h"
#include "model/status.h"
#include "model/text_rules.h"
#include "wire/json.h"

namespace reprise::model {

using Events = std::vector<Event>;

// Collects what is wrong with a command, so that a client learns of every field at once.
class Problems {
 public:
  void add(std::string pointer, std::string detail) {
    fields_.push_back({std::move(pointer), std::move(detail)});
  }
  Result<> as_result() {
    if (fields_.empty()) return {};
    Error error{Code::kInvalid, fields_.front().detail};
    error.fields = std::move(fields_);
    return fail(std::move(error));
  }

 private:
  std::vector<FieldError> fields_;
};

inline void check_length(Problems& problems, std::string_view pointer, std::size_t size,
                         std::size_t limit) {
  if (size > limit)
    problems.add(std::string(pointer), fmt::format("{} has {} bytes, at most {} are allowed",
                                                   pointer.substr(1), size, limit));
}

inline void check_identifier(Problems& problems, std::string_view pointer, std::string_view text) {
  check_length(problems, pointer, text.size(), kMaxIdentifierBytes);
  if (!wire::is_utf8(text) || has_control_character(text))
    problems.add(std::string(pointer),
                 fmt::format("{} must be UTF-8 without control characters", pointer.substr(1)));
}

// A free text for people: a reason or an error.
inline void check_text(Problems& problems, std::string_view pointer, std::string_view text) {
  check_length(problems, pointer, text.size(), kMaxReasonBytes);
  if (!wire::is_utf8(text))
    problems.add(std::string(pointer), fmt::format("{} must be UTF-8", pointer.substr(1)));
}

inline void check_seconds(Problems& problems, std::string_view pointer,
                          std::optional<std::uint64_t> seconds) {
  if (seconds && (*seconds == 0 || *seconds > kMaxTtlSeconds))
    problems.add(std::string(pointer), fmt::format("{} is {}, it must be from 1 to {}",
                                                   pointer.substr(1), *seconds, kMaxTtlSeconds));
}

// The minified text of a JSON value that will stand one level down in an event's data.
inline std::string checked_json(Problems& problems, std::string_view pointer, std::string_view text,
                                wire::JsonType type, std::size_t limit) {
  const std::string_view wanted = type == wire::JsonType::kObject ? "an object" : "an array";
  // Parsed inside an array, so that a value too deep for the event's data is refused here, where a
  // client can be told, and not found to be damage when the event is read again.
  const auto document = wire::parse_json(fmt::format("[{}]", text));
  const auto elements = document ? document->root().elements() : std::vector<wire::JsonValue>{};
  if (elements.size() != 1 || elements.front().type() != type) {
    problems.add(std::string(pointer), fmt::format("{} must be {}", pointer.substr(1), wanted));
    return {};
  }
  std::string minified = elements.front().minified();
  check_length(problems, pointer, minified.size(), limit);
  return minified;
}

// Writes the object that is an event's data.
class DataWriter {
 public:
  void json(std::string_view name, std::string_view text) {
    out_ += out_.empty() ? '{' : ',';
    append_json_string(out_, name);
    out_ += ':';
    out_ += text;
  }
  void string(std::string_view name, std::string_view text) { json(name, json_string(text)); }
  // Absent where the text is empty.
  void text(std::string_view name, std::string_view text) {
    if (!text.empty()) string(name, text);
  }
  void number(std::string_view name, std::optional<std::uint64_t> value) {
    if (value) json(name, fmt::to_string(*value));
  }
  bool is_empty() const { return out_.empty(); }
  std::string end() && { return std::move(out_) + '}'; }

 private:
  std::string out_;
};

inline Events one_event(std::string_view type, TimePoint now, DataWriter&& data) {
  Events events;
  events.push_back({.type = std::string(type), .at = now, .data = std::move(data).end(), .by = {}});
  return events;
}

// The event of a move; `reasons` are those that hold afterwards (model/decide.cpp).
Event status_change(Status from, Status to, PauseReasons reasons, std::string_view reason,
                    std::string_view error, TimePoint now);

}  // namespace reprise::model
