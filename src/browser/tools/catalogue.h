// The catalogue: every tool there is, by name, with what it takes and what it does to the world.
//
//     const Tool* tool = find_tool("browser_click");
//     REPRISE_TRY(std::string arguments, read_arguments(*tool, body.root()));   // kInvalid: 422
//
// It is data, and says nothing of how a tool does its work. The MCP face lists it, the REST face
// checks bodies with it, and whoever runs tools reads arguments that have passed it: known names,
// right types, older names (`ref`) turned into today's (`target`). Each schema is compiled once.
//
// Names and arguments are those that agents know from other browser servers, so that a model needs
// to learn nothing; the words are ours.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "browser/tools/parameter.h"
#include "wire/json.h"
#include "wire/json_schema.h"

namespace reprise::browser {

// What a tool does, as a client shows it before it asks a person.
enum class Effect : std::uint8_t {
  kReads,     // changes nothing
  kChanges,   // changes what can be changed back: where the page is, what it looks like
  kDestroys,  // may change things for good: a form is sent, a cookie is gone
};

// Whether a tool works in a session.
enum class SessionUse : std::uint8_t {
  kNone,      // it is about all of them
  kOptional,  // it makes one if none is named
  kNeeded,
};

struct Tool {
  std::string name;
  std::string title;        // a few words, for people
  std::string description;  // a sentence or two, for models
  Effect effect = Effect::kReads;
  std::vector<Parameter> parameters = {};
  SessionUse session_use = SessionUse::kNeeded;
  // Works on a page, and so is one of a session's own tools; others are about sessions.
  bool is_page_tool = true;

  // Filled in by the catalogue.
  std::string schema = {};  // JSON Schema 2020-12 of the arguments
  std::optional<wire::JsonSchema> compiled = std::nullopt;
};

// All of them, in the order in which they are listed.
const std::vector<Tool>& tools();
// nullptr: there is none of that name.
const Tool* find_tool(std::string_view name);

// The arguments as the tool reads them: checked, minified, under today's names, and without members
// that are null where null means nothing. `except` is a member that is not the tool's, and is left
// out. kInvalid, with a JSON pointer for each thing that is wrong.
Result<std::string> read_arguments(const Tool& tool, const wire::JsonValue& arguments,
                                   std::string_view except = {});
Result<> check_arguments(const Tool& tool, const wire::JsonValue& arguments);

// The schema of an object with these members and no others.
std::string object_schema(const std::vector<Parameter>& parameters);

}  // namespace reprise::browser
