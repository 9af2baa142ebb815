// Any JSON as the arguments of every tool: refused with a place, or read; and what was read is read
// again as itself.
#include "base/assert.h"
#include "browser/tools/catalogue.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const auto document = wire::parse_json(std::string(reinterpret_cast<const char*>(data), size));
  if (!document) return 0;
  for (const browser::Tool& tool : browser::tools()) {
    const auto read = browser::read_arguments(tool, document->root(), "session");
    if (!read) {
      REPRISE_ASSERT(read.error().code == Code::kInvalid, tool.name, read.error().detail);
      REPRISE_ASSERT(!read.error().fields.empty(), tool.name);
      continue;
    }
    const auto again = wire::parse_json(*read);
    REPRISE_ASSERT(again.has_value(), tool.name, *read);
    const auto same = browser::read_arguments(tool, again->root());
    REPRISE_ASSERT(same && *same == *read, tool.name, *read);
  }
  return 0;
}
