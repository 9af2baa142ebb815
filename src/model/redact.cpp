#include "model/redact.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json_text.h"
#include "model/limits.h"
#include "model/redact_credentials.h"
#include "model/redact_names.h"
#include "model/redact_text.h"

namespace reprise::model {
namespace {

// Passes over a text until nothing changes; a text that still changes after these is given up.
constexpr int kMaxPasses = 4;
constexpr std::size_t kMinPrefixBytes = 3;

bool is_token_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

bool is_structure(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

// What says nothing about a secret, whatever its name: {"hasPassword": true}.
bool tells_nothing(wire::JsonValue value) {
  if (value.type() == wire::JsonType::kNull || value.type() == wire::JsonType::kBool) return true;
  const auto text = value.as_string();
  return text && is_version(*text);
}

// A secret that was typed is one line; what is longer is a document, such as a file password.ts.
bool is_one_line(std::string_view text) { return text.find('\n') >= text.size() - 1; }

// How Node lists headers: ["Host", "h", "X-Api-Key", "abc"]. A list of any other words may begin
// with "password", too.
bool is_header_list(const std::vector<wire::JsonValue>& elements) {
  if (elements.size() % 2 != 0) return false;
  bool has_header = false;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto text = elements[i].as_string();
    if (!text) return false;
    if (i % 2 != 0) continue;
    if (text->empty() || !std::ranges::all_of(*text, is_token_char)) return false;
    has_header = has_header || is_header_name(*text);
  }
  return has_header;
}

std::string mark() { return json_string(kRedactedMark); }

}  // namespace

Result<> check(const RedactionRules& rules) {
  if (rules.keys.size() > kMaxRedactionRules || rules.prefixes.size() > kMaxRedactionRules)
    return fail(Code::kBadParameter,
                fmt::format("at most {} names and {} prefixes are redacted besides the known ones",
                            kMaxRedactionRules, kMaxRedactionRules));
  for (const std::string& key : rules.keys)
    if (normalised_name(key).empty() || key.size() > kMaxRedactionRuleBytes)
      return fail(Code::kBadParameter,
                  fmt::format("'{}' is no name of 1 to {} bytes", key, kMaxRedactionRuleBytes));
  for (const std::string& prefix : rules.prefixes)
    if (prefix.size() < kMinPrefixBytes || prefix.size() > kMaxRedactionRuleBytes ||
        !std::ranges::all_of(prefix, is_token_char))
      return fail(Code::kBadParameter,
                  fmt::format("'{}' is no prefix of {} to {} letters, digits and - _ .", prefix,
                              kMinPrefixBytes, kMaxRedactionRuleBytes));
  return {};
}

Redacted Redacted::cut_to(std::size_t max_bytes) const {
  constexpr std::string_view kEllipsis = "\u2026";
  if (text_.size() <= max_bytes) return *this;
  std::size_t end = max_bytes - std::min(max_bytes, kEllipsis.size());
  while (end > 0 && (static_cast<unsigned char>(text_[end]) & 0xC0U) == 0x80U) --end;
  return Redacted(text_.substr(0, end) + std::string(kEllipsis.substr(0, max_bytes)));
}

Redactor::Redactor(const RedactionRules& rules) : prefixes_(rules.prefixes) {
  for (const std::string& key : rules.keys) keys_.push_back(normalised_name(key));
}

bool Redactor::is_secret_name(std::string_view name) const {
  return is_known_secret_name(name) ||
         (!keys_.empty() && std::ranges::find(keys_, normalised_name(name)) != keys_.end());
}

bool Redactor::holds_pattern(std::string_view text) const {
  return TextRedaction(*this, text, TextRedaction::Rules::kLooks).run() != text;
}

Redacted Redactor::text(std::string_view text) const { return Redacted(redact_text(text, 0)); }

Redacted Redactor::json(wire::JsonValue value) const {
  bool has_changed = false;
  return Redacted(redact_json(value, 0, has_changed));
}

std::string Redactor::redact_once(std::string_view text, int depth) const {
  if (depth < kMaxEmbeddedJson && is_structure(text)) {
    if (const auto document = wire::parse_json(std::string(text))) {
      bool has_changed = false;
      std::string json = redact_json(document->root(), depth + 1, has_changed);
      return has_changed ? json : std::string(text);
    }
  }
  return TextRedaction(*this, text).run();
}

// What is left of a text may read otherwise than the whole did: it is looked at until it stays.
std::string Redactor::redact_text(std::string_view text, int depth) const {
  std::string shown(text);
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    std::string next = redact_once(shown, depth);
    if (next == shown) return shown;
    shown = std::move(next);
  }
  return std::string(kRedactedMark);
}

