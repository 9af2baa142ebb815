#include "wire/websocket_handshake.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/hash.h"
#include "wire/http_lines.h"
#include "wire/limits.h"

namespace reprise::wire {
namespace {

constexpr std::size_t kKeyBytes = 16;

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// The elements of a header that is a list, over all its lines; empty ones are left out
// (RFC 9110 section 5.6.1).
std::vector<std::string_view> elements(const Headers& headers, std::string_view lower_name) {
  std::vector<std::string_view> found;
  for (const Header& header : headers) {
    if (header.name != lower_name) continue;
    for (std::string_view rest = header.value; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view element = trimmed(rest.substr(0, comma));
      if (!element.empty()) found.push_back(element);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return found;
}

bool has_element(const Headers& headers, std::string_view lower_name, std::string_view lower) {
  const auto found = elements(headers, lower_name);
  return std::any_of(found.begin(), found.end(), [&](std::string_view element) {
    return equals_ignoring_case(element, lower);
  });
}

bool asks_for_websocket(const Request& request) {
  return request.method == Method::kGet && request.minor_version == 1 &&
         has_element(request.headers, "upgrade", "websocket") &&
         has_element(request.headers, "connection", "upgrade");
}

Result<std::vector<std::string>> read_protocols(const Headers& headers) {
  const auto offered = elements(headers, "sec-websocket-protocol");
  if (offered.size() > kMaxSubprotocols)
    return fail(Code::kBadRequest, fmt::format("{} subprotocols are offered, the most is {}",
                                               offered.size(), kMaxSubprotocols));
  std::vector<std::string> protocols;
  for (const std::string_view protocol : offered) {
    if (!is_token(protocol))
      return fail(Code::kBadRequest, "Sec-WebSocket-Protocol must be a list of tokens");
    if (std::find(protocols.begin(), protocols.end(), protocol) != protocols.end())
      return fail(Code::kBadRequest,
                  fmt::format("the subprotocol '{}' is offered twice", protocol));
    protocols.emplace_back(protocol);
  }
  return protocols;
}

}  // namespace

Result<WebSocketOffer> read_websocket_offer(const Request& request) {
  if (!asks_for_websocket(request))
    return fail(Code::kUpgradeRequired,
                "this is a WebSocket: send Connection: Upgrade and Upgrade: websocket");
  const Headers& headers = request.headers;
  const std::string_view version = headers.get("sec-websocket-version").value_or("");
  if (headers.count("sec-websocket-version") != 1 || version != kWebSocketVersion)
    return fail(Code::kUpgradeRequired, fmt::format("Sec-WebSocket-Version is '{}', spoken is {}",
                                                    version, kWebSocketVersion));
  const std::string_view key = headers.get("sec-websocket-key").value_or("");
  if (headers.count("sec-websocket-key") != 1 || !is_websocket_key(key))
    return fail(Code::kBadRequest, "Sec-WebSocket-Key must be 16 bytes in base64, once");
  WebSocketOffer offer;
  offer.accept = websocket_accept(key);
  REPRISE_TRY(offer.protocols, read_protocols(headers));
  return offer;
}

std::string_view pick_subprotocol(const WebSocketOffer& offer,
                                  std::span<const std::string_view> known) {
  for (const std::string& protocol : offer.protocols) {
    const auto found = std::find(known.begin(), known.end(), protocol);
    if (found != known.end()) return *found;
  }
  return {};
}

std::string make_websocket_key(Random& random) {
  std::string bytes(kKeyBytes, '\0');
  random.fill(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size());
  return to_base64(bytes);
}

bool is_websocket_key(std::string_view key) {
  const auto is_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
  };
  constexpr std::size_t kDigits = 22;  // and two for padding
  return key.size() == kDigits + 2 && key.ends_with("==") &&
         std::all_of(key.begin(), key.begin() + kDigits, is_digit);
}

std::string websocket_accept(std::string_view key) {
  // Section 1.3: a text that nobody else would hash.
  return to_base64(sha1(std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
}

Result<std::string> websocket_request(std::string_view host, std::string_view path,
                                      std::string_view key,
                                      std::span<const std::string_view> protocols) {
  const auto is_visible = [](char c) { return c > ' ' && c != '\x7f'; };
  if (host.empty() || !std::all_of(host.begin(), host.end(), is_visible))
    return fail(Code::kBadParameter, fmt::format("'{}' is no host", host));
  if (!path.starts_with('/') || !std::all_of(path.begin(), path.end(), is_visible))
    return fail(Code::kBadParameter, fmt::format("'{}' is no path", path));
  std::string head = fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: {}\r\nSec-WebSocket-Key: {}\r\n",
      path, host, kWebSocketVersion, key);
  if (!protocols.empty())
    head += fmt::format("Sec-WebSocket-Protocol: {}\r\n", fmt::join(protocols, ", "));
  return head + "\r\n";
}

// Section 4.1, what a client must check, in its order.
Result<> check_websocket_answer(int status, const Headers& headers, std::string_view key,
                                std::span<const std::string_view> protocols) {
  const auto refuse = [](std::string detail) {
    return fail(Code::kMalformedHttp, std::move(detail));
  };
  if (status != 101)
    return refuse(fmt::format("the server answered {} instead of opening a WebSocket", status));
  if (!has_element(headers, "upgrade", "websocket") ||
      !has_element(headers, "connection", "upgrade"))
    return refuse("the server switched to another protocol than WebSocket");
  if (headers.count("sec-websocket-accept") != 1 ||
      headers.get("sec-websocket-accept") != websocket_accept(key))
    return refuse("the server's Sec-WebSocket-Accept does not fit the key");
  if (!elements(headers, "sec-websocket-extensions").empty())
    return refuse("the server chose an extension that was not offered");
  const auto protocol = headers.get("sec-websocket-protocol");
  if (headers.count("sec-websocket-protocol") > 1 ||
      (protocol && std::find(protocols.begin(), protocols.end(), *protocol) == protocols.end()))
    return refuse("the server chose a subprotocol that was not offered");
  return {};
}

}  // namespace reprise::wire
