// Any bytes as a Range header and a list of entity tags: a part of the content, or nothing of it.
#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "wire/range.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise::wire;
  std::uint64_t content = 0;
  std::memcpy(&content, data, std::min(size, sizeof content));
  const std::string_view header(reinterpret_cast<const char*>(data), size);
  for (const std::uint64_t bytes : {content, content % 16, std::uint64_t{0}}) {
    const RangeAnswer answer = parse_range(header, bytes);
    if (answer.kind != RangeAnswer::Kind::kPart) continue;
    REPRISE_ASSERT(answer.range.first <= answer.range.last, answer.range.first);
    REPRISE_ASSERT(answer.range.last < bytes, answer.range.last, bytes);
  }
  // What a strong comparison finds, a weak one finds too.
  if (names_etag(header, "\"a\"", false)) REPRISE_ASSERT(names_etag(header, "\"a\"", true));
  return 0;
}
