#include "wire/json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>
#include <cstring>

#include "base/assert.h"
#include "wire/json_index.h"
#include "wire/limits.h"

namespace reprise::wire {

struct JsonValue::Index {
  std::string text;
  std::vector<JsonToken> tokens;
};

namespace {

std::string_view inner_text(std::string_view text, const JsonToken& token) {
  return text.substr(token.start + 1, token.end - token.start - 2);
}

std::string string_value(std::string_view text, const JsonToken& token) {
  const std::string_view inner = inner_text(text, token);
  if (!token.has_escapes()) return std::string(inner);
  std::string value;
  value.reserve(inner.size());
  append_unescaped(value, inner);
  return value;
}

bool is_integer_text(std::string_view number) {
  return number.find_first_of(".eE") == std::string_view::npos;
}

template <typename Integer>
std::optional<Integer> integer_of(std::string_view number) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  return value;
}

simdjson::error_code validate_with(simdjson::dom::parser& parser, const std::string& text) {
  simdjson::dom::element root;
  // The text was given simdjson's padding behind its end, so it need not be copied.
  return parser.parse(text.data(), text.size(), false).get(root);
}

// simdjson counts the document itself as a level.
constexpr std::size_t kSimdjsonDepth = kMaxJsonDepth + 1;

simdjson::error_code validate(const std::string& text) {
  if (text.size() > kKeptJsonBytes) {
    simdjson::dom::parser parser;
    if (const auto error = parser.allocate(text.size(), kSimdjsonDepth)) return error;
    return validate_with(parser, text);
  }
  thread_local simdjson::dom::parser parser;
  if (parser.capacity() == 0)
    if (const auto error = parser.allocate(kKeptJsonBytes, kSimdjsonDepth)) return error;
  return validate_with(parser, text);
}

// simdjson says what is wrong but not where; our own pass over the text finds the place.
Error explain(simdjson::error_code error, const std::string& text, std::vector<JsonToken>& tokens) {
  if (error == simdjson::MEMALLOC)
    return {Code::kOverloaded, fmt::format("no memory to check {} bytes of JSON", text.size())};
  if (error == simdjson::UTF8_ERROR) return {Code::kMalformedJson, "the text is not UTF-8"};
  if (auto indexed = index_json(text, tokens);
      !indexed && indexed.error().code == Code::kMalformedJson)
    return std::move(indexed).error();
  if (auto checked = check_numbers(text, tokens); !checked) return std::move(checked).error();
  return {Code::kMalformedJson, simdjson::error_message(error)};
}

}  // namespace

JsonType JsonValue::type() const { return index_->tokens[token_].type(); }

std::string_view JsonValue::raw() const {
  const JsonToken& token = index_->tokens[token_];
  return std::string_view(index_->text).substr(token.start, token.end - token.start);
}

std::string JsonValue::minified() const { return minify_json(raw()); }

std::optional<bool> JsonValue::as_bool() const {
  if (type() != JsonType::kBool) return std::nullopt;
  return raw().front() == 't';
}

std::optional<std::int64_t> JsonValue::as_int() const {
  if (type() != JsonType::kNumber || !is_integer_text(raw())) return std::nullopt;
  return integer_of<std::int64_t>(raw());
}

std::optional<std::uint64_t> JsonValue::as_uint() const {
  if (type() != JsonType::kNumber || !is_integer_text(raw())) return std::nullopt;
  if (raw() == "-0") return 0;
  return integer_of<std::uint64_t>(raw());
}

std::optional<double> JsonValue::as_double() const {
  if (type() != JsonType::kNumber) return std::nullopt;
  const std::string_view number = raw();
  double value = 0;
  const auto result = std::from_chars(number.data(), number.data() + number.size(), value);
  // Too large was refused by parse_json(), so what is out of range here is too small: a zero.
  if (result.ec == std::errc::result_out_of_range) return number.front() == '-' ? -0.0 : 0.0;
  return value;
}

std::optional<std::string> JsonValue::as_string() const {
  if (type() != JsonType::kString) return std::nullopt;
  return string_value(index_->text, index_->tokens[token_]);
}

std::vector<JsonValue> JsonValue::elements() const {
  std::vector<JsonValue> values;
  const JsonToken& array = index_->tokens[token_];
  if (array.type() != JsonType::kArray) return values;
  values.reserve(array.count());
  for (std::uint32_t at = token_ + 1; at != array.next; at = index_->tokens[at].next)
    values.push_back(JsonValue(index_, at));
  return values;
}

std::vector<JsonMember> JsonValue::members() const {
  std::vector<JsonMember> members;
  const JsonToken& object = index_->tokens[token_];
  if (object.type() != JsonType::kObject) return members;
  members.reserve(object.count());
  for (std::uint32_t name = token_ + 1; name != object.next; name = index_->tokens[name + 1].next)
    members.push_back(
        JsonMember{string_value(index_->text, index_->tokens[name]), JsonValue(index_, name + 1)});
  return members;
}

std::optional<JsonValue> JsonValue::find(std::string_view name) const {
  const JsonToken& object = index_->tokens[token_];
  if (object.type() != JsonType::kObject) return std::nullopt;
  for (std::uint32_t at = token_ + 1; at != object.next; at = index_->tokens[at + 1].next) {
    const JsonToken& token = index_->tokens[at];
    const bool is_it = token.has_escapes() ? string_value(index_->text, token) == name
                                           : inner_text(index_->text, token) == name;
    if (is_it) return JsonValue(index_, at + 1);
  }
  return std::nullopt;
}

JsonDocument::JsonDocument(std::unique_ptr<JsonValue::Index> index) : index_(std::move(index)) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

JsonValue JsonDocument::root() const {
  REPRISE_ASSERT(index_ != nullptr);
  return JsonValue(index_.get(), 0);
}

Result<JsonDocument> parse_json(std::string text) {
  if (text.size() > kMaxJsonBytes)
    return fail(Code::kMalformedJson,
                fmt::format("the text has {} bytes, the most is {}", text.size(), kMaxJsonBytes));
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  // Tokens are gathered in a buffer the thread keeps and copied to their exact size: two thirds of
  // the allocations of a growing vector are saved on the small texts that matter.
  thread_local std::vector<JsonToken> kept_tokens;
  std::vector<JsonToken> own_tokens;
  auto& tokens = text.size() > kKeptJsonBytes ? own_tokens : kept_tokens;
  if (const auto error = validate(text)) return fail(explain(error, text, tokens));
  REPRISE_CHECK(index_json(text, tokens));
  auto index = std::make_unique<JsonValue::Index>();
  index->text = std::move(text);
  if (&tokens == &kept_tokens)
    index->tokens.assign(tokens.begin(), tokens.end());
  else
    index->tokens = std::move(own_tokens);
  return JsonDocument(std::move(index));
}

std::string minify_json(std::string_view validated_text) {
  std::string out;
  out.reserve(validated_text.size());
  const char* at = validated_text.data();
  const char* const end = at + validated_text.size();
  const char* kept_from = at;
  while (at != end) {
    const char c = *at;
    if (c == '"') {
      for (at = find_quote_or_backslash(at + 1, end); at != end && *at == '\\';)
        at = find_quote_or_backslash(end - at > 2 ? at + 2 : end, end);
      if (at != end) ++at;
    } else if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      out.append(kept_from, at);
      kept_from = ++at;
    } else {
      ++at;
    }
  }
  out.append(kept_from, end);
  return out;
}

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text); }

}  // namespace reprise::wire
