// Redaction: secrets are replaced before anything is stored or hashed.
//
//     const Redactor redactor({.keys = {"customerNumber"}, .prefixes = {"acme_live_"}});
//     Redacted input = redactor.json(body.root());          // minified, members kept
//     Redacted shown = redactor.text("curl -H 'Authorization: Bearer abc…'");
//
// A secret is known
//   - by the name it has: members of JSON, headers, elements and attributes of XML, assignments
//     (`password=…`, `--token …`) whose name says so in whatever spelling (`apiKey`, `API-KEY`,
//     `my_api_key`, `smtpPass`);
//   - by what it looks like: bearer tokens, private keys in PEM, JSON Web Tokens, keys with a known
//     prefix, passwords in URLs and after `-u`, card numbers.
// It looks into texts that hold JSON, and prefers to take too much: a false alarm costs a word of a
// summary. What it gives is valid where its input was, and redacting again changes nothing.
//
// Redacted is a type of its own, and only a Redactor makes it from text: what wants one cannot be
// given text that was not looked at.
//
// Threads: a Redactor does not change; any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "wire/json.h"

namespace reprise::model {

inline constexpr std::string_view kRedactedMark = "[redacted]";

// What an operator adds to the built-in rules.
struct RedactionRules {
  std::vector<std::string> keys;      // names whose values are secrets; case and - _ . do not count
  std::vector<std::string> prefixes;  // beginnings of secret words, such as acme_live_
};
// kBadParameter for a rule that is empty, too long or could match everything.
Result<> check(const RedactionRules& rules);

class Redacted {
 public:
  Redacted() = default;
  std::string_view view() const { return text_; }
  bool is_empty() const { return text_.empty(); }
  // At most this many bytes, the last of them an ellipsis if something was cut; never half a
  // character.
  Redacted cut_to(std::size_t max_bytes) const;
  friend bool operator==(const Redacted&, const Redacted&) = default;

 private:
  friend class Redactor;
  explicit Redacted(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

class Redactor {
 public:
  explicit Redactor(const RedactionRules& rules = {});

  Redacted text(std::string_view text) const;
  Redacted json(wire::JsonValue value) const;

  // Whether what has this name is a secret.
  bool is_secret_name(std::string_view name) const;
  // Whether something in the text looks like a secret, whatever name stands before it: names of
  // tools, such as `secrets:get`, are no assignments.
  bool holds_pattern(std::string_view text) const;

 private:
  friend class TextRedaction;  // model/redact_text.h
  // `depth` counts texts that held JSON.
  std::string redact_text(std::string_view text, int depth) const;
  std::string redact_once(std::string_view text, int depth) const;
  std::string redact_json(wire::JsonValue value, int depth, bool& has_changed) const;
  std::string redact_object(wire::JsonValue value, int depth, bool& has_changed) const;
  std::string redact_array(wire::JsonValue value, int depth, bool& has_changed) const;
  bool names_a_secret(const std::vector<wire::JsonMember>& members) const;
  bool holds_named(const wire::JsonMember& member, int depth) const;

  std::vector<std::string> keys_;  // normalised
  std::vector<std::string> prefixes_;
};

}  // namespace reprise::model
