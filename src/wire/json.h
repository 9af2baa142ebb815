// JSON from outside: validated whole, then read without copying.
//
// parse_json() checks that the text is one valid JSON value in UTF-8, no deeper than kMaxJsonDepth
// (wire/limits.h), whose numbers fit a 64-bit integer or a double, and that no object names a
// member twice at any depth. Then it indexes the text; JsonValue is a cheap handle into that index.
//
//     REPRISE_TRY(JsonDocument document, parse_json(std::move(body)));
//     for (JsonMember member : document.root().members()) { ... member.name ... member.value ... }
//
// A JsonValue is valid while its JsonDocument lives (moving the document keeps handles valid).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace reprise::wire {

enum class JsonType : std::uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

struct JsonMember;

class JsonValue {
 public:
  struct Index;  // the text and its tokens, known to json.cpp only

  JsonType type() const;
  bool is_null() const { return type() == JsonType::kNull; }
  // The value's text as it was sent, insignificant white space included.
  std::string_view raw() const;
  // The value's text without insignificant white space; numbers and strings keep their spelling.
  std::string minified() const;

  // nullopt where the type or the range is another. An integer is a number without fraction and
  // exponent.
  std::optional<bool> as_bool() const;
  std::optional<std::int64_t> as_int() const;
  std::optional<std::uint64_t> as_uint() const;
  std::optional<double> as_double() const;
  std::optional<std::string> as_string() const;  // unescaped

  // Empty unless an array or an object.
  std::vector<JsonValue> elements() const;
  std::vector<JsonMember> members() const;
  // The member of that name, if this is an object that has it.
  std::optional<JsonValue> find(std::string_view name) const;

 private:
  friend class JsonDocument;
  JsonValue(const Index* index, std::uint32_t token) : index_(index), token_(token) {}
  const Index* index_;
  std::uint32_t token_;
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

class JsonDocument {
 public:
  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  ~JsonDocument();
  JsonValue root() const;

 private:
  friend Result<JsonDocument> parse_json(std::string text);
  explicit JsonDocument(std::unique_ptr<JsonValue::Index> index);
  std::unique_ptr<JsonValue::Index> index_;
};

// kMalformedJson or kDuplicateMember, with the byte offset where possible (kOverloaded without
// memory). Threads: any; each keeps a small parser of its own (wire/limits.h).
Result<JsonDocument> parse_json(std::string text);

// A text that parse_json() has accepted (or a value's raw() text), without insignificant white
// space.
std::string minify_json(std::string_view validated_text);

// Whether the text is valid UTF-8.
bool is_utf8(std::string_view text);

}  // namespace reprise::wire
