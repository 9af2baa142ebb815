// Whether a schema is one that can be checked, before anything is checked with it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "wire/json_schema_parts.h"
#include "wire/limits.h"
#include "wire/target.h"

namespace reprise::wire {
namespace {

// What the value of a keyword must be.
enum class Shape : std::uint8_t {
  kAnything,
  kText,
  kCount,  // an integer, 0 or more
  kNumber,
  kPositive,  // a number above 0
  kFlag,
  kTypes,  // a name of a type, or a list of them
  kList,   // not empty
  kNames,  // a list of texts
  kSchema,
  kSchemas,    // a list of schemas, not empty
  kSchemaMap,  // by name
  kItems,      // a schema, or a list of them
  kPatternMap,
  kPattern,
  kDependencies,  // by name, a schema or a list of names
  kReference,
};

struct Keyword {
  std::string_view name;
  Shape shape;
};

constexpr std::array kKeywords = {
    Keyword{"$schema", Shape::kText},
    Keyword{"$comment", Shape::kText},
    Keyword{"$ref", Shape::kReference},
    Keyword{"$defs", Shape::kSchemaMap},
    Keyword{"definitions", Shape::kSchemaMap},
    Keyword{"title", Shape::kText},
    Keyword{"description", Shape::kText},
    Keyword{"default", Shape::kAnything},
    Keyword{"examples", Shape::kAnything},
    Keyword{"readOnly", Shape::kFlag},
    Keyword{"writeOnly", Shape::kFlag},
    Keyword{"deprecated", Shape::kFlag},
    Keyword{"type", Shape::kTypes},
    Keyword{"enum", Shape::kList},
    Keyword{"const", Shape::kAnything},
    Keyword{"multipleOf", Shape::kPositive},
    Keyword{"maximum", Shape::kNumber},
    Keyword{"exclusiveMaximum", Shape::kNumber},
    Keyword{"minimum", Shape::kNumber},
    Keyword{"exclusiveMinimum", Shape::kNumber},
    Keyword{"maxLength", Shape::kCount},
    Keyword{"minLength", Shape::kCount},
    Keyword{"pattern", Shape::kPattern},
    Keyword{"format", Shape::kText},
    Keyword{"items", Shape::kItems},
    Keyword{"additionalItems", Shape::kSchema},
    Keyword{"maxItems", Shape::kCount},
    Keyword{"minItems", Shape::kCount},
    Keyword{"uniqueItems", Shape::kFlag},
    Keyword{"contains", Shape::kSchema},
    Keyword{"maxProperties", Shape::kCount},
    Keyword{"minProperties", Shape::kCount},
    Keyword{"required", Shape::kNames},
    Keyword{"properties", Shape::kSchemaMap},
    Keyword{"patternProperties", Shape::kPatternMap},
    Keyword{"additionalProperties", Shape::kSchema},
    Keyword{"dependencies", Shape::kDependencies},
    Keyword{"propertyNames", Shape::kSchema},
    Keyword{"if", Shape::kSchema},
    Keyword{"then", Shape::kSchema},
    Keyword{"else", Shape::kSchema},
    Keyword{"allOf", Shape::kSchemas},
    Keyword{"anyOf", Shape::kSchemas},
    Keyword{"oneOf", Shape::kSchemas},
    Keyword{"not", Shape::kSchema},
};

constexpr std::array<std::string_view, 7> kTypes = {"null",   "boolean", "number", "integer",
                                                    "string", "array",   "object"};

bool is_type(const JsonValue& value) {
  const auto text = value.as_string();
  return text && std::find(kTypes.begin(), kTypes.end(), *text) != kTypes.end();
}

bool is_list_of_texts(const JsonValue& value) {
  const auto elements = value.elements();
  return value.type() == JsonType::kArray &&
         std::all_of(elements.begin(), elements.end(),
                     [](const JsonValue& one) { return one.type() == JsonType::kString; });
}

class Checker {
 public:
  explicit Checker(JsonSchema::Compiled& compiled) : compiled_(compiled) {}

  void schema(const JsonValue& value, const std::string& pointer) {
    if (value.type() == JsonType::kBool) return;
    if (value.type() != JsonType::kObject)
      return wrong(pointer, "a schema is an object, true or false");
    for (const JsonMember& member : value.members()) {
      const auto* keyword = std::find_if(kKeywords.begin(), kKeywords.end(),
                                         [&](const auto& one) { return one.name == member.name; });
      const std::string at = below(pointer, member.name);
      if (keyword != kKeywords.end())
        word(*keyword, member.value, at);
      else if (!member.name.starts_with("x-"))
        wrong(at, fmt::format("'{}' is not supported", member.name));
    }
  }

  void whole(const JsonValue& root) {
    schema(root, "");
    while (!targets_.empty()) {
      const auto [target, pointer] = std::move(targets_.back());
      targets_.pop_back();
      schema(target, pointer);
    }
  }

  std::vector<FieldError> errors;

 private:
  void wrong(std::string pointer, std::string detail) {
    if (errors.size() < kMaxSchemaErrors) errors.push_back({std::move(pointer), std::move(detail)});
  }

  void require(bool is_right, const std::string& pointer, std::string_view what) {
    if (!is_right) wrong(pointer, std::string(what));
  }

