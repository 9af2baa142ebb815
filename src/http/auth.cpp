#include "http/auth.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/hash.h"
#include "http/limits.h"
#include "wire/json.h"

namespace reprise::http {
namespace {

std::optional<Scope> parse_scope(std::string_view word) {
  if (word == "read") return Scope::kRead;
  if (word == "write") return Scope::kWrite;
  if (word == "admin") return Scope::kAdmin;
  return std::nullopt;
}

Result<std::pair<std::string, Principal>> parse_token(const wire::JsonValue& token,
                                                      const std::string& pointer) {
  std::string hash;
  Principal principal;
  principal.scope = Scope::kNone;
  std::vector<std::string> apps;
  bool has_every_app = false;
  for (const auto& [name, value] : token.members()) {
    const std::string place = pointer + '/' + name;
    if (name == "name") {
      const auto text = value.as_string();
      if (!text || text->empty()) return invalid(place, "name must be a text");
      principal.name = *text;
    } else if (name == "sha256") {
      const auto text = value.as_string();
      const auto bytes = text ? from_hex(*text) : std::nullopt;
      if (!bytes || bytes->size() != 32)
        return invalid(place,
                       "sha256 must be 64 hexadecimal digits; `reprise token new` makes them");
      hash = *bytes;
    } else if (name == "scopes") {
      for (const auto& element : value.elements()) {
        const auto scope = parse_scope(element.as_string().value_or(""));
        if (!scope) return invalid(place, "a scope is one of read, write, admin");
        principal.scope = std::max(principal.scope, *scope);
      }
    } else if (name == "apps") {
      for (const auto& element : value.elements()) {
        const auto app = element.as_string();
        if (!app || app->empty()) return invalid(place, "an app is a text, or * for every app");
        if (*app == "*")
          has_every_app = true;
        else
          apps.push_back(*app);
      }
    } else {
      return invalid(place, fmt::format("'{}' is not a member of a token", name));
    }
  }
  if (hash.empty()) return invalid(pointer, "a token needs sha256");
  if (principal.name.empty()) return invalid(pointer, "a token needs a name");
  if (principal.scope == Scope::kNone) return invalid(pointer, "a token needs scopes");
  if (!has_every_app && apps.empty())
    return invalid(pointer, "a token needs apps; [\"*\"] is every app");
  if (!has_every_app) principal.apps = std::move(apps);
  return std::pair(std::move(hash), std::move(principal));
}

}  // namespace

bool Principal::may_use(std::string_view app) const {
  return !apps || std::find(apps->begin(), apps->end(), app) != apps->end();
}

Result<Tokens> Tokens::parse(std::string json) {
  REPRISE_TRY(const wire::JsonDocument document, wire::parse_json(std::move(json)));
  Tokens tokens;
  const auto list = document.root().find("tokens");
  if (!list || list->type() != wire::JsonType::kArray)
    return invalid("", "the tokens file must be {\"tokens\": [...]}");
  for (const auto& member : document.root().members())
    if (member.name != "tokens")
      return invalid('/' + member.name, fmt::format("'{}' is not known here", member.name));
  const auto elements = list->elements();
  if (elements.size() > kMaxTokens)
    return invalid("/tokens",
                   fmt::format("{} tokens are more than {}", elements.size(), kMaxTokens));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    REPRISE_TRY(auto token, parse_token(elements[i], fmt::format("/tokens/{}", i)));
    if (!tokens.by_hash_.insert(std::move(token)).second)
      return invalid(fmt::format("/tokens/{}", i), "the same token stands here twice");
  }
  if (tokens.empty()) return invalid("/tokens", "a tokens file needs at least one token");
  return tokens;
}

Result<Principal> Tokens::authenticate(std::optional<std::string_view> authorization) const {
  if (by_hash_.empty()) return Principal{.name = "anonymous", .scope = Scope::kAdmin, .apps = {}};
  if (!authorization) return fail(Code::kUnauthorized, "send Authorization: Bearer <token>");
  constexpr std::string_view kBearer = "bearer ";
  const bool is_bearer =
      authorization->size() > kBearer.size() &&
      std::equal(kBearer.begin(), kBearer.end(), authorization->begin(), [](char expected, char c) {
        return expected == (c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c);
      });
  if (!is_bearer)
    return fail(Code::kUnauthorized, "the Authorization header is not Bearer <token>");
  std::string_view token = authorization->substr(kBearer.size());
  while (token.starts_with(' ')) token.remove_prefix(1);
  return authenticate_token(token);
}

Result<Principal> Tokens::authenticate_token(std::string_view token) const {
  const auto found = by_hash_.find(sha256(token));
  if (found == by_hash_.end()) return fail(Code::kUnauthorized, "the token is not known");
  return found->second;
}

}  // namespace reprise::http
