// ToolCalls: what the API can ask about tool calls and the audit, from any loop.
//
// The calls of a session go through its actor like all that changes it; lists read the rows of
// session/tool_call_rows.h, and the audit reads the stream from its first entry on, also what a
// reset hides from readers.
//
// Threads: each member may be awaited on any of the service's loops.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/audit.h"
#include "model/tool_calls.h"
#include "session/limits.h"
#include "session/service.h"
#include "session/write_terms.h"

namespace reprise::session {

struct ToolCallProbe {
  std::uint64_t started = 0;
  std::uint64_t finished = 0;
  std::uint64_t verified = 0;  // audits looked at
  std::uint64_t invalid = 0;   // of these, not as they were written
};

struct ToolCallPlace {
  model::ToolCallId id;
  Seq seq;  // of the event that the call made
};

struct ToolCallView {
  struct End {
    Seq seq;
    TimePoint at;
    model::ToolFinished told;
    std::string by;
  };
  Seq seq;
  TimePoint at;
  model::ToolStarted told;
  std::string by;
  std::optional<End> end;  // none: open
};

struct ToolCallQuery {
  std::optional<std::string> tool_name;
  std::optional<model::ToolCallStatus> status;
  std::size_t limit = kDefaultToolCallPageLimit;
  std::string cursor;  // the one before's next_cursor; empty: from the first call on
};

struct ToolCallPage {
  std::vector<ToolCallView> calls;  // in the order of their start
  std::string next_cursor;          // empty: that was all
};

// A page of a session's calls; blocks. kBadCursor for a cursor of another list.
Result<ToolCallPage> list_tool_calls(const store::Store& store, StreamId stream,
                                     const ToolCallQuery& query);

struct AuditVerdict {
  model::AuditChain recorded;
  model::AuditReport report;
};

struct AuditPage {
  std::vector<store::StoredEntry> entries;  // audited ones only
  Seq next_after;                           // the last entry looked at
};

class ToolCalls {
 public:
  explicit ToolCalls(SessionService& service) : service_(service) {}

  // Gives the call its id.
  rt::Task<Result<ToolCallPlace>> start(SessionRef session, model::StartToolCall call,
                                        WriteTerms terms = {});
  // kToolCallNotFound for a call that never was, kToolCallFinished for one that is over.
  rt::Task<Result<ToolCallPlace>> finish(SessionRef session, model::FinishToolCall call,
                                         WriteTerms terms = {});
  rt::Task<Result<ToolCallPage>> list(SessionRef session, ToolCallQuery query);

  // Reads the whole stream and follows its chain.
  rt::Task<Result<AuditVerdict>> verify(SessionRef session);
  // The audited entries after `after`, for an export; a page at a time, up to `until`.
  rt::Task<Result<AuditPage>> audit_page(StreamId stream, Seq after, Seq until);

  SessionService& sessions() { return service_; }
  ToolCallProbe probe() const;

 private:
  rt::Task<Result<ToolCallPlace>> call(SessionId session, StreamId stream, model::Command command,
                                       WriteTerms terms);
  rt::Task<Result<store::StoredEntry>> entry(StreamId stream, Seq seq);

  SessionService& service_;
  std::atomic<std::uint64_t> started_{0};
  std::atomic<std::uint64_t> finished_{0};
  std::atomic<std::uint64_t> verified_{0};
  std::atomic<std::uint64_t> invalid_{0};
};

}  // namespace reprise::session
