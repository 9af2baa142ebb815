// ExportVerifier on arbitrary files: it refuses or judges, never crashes, and reads the head that
// it would write.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "model/audit_export.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  model::ExportVerifier verifier;
  while (!rest.empty()) {
    const std::size_t newline = rest.find('\n');
    if (const auto taken = verifier.line(std::string(rest.substr(0, newline))); !taken) {
      REPRISE_ASSERT(taken.error().code == Code::kInvalid);
      return 0;
    }
    rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
  }
  const auto report = verifier.finish();
  if (!report) return 0;
  REPRISE_ASSERT(report->is_valid == report->reason.empty(), report->reason);
  std::string head;
  model::append_export_head(head, {}, verifier.recorded());
  head.pop_back();
  model::ExportVerifier again;
  REPRISE_ASSERT(again.line(head).has_value(), head);
  REPRISE_ASSERT(again.recorded() == verifier.recorded());
  return 0;
}
