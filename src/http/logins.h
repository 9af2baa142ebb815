// Logins: how a page shows its token where it cannot send a header.
//
// EventSource and WebSocket send no Authorization. A page therefore exchanges its token once for a
// cookie, and the gatekeeper takes the cookie wherever it takes the token:
//
//     version (1) · expiry (8, milliseconds) · id (8) · token (16) · HMAC-SHA-256 of these (32)
//
// as base64url. `token` is a keyed fingerprint: nobody learns the token or its hash from a cookie,
// and a token that leaves the tokens file takes its logins along. The key is the server's own and
// outlives a restart, so that whoever is logged in stays it. A login that was ended is remembered
// in memory until kMaxEndedLogins others were.
//
// The cookie is HttpOnly and SameSite=Strict; the gatekeeper also asks where a request comes from.
//
// Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "http/auth.h"
#include "http/limits.h"
#include "wire/http.h"

namespace reprise::http {

inline constexpr std::string_view kLoginCookie = "reprise_login";

struct Login {
  std::string cookie;  // its value
  Principal principal;
  TimePoint expires_at;
};

class Logins {
 public:
  // `key`: kLoginKeyBytes random bytes, kept secret.
  Logins(std::string key, const Tokens& tokens, const Clock& clock, Random& random);

  // kUnauthorized for a token that is not known.
  Result<Login> begin(std::string_view token);
  // Whose it is; kUnauthorized if it is forged, over or ended.
  Result<Principal> authenticate(std::string_view cookie) const;
  // Whatever it is, it is of no use after this.
  void end(std::string_view cookie);

 private:
  struct Ticket;
  std::optional<Ticket> open(std::string_view cookie) const;
  std::string fingerprint(std::string_view token_hash) const;

  const std::string key_;
  const Tokens& tokens_;
  const Clock& clock_;
  Random& random_;
  std::unordered_map<std::string, Principal> by_fingerprint_;
  // A ring: the oldest is forgotten first. 0 is nobody's id.
  std::array<std::atomic<std::uint64_t>, kMaxEndedLogins> ended_{};
  std::atomic<std::size_t> next_ended_{0};
};

// The value of a request's login cookie.
std::optional<std::string_view> login_cookie(const wire::Request& request);
// Set-Cookie for a login, and for its end.
std::string set_login_cookie(const Login& login, TimePoint now, bool is_tls);
std::string clear_login_cookie(bool is_tls);

}  // namespace reprise::http