std::string Redactor::redact_json(wire::JsonValue value, int depth, bool& has_changed) const {
  switch (value.type()) {
    case wire::JsonType::kObject: return redact_object(value, depth, has_changed);
    case wire::JsonType::kArray: return redact_array(value, depth, has_changed);
    case wire::JsonType::kString: {
      const std::string text = *value.as_string();
      std::string shown = redact_text(text, depth);
      if (shown == text) return value.minified();
      has_changed = true;
      return json_string(shown);
    }
    case wire::JsonType::kNumber:
      if (!is_card_number(value.raw())) return value.minified();
      has_changed = true;
      return mark();
    default: return value.minified();
  }
}

// {"name": "Authorization", "value": "…"}: how lists of headers, cookies and variables are written;
// {"element": "Password field", "text": "…"}: how a browser is told to type.
bool Redactor::names_a_secret(const std::vector<wire::JsonMember>& members) const {
  return std::ranges::any_of(members, [&](const wire::JsonMember& member) {
    const bool names = is_naming(member.name);
    const bool describes = is_describing(member.name);
    if (!names && !describes) return false;
    const auto text = member.value.as_string();
    return text && (is_secret_name(*text) || (describes && describes_secret(*text)));
  });
}

// Whether the member holds what another one of its object names. A text is looked at as it will be
// shown: without a key in PEM it may be one line.
bool Redactor::holds_named(const wire::JsonMember& member, int depth) const {
  if (is_value(member.name)) return true;
  if (!is_typed(member.name)) return false;
  const auto text = member.value.as_string();
  return text ? is_one_line(redact_text(*text, depth))
              : member.value.type() == wire::JsonType::kNumber;
}

std::string Redactor::redact_object(wire::JsonValue value, int depth, bool& has_changed) const {
  const auto members = value.members();
  const bool is_named_secret = names_a_secret(members);
  std::set<std::string> names;
  std::string out = "{";
  for (const wire::JsonMember& member : members) {
    // Two names may have become the same; an object names a member once.
    const std::string shown = redact_text(member.name, depth);
    std::string name = shown;
    for (int n = 2; !names.insert(name).second; ++n) name = fmt::format("{} {}", shown, n);
    has_changed = has_changed || name != member.name;
    if (out.size() > 1) out += ',';
    append_json_string(out, name);
    out += ':';
    const bool is_secret =
        !tells_nothing(member.value) &&
        (is_secret_name(member.name) || (is_named_secret && holds_named(member, depth)));
    if (is_secret) {
      out += mark();
      has_changed = has_changed || member.value.as_string() != kRedactedMark;
    } else {
      out += redact_json(member.value, depth, has_changed);
    }
  }
  return out + '}';
}

// Pairs (["Cookie", "a=b"]), lists of them and arguments (["--password", "x"]) name a secret just
// before it.
std::string Redactor::redact_array(wire::JsonValue value, int depth, bool& has_changed) const {
  const auto elements = value.elements();
  const bool is_list_of_headers = is_header_list(elements);
  const bool is_of_curl = !elements.empty() && elements.front().as_string() == "curl";
  std::string out = "[";
  std::string before;  // if a text
  bool follows_name = false;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) out += ',';
    const wire::JsonValue element = elements[i];
    const auto text = element.as_string();
    const bool is_password =
        text && is_user_option(before) && is_user_and_password(*text, is_of_curl);
    if (is_password || (follows_name && !tells_nothing(element))) {
      out += mark();
      has_changed = has_changed || text != kRedactedMark;
      // A header may follow what only looks like an argument.
      follows_name = is_list_of_headers && i % 2 == 0 && is_secret_name(text.value_or(""));
      before.clear();
      continue;
    }
    out += redact_json(element, depth, has_changed);
    before = text.value_or("");
    const bool is_flag = before.starts_with('-') && !before.contains('=');
    const bool is_name = is_list_of_headers ? i % 2 == 0 : text && elements.size() == 2;
    follows_name = (is_flag || is_name) && is_secret_name(before);
  }
  return out + ']';
}

}  // namespace reprise::model
