// Any bytes as an artifact's path and content type: what is accepted can be told in an event and in
// a header, and names no place outside.
#include <string>

#include "base/assert.h"
#include "model/artifact.h"
#include "model/limits.h"
#include "model/unified_diff.h"
#include "wire/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  using namespace reprise::model;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (check_artifact_path(text)) {
    REPRISE_ASSERT(!text.empty() && text.size() <= kMaxArtifactPathBytes, text);
    const std::string framed = '/' + text + '/';
    for (const std::string_view part : {"//", "/./", "/../", "\\"})
      REPRISE_ASSERT(framed.find(part) == std::string::npos, text);
    for (const char c : content_disposition(text)) REPRISE_ASSERT(c >= ' ' && c <= '~', text);
    const Event event = artifact_deleted(text, std::nullopt, 1, TimePoint{}, "");
    const auto told = wire::parse_json(event.data);
    REPRISE_ASSERT(told && told->root().find("path")->as_string() == text, text);
  }
  if (check_content_type(text))
    for (const char c : text) REPRISE_ASSERT(c >= ' ' && c <= '~', text);
  // The same bytes as two texts: a difference of bounded length, or none.
  const std::size_t half = text.size() / 2;
  const auto diff = unified_diff(text.substr(0, half), text.substr(half), "x");
  if (diff) REPRISE_ASSERT(diff->size() <= kMaxDiffBytes, diff->size());
  return 0;
}
