#include "model/audit_export.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "wire/json.h"

namespace reprise::model {
namespace {

constexpr std::string_view kFormat = "reprise";
constexpr std::uint64_t kVersion = 1;

std::optional<std::string> text_of(wire::JsonValue object, std::string_view name) {
  const auto member = object.find(name);
  return member ? member->as_string() : std::nullopt;
}

std::optional<std::uint64_t> number_of(wire::JsonValue object, std::string_view name) {
  const auto member = object.find(name);
  return member ? member->as_uint() : std::nullopt;
}

}  // namespace

void append_export_head(std::string& out, SessionId session, const AuditChain& recorded) {
  out +=
      fmt::format(R"({{"audit":"{}","version":{},"session":"{}","entries":{},"head":"{}"}})",
                  kFormat, kVersion, session.to_string(), recorded.entries, to_hex(recorded.head));
  out += '\n';
}

void append_export_line(std::string& out, Seq seq, const EntryView& entry) {
  append_event_json(out, seq, entry);
  out.pop_back();
  const auto hash = hash_in_extra(entry.extra);
  out += fmt::format(",\"hash\":\"{}\"}}\n", hash ? to_hex(*hash) : std::string());
}

Result<> ExportVerifier::line(std::string text) {
  ++lines_;
  if (text.find_first_not_of(" \t\r") == std::string::npos) return {};
  return has_head_ ? entry_line(std::move(text)) : head_line(std::move(text));
}

Result<> ExportVerifier::head_line(std::string text) {
  const auto document = wire::parse_json(std::move(text));
  if (!document) return fail(Code::kInvalid, "the first line is not that of an audit's export");
  const wire::JsonValue root = document->root();
  const auto version = number_of(root, "version");
  const auto entries = number_of(root, "entries");
  const auto head_text = text_of(root, "head");
  const auto head = head_text ? parse_audit_hash(*head_text) : std::nullopt;
  if (text_of(root, "audit") != kFormat || !version || !entries || !head)
    return fail(Code::kInvalid, "the first line is not that of an audit's export");
  if (*version != kVersion)
    return fail(Code::kInvalid,
                fmt::format("the export's version is {}, not {}", *version, kVersion));
  recorded_ = {.entries = *entries, .head = *head};
  session_ = text_of(root, "session").value_or("");
  has_head_ = true;
  return {};
}

Result<> ExportVerifier::entry_line(std::string text) {
  const auto document = wire::parse_json(std::move(text));
  if (!document)
    return fail(Code::kInvalid, fmt::format("line {}: {}", lines_, document.error().detail));
  const wire::JsonValue root = document->root();
  const auto seq = number_of(root, "seq");
  const auto type = text_of(root, "type");
  const auto at_text = text_of(root, "at");
  const auto data = root.find("data");
  if (!seq || !type || !at_text || !data)
    return fail(Code::kInvalid, fmt::format("line {} is no entry of an audit", lines_));
  const auto at = parse_time(*at_text);
  if (!at) return fail(Code::kInvalid, fmt::format("line {}: 'at' is no time", lines_));
  const std::string by = text_of(root, "by").value_or("");
  const std::string content(data->raw());
  const auto hash_text = text_of(root, "hash");
  const EntryView entry{
      .type = *type, .at = *at, .data = content, .by = by, .counters = {}, .extra = {}};
  // Entries in another order have other hashes before them, so only the hashes decide.
  verifier_.audited(Seq{*seq}, entry, hash_text ? parse_audit_hash(*hash_text) : std::nullopt);
  is_known_seen_ = is_known_seen_ || verifier_.chain().head == known_;
  return {};
}

Result<AuditReport> ExportVerifier::finish() const {
  if (!has_head_) return fail(Code::kInvalid, "the file is empty");
  AuditReport report = verifier_.finish(recorded_);
  if (report.is_valid && known_ && !is_known_seen_)
    report = {.is_valid = false,
              .first_bad = std::nullopt,
              .reason = "the chain does not pass through the hash that was known before"};
  return report;
}

}  // namespace reprise::model
