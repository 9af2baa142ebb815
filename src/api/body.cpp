#include "api/body.h"

#include <fmt/format.h>

#include <algorithm>

namespace reprise::api {

std::string pointer_token(std::string_view name) {
  std::string token;
  for (const char c : name) {
    if (c == '~')
      token += "~0";
    else if (c == '/')
      token += "~1";
    else
      token += c;
  }
  return token;
}

Body::Body(wire::JsonDocument document)
    : document_(std::move(document)),
      members_(document_->root().members()),
      is_taken_(members_.size()) {}

Body::Body(wire::JsonValue root, std::string pointer)
    : members_(root.members()), is_taken_(members_.size()), pointer_(std::move(pointer)) {}

Body Body::of(wire::JsonValue object, std::string pointer) {
  return Body(object, std::move(pointer));
}

Result<Body> Body::parse(const http::Exchange& exchange) {
  const auto type = exchange.request.headers.get("content-type");
  const std::string& text = exchange.request.body;
  if (!text.empty() && type && *type != "application/json") {
    std::string media(type->substr(0, type->find(';')));
    while (media.ends_with(' ')) media.pop_back();
    for (char& c : media)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    const bool is_json = media == "application/json" || media == "application/merge-patch+json";
    if (!is_json)
      return fail(Code::kUnsupportedMediaType,
                  fmt::format("the body is '{}'; send Content-Type: application/json", media));
  }
  REPRISE_TRY(auto document, wire::parse_json(text.empty() ? "{}" : text));
  if (document.root().type() != wire::JsonType::kObject)
    return invalid("", "the body must be a JSON object");
  return Body(std::move(document));
}

std::optional<wire::JsonValue> Body::value(std::string_view name) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].name != name) continue;
    is_taken_[i] = true;
    return members_[i].value;
  }
  return std::nullopt;
}

std::optional<wire::JsonValue> Body::take(std::string_view name) {
  auto found = value(name);
  if (found && found->is_null()) return std::nullopt;
  return found;
}

bool Body::is_null(std::string_view name) {
  const auto found = value(name);
  return found && found->is_null();
}

void Body::wrong(std::string_view name, std::string detail) {
  errors_.push_back({pointer_ + '/' + pointer_token(name), std::move(detail)});
}

std::optional<std::string> Body::text(std::string_view name, std::size_t max_bytes) {
  const auto found = take(name);
  if (!found) return std::nullopt;
  auto text = found->as_string();
  if (!text) {
    wrong(name, fmt::format("{} must be a text", name));
    return std::nullopt;
  }
  if (text->size() > max_bytes) {
    wrong(name, fmt::format("{} has {} bytes; {} are allowed", name, text->size(), max_bytes));
    return std::nullopt;
  }
  return text;
}

std::optional<std::uint64_t> Body::number(std::string_view name, std::uint64_t least,
                                          std::uint64_t most) {
  const auto found = take(name);
  if (!found) return std::nullopt;
  const auto number = found->as_uint();
  if (number && *number >= least && *number <= most) return number;
  wrong(name, fmt::format("{} must be a whole number from {} to {}", name, least, most));
  return std::nullopt;
}

std::optional<bool> Body::boolean(std::string_view name) {
  const auto found = take(name);
  if (!found) return std::nullopt;
  const auto boolean = found->as_bool();
  if (!boolean) wrong(name, fmt::format("{} must be true or false", name));
  return boolean;
}

std::optional<std::string> Body::structured(std::string_view name, wire::JsonType type,
                                            std::string_view what, std::size_t max_bytes) {
  const auto found = take(name);
  if (!found) return std::nullopt;
  if (found->type() != type) {
    wrong(name, fmt::format("{} must be {}", name, what));
    return std::nullopt;
  }
  std::string text = found->minified();
  if (text.size() <= max_bytes) return text;
  wrong(name, fmt::format("{} has {} bytes; {} are allowed", name, text.size(), max_bytes));
  return std::nullopt;
}

std::optional<std::string> Body::object(std::string_view name, std::size_t max_bytes) {
  return structured(name, wire::JsonType::kObject, "an object", max_bytes);
}

std::optional<std::string> Body::array(std::string_view name, std::size_t max_bytes) {
  return structured(name, wire::JsonType::kArray, "an array", max_bytes);
}

Result<> Body::done() {
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (!is_taken_[i])
      wrong(members_[i].name, fmt::format("'{}' is not known here", members_[i].name));
  if (errors_.empty()) return {};
  Error error{Code::kInvalid, errors_.front().detail};
  if (errors_.size() > 1) error.detail += fmt::format(" (and {} more)", errors_.size() - 1);
  error.fields = std::move(errors_);
  return fail(std::move(error));
}

}  // namespace reprise::api
