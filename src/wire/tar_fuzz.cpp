// Any bytes: TarReader gives members or refuses, and never more of one than it has said.
#include <algorithm>
#include <array>

#include "base/assert.h"
#include "wire/tar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  wire::TarReader reader([&rest](std::span<char> buffer) -> Result<std::size_t> {
    const std::size_t count = rest.copy(buffer.data(), buffer.size());
    rest.remove_prefix(count);
    return count;
  });
  std::array<char, 4096> buffer{};
  for (;;) {
    const auto member = reader.next();
    if (!member) {
      REPRISE_ASSERT(member.error().code == Code::kBadArchive, member.error().detail);
      return 0;
    }
    if (!*member) return 0;
    std::uint64_t left = (*member)->size;
    for (;;) {
      const auto count = reader.read(buffer);
      if (!count) return 0;
      REPRISE_ASSERT(*count <= left, *count, left);
      left -= *count;
      if (*count == 0) break;
    }
  }
}
