// reprise audit verify | export
#include <fcntl.h>
#include <unistd.h>

#include "base/json_text.h"
#include "model/audit_export.h"
#include "server/cli/call.h"
#include "server/cli/line_reader.h"
#include "server/cli/table.h"

namespace reprise::server::cli {
namespace {

using rt::Task;

// The verdict as the server's `audit/verify` gives it.
Outcome<> print_verdict(wire::JsonValue verdict, bool is_json) {
  const auto valid = verdict.find("valid");
  const bool is_valid = valid && valid->as_bool().value_or(false);
  std::string line;
  if (is_json) {
    line = verdict.minified();
  } else if (is_valid) {
    line = fmt::format("valid: {} entries, head {}", member_text(verdict, "entries"),
                       member_text(verdict, "head"));
  } else {
    const std::string seq = member_text(verdict, "firstBadSeq");
    line = fmt::format("NOT VALID{}: {}", seq.empty() ? "" : " from event " + seq + " on",
                       member_text(verdict, "reason"));
  }
  REPRISE_CHECK(print(printable(line) + "\n"));
  // What there was to say is said; the exit status says the rest.
  if (!is_valid) return std::unexpected(Failure());
  return {};
}

Task<Outcome<>> verify_with(Client& client, std::string session, bool is_json) {
  REPRISE_CO_TRY(const auto response,
                 co_await call(client, {.target = session_target(session, "/audit/verify")}));
  REPRISE_CO_TRY(const auto verdict, body_of(response));
  co_return print_verdict(verdict.root(), is_json);
}

class OpenFile {
 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): open(2) has no other form
  explicit OpenFile(const std::string& name) : descriptor_(::open(name.c_str(), O_RDONLY)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

Result<> read_lines(int descriptor, model::ExportVerifier& verifier) {
  LineReader reader(descriptor);
  while (!reader.is_at_end()) {
    REPRISE_TRY(auto lines, reader.next({}));
    for (std::string& line : lines) REPRISE_CHECK(verifier.line(std::move(line)));
  }
  return {};
}

std::string verdict_json(const model::ExportVerifier& verifier, const model::AuditReport& report) {
  std::string json =
      fmt::format(R"({{"valid":{},"entries":{},"head":"{}","session":{})", report.is_valid,
                  verifier.recorded().entries, model::to_hex(verifier.recorded().head),
                  json_string(verifier.session()));
  if (report.first_bad) json += fmt::format(R"(,"firstBadSeq":{})", report.first_bad->value);
  if (!report.is_valid) json += ",\"reason\":" + json_string(report.reason);
  return json + '}';
}

Outcome<> verify_file(const AuditToVerify& audit, bool is_json) {
  model::ExportVerifier verifier;
  if (!audit.known_hash.empty()) {
    const auto known = model::parse_audit_hash(audit.known_hash);
    if (!known) return usage("--known-hash: a hash has 64 hexadecimal digits");
    verifier.expect(*known);
  }
  const bool is_input = audit.file == "-";
  const OpenFile file(is_input ? "/dev/null" : audit.file);
  if (file.descriptor() < 0) return usage(fmt::format("--file: cannot read '{}'", audit.file));
  if (const auto read = read_lines(is_input ? STDIN_FILENO : file.descriptor(), verifier); !read)
    return failed(read.error());
  const auto report = verifier.finish();
  if (!report) return failed(report.error());
  const auto verdict = wire::parse_json(verdict_json(verifier, *report));
  return print_verdict(verdict->root(), is_json);
}

Task<Outcome<>> export_with(Client& client, std::string session) {
  REPRISE_CO_TRY(const auto response,
                 co_await call(client, {.target = session_target(session, "/audit/export")}));
  co_return print(response.body);
}

}  // namespace

int verify_audit(const ClientOptions& options, const AuditToVerify& audit) {
  if (!audit.file.empty()) return exit_status(verify_file(audit, options.is_json), options.is_json);
  return with_client(
      options, [&](Client& client) { return verify_with(client, audit.session, options.is_json); });
}

int export_audit(const ClientOptions& options, const std::string& session) {
  return with_client(options, [&](Client& client) { return export_with(client, session); });
}

}  // namespace reprise::server::cli
