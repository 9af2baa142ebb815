// Any bytes: fed whole or one by one, their bodies kept or taken as they come, they give the same
// requests and the same verdict.
#include <fmt/format.h>

#include "base/assert.h"
#include "wire/http.h"

namespace {

using namespace reprise;
using namespace reprise::wire;

// What came of the bytes, fed in pieces of that size. A streamed body is chosen to be so as soon as
// that can be done.
std::string outcome(std::string_view bytes, std::size_t piece_bytes, bool is_streamed = false) {
  const bool is_proxy = bytes.size() % 2 == 1;
  RequestParser parser({.max_target_bytes = 100,
                        .max_header_bytes = 400,
                        .max_headers = 5,
                        .max_body_bytes = 200,
                        .stops_before_long_bodies = is_streamed,
                        .takes_connect = is_proxy});
  std::string text;
  std::string taken;
  bool is_chosen = false;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, piece_bytes);
    bytes.remove_prefix(piece.size());
    while (!piece.empty()) {
      const auto used = parser.feed(piece);
      if (!used) return text + std::string(error_row(used.error().code).name);
      REPRISE_ASSERT(*used <= piece.size());
      REPRISE_ASSERT(*used > 0 || parser.is_complete() || parser.is_header_complete());
      piece.remove_prefix(*used);
      if (is_streamed && parser.is_header_complete() && !parser.is_complete() &&
          !std::exchange(is_chosen, true))
        if (const auto chosen = parser.stream_body(200); !chosen)
          return text + std::string(error_row(chosen.error().code).name);
      if (is_chosen) taken += parser.take_body();
      if (parser.wants_continue()) text += "100 ";
      if (!parser.is_complete()) continue;
      const Request request = parser.take();
      REPRISE_ASSERT(is_proxy || request.method_name != "CONNECT");
      REPRISE_ASSERT(request.target.size() <= 100 && request.body.size() <= 200);
      REPRISE_ASSERT(request.headers.count("host") + (request.minor_version == 0 ? 1 : 0) >= 1);
      text +=
          request.method_name + " " + request.target + (request.keep_alive ? " keep " : " close ");
      for (const Header& header : request.headers) {
        REPRISE_ASSERT(header.value.find_first_of(std::string_view("\r\n\0", 3)) ==
                       std::string::npos);
        text += fmt::format("{}={}\n", header.name, header.value);
      }
      REPRISE_ASSERT(!is_chosen || request.body.empty());
      text +=
          "[" + (std::exchange(is_chosen, false) ? std::exchange(taken, {}) : request.body) + "]\n";
    }
  }
  return text + (parser.has_started() ? "unfinished" : "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = outcome(bytes, size);
  REPRISE_ASSERT(outcome(bytes, 1) == whole, whole, outcome(bytes, 1));
  REPRISE_ASSERT(outcome(bytes, 7) == whole, whole, outcome(bytes, 7));
  REPRISE_ASSERT(outcome(bytes, 1, true) == whole, whole, outcome(bytes, 1, true));
  REPRISE_ASSERT(outcome(bytes, size, true) == whole, whole, outcome(bytes, size, true));
  return 0;
}
