#include "session/tool_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "model/event.h"
#include "session/tool_call_rows.h"

namespace reprise::session {
namespace {

// Shows a stream's entries up to a number to a verifier, or keeps the audited ones.
class AuditVisitor final : public store::EntryVisitor {
 public:
  AuditVisitor(Seq until, model::AuditVerifier* verifier, AuditPage& page)
      : until_(until), verifier_(verifier), page_(page) {}
  bool visit(Seq seq, std::string_view bytes) override {
    if (seq > until_) return false;
    ++examined;
    page_.next_after = seq;
    if (verifier_ != nullptr) {
      verifier_->stored(seq, bytes);
    } else {
      const auto entry = model::decode_entry(bytes);
      if (entry && model::is_audited_type(entry->type))
        page_.entries.push_back({seq, std::string(bytes)});
    }
    return true;
  }
  std::size_t examined = 0;

 private:
  const Seq until_;
  model::AuditVerifier* verifier_;
  AuditPage& page_;
};

store::ReadRequest next_chunk(StreamId stream, Seq after) {
  return {.stream = stream,
          .after = after,
          .limit = kMaxEventPageLimit,
          .max_bytes = kMaxEventPageBytes};
}

}  // namespace

rt::Task<Result<store::StoredEntry>> ToolCalls::entry(StreamId stream, Seq seq) {
  AuditPage page;
  AuditVisitor visitor(seq, nullptr, page);
  REPRISE_CO_CHECK(
      co_await service_.store_here().read(next_chunk(stream, Seq{seq.value - 1}), visitor));
  if (page.entries.empty() || page.entries.front().seq != seq)
    co_return fail(Code::kCorrupt, fmt::format("event {} of a tool call is missing", seq.value));
  co_return std::move(page.entries.front());
}

rt::Task<Result<ToolCallPlace>> ToolCalls::call(SessionId session, StreamId stream,
                                                model::Command command, WriteTerms terms) {
  REPRISE_CO_TRY(const auto answer,
                 co_await service_.call(session, {.action = std::move(command),
                                                  .claim = std::move(terms.claim),
                                                  .lease = terms.lease,
                                                  .wants_view = false}));
  ToolCallPlace place{.id = {}, .seq = answer->first};
  if (answer->remembered.empty()) co_return place;
  // The repetition of a call: the id is the one that was given then.
  REPRISE_CO_TRY(const auto stored, co_await entry(stream, place.seq));
  REPRISE_CO_TRY(const model::EntryView event, model::decode_entry(stored.bytes));
  if (event.type == model::event_type::kToolStarted) {
    REPRISE_CO_TRY(const auto started, model::decode_tool_started(event.data));
    place.id = started.id;
  } else {
    REPRISE_CO_TRY(const auto finished, model::decode_tool_finished(event.data));
    place.id = finished.id;
  }
  co_return place;
}

rt::Task<Result<ToolCallPlace>> ToolCalls::start(SessionRef session, model::StartToolCall call,
                                                 WriteTerms terms) {
  REPRISE_CO_TRY(const SessionView view, co_await service_.get(std::move(session)));
  const auto id = model::ToolCallId::make(service_.clock().now(), service_.random());
  call.id = id;
  REPRISE_CO_TRY(ToolCallPlace place,
                 co_await this->call(view.state.id, view.stream, model::Command(std::move(call)),
                                     std::move(terms)));
  if (place.id == model::ToolCallId{}) {
    place.id = id;
    started_.fetch_add(1, std::memory_order_relaxed);
  }
  co_return place;
}

rt::Task<Result<ToolCallPlace>> ToolCalls::finish(SessionRef session, model::FinishToolCall call,
                                                  WriteTerms terms) {
  REPRISE_CO_TRY(const SessionView view, co_await service_.get(std::move(session)));
  const model::ToolCallId id = call.id;
  auto place = co_await this->call(view.state.id, view.stream, model::Command(std::move(call)),
                                   std::move(terms));
  if (!place && place.error().code == Code::kToolCallFinished) {
    // The state knows open calls only; whether there was one is for the store to say.
    REPRISE_CO_TRY(const auto row,
                   co_await service_.store_here().get(tool_call_id_key(view.stream, id)));
    if (!row)
      co_return fail(Code::kToolCallNotFound,
                     fmt::format("the session has no tool call {}", id.to_string()));
  }
  if (!place) co_return place;
  if (place->id == model::ToolCallId{}) finished_.fetch_add(1, std::memory_order_relaxed);
  place->id = id;
  co_return place;
}

rt::Task<Result<ToolCallPage>> ToolCalls::list(SessionRef session, ToolCallQuery query) {
  REPRISE_CO_TRY(const SessionView view, co_await service_.get(std::move(session)));
  const store::Store& store = service_.store();
  const StreamId stream = view.stream;
  co_return co_await service_.store_here().blocking(
      [&store, stream, &query] { return list_tool_calls(store, stream, query); });
}

rt::Task<Result<AuditVerdict>> ToolCalls::verify(SessionRef session) {
  REPRISE_CO_TRY(const SessionView view, co_await service_.get(std::move(session)));
  model::AuditVerifier verifier;
  AuditPage page;
  for (;;) {
    AuditVisitor visitor(view.state.head, &verifier, page);
    REPRISE_CO_CHECK(
        co_await service_.store_here().read(next_chunk(view.stream, page.next_after), visitor));
    if (visitor.examined == 0 || page.next_after >= view.state.head) break;
    co_await rt::yield(service_.hub_here().loop());
  }
  // Deleted meanwhile: that nothing is left is not that somebody changed it.
  REPRISE_CO_CHECK(co_await service_.get(view.state.id));
  AuditVerdict verdict{.recorded = view.state.audit,
                       .report = verifier.finish(view.state.audit, view.state.head)};
  verified_.fetch_add(1, std::memory_order_relaxed);
  if (!verdict.report.is_valid) {
    invalid_.fetch_add(1, std::memory_order_relaxed);
    log::warning("an audit does not verify",
                 {{"session", view.state.id.to_string()}, {"reason", verdict.report.reason}});
  }
  co_return verdict;
}

rt::Task<Result<AuditPage>> ToolCalls::audit_page(StreamId stream, Seq after, Seq until) {
  AuditPage page;
  page.next_after = after;
  // Long stretches without tool calls make no pages of their own.
  while (page.entries.empty() && page.next_after < until) {
    AuditVisitor visitor(until, nullptr, page);
    REPRISE_CO_CHECK(
        co_await service_.store_here().read(next_chunk(stream, page.next_after), visitor));
    if (visitor.examined == 0) break;
    co_await rt::yield(service_.hub_here().loop());
  }
  co_return page;
}

ToolCallProbe ToolCalls::probe() const {
  return {.started = started_.load(std::memory_order_relaxed),
          .finished = finished_.load(std::memory_order_relaxed),
          .verified = verified_.load(std::memory_order_relaxed),
          .invalid = invalid_.load(std::memory_order_relaxed)};
}

}  // namespace reprise::session
