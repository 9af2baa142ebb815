// JsonSchema: what an answer must look like, in the words of JSON Schema (draft 7).
//
//     REPRISE_TRY(JsonSchema schema, JsonSchema::compile(text));  // kInvalid: what it cannot do
//     REPRISE_CHECK(schema.validate(document.root()));            // kInvalid: what is wrong
//
// A schema is checked whole when it is compiled: a word that is not known, a pattern that cannot be
// matched in linear time (RE2 does it) and a reference to elsewhere are refused then, so that a
// value is never accepted because something about it was not looked at. `format` is checked for
// date, time, date-time, email, uri and uuid; other formats tell people something, and us nothing.
//
// Checking a value is bounded in depth and steps, also for schemas that refer to themselves.
//
// docs/decisions/010 says why this is ours. Threads: any, after it is made.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "wire/json.h"

namespace reprise::wire {

class JsonSchema {
 public:
  // kInvalid, with a JSON pointer into the schema for each thing that is wrong or not supported.
  static Result<JsonSchema> compile(std::string schema);

  // kInvalid, with a JSON pointer into the value for each thing that is wrong, at most
  // kMaxSchemaErrors of them.
  Result<> validate(const JsonValue& value) const;

  struct Compiled;

 private:
  explicit JsonSchema(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace reprise::wire
