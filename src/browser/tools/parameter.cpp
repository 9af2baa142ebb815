#include "browser/tools/parameter.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "base/json_text.h"
#include "browser/tools/catalogue.h"

namespace reprise::browser {
namespace {

// {"type":"string","description":"..."}, with further keywords between the two.
std::string schema_of(std::string_view type, std::string_view keywords,
                      std::string_view description) {
  return fmt::format(R"({{"type":"{}"{}{},"description":{}}})", type, keywords.empty() ? "" : ",",
                     keywords, json_string(description));
}

Parameter made(std::string_view name, std::string schema) {
  return {.name = std::string(name), .schema = std::move(schema)};
}

std::string list_of(Words words) {
  std::string list = "[";
  for (const std::string_view word : words) {
    if (list.size() > 1) list += ',';
    append_json_string(list, word);
  }
  return list + ']';
}

}  // namespace

Parameter text(std::string_view name, std::string_view description) {
  return made(name, schema_of("string", "", description));
}

Parameter texts(std::string_view name, std::string_view description) {
  return made(name, schema_of("array", R"("items":{"type":"string"})", description));
}

Parameter flag(std::string_view name, std::string_view description) {
  return made(name, schema_of("boolean", "", description));
}

Parameter number(std::string_view name, std::string_view description) {
  return made(name, schema_of("number", "", description));
}

Parameter number(std::string_view name, double least, double most, std::string_view description) {
  const std::string range = fmt::format(R"("minimum":{},"maximum":{})", least, most);
  return made(name, schema_of("number", range, description));
}

Parameter integer(std::string_view name, std::int64_t least, std::int64_t most,
                  std::string_view description) {
  const std::string range = fmt::format(R"("minimum":{},"maximum":{})", least, most);
  return made(name, schema_of("integer", range, description));
}

Parameter choice(std::string_view name, Words words, std::string_view description) {
  return made(name, schema_of("string", "\"enum\":" + list_of(words), description));
}

Parameter choices(std::string_view name, Words words, std::string_view description) {
  const std::string items = R"("items":{"type":"string","enum":)" + list_of(words) + '}';
  return made(name, schema_of("array", items, description));
}

Parameter choice_or_null(std::string_view name, Words words, std::string_view description) {
  Parameter parameter =
      made(name, fmt::format(R"({{"anyOf":[{{"type":"string","enum":{}}},{{"type":"null"}}],)"
                             R"("description":{}}})",
                             list_of(words), json_string(description)));
  parameter.is_nullable = true;
  return parameter;
}

Parameter object(std::string_view name, std::vector<Parameter> members,
                 std::string_view description) {
  std::string schema = object_schema(members);
  schema.pop_back();
  Parameter parameter =
      made(name, fmt::format(R"({},"description":{}}})", schema, json_string(description)));
  parameter.members = std::move(members);
  return parameter;
}

Parameter objects(std::string_view name, std::vector<Parameter> members,
                  std::string_view description) {
  const std::string items = R"("minItems":1,"items":)" + object_schema(members);
  Parameter parameter = made(name, schema_of("array", items, description));
  parameter.members = std::move(members);
  return parameter;
}

Parameter text_map(std::string_view name, std::string_view description) {
  return made(name,
              schema_of("object", R"("additionalProperties":{"type":"string"})", description));
}

Parameter any_object(std::string_view name, std::string_view description) {
  return made(name, schema_of("object", "", description));
}

Parameter needed(Parameter parameter) {
  parameter.is_needed = true;
  return parameter;
}

Parameter with_default(Parameter parameter, std::string_view value) {
  REPRISE_ASSERT(parameter.schema.ends_with('}'));
  parameter.schema.pop_back();
  parameter.schema += fmt::format(",\"default\":{}}}", value);
  return parameter;
}

Parameter element(std::string_view name) { return text(name, "The element in words, for people."); }

Parameter target(std::string_view name, std::string_view alias) {
  Parameter parameter = text(name,
                             "A ref from the latest snapshot, such as e12, or a selector of one "
                             "element: CSS, text=Sign in, role=button[name=\"Save\"].");
  parameter.alias = alias;
  return parameter;
}

Parameter into_file(std::string_view what) {
  return text("filename",
              fmt::format("Puts {} into this artifact, and answers with a link.", what));
}

}  // namespace reprise::browser