  void word(const Keyword& keyword, const JsonValue& value, const std::string& at) {
    switch (keyword.shape) {
      case Shape::kAnything: return;
      case Shape::kText: return require(value.type() == JsonType::kString, at, "must be a text");
      case Shape::kCount:
        return require(value.as_uint().has_value(), at, "must be an integer, 0 or more");
      case Shape::kNumber: return require(value.as_double().has_value(), at, "must be a number");
      case Shape::kPositive:
        return require(value.as_double().value_or(0) > 0, at, "must be a number above 0");
      case Shape::kFlag: return require(value.as_bool().has_value(), at, "must be true or false");
      case Shape::kTypes: return types(value, at);
      case Shape::kList:
        return require(!value.elements().empty(), at, "must be a list that is not empty");
      case Shape::kNames: return require(is_list_of_texts(value), at, "must be a list of texts");
      case Shape::kPattern: return pattern(value.as_string(), at);
      case Shape::kReference: return reference(value, at);
      default: return inner(keyword.shape, value, at);
    }
  }

  // Keywords with schemas inside.
  void inner(Shape shape, const JsonValue& value, const std::string& at) {
    const bool is_list = value.type() == JsonType::kArray;
    if (shape == Shape::kSchema || (shape == Shape::kItems && !is_list)) return schema(value, at);
    if (shape == Shape::kSchemas || shape == Shape::kItems) {
      const auto elements = value.elements();
      require(!elements.empty(), at, "must be a list of schemas that is not empty");
      for (std::size_t i = 0; i < elements.size(); ++i)
        schema(elements[i], below(at, std::to_string(i)));
      return;
    }
    require(value.type() == JsonType::kObject, at, "must be an object");
    for (const JsonMember& member : value.members()) {
      const std::string place = below(at, member.name);
      if (shape == Shape::kPatternMap) pattern(member.name, place);
      if (shape == Shape::kDependencies && member.value.type() == JsonType::kArray)
        require(is_list_of_texts(member.value), place, "must be a list of texts");
      else
        schema(member.value, place);
    }
  }

  void types(const JsonValue& value, const std::string& at) {
    const auto elements = value.elements();
    const bool is_right =
        is_type(value) ||
        (!elements.empty() && std::all_of(elements.begin(), elements.end(), is_type));
    require(is_right, at, fmt::format("must be of {}", fmt::join(kTypes, ", ")));
  }

  void pattern(const std::optional<std::string>& text, const std::string& at) {
    if (!text) return wrong(at, "must be a text");
    if (compiled_.patterns.contains(*text)) return;
    if (compiled_.patterns.size() >= kMaxSchemaPatterns)
      return wrong(at, fmt::format("a schema has at most {} patterns", kMaxSchemaPatterns));
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kMaxPatternMemory);
    auto compiled = std::make_unique<const re2::RE2>(*text, options);
    if (!compiled->ok())
      return wrong(at, fmt::format("is not a supported pattern: {}", compiled->error()));
    compiled_.patterns.emplace(*text, std::move(compiled));
  }

  void reference(const JsonValue& value, const std::string& at) {
    const auto text = value.as_string();
    const auto target = text ? resolve_reference(compiled_.document.root(), *text) : std::nullopt;
    if (!target)
      return wrong(at, "must lead to a place in this schema, such as #/definitions/name");
    // Its target may stand where no schema is looked for, as in a member of x-. Later, not now: a
    // chain of references is as long as a stranger likes.
    if (seen_.insert(*text).second) targets_.emplace_back(*target, text->substr(1));
  }

  JsonSchema::Compiled& compiled_;
  std::set<std::string> seen_;
  std::vector<std::pair<JsonValue, std::string>> targets_;
};

}  // namespace

std::string below(std::string_view pointer, std::string_view step) {
  std::string longer(pointer);
  longer += '/';
  for (const char c : step) {
    if (c == '~')
      longer += "~0";
    else if (c == '/')
      longer += "~1";
    else
      longer += c;
  }
  return longer;
}

std::optional<JsonValue> resolve_reference(const JsonValue& root, std::string_view reference) {
  if (!reference.starts_with('#')) return std::nullopt;
  reference.remove_prefix(1);
  JsonValue at = root;
  while (!reference.empty()) {
    if (reference[0] != '/') return std::nullopt;
    reference.remove_prefix(1);
    const std::string_view token = reference.substr(0, reference.find('/'));
    reference.remove_prefix(token.size());
    std::string name;
    for (std::size_t i = 0; i < token.size(); ++i) {
      const bool is_escape = token[i] == '~' && i + 1 < token.size();
      name += is_escape ? (token[++i] == '1' ? '/' : '~') : token[i];
    }
    std::optional<JsonValue> next = at.find(name);
    const auto elements = at.elements();
    for (std::size_t i = 0; !next && i < elements.size(); ++i)
      if (std::to_string(i) == name) next = elements[i];
    if (!next) return std::nullopt;
    at = *next;
  }
  return at;
}

std::vector<FieldError> check_schema(JsonSchema::Compiled& compiled) {
  Checker checker(compiled);
  checker.whole(compiled.document.root());
  return std::move(checker.errors);
}

}  // namespace reprise::wire
