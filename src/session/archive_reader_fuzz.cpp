// Any bytes as an archive: refused with a code for archives, or a session that can be stored. The
// sums are not what keeps it out: the first byte says whether the input is a tar, or the members'
// texts with blank lines between them, of which a tar with fitting sums is made.
#include "session/archive_reader.h"

#include <vector>

#include "base/assert.h"
#include "model/session_state.h"
#include "session/limits.h"

namespace {

using namespace reprise;
using namespace reprise::session;

// Three texts: the manifest, the record, the events; artifacts are for tars.
std::string packed(std::string_view texts) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const std::string_view name :
       {kManifestName, kRecordName, std::string_view("events-000001.ndjson")}) {
    const std::size_t end = std::min(texts.find("\n\n"), texts.size());
    members.emplace_back(name, std::string(texts.substr(0, end)) + '\n');
    texts.remove_prefix(std::min(end + 2, texts.size()));
  }
  std::string sums;
  for (const auto& [name, text] : members) sums += sum_line(sha256(text), name);
  members.emplace_back(kSumsName, sums);
  std::string bytes;
  wire::TarWriter writer(TimePoint{}, [&bytes](std::string_view piece) {
    bytes += piece;
    return Result<>{};
  });
  for (const auto& [name, text] : members) {
    REPRISE_ASSERT(writer.begin(name, text.size()).has_value());
    REPRISE_ASSERT(writer.write(text).has_value());
  }
  REPRISE_ASSERT(writer.finish().has_value());
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string bytes = data[0] == 't' ? std::string(input) : packed(input);
  std::string_view rest = bytes;
  constexpr ArchiveLimits kLimits{.max_artifact_bytes = 1 << 20,
                                  .max_session_bytes = 1 << 21,
                                  .max_session_versions = 100,
                                  .max_versions_per_artifact = 10};
  ArchiveReader reader(
      [&rest](std::span<char> buffer) -> Result<std::size_t> {
        const std::size_t count = rest.copy(buffer.data(), buffer.size());
        rest.remove_prefix(count);
        return count;
      },
      kLimits, {}, nullptr);
  for (;;) {
    const auto step = reader.step();
    if (!step) {
      const Code code = step.error().code;
      REPRISE_ASSERT(code == Code::kBadArchive || code == Code::kQuotaExceeded,
                     step.error().detail);
      return 0;
    }
    if (!*step) break;
  }
  const model::SessionState& state = reader.history().state();
  REPRISE_ASSERT(state.head == reader.manifest().last_seq);
  REPRISE_ASSERT(check_importable(state).has_value());
  REPRISE_ASSERT(*model::decode_state(model::encode_state(state)) == state);
  return 0;
}
