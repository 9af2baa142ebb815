#include "wire/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json_text.h"
#include "wire/json_schema_parts.h"
#include "wire/limits.h"

namespace reprise::wire {
namespace {

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

bool is_whole(const JsonValue& value) {
  const auto number = value.as_double();
  return number && std::floor(*number) == *number;
}

bool is_of_type(const JsonValue& value, std::string_view type) {
  switch (value.type()) {
    case JsonType::kNull: return type == "null";
    case JsonType::kBool: return type == "boolean";
    case JsonType::kNumber: return type == "number" || (type == "integer" && is_whole(value));
    case JsonType::kString: return type == "string";
    case JsonType::kArray: return type == "array";
    case JsonType::kObject: return type == "object";
  }
  return false;
}

// With numbers as people write them, 0.3 is three times 0.1.
bool is_multiple(double value, double of) {
  const double times = value / of;
  return std::isfinite(times) &&
         std::abs(times - std::round(times)) <= 1e-9 * std::max(1.0, std::abs(times));
}

class Validator {
 public:
  explicit Validator(const JsonSchema::Compiled& compiled) : compiled_(compiled) {}

  // Whether the value is as the schema says. Where `is_told`, errors says what is not.
  bool check(const JsonValue& schema, const JsonValue& value, const std::string& at, bool is_told) {
    if (!spend(1) || depth_ >= kMaxSchemaDepth) {
      is_too_much = true;
      return false;
    }
    if (const auto constant = schema.as_bool())
      return *constant || wrong(at, "nothing is allowed here", is_told);
    ++depth_;
    bool is_right = true;
    if (const auto reference = schema.find("$ref"))  // draft 7: what stands beside it is ignored
      is_right = check(*resolve_reference(compiled_.document.root(), *reference->as_string()),
                       value, at, is_told);
    else
      is_right = words(schema, value, at, is_told);
    --depth_;
    return is_right;
  }

  bool is_too_much = false;
  std::vector<FieldError> errors;

 private:
  // Whatever takes longer the longer it is counts for more than one step.
  bool spend(std::size_t steps) {
    steps_ += steps;
    is_too_much = is_too_much || steps_ > kMaxSchemaSteps;
    return !is_too_much;
  }
  bool spend_on(const JsonValue& value) { return spend(1 + value.raw().size() / 64); }

  bool wrong(const std::string& at, std::string detail, bool is_told) {
    if (is_told && errors.size() < kMaxSchemaErrors) errors.push_back({at, std::move(detail)});
    return false;
  }

  bool words(const JsonValue& schema, const JsonValue& value, const std::string& at, bool is_told) {
    bool is_right = type_and_choice(schema, value, at, is_told);
    switch (value.type()) {
      case JsonType::kNumber: is_right = number(schema, value, at, is_told) && is_right; break;
      case JsonType::kString: is_right = text(schema, value, at, is_told) && is_right; break;
      case JsonType::kArray: is_right = array(schema, value, at, is_told) && is_right; break;
      case JsonType::kObject: is_right = object(schema, value, at, is_told) && is_right; break;
      default: break;
    }
    return combined(schema, value, at, is_told) && is_right;
  }

  bool type_and_choice(const JsonValue& schema, const JsonValue& value, const std::string& at,
                       bool is_told) {
    bool is_right = true;
    if (const auto type = schema.find("type")) {
      auto names = type->elements();
      if (names.empty()) names.push_back(*type);
      const bool is_one = std::any_of(names.begin(), names.end(), [&](const JsonValue& name) {
        return is_of_type(value, *name.as_string());
      });
      if (!is_one) is_right = wrong(at, fmt::format("must be {}", type->minified()), is_told);
    }
    const auto choices = schema.find("enum");
    const auto constant = schema.find("const");
    if (!choices && !constant) return is_right;
    if (!spend_on(value) || (constant && !spend_on(*constant)) || (choices && !spend_on(*choices)))
      return false;
    const std::string mine = canonical_json(value);
    if (constant && canonical_json(*constant) != mine)
      is_right = wrong(at, fmt::format("must be {}", constant->minified()), is_told);
    if (!choices) return is_right;
    const auto all = choices->elements();
    if (!spend(all.size())) return false;
    if (std::none_of(all.begin(), all.end(),
                     [&](const JsonValue& one) { return canonical_json(one) == mine; }))
      is_right = wrong(at, fmt::format("must be one of {}", choices->minified()), is_told);
    return is_right;
  }

  bool number(const JsonValue& schema, const JsonValue& value, const std::string& at,
              bool is_told) {
    const double number = *value.as_double();
    bool is_right = true;
    const auto bound = [&](std::string_view word, auto&& is_kept, std::string_view says) {
      const auto limit = schema.find(word);
      if (!limit || is_kept(number, *limit->as_double())) return;
      is_right = wrong(at, fmt::format("must be {} {}", says, limit->minified()), is_told);
    };
    bound("minimum", std::greater_equal<>{}, "at least");
    bound("maximum", std::less_equal<>{}, "at most");
    bound("exclusiveMinimum", std::greater<>{}, "above");
    bound("exclusiveMaximum", std::less<>{}, "below");
    bound("multipleOf", is_multiple, "a multiple of");
    return is_right;
  }

