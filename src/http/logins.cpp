#include "http/logins.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/sign.h"

namespace reprise::http {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kFingerprintBytes = 16;
constexpr std::size_t kSignedBytes = 1 + 8 + 8 + kFingerprintBytes;
constexpr std::size_t kSignatureBytes = 32;

}  // namespace

struct Logins::Ticket {
  TimePoint expires_at;
  std::uint64_t id = 0;
  std::string fingerprint;
};

Logins::Logins(std::string key, const Tokens& tokens, const Clock& clock, Random& random)
    : key_(std::move(key)), tokens_(tokens), clock_(clock), random_(random) {
  REPRISE_ASSERT(key_.size() == kLoginKeyBytes, key_.size());
  for (const auto& [hash, principal] : tokens.by_hash())
    by_fingerprint_.emplace(fingerprint(hash), principal);
}

std::string Logins::fingerprint(std::string_view token_hash) const {
  return hmac_sha256(key_, "token" + std::string(token_hash)).substr(0, kFingerprintBytes);
}

Result<Login> Logins::begin(std::string_view token) {
  REPRISE_TRY(Principal principal, tokens_.authenticate_token(token));
  const TimePoint expires_at = clock_.now() + Millis{kLoginLifetime};
  std::uint64_t id = 0;
  while (id == 0) id = random_.next_u64();
  std::string ticket(1, static_cast<char>(kVersion));
  put_be64(ticket, static_cast<std::uint64_t>(expires_at.ms));
  put_be64(ticket, id);
  ticket += fingerprint(sha256(token));
  ticket += hmac_sha256(key_, "login" + ticket);
  return Login{to_base64url(ticket), std::move(principal), expires_at};
}

std::optional<Logins::Ticket> Logins::open(std::string_view cookie) const {
  const auto bytes = from_base64url(cookie);
  if (!bytes || bytes->size() != kSignedBytes + kSignatureBytes) return std::nullopt;
  const std::string_view all = *bytes;
  const std::string_view stated = all.substr(0, kSignedBytes);
  if (!equal_in_constant_time(all.substr(kSignedBytes),
                              hmac_sha256(key_, "login" + std::string(stated))))
    return std::nullopt;
  if (static_cast<std::uint8_t>(stated[0]) != kVersion) return std::nullopt;
  return Ticket{TimePoint{static_cast<std::int64_t>(get_be64(stated.substr(1, 8)))},
                get_be64(stated.substr(9, 8)), std::string(stated.substr(17))};
}

Result<Principal> Logins::authenticate(std::string_view cookie) const {
  const auto ticket = open(cookie);
  if (!ticket) return fail(Code::kUnauthorized, "the login is not one of this server");
  if (ticket->expires_at <= clock_.now()) return fail(Code::kUnauthorized, "the login is over");
  for (const auto& ended : ended_)
    if (ended.load(std::memory_order_relaxed) == ticket->id)
      return fail(Code::kUnauthorized, "the login was ended");
  const auto found = by_fingerprint_.find(ticket->fingerprint);
  if (found == by_fingerprint_.end())
    return fail(Code::kUnauthorized, "the token of this login is not known any more");
  return found->second;
}

void Logins::end(std::string_view cookie) {
  const auto ticket = open(cookie);
  if (!ticket || ticket->expires_at <= clock_.now()) return;
  for (const auto& ended : ended_)
    if (ended.load(std::memory_order_relaxed) == ticket->id) return;
  const std::size_t place = next_ended_.fetch_add(1, std::memory_order_relaxed) % ended_.size();
  ended_[place].store(ticket->id, std::memory_order_relaxed);
}

std::optional<std::string_view> login_cookie(const wire::Request& request) {
  std::string_view rest = request.headers.get("cookie").value_or("");
  while (!rest.empty()) {
    const std::size_t semicolon = std::min(rest.find(';'), rest.size());
    std::string_view pair = rest.substr(0, semicolon);
    rest.remove_prefix(std::min(semicolon + 1, rest.size()));
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    if (pair.starts_with(kLoginCookie) && pair.substr(kLoginCookie.size()).starts_with('='))
      return pair.substr(kLoginCookie.size() + 1);
  }
  return std::nullopt;
}

std::string set_login_cookie(const Login& login, TimePoint now, bool is_tls) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(login.expires_at - now);
  return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}", kLoginCookie,
                     login.cookie, seconds.count(), is_tls ? "; Secure" : "");
}

std::string clear_login_cookie(bool is_tls) {
  return fmt::format("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict{}", kLoginCookie,
                     is_tls ? "; Secure" : "");
}

}  // namespace reprise::http
