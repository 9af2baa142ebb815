#include "server/cli/outcome.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "base/json_text.h"
#include "server/cli/table.h"
#include "wire/json.h"

namespace reprise::server::cli {
namespace {

int status_for(int http_status) { return http_status == 404 ? kExitNotFound : kExitFailed; }

std::string problem_of(const Error& error) {
  const ErrorRow& row = error_row(error.code);
  return fmt::format(
      R"({{"type":"about:blank","title":{},"status":{},"code":{},"detail":{},"retryable":{}}})",
      json_string(row.title), row.http_status, json_string(row.name), json_string(error.detail),
      is_retryable(error.code));
}

// What was typed wrong needs no code; what went wrong has one to look up.
std::string line_of(const Error& error) {
  if (error.code == Code::kBadParameter) return printable(error.detail);
  return printable(fmt::format("{}: {}", error_row(error.code).name, error.detail));
}

// "code: detail", with each field that is wrong.
std::string line_of(wire::JsonValue problem, int status) {
  const auto text = [&](std::string_view name) {
    const auto member = problem.find(name);
    return member ? member->as_string().value_or("") : std::string{};
  };
  const std::string code = text("code");
  const std::string detail = text("detail");
  std::string line = code.empty() ? fmt::format("HTTP {}", status) : code;
  const std::string said = detail.empty() ? text("title") : detail;
  if (!said.empty()) line += ": " + said;
  if (const auto errors = problem.find("errors")) {
    for (const wire::JsonValue field : errors->elements()) {
      const auto pointer = field.find("pointer");
      const auto reason = field.find("detail");
      if (pointer && reason)
        line += fmt::format(" [{} {}]", pointer->as_string().value_or(""),
                            reason->as_string().value_or(""));
    }
  }
  return printable(line);
}

}  // namespace

Failure::Failure(const Error& error)
    : exit_status(error.code == Code::kBadParameter ? kExitUsage : kExitFailed),
      line(line_of(error)),
      problem(problem_of(error)) {}

Failure::Failure(const wire::Response& response) : exit_status(status_for(response.status)) {
  const auto document = wire::parse_json(response.body);
  if (document && document->root().type() == wire::JsonType::kObject) {
    line = line_of(document->root(), response.status);
    problem = document->root().minified();
    return;
  }
  // Not ours: a proxy, or another server on this port.
  line = fmt::format("HTTP {}: {} (not a problem document; is this a Reprise server?)",
                     response.status, wire::reason_phrase(response.status));
  problem = fmt::format(R"({{"type":"about:blank","title":{},"status":{}}})",
                        json_string(wire::reason_phrase(response.status)), response.status);
}

Failure Failure::output_closed() { return {}; }

std::unexpected<Failure> usage(std::string detail) {
  return failed(Error{Code::kBadParameter, std::move(detail)});
}

int report(const Failure& failure, bool is_json) {
  if (!failure.line.empty()) note(is_json ? failure.problem : "reprise: " + failure.line);
  return failure.exit_status;
}

Outcome<> print(std::string_view text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!is_written || std::fflush(stdout) != 0) return std::unexpected(Failure::output_closed());
  return {};
}

void note(std::string_view text) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace reprise::server::cli
