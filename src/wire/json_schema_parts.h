// What compiling and checking share (json_schema.cpp, json_schema_check.cpp).
#pragma once

#include <re2/re2.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "wire/json_schema.h"

namespace reprise::wire {

struct JsonSchema::Compiled {
  explicit Compiled(JsonDocument parsed) : document(std::move(parsed)) {}
  JsonDocument document;
  std::map<std::string, std::unique_ptr<const re2::RE2>, std::less<>> patterns;
};

// Where "#" or "#/definitions/name" leads; nullopt for anything else.
std::optional<JsonValue> resolve_reference(const JsonValue& root, std::string_view reference);

// The value with sorted members and numbers in one spelling: equal values have equal texts.
std::string canonical_json(const JsonValue& value);

// A JSON pointer, one step longer.
std::string below(std::string_view pointer, std::string_view step);

// Fills in the patterns; every error there is.
std::vector<FieldError> check_schema(JsonSchema::Compiled& compiled);

// One of the formats that are checked, and whether a text has it; true for other formats.
bool has_format(std::string_view text, std::string_view format);

}  // namespace reprise::wire
