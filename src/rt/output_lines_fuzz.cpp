// Any bytes: the same lines however they are cut, none longer than allowed.
#include "base/assert.h"
#include "rt/limits.h"
#include "rt/output_lines.h"

namespace {

using namespace reprise::rt;

std::string outcome(std::string_view bytes, std::size_t piece_bytes) {
  std::string text;
  OutputLines output([&](std::string_view line) {
    REPRISE_ASSERT(line.size() <= kMaxOutputLineBytes, line.size());
    REPRISE_ASSERT(line.find('\n') == std::string_view::npos);
    text += std::to_string(line.size()) + ":" + std::string(line);
  });
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece_bytes, bytes.size())))
    output.add(bytes.substr(0, piece_bytes), Nanos(0));
  output.finish(Nanos(0));
  return text + "/" + std::to_string(output.dropped());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t piece_bytes = size == 0 ? 1 : 1 + data[0] % 16;
  REPRISE_ASSERT(outcome(bytes, piece_bytes) == outcome(bytes, std::string_view::npos));
  return 0;
}
