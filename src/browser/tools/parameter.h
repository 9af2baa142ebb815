// Parameter: one argument of a tool, and how the tables of tools write one down.
//
//     {needed(text("url", "Where to go.")), flag("newTab", "In a tab of its own.")}
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::browser {

struct Parameter {
  std::string name;
  std::string schema;  // JSON Schema of its value
  bool is_needed = false;
  bool is_nullable = false;  // null says something, and is not the same as nothing
  std::string alias = {};    // an older name that is still understood, and not advertised
  // Of an object, or of the objects in a list; empty for anything else.
  std::vector<Parameter> members = {};
};

using Words = std::initializer_list<std::string_view>;

Parameter text(std::string_view name, std::string_view description);
Parameter texts(std::string_view name, std::string_view description);
Parameter flag(std::string_view name, std::string_view description);
Parameter number(std::string_view name, std::string_view description);
Parameter number(std::string_view name, double least, double most, std::string_view description);
Parameter integer(std::string_view name, std::int64_t least, std::int64_t most,
                  std::string_view description);
Parameter choice(std::string_view name, Words words, std::string_view description);
Parameter choices(std::string_view name, Words words, std::string_view description);
// One of the words, or null to take back an earlier choice.
Parameter choice_or_null(std::string_view name, Words words, std::string_view description);
Parameter object(std::string_view name, std::vector<Parameter> members,
                 std::string_view description);
// Not empty.
Parameter objects(std::string_view name, std::vector<Parameter> members,
                  std::string_view description);
// Texts by name.
Parameter text_map(std::string_view name, std::string_view description);
// Any object; whoever reads it checks it.
Parameter any_object(std::string_view name, std::string_view description);

Parameter needed(Parameter parameter);
// What is meant without it; JSON.
Parameter with_default(Parameter parameter, std::string_view value);

// Which element: for people, and exactly.
Parameter element(std::string_view name = "element");
Parameter target(std::string_view name = "target", std::string_view alias = "ref");
// The artifact that the outcome is put into instead of the answer.
Parameter into_file(std::string_view what);

}  // namespace reprise::browser
