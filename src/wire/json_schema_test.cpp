#include "wire/json_schema.h"

#include <gtest/gtest.h>

#include "wire/limits.h"

namespace reprise::wire {
namespace {

std::vector<std::string> refused_at(const std::string& schema) {
  std::vector<std::string> pointers;
  const auto compiled = JsonSchema::compile(schema);
  EXPECT_FALSE(compiled.has_value()) << schema;
  if (compiled) return pointers;
  for (const FieldError& field : compiled.error().fields) pointers.push_back(field.pointer);
  return pointers;
}

// Where the value is wrong, joined by blanks; "ok" if it is right.
std::string checked(const std::string& schema, const std::string& value) {
  const auto compiled = JsonSchema::compile(schema);
  EXPECT_TRUE(compiled.has_value()) << schema;
  if (!compiled) return "not compiled";
  const auto document = parse_json(value);
  const auto valid = compiled->validate(document->root());
  if (valid) return "ok";
  EXPECT_EQ(valid.error().code, Code::kInvalid);
  std::string pointers;
  for (const FieldError& field : valid.error().fields)
    pointers += (pointers.empty() ? "" : " ") + (field.pointer.empty() ? "/" : field.pointer);
  return pointers;
}

struct Case {
  std::string schema;
  std::vector<std::string> right;
  std::vector<std::string> wrong;
};

TEST(JsonSchema, EveryWordSeparatesWhatIsRightFromWhatIsWrong) {
  const std::vector<Case> cases = {
      {"true", {"1", "{}"}, {}},
      {"false", {}, {"1", "{}"}},
      {R"({"type":"integer"})", {"1", "-3", "2.0"}, {"1.5", "\"1\"", "null"}},
      {R"({"type":["string","null"]})", {"\"\"", "null"}, {"1", "[]"}},
      {R"({"type":"boolean"})", {"true"}, {"0"}},
      {R"({"enum":[1,"a",{"x":[1.0]}]})", {"1.0", "\"a\"", "{\"x\":[1]}"}, {"2", "{}"}},
      {R"({"const":{"a":1,"b":2}})", {"{\"b\":2,\"a\":1}"}, {"{\"a\":1}"}},
      {R"({"minimum":1,"exclusiveMaximum":3})", {"1", "2.9", "\"x\""}, {"0.9", "3"}},
      {R"({"maximum":1,"exclusiveMinimum":0})", {"1"}, {"0", "1.1"}},
      {R"({"multipleOf":0.1})", {"0.3", "7"}, {"0.35"}},
      {R"({"minLength":2,"maxLength":3})", {"\"äö\"", "\"abc\"", "1"}, {"\"ä\"", "\"abcd\""}},
      {R"({"pattern":"^[a-z]+\\d$"})", {"\"ab1\"", "1"}, {"\"1ab\""}},
      {R"({"format":"date"})", {"\"2026-11-16\""}, {"\"2026-13-01\"", "\"16.11.2026\""}},
      {R"({"format":"date-time"})", {"\"2026-11-16T04:00:00Z\""}, {"\"2026-11-16\""}},
      {R"({"format":"email"})", {"\"a@b.c\""}, {"\"a\"", "\"a b@c\""}},
      {R"({"format":"uri"})", {"\"https://x/\""}, {"\"x\""}},
      {R"({"format":"uuid"})", {"\"019a8b3c-1111-7222-8333-444455556666\""}, {"\"1\""}},
      {R"({"format":"colour"})", {"\"anything\""}, {}},
      {R"({"items":{"type":"string"},"minItems":1,"maxItems":2})", {"[\"a\"]"}, {"[]", "[1]"}},
      {R"({"items":[{"type":"string"}],"additionalItems":false})", {"[\"a\"]"}, {"[\"a\",1]"}},
      {R"({"uniqueItems":true})", {"[1,2]", "[1,\"1\"]"}, {"[1,1.0]", "[{\"a\":1},{\"a\":1}]"}},
      {R"({"contains":{"const":7}})", {"[1,7]"}, {"[1]", "[]"}},
      {R"({"required":["a"],"minProperties":2})", {"{\"a\":1,\"b\":2}"}, {"{\"a\":1}", "{}"}},
      {R"({"maxProperties":1})", {"{}"}, {"{\"a\":1,\"b\":2}"}},
      {R"({"properties":{"a":{"type":"string"}},"additionalProperties":false})",
       {"{\"a\":\"\"}"},
       {"{\"a\":1}", "{\"b\":1}"}},
      {R"({"patternProperties":{"^x":{"type":"integer"}},"additionalProperties":{"type":"null"}})",
       {"{\"x1\":1,\"y\":null}"},
       {"{\"x1\":null}", "{\"y\":1}"}},
      {R"({"propertyNames":{"maxLength":1}})", {"{\"a\":1}"}, {"{\"ab\":1}"}},
      {R"({"dependencies":{"a":["b"],"c":{"required":["d"]}}})",
       {"{\"b\":1}", "{\"a\":1,\"b\":1}"},
       {"{\"a\":1}", "{\"c\":1}"}},
      {R"({"allOf":[{"minimum":1},{"maximum":2}]})", {"1"}, {"0", "3"}},
      {R"({"anyOf":[{"type":"string"},{"minimum":5}]})", {"\"a\"", "5"}, {"4"}},
      {R"({"oneOf":[{"minimum":1},{"maximum":2}]})", {"0", "3"}, {"1"}},
      {R"({"not":{"type":"null"}})", {"1"}, {"null"}},
      {R"({"if":{"minimum":10},"then":{"multipleOf":10},"else":{"const":1}})",
       {"20", "1"},
       {"15", "2"}},
      {R"({"$ref":"#/definitions/a~1b","definitions":{"a/b":{"type":"null"}}})", {"null"}, {"1"}},
      {R"({"items":[{"type":"null"},{"$ref":"#/items/0"}]})", {"[null,null]"}, {"[null,1]"}},
      {R"({"$schema":"x","title":"t","description":"d","default":1,"examples":[],"x-order":1})",
       {"1"},
       {}},
  };
  for (const Case& one : cases) {
    for (const std::string& value : one.right)
      EXPECT_EQ(checked(one.schema, value), "ok") << one.schema << ' ' << value;
    for (const std::string& value : one.wrong)
      EXPECT_NE(checked(one.schema, value), "ok") << one.schema << ' ' << value;
  }
}

TEST(JsonSchema, SaysWhereAValueIsWrong) {
  const std::string schema = R"({"type":"object","required":["name"],"properties":{
      "name":{"type":"string"},"ages":{"items":{"type":"integer","minimum":0}}}})";
  EXPECT_EQ(checked(schema, R"({"name":"a","ages":[1,2]})"), "ok");
  EXPECT_EQ(checked(schema, R"({"ages":[1,-2,"x"]})"), "/name /ages/1 /ages/2");
  EXPECT_EQ(checked(schema, "[]"), "/");
}

TEST(JsonSchema, RefusesWhatItCannotCheckWhenItIsCompiled) {
  EXPECT_EQ(refused_at(R"({"minimun":1})"), std::vector<std::string>{"/minimun"});
  EXPECT_EQ(refused_at(R"({"properties":{"a/b":{"type":"text"}}})"),
            std::vector<std::string>{"/properties/a~1b/type"});
  // Backreferences and look-ahead take more than linear time.
  EXPECT_EQ(refused_at(R"({"pattern":"(a)\\1"})"), std::vector<std::string>{"/pattern"});
  EXPECT_EQ(refused_at(R"x({"patternProperties":{"(?=a)":true}})x"),
            std::vector<std::string>{"/patternProperties/(?=a)"});
  for (const char* schema : {R"({"$ref":"https://example.com/"})",
                             R"({"$ref":"#/nowhere"})",
                             R"({"$ref":7})",
                             R"({"$id":"x"})",
                             R"({"prefixItems":[true]})",
                             R"({"enum":[]})",
                             R"({"required":"a"})",
                             R"({"required":[1]})",
                             R"({"minLength":-1})",
                             R"({"multipleOf":0})",
                             R"({"minimum":"1"})",
                             R"({"items":[]})",
                             R"({"anyOf":{}})",
                             R"({"allOf":[]})",
                             R"({"not":1})",
                             R"({"type":[]})",
                             R"({"properties":[]})",
                             R"({"uniqueItems":1})",
                             R"({"dependencies":{"a":[1]}})",
                             "1",
                             R"({"$ref":"#/x-a","x-a":{"minimun":1}})"})
    EXPECT_FALSE(refused_at(schema).empty()) << schema;
  EXPECT_FALSE(JsonSchema::compile("{"));
}

TEST(JsonSchema, AHostileSchemaOrValueCostsABoundedTime) {
  // Refers to itself without end, at once and with ever more branches.
  EXPECT_EQ(checked(R"({"$ref":"#"})", "1"), "/");
  EXPECT_EQ(checked(R"({"allOf":[{"$ref":"#"},{"$ref":"#"}]})", "1"), "/");
  // Each doubles the next: 2^40 steps if all were taken.
  std::string doubling = R"({"$ref":"#/definitions/d0","definitions":{)";
  for (int i = 0; i < 40; ++i)
    doubling += fmt::format(R"("d{0}":{{"allOf":[{{"$ref":"#/definitions/d{1}"}},)"
                            R"({{"$ref":"#/definitions/d{1}"}}]}},)",
                            i, i + 1);
  doubling += R"("d40":true}})";
  EXPECT_EQ(checked(doubling, "1"), "/");
  // A chain of references, each to the next.
  std::string chain = R"({"$defs":{)";
  for (int i = 0; i < 2'000; ++i)
    chain += fmt::format(R"("a{}":{{"$ref":"#/$defs/a{}"}},)", i, i + 1);
  EXPECT_EQ(checked(chain + R"("a2000":true},"type":"null"})", "null"), "ok");
  // Much to compare with, for each of many; each step of these costs more than one.
  std::string choices = "[0";
  for (int i = 1; i < 10'000; ++i) choices += fmt::format(",{}", i);
  choices += "]";
  EXPECT_EQ(checked(R"({"items":{"enum":)" + choices + "}}", choices), "/");
  // A list of too many things to look at, and a pattern that would backtrack for ever.
  std::string many = "[0";
  for (std::size_t i = 0; i < kMaxSchemaSteps; ++i) many += ",0";
  EXPECT_EQ(checked(R"({"items":{"type":"integer"}})", many + "]"), "/");
  EXPECT_EQ(checked(R"({"pattern":"^(a+)+$"})", '"' + std::string(100'000, 'a') + "!\""), "/");
  // A tree as deep as allowed is looked at; a deeper one is not.
  const std::string tree = R"({"items":{"$ref":"#"}})";
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(checked(tree, nested(kMaxSchemaDepth / 2 - 1)), "ok");
  EXPECT_EQ(checked(tree, nested(kMaxSchemaDepth)), "/");
}

TEST(JsonSchema, TellsAtMostSoManyErrors) {
  std::string wrong = "[0";
  for (std::size_t i = 0; i < kMaxSchemaErrors + 5; ++i) wrong += ",0";
  const auto schema = JsonSchema::compile(R"({"items":{"type":"null"}})");
  const auto document = parse_json(wrong + "]");
  EXPECT_EQ(schema->validate(document->root()).error().fields.size(), kMaxSchemaErrors);
}

TEST(JsonSchema, ThereAreOnlySoManyPatterns) {
  std::string patterns;
  for (std::size_t i = 0; i < kMaxSchemaPatterns; ++i)
    patterns += fmt::format(R"({}"a{}":true)", i > 0 ? "," : "", i);
  EXPECT_TRUE(JsonSchema::compile(R"({"patternProperties":{)" + patterns + "}}"));
  EXPECT_FALSE(JsonSchema::compile(R"({"patternProperties":{)" + patterns + R"(,"b":true}})"));
}

TEST(JsonSchema, APatternThatNeedsTooMuchMemoryIsRefused) {
  EXPECT_TRUE(JsonSchema::compile(R"({"pattern":"[a-z]{900}"})"));
  std::string pattern = "x";
  for (int needed = 0; needed < kMaxPatternMemory; needed += 900)
    pattern += fmt::format("|{}[a-z]{{900}}", needed);
  EXPECT_FALSE(JsonSchema::compile(R"({"pattern":")" + pattern + R"("})"));
}

}  // namespace
}  // namespace reprise::wire
