#include "http/gatekeeper.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"

namespace reprise::http {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return lower;
}

// Empty if the authority is malformed.
std::string host_of(std::string_view authority) {
  std::string_view host = authority;
  std::string_view port;
  if (host.starts_with('[')) {
    const std::size_t close = host.find(']');
    if (close == std::string_view::npos) return {};
    port = host.substr(close + 1);
    host = host.substr(1, close - 1);
  } else {
    const std::size_t colon = std::min(host.find(':'), host.size());
    port = host.substr(colon);
    host = host.substr(0, colon);
  }
  const bool is_port = port.empty() || (port.size() <= 6 && port[0] == ':' &&
                                        std::all_of(port.begin() + 1, port.end(),
                                                    [](char c) { return c >= '0' && c <= '9'; }));
  return is_port ? lower_case(host) : std::string();
}

bool is_ip_address(const std::string& host) {
  unsigned char address[16];
  return inet_pton(AF_INET, host.c_str(), address) == 1 ||
         inet_pton(AF_INET6, host.c_str(), address) == 1;
}

bool is_loopback_address(const std::string& host) {
  unsigned char address[4];
  return host == "::1" || (inet_pton(AF_INET, host.c_str(), address) == 1 && address[0] == 127);
}

// A cookie goes along whoever made the request. SameSite=Strict keeps it from other sites; this
// keeps it from other ports and subdomains of our own, which are the same site.
Result<> check_own_page(const wire::Request& request) {
  const auto site = request.headers.get("sec-fetch-site");
  if (site && *site != "same-origin" && *site != "none")
    return fail(Code::kOriginRefused, "a login serves the server's own page only");
  const auto origin = request.headers.get("origin");
  const bool is_safe =
      (request.method == wire::Method::kGet || request.method == wire::Method::kHead) &&
      !request.headers.get("upgrade");
  if (!origin && is_safe) return {};
  const std::string authority(request.headers.get("host").value_or(""));
  // Behind a proxy that speaks TLS the page's scheme is not ours; --cors-origin has named it then.
  if (origin && (*origin == "http://" + authority || *origin == "https://" + authority)) return {};
  return fail(
      Code::kOriginRefused,
      "a request by login that changes something needs the Origin of the server's own page");
}

constexpr std::string_view kAllowedHeaders =
    "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, If-Range, "
    "Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, "
    "Producer-Epoch, Producer-Id, Producer-Seq, Range, Reprise-Lease, "
    "Stream-Closed, Stream-Expires-At, "
    "Stream-Fork-Offset, Stream-Fork-Sub-Offset, Stream-Forked-From, Stream-Seq, Stream-TTL, "
    "X-Request-Id";
constexpr std::string_view kExposedHeaders =
    "Accept-Ranges, Artifact-Version, Content-Range, ETag, Location, Mcp-Session-Id, "
    "Producer-Epoch, Producer-Expected-Seq, Producer-Received-Seq, Producer-Seq, "
    "Retry-After, Stream-Closed, Stream-Cursor, Stream-Expires-At, Stream-Next-Offset, "
    "Stream-SSE-Data-Encoding, Stream-TTL, Stream-Up-To-Date, X-Request-Id";

}  // namespace

Gatekeeper::Gatekeeper(GatekeeperOptions options) : options_(std::move(options)) {
  REPRISE_ASSERT(options_.tokens != nullptr);
  for (std::string& host : options_.allowed_hosts) host = lower_case(host);
}

bool Gatekeeper::is_cors_origin(std::string_view origin) const {
  const auto& origins = options_.cors_origins;
  return std::any_of(origins.begin(), origins.end(), [&](const std::string& allowed) {
    return allowed == "*" || allowed == origin;
  });
}

bool Gatekeeper::is_own_host(const std::string& host) const {
  const auto& allowed = options_.allowed_hosts;
  if (host == "localhost" || host == options_.listen_host || is_loopback_address(host)) return true;
  // Listening on every address: which ones those are, the network decides.
  const bool is_anywhere = options_.listen_host == "0.0.0.0" || options_.listen_host == "::";
  if (is_anywhere && is_ip_address(host)) return true;
  return std::find(allowed.begin(), allowed.end(), host) != allowed.end();
}

Result<> Gatekeeper::check_origin(const wire::Request& request) const {
  const std::string_view authority = request.headers.get("host").value_or("");
  // HTTP/1.0 may come without a Host; a browser never does.
  if (request.headers.get("host") && !is_own_host(host_of(authority)))
    return fail(
        Code::kBadHost,
        fmt::format("'{}' is not a name of this server; --allowed-host adds one", authority));
  const auto origin = request.headers.get("origin");
  if (!origin || is_cors_origin(*origin)) return {};
  // A preflight is a question; its answer names no origin, and so allows none.
  if (request.method == wire::Method::kOptions) return {};
  const bool is_own = *origin == fmt::format("{}://{}", scheme(), authority);
  if (!is_own)
    return fail(
        Code::kOriginRefused,
        fmt::format("pages of '{}' may not call this server; --cors-origin allows one", *origin));
  return {};
}

Result<Principal> Gatekeeper::admit(const wire::Request& request, Scope needed) const {
  if (needed == Scope::kNone) return Principal{.name = "anyone", .scope = Scope::kNone, .apps = {}};
  REPRISE_TRY(Principal principal, authenticate(request));
  if (principal.scope < needed)
    return fail(Code::kForbidden,
                fmt::format("the token '{}' has not the scope for this", principal.name));
  return principal;
}

Result<Principal> Gatekeeper::authenticate(const wire::Request& request) const {
  const auto authorization = request.headers.get("authorization");
  const auto cookie = login_cookie(request);
  if (authorization || !cookie || !options_.logins)
    return options_.tokens->authenticate(authorization);
  REPRISE_CHECK(check_own_page(request));
  return options_.logins->authenticate(*cookie);
}

Reply Gatekeeper::preflight(const wire::Request& request, std::string_view allow) const {
  Reply reply = Reply::empty(204);
  reply.headers.add("Allow", std::string(allow));
  if (request.headers.get("access-control-request-method")) {
    reply.headers.add("Access-Control-Allow-Methods", std::string(allow));
    reply.headers.add("Access-Control-Allow-Headers", std::string(kAllowedHeaders));
    reply.headers.add("Access-Control-Max-Age", "600");
  }
  return reply;
}

void Gatekeeper::add_cors(const wire::Request& request, wire::Headers& headers) const {
  if (options_.cors_origins.empty()) return;
  headers.add("Vary", "Origin");
  const auto origin = request.headers.get("origin");
  if (!origin || !is_cors_origin(*origin)) return;
  headers.add("Access-Control-Allow-Origin", std::string(*origin));
  headers.add("Access-Control-Expose-Headers", std::string(kExposedHeaders));
}

}  // namespace reprise::http