  // A count against a least and a most.
  bool count(const JsonValue& schema, std::string_view what, std::size_t number,
             std::string_view things, const std::string& at, bool is_told) {
    const auto least = schema.find(fmt::format("min{}", what));
    const auto most = schema.find(fmt::format("max{}", what));
    if (least && number < *least->as_uint())
      return wrong(at, fmt::format("must have at least {} {}", least->minified(), things), is_told);
    if (most && number > *most->as_uint())
      return wrong(at, fmt::format("must have at most {} {}", most->minified(), things), is_told);
    return true;
  }

  bool matches(std::string_view text, const std::string& pattern) const {
    return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()),
                                  *compiled_.patterns.find(pattern)->second);
  }

  bool text(const JsonValue& schema, const JsonValue& value, const std::string& at, bool is_told) {
    const std::string text = *value.as_string();
    bool is_right = count(schema, "Length", count_characters(text), "characters", at, is_told);
    if (const auto pattern = schema.find("pattern");
        pattern && !matches(text, *pattern->as_string()))
      is_right = wrong(at, fmt::format("must match {}", pattern->minified()), is_told);
    if (const auto format = schema.find("format");
        format && !has_format(text, *format->as_string()))
      is_right = wrong(at, fmt::format("must be a {}", *format->as_string()), is_told);
    return is_right;
  }

  bool array(const JsonValue& schema, const JsonValue& value, const std::string& at, bool is_told) {
    const auto elements = value.elements();
    bool is_right = count(schema, "Items", elements.size(), "items", at, is_told);
    const auto items = schema.find("items");
    const auto one_by_one = items ? items->elements() : std::vector<JsonValue>{};
    const bool is_list = items && items->type() == JsonType::kArray;
    const auto rest = is_list ? schema.find("additionalItems") : items;
    for (std::size_t i = 0; i < elements.size() && !is_too_much; ++i) {
      const auto& element_schema = i < one_by_one.size() ? std::optional(one_by_one[i]) : rest;
      if (element_schema)
        is_right =
            check(*element_schema, elements[i], below(at, std::to_string(i)), is_told) && is_right;
    }
    if (const auto unique = schema.find("uniqueItems"); unique && *unique->as_bool()) {
      std::set<std::string> seen;
      if (!spend_on(value) || !spend(elements.size())) return false;
      for (const JsonValue& element : elements)
        if (!seen.insert(canonical_json(element)).second)
          return wrong(at, "must not have the same item twice", is_told);
    }
    const auto contains = schema.find("contains");
    if (contains && std::none_of(elements.begin(), elements.end(), [&](const JsonValue& element) {
          return check(*contains, element, at, false);
        }))
      is_right = wrong(at, "none of its items is as it must be", is_told);
    return is_right;
  }

  bool object(const JsonValue& schema, const JsonValue& value, const std::string& at,
              bool is_told) {
    const auto members = value.members();
    bool is_right = count(schema, "Properties", members.size(), "members", at, is_told);
    if (const auto required = schema.find("required"))
      for (const JsonValue& name : required->elements())
        if (spend(1 + members.size() / 16) && !value.find(*name.as_string()))
          is_right = wrong(below(at, *name.as_string()), "is needed", is_told);
    const std::size_t rules = schema.members().size();
    const auto named = schema.find("properties");
    const auto patterns = schema.find("patternProperties");
    const auto others = schema.find("additionalProperties");
    const auto names = schema.find("propertyNames");
    for (const JsonMember& member : members) {
      const std::size_t tried = patterns ? patterns->members().size() : 0;
      if (!spend(rules + tried)) return false;
      const std::string place = below(at, member.name);
      bool is_known = false;
      const auto own = named ? named->find(member.name) : std::nullopt;
      if (own) {
        is_known = true;
        is_right = check(*own, member.value, place, is_told) && is_right;
      }
      for (const JsonMember& pattern : patterns ? patterns->members() : std::vector<JsonMember>{}) {
        if (!matches(member.name, pattern.name)) continue;
        is_known = true;
        is_right = check(pattern.value, member.value, place, is_told) && is_right;
      }
      if (!is_known && others && others->as_bool() == false)
        is_right = wrong(place, "is not a known member", is_told);
      else if (!is_known && others)
        is_right = check(*others, member.value, place, is_told) && is_right;
      if (names) {
        const auto name = parse_json(json_string(member.name));
        is_right = name && check(*names, name->root(), place, is_told) && is_right;
      }
    }
    return dependencies(schema, value, at, is_told) && is_right;
  }

