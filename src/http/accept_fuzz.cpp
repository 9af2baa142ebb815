// Accept, Host, Origin and Authorization with arbitrary values: the same type named twice is
// judged the same, what is preferred is accepted, and problem documents stay JSON.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "http/gatekeeper.h"
#include "http/request_id.h"
#include "wire/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  static const http::Gatekeeper gatekeeper({.listen_host = "127.0.0.1",
                                            .allowed_hosts = {"a.example"},
                                            .cors_origins = {"https://app.example"},
                                            .tokens = std::make_shared<const http::Tokens>()});
  const std::string text(reinterpret_cast<const char*>(data), size);
  http::Exchange exchange;
  for (const char* name : {"Accept", "Host", "Origin", "Authorization"})
    exchange.request.headers.add(name, text);
  constexpr std::string_view kSse = "text/event-stream";
  constexpr std::string_view kJson = "application/json";
  if (exchange.prefers(kSse, kJson)) REPRISE_ASSERT(exchange.accepts(kSse), text);
  http::Exchange twice;
  twice.request.headers.add("Accept", text + ", " + text);
  REPRISE_ASSERT(exchange.accepts(kJson) == twice.accepts(kJson), text);
  const auto checked = gatekeeper.check_origin(exchange.request);
  if (!checked)
    REPRISE_ASSERT(wire::parse_json(http::problem(checked.error(), text).body).has_value(), text);
  (void)http::request_id(text);
  return 0;
}
