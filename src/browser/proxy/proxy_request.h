// What a proxy makes of heads: where a request is meant to go, what it looks like to the server,
// and what the response looks like to the client. Pure.
//
// What belongs to one connection only (RFC 9110, section 7.6.1) is not passed on. Framing is said
// anew: the parsers have decided it, and nobody behind us can decide otherwise. No Via and no
// Forwarded is added: browser and proxy are one user agent to the world. Names of fields come out
// in lower case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "wire/http.h"
#include "wire/url.h"

namespace reprise::browser {

// A request in absolute form, which names its server.
struct ProxyRequest {
  wire::Authority at;
  std::string target;  // in origin form
  std::string url;     // for reports: without its query, which may hold a secret
  bool wants_websocket = false;
};

// kMalformedHttp for what is no http URL, names a user, or a host that is none.
Result<ProxyRequest> read_proxy_request(const wire::Request& request);

// How a body's end is told: by the length that the head already names, if it names one, or by
// chunks.
enum class BodyForm : std::uint8_t { kAsGiven, kChunked };

// How the request goes on. In absolute form, with these credentials if there are any, if the next
// server is a proxy too.
struct NextHop {
  bool is_proxy = false;
  std::string authorization;
};
std::string head_for_server(const wire::Request& request, const ProxyRequest& asked, BodyForm body,
                            const NextHop& next);

struct ResponseHead {
  int status = 200;
  std::string_view reason;
  const wire::Headers& headers;
};
struct ClientForm {
  BodyForm body = BodyForm::kAsGiven;
  bool keep_alive = true;
  bool is_switching = false;  // to WebSocket
};
std::string head_for_client(const ResponseHead& response, const ClientForm& form);
// An interim response: no body, and nothing about the connection.
std::string interim_for_client(const wire::InterimResponse& response);

// As one chunk of a chunked body; nothing for nothing, which would end it.
std::string as_chunk(std::string_view piece);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

// "Basic …" of RFC 7617.
std::string basic_authorization(std::string_view user, std::string_view password);

}  // namespace reprise::browser