  bool dependencies(const JsonValue& schema, const JsonValue& value, const std::string& at,
                    bool is_told) {
    const auto all = schema.find("dependencies");
    bool is_right = true;
    for (const JsonMember& one : all ? all->members() : std::vector<JsonMember>{}) {
      if (!value.find(one.name)) continue;
      if (one.value.type() != JsonType::kArray) {
        is_right = check(one.value, value, at, is_told) && is_right;
        continue;
      }
      for (const JsonValue& name : one.value.elements())
        if (!value.find(*name.as_string()))
          is_right = wrong(below(at, *name.as_string()),
                           fmt::format("is needed where '{}' is", one.name), is_told);
    }
    return is_right;
  }

  bool combined(const JsonValue& schema, const JsonValue& value, const std::string& at,
                bool is_told) {
    bool is_right = true;
    if (const auto all = schema.find("allOf"))
      for (const JsonValue& one : all->elements())
        is_right = check(one, value, at, is_told) && is_right;
    if (const auto any = schema.find("anyOf"); any && fitting(*any, value, at, 1) == 0)
      is_right = wrong(at, "is none of what it may be", is_told);
    if (const auto one = schema.find("oneOf"); one && fitting(*one, value, at, 2) != 1)
      is_right = wrong(at, "must be exactly one of what it may be", is_told);
    if (const auto none = schema.find("not"); none && check(*none, value, at, false))
      is_right = wrong(at, "is what it must not be", is_told);
    if (const auto condition = schema.find("if")) {
      const auto branch = schema.find(check(*condition, value, at, false) ? "then" : "else");
      if (branch) is_right = check(*branch, value, at, is_told) && is_right;
    }
    return is_right;
  }

  // How many of the schemas fit, counted no further than `enough`.
  std::size_t fitting(const JsonValue& schemas, const JsonValue& value, const std::string& at,
                      std::size_t enough) {
    std::size_t found = 0;
    for (const JsonValue& one : schemas.elements())
      if (found < enough && check(one, value, at, false)) ++found;
    return found;
  }

  const JsonSchema::Compiled& compiled_;
  std::size_t steps_ = 0;
  std::size_t depth_ = 0;
};

std::unexpected<Error> all_wrong(std::vector<FieldError> fields) {
  Error error{Code::kInvalid, fmt::format("{}: {}", fields.front().pointer, fields.front().detail)};
  error.fields = std::move(fields);
  return fail(std::move(error));
}

}  // namespace

std::string canonical_json(const JsonValue& value) {
  switch (value.type()) {
    case JsonType::kNumber: {
      if (const auto integer = value.as_int()) return std::to_string(*integer);
      if (const auto integer = value.as_uint()) return std::to_string(*integer);
      const double number = *value.as_double();
      if (std::floor(number) == number && std::abs(number) < 9e15)
        return std::to_string(static_cast<std::int64_t>(number));
      return fmt::format("{}", number);
    }
    case JsonType::kString: return json_string(*value.as_string());
    case JsonType::kArray: {
      std::string out = "[";
      for (const JsonValue& element : value.elements()) out += canonical_json(element) + ',';
      return out + ']';
    }
    case JsonType::kObject: {
      auto members = value.members();
      std::sort(members.begin(), members.end(),
                [](const JsonMember& a, const JsonMember& b) { return a.name < b.name; });
      std::string out = "{";
      for (const JsonMember& member : members)
        out += json_string(member.name) + ':' + canonical_json(member.value) + ',';
      return out + '}';
    }
    default: return value.minified();
  }
}

bool has_format(std::string_view text, std::string_view format) {
  static const std::map<std::string, const re2::RE2, std::less<>> formats = [] {
    const std::string date = R"(\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))";
    const std::string time =
        R"(([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d))";
    std::map<std::string, const re2::RE2, std::less<>> all;
    all.try_emplace("date", date);
    all.try_emplace("time", time);
    all.try_emplace("date-time", date + "[Tt ]" + time);
    all.try_emplace("email", R"([^@\s]+@[^@\s]+)");
    all.try_emplace("uri", R"([A-Za-z][A-Za-z0-9+.-]*:[^\s]*)");
    all.try_emplace("uuid", "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");
    return all;
  }();
  const auto known = formats.find(format);
  return known == formats.end() ||
         re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), known->second);
}

Result<JsonSchema> JsonSchema::compile(std::string schema) {
  REPRISE_TRY(JsonDocument document, parse_json(std::move(schema)));
  auto compiled = std::make_shared<Compiled>(std::move(document));
  if (auto errors = check_schema(*compiled); !errors.empty()) return all_wrong(std::move(errors));
  return JsonSchema(std::move(compiled));
}

Result<> JsonSchema::validate(const JsonValue& value) const {
  Validator validator(*compiled_);
  const bool is_right = validator.check(compiled_->document.root(), value, "", true);
  if (validator.is_too_much) return invalid("", "is too much to be checked with this schema");
  if (is_right) return {};
  if (validator.errors.empty()) return invalid("", "is not as its schema says");
  return all_wrong(std::move(validator.errors));
}

}  // namespace reprise::wire
