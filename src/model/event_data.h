// EventData: the data of a server's event, read member by member when a session is folded.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "model/status.h"
#include "wire/json.h"

namespace reprise::model {

inline std::unexpected<Error> corrupt(std::string_view type, std::string_view why) {
  return fail(Code::kCorrupt, fmt::format("a stored {} event does not decode: {}", type, why));
}

// The data of a server's event, member by member. A member of the wrong kind is remembered as
// damage and read as if it were absent; the caller looks at is_damaged() once, before it changes
// anything.
class EventData {
 public:
  static Result<EventData> parse(std::string_view type, std::string_view data) {
    auto document = wire::parse_json(std::string(data));
    if (!document) return corrupt(type, document.error().detail);
    if (document->root().type() != wire::JsonType::kObject) return corrupt(type, "not an object");
    return EventData(std::move(*document));
  }

  bool is_damaged() const { return is_damaged_; }
  bool has(std::string_view name) const { return document_.root().find(name).has_value(); }
  bool has_null(std::string_view name) const {
    const auto value = document_.root().find(name);
    return value && value->is_null();
  }

  std::optional<std::string> string(std::string_view name) {
    return member(name, [](wire::JsonValue value) { return value.as_string(); });
  }
  std::optional<std::uint64_t> number(std::string_view name) {
    return member(name, [](wire::JsonValue value) { return value.as_uint(); });
  }
  std::optional<bool> boolean(std::string_view name) {
    return member(name, [](wire::JsonValue value) { return value.as_bool(); });
  }
  std::optional<std::string> json(std::string_view name, wire::JsonType type) {
    return member(name, [type](wire::JsonValue value) -> std::optional<std::string> {
      if (value.type() != type) return std::nullopt;
      return value.minified();
    });
  }
  std::optional<Status> status(std::string_view name) {
    return member(name, [](wire::JsonValue value) -> std::optional<Status> {
      const auto text = value.as_string();
      for (const Status candidate : kStatuses)
        if (text && word(candidate) == *text) return candidate;
      return std::nullopt;
    });
  }
  std::optional<PauseReasons> pause_reasons(std::string_view name) {
    return member(name, [](wire::JsonValue value) -> std::optional<PauseReasons> {
      if (value.type() != wire::JsonType::kArray) return std::nullopt;
      PauseReasons reasons;
      for (const wire::JsonValue element : value.elements()) {
        const auto text = element.as_string();
        const auto reason = text ? parse_pause_reason(*text) : std::nullopt;
        if (!reason) return std::nullopt;
        reasons.insert(*reason);
      }
      return reasons;
    });
  }

 private:
  explicit EventData(wire::JsonDocument document) : document_(std::move(document)) {}

  template <typename Read>
  std::invoke_result_t<Read, wire::JsonValue> member(std::string_view name, Read read) {
    const auto value = document_.root().find(name);
    if (!value) return std::nullopt;
    auto found = read(*value);
    if (!found) is_damaged_ = true;
    return found;
  }

  wire::JsonDocument document_;
  bool is_damaged_ = false;
};

}  // namespace reprise::model
