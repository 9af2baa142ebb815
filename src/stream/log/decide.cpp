#include "stream/log/decide.h"

#include <fmt/format.h>

#include "stream/log/content.h"

namespace reprise::stream {
namespace {

using Kind = AppendOutcome::Kind;

AppendDecision refused(Kind kind, const LogRecord& record, Seq tail) {
  AppendDecision decision;
  decision.outcome = {.kind = kind, .tail = tail, .is_closed = record.is_closed};
  return decision;
}

bool is_the_closing_append(const LogRecord& record, const AppendLog& append) {
  return record.closed_by && append.producer && record.closed_by->id == append.producer->id &&
         record.closed_by->epoch == append.producer->epoch &&
         record.closed_by->seq == append.producer->seq;
}

// What a closed log says.
AppendDecision on_closed(const LogRecord& record, Seq tail,
                         const std::optional<ProducerState>& known, const AppendLog& append) {
  if (is_the_closing_append(record, append)) {
    AppendDecision again = refused(Kind::kDuplicate, record, tail);
    again.outcome.producer = known;
    return again;
  }
  // Closing what is closed changes nothing.
  if (append.body.empty() && append.closes && !append.producer)
    return refused(Kind::kClosed, record, tail);
  if (append.producer && known && append.producer->epoch < known->epoch) {
    AppendDecision stale = refused(Kind::kStaleEpoch, record, tail);
    stale.outcome.producer = known;
    return stale;
  }
  return refused(Kind::kAlreadyClosed, record, tail);
}

// nullopt: the producer may go on.
std::optional<AppendDecision> by_producer(const LogRecord& record, Seq tail,
                                          const std::optional<ProducerState>& known,
                                          const AppendLog& append) {
  if (!append.producer) return std::nullopt;
  const ProducerVerdict verdict = judge(known, *append.producer);
  std::optional<AppendDecision> decision;
  switch (verdict.kind) {
    case ProducerVerdict::Kind::kAccept: return std::nullopt;
    case ProducerVerdict::Kind::kDuplicate:
      decision = refused(Kind::kDuplicate, record, tail);
      break;
    case ProducerVerdict::Kind::kStaleEpoch:
      decision = refused(Kind::kStaleEpoch, record, tail);
      break;
    case ProducerVerdict::Kind::kBadStart: decision = refused(Kind::kBadStart, record, tail); break;
    case ProducerVerdict::Kind::kGap: decision = refused(Kind::kGap, record, tail); break;
  }
  decision->outcome.producer = known;
  decision->outcome.expected_seq = verdict.expected;
  return decision;
}

}  // namespace

Result<AppendDecision> decide_append(LogRecord& record, Seq tail,
                                     const std::optional<ProducerState>& known,
                                     const AppendLog& append) {
  if (record.is_closed) return on_closed(record, tail, known, append);
  std::optional<std::string> entry;
  if (!append.body.empty()) {
    if (!append.content_type)
      return fail(Code::kBadParameter, "an append with a body needs a Content-Type");
    if (!is_same_media_type(*append.content_type, record.content_type))
      return refused(Kind::kWrongType, record, tail);
    REPRISE_TRY(entry, encode_content(record.is_json(), append.body));
    if (!entry) return fail(Code::kBadParameter, "an append of an empty array appends nothing");
  } else if (!append.closes) {
    return fail(Code::kBadParameter, "an append needs a body");
  }
  if (auto decision = by_producer(record, tail, known, append)) return std::move(*decision);
  if (append.writer_seq && record.writer_seq && *append.writer_seq <= *record.writer_seq)
    return refused(Kind::kOldWriterSeq, record, tail);

  AppendDecision decision;
  if (append.producer)
    decision.producer = ProducerState{append.producer->epoch, append.producer->seq};
  if (append.writer_seq) {
    record.writer_seq = append.writer_seq;
    decision.writes_record = true;
  }
  if (append.closes) {
    record.is_closed = true;
    record.closed_by = append.producer;
    decision.writes_record = true;
  }
  decision.outcome = {.kind = entry ? Kind::kAppended : Kind::kClosed,
                      .tail = entry ? tail.next() : tail,
                      .is_closed = record.is_closed,
                      .producer = decision.producer};
  decision.entry = std::move(entry);
  return decision;
}

}  // namespace reprise::stream
