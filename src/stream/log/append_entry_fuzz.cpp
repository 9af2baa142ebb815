// Stored appends and client content on arbitrary bytes: decoded as encoded, parts never longer than
// the whole, nothing read beyond the end.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "stream/log/append_entry.h"
#include "stream/log/content.h"
#include "stream/log/offset.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto view = stream::decode_append(bytes)) {
    REPRISE_ASSERT(*stream::append_content(bytes) == view->content);
    const std::uint64_t count = view->lengths.empty() ? view->content.size() : view->lengths.size();
    for (const std::uint64_t part : {std::uint64_t{0}, count / 2, count}) {
      const auto first = stream::first_part(bytes, part);
      REPRISE_ASSERT(first.has_value());
      REPRISE_ASSERT(stream::append_content(*first)->size() <= view->content.size());
    }
    REPRISE_ASSERT(!stream::first_part(bytes, count + 1));
  }
  if (const auto from = stream::parse_read_from(bytes); from && !from->is_tail && bytes != "-1")
    REPRISE_ASSERT(stream::offset_text(from->after).substr(0, 16) == bytes.substr(0, 16));
  for (const bool is_json : {false, true}) {
    const auto content = stream::encode_content(is_json, bytes);
    if (!content || !*content) continue;
    const auto view = stream::decode_append(**content);
    REPRISE_ASSERT(view.has_value());
    REPRISE_ASSERT(is_json == !view->lengths.empty());
  }
  return 0;
}
