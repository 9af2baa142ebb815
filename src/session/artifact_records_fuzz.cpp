// Any bytes as the records of artifacts: what decodes encodes to the same meaning.
#include "base/assert.h"
#include "session/artifact_records.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  using namespace reprise::session;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const StreamId stream{{1}};
  const std::string path = "a/b";
  if (const auto version = decode_version(version_key(stream, path, 1), bytes)) {
    REPRISE_ASSERT(version->artifact.path == path);
    const auto again = decode_version(version_key(stream, path, 1), encode_version(*version));
    REPRISE_ASSERT(again && again->artifact.sha256 == version->artifact.sha256);
    REPRISE_ASSERT(again->artifact.size == version->artifact.size && again->by == version->by);
  }
  if (const auto artifact = decode_artifact(artifact_key(stream, path), bytes)) {
    const auto again = decode_artifact(artifact_key(stream, path), encode_artifact(*artifact));
    REPRISE_ASSERT(again && again->versions == artifact->versions);
    REPRISE_ASSERT(again->last_number == artifact->last_number);
  }
  // The bytes as keys.
  (void)decode_version(bytes, bytes);
  (void)decode_artifact(bytes, bytes);
  (void)hash_of_garbage_key(bytes);
  if (const auto usage = decode_usage(bytes)) REPRISE_ASSERT(decode_usage(encode_usage(*usage)));
  return 0;
}
