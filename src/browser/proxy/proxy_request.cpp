#include "browser/proxy/proxy_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "browser/proxy/limits.h"

namespace reprise::browser {
namespace {

// RFC 9110, section 7.6.1, and what goes with it. Of a response, our own marks too: a server must
// not speak in the proxy's name.
constexpr auto kOfOneConnection = std::to_array<std::string_view>(
    {"connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization",
     "proxy-authentication-info", "te", "trailer", "transfer-encoding", "upgrade",
     "reprise-refused", "reprise-failed"});

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// Whether the token stands in a list such as "keep-alive, Upgrade".
bool lists(std::string_view value, std::string_view token) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    std::string_view one = value.substr(0, comma);
    while (!one.empty() && (one.front() == ' ' || one.front() == '\t')) one.remove_prefix(1);
    while (!one.empty() && (one.back() == ' ' || one.back() == '\t')) one.remove_suffix(1);
    if (equals_ignoring_case(one, token)) return true;
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
  return false;
}

bool connection_lists(const wire::Headers& headers, std::string_view token) {
  for (const wire::Header& header : headers)
    if (header.name == "connection" && lists(header.value, token)) return true;
  return false;
}

bool is_of_one_connection(const wire::Headers& headers, std::string_view name) {
  return std::ranges::find(kOfOneConnection, name) != kOfOneConnection.end() ||
         connection_lists(headers, name);
}

void append_field(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

// The port only if it is not the scheme's own, as browsers write it.
std::string host_field(const wire::Authority& at) {
  const std::string text = at.to_string();
  return at.port == 80 ? text.substr(0, text.rfind(':')) : text;
}

// Everything but the framing, and but what is said anew: a Connection field that names
// Content-Length must not take it away.
void append_passed_on(std::string& head, const wire::Headers& headers,
                      std::string_view but = "host") {
  for (const wire::Header& header : headers) {
    const bool is_ours =
        header.name == "host" || header.name == "content-length" || header.name == but;
    if (!is_ours && !is_of_one_connection(headers, header.name))
      append_field(head, header.name, header.value);
  }
}

void append_framing(std::string& head, const wire::Headers& headers, BodyForm body) {
  const auto length = headers.get("content-length");
  if (body == BodyForm::kChunked)
    append_field(head, "transfer-encoding", "chunked");
  else if (length)
    append_field(head, "content-length", *length);
}

std::unexpected<Error> malformed(std::string detail) {
  return fail(Code::kMalformedHttp, std::move(detail));
}

}  // namespace

Result<ProxyRequest> read_proxy_request(const wire::Request& request) {
  if (request.target.starts_with('/') || request.target == "*")
    return malformed("this is a proxy: a request names a whole URL");
  auto url = wire::parse_url(request.target);
  if (!url) return malformed(url.error().detail);
  if (url->scheme != "http")
    return malformed("a proxy is asked for http URLs, and for tunnels to others");
  // A browser forgives these in what people type, but writes none.
  const std::string_view behind = std::string_view(request.target).substr(4);
  if (!behind.starts_with("://") || behind.substr(3).starts_with('/') ||
      behind.substr(3).starts_with('\\'))
    return malformed("the URL has too many slashes, or too few");
  if (url->has_user) return malformed("the URL names a user");
  if (!url->at.is_ascii()) return malformed("the host is not in ASCII");
  ProxyRequest asked{.at = std::move(url->at), .target = std::move(url->target), .url = {}};
  asked.url = fmt::format("http://{}{}", host_field(asked.at),
                          std::string_view(asked.target).substr(0, asked.target.find('?')));
  asked.url.resize(std::min(asked.url.size(), kMaxReportedUrlBytes));
  const auto upgrade = request.headers.get("upgrade");
  asked.wants_websocket = request.method == wire::Method::kGet && upgrade &&
                          lists(*upgrade, "websocket") &&
                          connection_lists(request.headers, "upgrade");
  return asked;
}

std::string head_for_server(const wire::Request& request, const ProxyRequest& asked, BodyForm body,
                            const NextHop& next) {
  std::string head;
  head.reserve(request.headers.lines().size() + asked.target.size() + 256);
  head.append(request.method_name).push_back(' ');
  if (next.is_proxy) head.append("http://").append(host_field(asked.at));
  head.append(asked.target).append(" HTTP/1.1\r\n");
  append_field(head, "host", host_field(asked.at));
  // RFC 9110, section 10.1.1: HTTP/1.0 expects nothing, whatever it says.
  append_passed_on(head, request.headers, request.minor_version == 0 ? "expect" : "host");
  append_framing(head, request.headers, body);
  if (asked.wants_websocket) {
    append_field(head, "connection", "upgrade");
    append_field(head, "upgrade", "websocket");
  }
  if (next.is_proxy && !next.authorization.empty())
    append_field(head, "proxy-authorization", next.authorization);
  return head.append("\r\n");
}

std::string head_for_client(const ResponseHead& response, const ClientForm& form) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, response.reason);
  append_passed_on(head, response.headers);
  if (form.is_switching) {
    append_field(head, "connection", "upgrade");
    append_field(head, "upgrade", "websocket");
    return head.append("\r\n");
  }
  append_framing(head, response.headers, form.body);
  append_field(head, "connection", form.keep_alive ? "keep-alive" : "close");
  return head.append("\r\n");
}

std::string interim_for_client(const wire::InterimResponse& response) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, response.reason);
  append_passed_on(head, response.headers);
  return head.append("\r\n");
}

std::string as_chunk(std::string_view piece) {
  std::string chunk;
  if (piece.empty()) return chunk;
  chunk.reserve(piece.size() + 16);
  fmt::format_to(std::back_inserter(chunk), "{:x}\r\n", piece.size());
  return chunk.append(piece).append("\r\n");
}

std::string basic_authorization(std::string_view user, std::string_view password) {
  return "Basic " + to_base64(fmt::format("{}:{}", user, password));
}

}  // namespace reprise::browser
