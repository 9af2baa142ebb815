// Any head of a request: what is passed on is read by our own strict parser, once and to its end,
// as a request for the same server with the same framing.
#include <fmt/format.h>

#include "base/assert.h"
#include "browser/proxy/limits.h"
#include "browser/proxy/proxy_request.h"

namespace {

using namespace reprise;
using namespace reprise::browser;

void check_passed_on(const wire::Request& request, const ProxyRequest& asked, BodyForm form,
                     bool is_proxy) {
  const NextHop next{.is_proxy = is_proxy, .authorization = is_proxy ? "Basic x" : ""};
  const std::string head = head_for_server(request, asked, form, next);
  wire::RequestParser parser({.max_target_bytes = 8192,
                              .max_header_bytes = 256 * 1024,
                              .max_headers = 200,
                              .max_body_bytes = 0,
                              .stops_before_long_bodies = true});
  const auto used = parser.feed(head);
  REPRISE_ASSERT(used && *used == head.size() && parser.is_header_complete(), head);
  const wire::Request& again = parser.partial();
  const bool has_body = !parser.is_complete();
  const wire::Request taken = has_body ? again : parser.take();
  REPRISE_ASSERT(taken.headers.count("host") == 1 && taken.method_name == request.method_name);
  REPRISE_ASSERT(taken.headers.get("content-length") == request.headers.get("content-length") ||
                 form == BodyForm::kChunked);
  REPRISE_ASSERT((taken.headers.count("transfer-encoding") == 1) == (form == BodyForm::kChunked));
  REPRISE_ASSERT((taken.headers.count("proxy-authorization") == 1) == is_proxy);
  if (!is_proxy) {
    REPRISE_ASSERT(taken.target == asked.target, taken.target);
    return;
  }
  const auto same = read_proxy_request(taken);
  REPRISE_ASSERT(same && same->at.host == asked.at.host && same->at.port == asked.at.port, head);
  REPRISE_ASSERT(same->wants_websocket == asked.wants_websocket);
}

// The same fields as a response's.
void check_response(const wire::Request& request, bool is_chunked) {
  const std::string head = head_for_client(
      {200, "OK", request.headers},
      {.body = is_chunked ? BodyForm::kChunked : BodyForm::kAsGiven, .keep_alive = true});
  wire::ResponseParser parser;
  const auto fed = parser.feed(head);
  REPRISE_ASSERT(fed.has_value() && parser.is_header_complete(), head);
  REPRISE_ASSERT(!parser.headers().get("reprise-refused"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  wire::RequestParser parser({.max_target_bytes = 2048,
                              .max_body_bytes = 0,
                              .stops_before_long_bodies = true,
                              .takes_connect = true});
  const auto used = parser.feed(bytes);
  if (!used || !parser.is_header_complete()) return 0;
  const wire::Request request = parser.is_complete() ? parser.take() : parser.partial();
  if (request.method_name == "CONNECT") {
    if (const auto at = wire::parse_authority(request.target))
      REPRISE_ASSERT(wire::parse_authority(at->to_string())->host == at->host);
    return 0;
  }
  const bool is_chunked = request.headers.get("transfer-encoding").has_value();
  check_response(request, is_chunked);
  const auto asked = read_proxy_request(request);
  if (!asked) return 0;
  REPRISE_ASSERT(asked->url.size() <= kMaxReportedUrlBytes && !asked->url.contains('?'));
  const BodyForm form = is_chunked ? BodyForm::kChunked : BodyForm::kAsGiven;
  check_passed_on(request, *asked, form, false);
  check_passed_on(request, *asked, form, true);
  return 0;
}
