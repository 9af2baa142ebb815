// Any bytes as a file of /proc or as a record of ours: no crash, and what is read is written the
// same.
#include "base/assert.h"
#include "browser/memory.h"
#include "browser/process_table.h"
#include "browser/profile_dirs.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace reprise::browser;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)parse_process_stat(text);
  (void)parse_pss(text);
  if (const auto record = parse_record(text)) {
    const auto again = parse_record(encode_record(*record));
    REPRISE_ASSERT(again && again->pid == record->pid && again->started == record->started &&
                   again->profile == record->profile);
    REPRISE_ASSERT(names_path(record->profile.native(), record->profile));
  }
  return 0;
}
