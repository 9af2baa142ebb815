// An audit as lines of JSON, with all that is needed to verify it elsewhere:
//
//     {"audit":"reprise","version":1,"session":"…","entries":2,"head":"<hex>"}
//     {"seq":7,"type":"tool_started","at":"…","data":{…},"by":"…","hash":"<hex>"}
//     {"seq":9,"type":"tool_finished","at":"…","data":{…},"hash":"<hex>"}
//
// The first line is the record's; then each audited entry, an event as clients see it and its hash.
// How a hash is made is said in model/audit.h; `data` goes into it byte by byte as it stands in the
// line.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "model/audit.h"

namespace reprise::model {

void append_export_head(std::string& out, SessionId session, const AuditChain& recorded);
void append_export_line(std::string& out, Seq seq, const EntryView& entry);

// Verifies an export line by line.
//
//     ExportVerifier verifier;
//     for (std::string& line : lines) REPRISE_CHECK(verifier.line(std::move(line)));
//     REPRISE_TRY(AuditReport report, verifier.finish());
class ExportVerifier {
 public:
  // kInvalid for a line that is no line of an export, with its number; such a file says nothing
  // about an audit. Empty lines are left out.
  Result<> line(std::string text);
  Result<AuditReport> finish() const;
  // A hash that was written down elsewhere, earlier: the chain must pass through it. Against a
  // chain that was made anew as a whole. Before the first line.
  void expect(const AuditHash& known) { known_ = known; }

  // What the first line says.
  const AuditChain& recorded() const { return recorded_; }
  const std::string& session() const { return session_; }

 private:
  Result<> head_line(std::string text);
  Result<> entry_line(std::string text);

  std::size_t lines_ = 0;
  bool has_head_ = false;
  std::string session_;
  AuditChain recorded_;
  AuditVerifier verifier_;
  std::optional<AuditHash> known_;
  bool is_known_seen_ = false;
};

}  // namespace reprise::model
