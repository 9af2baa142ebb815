// Bearer tokens: stored as SHA-256, scoped by what may be done and for which apps.
//
//     {"tokens": [{"name": "ci", "sha256": "<hex>", "scopes": ["read", "write"], "apps":
//     ["shop"]}]}
//
// `admin` includes `write`, `write` includes `read`; the app `*` is every app.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"

namespace reprise::http {

enum class Scope : std::uint8_t { kNone, kRead, kWrite, kAdmin };

// Who is asking.
struct Principal {
  std::string name;
  Scope scope = Scope::kAdmin;
  std::optional<std::vector<std::string>> apps;  // none: every app
  bool may_use(std::string_view app) const;
};

class Tokens {
 public:
  // kInvalid with the place that is wrong.
  static Result<Tokens> parse(std::string json);
  bool empty() const { return by_hash_.empty(); }
  std::size_t size() const { return by_hash_.size(); }
  // kUnauthorized for anything but `Bearer <a known token>`. Without tokens everybody is an admin.
  Result<Principal> authenticate(std::optional<std::string_view> authorization) const;
  // The same for the token itself.
  Result<Principal> authenticate_token(std::string_view token) const;
  // By the SHA-256 of each.
  const std::unordered_map<std::string, Principal>& by_hash() const { return by_hash_; }

 private:
  // Looked up by the hash of what was sent: how long that takes tells nothing about the tokens.
  std::unordered_map<std::string, Principal> by_hash_;
};

}  // namespace reprise::http
