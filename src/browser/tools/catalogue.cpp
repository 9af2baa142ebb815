#include "browser/tools/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/assert.h"
#include "base/json_text.h"
#include "browser/tools/tables.h"

namespace reprise::browser {
namespace {

using wire::JsonMember;
using wire::JsonType;
using wire::JsonValue;

struct Catalogue {
  Catalogue() {
    for (auto table : {page_tools, action_tools, pointer_tools, storage_tools, session_tools})
      for (Tool& tool : table()) add(std::move(tool));
    for (const Tool& tool : tools)
      REPRISE_ASSERT(by_name.emplace(tool.name, &tool).second, tool.name);
  }
  void add(Tool tool) {
    tool.schema = object_schema(tool.parameters);
    auto compiled = wire::JsonSchema::compile(tool.schema);
    REPRISE_ASSERT(compiled.has_value(), tool.name, compiled.error().detail);
    tool.compiled = std::move(*compiled);
    tools.push_back(std::move(tool));
  }
  std::vector<Tool> tools;
  std::map<std::string_view, const Tool*> by_name;
};

const Catalogue& catalogue() {
  static const Catalogue instance;
  return instance;
}

// The parameter that a member is, by its name or its older one. The older one counts only where
// today's is not there too: two answers to one question are refused.
const Parameter* parameter_of(const std::vector<Parameter>& parameters, const JsonValue& object,
                              const std::string& name) {
  const auto found = std::ranges::find_if(parameters, [&](const Parameter& parameter) {
    return parameter.name == name || (parameter.alias == name && !name.empty());
  });
  if (found == parameters.end()) return nullptr;
  if (found->name != name && object.find(found->name)) return nullptr;
  return &*found;
}

void append_object(std::string& out, const std::vector<Parameter>& parameters,
                   const JsonValue& object, std::string_view except);

void append_value(std::string& out, const Parameter& parameter, const JsonValue& value) {
  if (!parameter.members.empty() && value.type() == JsonType::kObject)
    return append_object(out, parameter.members, value, {});
  if (parameter.members.empty() || value.type() != JsonType::kArray) {
    out += value.minified();
    return;
  }
  out += '[';
  for (const JsonValue& element : value.elements()) {
    if (out.back() != '[') out += ',';
    append_value(out, parameter, element);
  }
  out += ']';
}

void append_object(std::string& out, const std::vector<Parameter>& parameters,
                   const JsonValue& object, std::string_view except) {
  out += '{';
  for (const JsonMember& member : object.members()) {
    if (!except.empty() && member.name == except) continue;
    const Parameter* parameter = parameter_of(parameters, object, member.name);
    // Many clients send every argument there is, null where they mean nothing.
    if (parameter != nullptr && member.value.is_null() && !parameter->is_nullable) continue;
    if (out.back() != '{') out += ',';
    append_json_string(out, parameter != nullptr ? parameter->name : member.name);
    out += ':';
    if (parameter != nullptr)
      append_value(out, *parameter, member.value);
    else
      out += member.value.minified();
  }
  out += '}';
}

}  // namespace

const std::vector<Tool>& tools() { return catalogue().tools; }

const Tool* find_tool(std::string_view name) {
  const auto found = catalogue().by_name.find(name);
  return found == catalogue().by_name.end() ? nullptr : found->second;
}

std::string object_schema(const std::vector<Parameter>& parameters) {
  std::string properties;
  std::string needed;
  for (const Parameter& parameter : parameters) {
    if (!properties.empty()) properties += ',';
    properties += json_string(parameter.name) + ':' + parameter.schema;
    if (!parameter.is_needed) continue;
    if (!needed.empty()) needed += ',';
    needed += json_string(parameter.name);
  }
  return fmt::format(
      R"({{"type":"object","properties":{{{}}}{}{}{},"additionalProperties":false}})", properties,
      needed.empty() ? "" : ",\"required\":[", needed, needed.empty() ? "" : "]");
}

Result<std::string> read_arguments(const Tool& tool, const JsonValue& arguments,
                                   std::string_view except) {
  if (arguments.type() != JsonType::kObject) return invalid("", "the arguments are an object");
  std::string text;
  append_object(text, tool.parameters, arguments, except);
  REPRISE_TRY(const auto document, wire::parse_json(text));
  REPRISE_CHECK(tool.compiled->validate(document.root()));
  return text;
}

Result<> check_arguments(const Tool& tool, const JsonValue& arguments) {
  REPRISE_CHECK(read_arguments(tool, arguments));
  return {};
}

}  // namespace reprise::browser
