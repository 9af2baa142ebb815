// Any bytes: fed whole or one by one, they give the same response and the same verdict.
#include <fmt/format.h>

#include "base/assert.h"
#include "wire/http.h"

namespace {

using namespace reprise;
using namespace reprise::wire;

std::string outcome(std::string_view bytes, std::size_t piece_bytes, ResponseOptions options) {
  ResponseParser parser(options);
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, piece_bytes);
    bytes.remove_prefix(piece.size());
    if (const auto fed = parser.feed(piece); !fed)
      return std::string(error_row(fed.error().code).name);
  }
  REPRISE_ASSERT(parser.body().size() <= 200);
  const auto finished = parser.finish();
  std::string text(finished ? "" : error_row(finished.error().code).name);
  REPRISE_ASSERT(finished.has_value() == parser.is_complete());
  text += std::to_string(parser.status()) + "\n";
  text += parser.reason() + (parser.keep_alive() ? " keep\n" : " close\n");
  while (const auto interim = parser.take_interim()) {
    REPRISE_ASSERT(options.keeps_interim && interim->status < 200, interim->status);
    text += fmt::format("{} {} {}", interim->status, interim->reason, interim->headers.lines());
  }
  for (const Header& header : parser.headers())
    text += fmt::format("{}={}\n", header.name, header.value);
  return text + "[" + parser.body() + "]";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (ResponseOptions options :
       {ResponseOptions{}, ResponseOptions{.is_head_request = true},
        ResponseOptions{.keeps_interim = true}, ResponseOptions{.is_connect_request = true}}) {
    options.max_body_bytes = 200;
    const std::string whole = outcome(bytes, size, options);
    REPRISE_ASSERT(outcome(bytes, 1, options) == whole, whole, outcome(bytes, 1, options));
  }
  return 0;
}
