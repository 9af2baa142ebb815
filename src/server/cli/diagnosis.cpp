#include "server/cli/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json_text.h"
#include "server/cli/table.h"

namespace reprise::server::cli {

std::string_view Diagnosis::word(Grade grade) {
  switch (grade) {
    case Grade::kOk: return "ok";
    case Grade::kWarning: return "warning";
    case Grade::kError: return "error";
  }
  return "error";
}

void Diagnosis::ok(std::string check, std::string found) {
  findings_.push_back({Grade::kOk, std::move(check), std::move(found), {}});
}

void Diagnosis::warning(std::string check, std::string found, std::string advice) {
  findings_.push_back({Grade::kWarning, std::move(check), std::move(found), std::move(advice)});
}

void Diagnosis::error(std::string check, std::string found, std::string advice) {
  findings_.push_back({Grade::kError, std::move(check), std::move(found), std::move(advice)});
}

bool Diagnosis::has_errors() const {
  return std::ranges::any_of(findings_,
                             [](const Finding& finding) { return finding.grade == Grade::kError; });
}

std::string Diagnosis::to_text() const {
  std::string text;
  for (const Finding& finding : findings_) {
    text += fmt::format("{:<8} {:<17} {}\n", word(finding.grade), finding.check,
                        printable(finding.found));
    if (!finding.advice.empty()) text += fmt::format("{:27}-> {}\n", "", printable(finding.advice));
  }
  return text;
}

std::string Diagnosis::to_json() const {
  std::string checks;
  for (const Finding& finding : findings_) {
    checks +=
        fmt::format(R"({}{{"check":{},"status":"{}","found":{})", checks.empty() ? "" : ",",
                    json_string(finding.check), word(finding.grade), json_string(finding.found));
    if (!finding.advice.empty()) checks += ",\"advice\":" + json_string(finding.advice);
    checks += "}";
  }
  return fmt::format("{{\"ok\":{},\"checks\":[{}]}}\n", !has_errors(), checks);
}

}  // namespace reprise::server::cli
