// The gatekeeper: Host, Origin, CORS and tokens, before any handler runs.
//
// A browser on the same machine can reach a loopback server from any page; what stops it is that
// the Host must be ours (DNS rebinding cannot fake it) and that an Origin, where a browser sends
// one, must be ours or configured.
//
// Threads: any, after construction.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/auth.h"
#include "http/exchange.h"
#include "http/logins.h"

namespace reprise::http {

struct GatekeeperOptions {
  std::string listen_host;                 // the address listened on
  std::vector<std::string> allowed_hosts;  // besides localhost and that address
  std::vector<std::string> cors_origins;   // "*" is every origin
  std::shared_ptr<const Tokens> tokens;
  std::shared_ptr<Logins> logins = nullptr;  // none: nobody logs in
  bool is_tls = false;
};

class Gatekeeper {
 public:
  explicit Gatekeeper(GatekeeperOptions options);

  // kBadHost or kOriginRefused.
  Result<> check_origin(const wire::Request& request) const;
  // kUnauthorized, or kForbidden if the token's scope is too small. Who is logged in needs no
  // token, unless another page may have made the request: kOriginRefused.
  Result<Principal> admit(const wire::Request& request, Scope needed) const;
  // The answer to OPTIONS, preflight or not.
  Reply preflight(const wire::Request& request, std::string_view allow) const;
  // Adds what a browser needs to let a page of a configured origin read the reply.
  void add_cors(const wire::Request& request, wire::Headers& headers) const;
  std::string_view scheme() const { return options_.is_tls ? "https" : "http"; }

 private:
  bool is_cors_origin(std::string_view origin) const;
  bool is_own_host(const std::string& host) const;
  Result<Principal> authenticate(const wire::Request& request) const;
  GatekeeperOptions options_;
};

}  // namespace reprise::http
