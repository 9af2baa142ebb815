#include "session/inputs.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "model/event.h"
#include "wire/json.h"

namespace reprise::session {
namespace {

void count(std::atomic<std::uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

// One entry of a stream.
class OneEntry final : public store::EntryVisitor {
 public:
  bool visit(Seq seq, std::string_view entry) override {
    at = seq;
    bytes = entry;
    return false;
  }
  Seq at;
  std::string bytes;
};

std::unexpected<Error> not_found(model::InputId id) {
  return fail(Code::kInputNotFound, fmt::format("there is no input {}", id.to_string()));
}

}  // namespace

rt::Task<Result<std::string>> Inputs::entry(StreamId stream, Seq seq) {
  OneEntry one;
  REPRISE_CO_CHECK(co_await service_.store_here().read(
      {.stream = stream, .after = Seq{seq.value - 1}, .limit = 1}, one));
  if (one.at != seq)
    co_return fail(Code::kCorrupt, fmt::format("event {} of an input is missing", seq.value));
  co_return std::move(one.bytes);
}

rt::Task<Result<ActorAnswer>> Inputs::call(SessionRef session, model::Command command,
                                           WriteTerms terms) {
  return service_.call(std::move(session), {.action = std::move(command),
                                            .claim = std::move(terms.claim),
                                            .lease = terms.lease,
                                            .wants_view = false});
}

// Which input was queued by one of these events.
rt::Task<Result<model::InputId>> Inputs::queued_among(StreamId stream, Seq first, Seq last) {
  for (Seq seq = first; seq <= last; seq = seq.next()) {
    REPRISE_CO_TRY(const std::string bytes, co_await entry(stream, seq));
    REPRISE_CO_TRY(const model::EntryView event, model::decode_entry(bytes));
    if (event.type != model::event_type::kInputQueued) continue;
    REPRISE_CO_TRY(const auto data, wire::parse_json(std::string(event.data)));
    const auto text = data.root().find("id");
    if (const auto id = model::InputId::parse(text ? text->as_string().value_or("") : ""))
      co_return *id;
  }
  co_return fail(Code::kCorrupt, "a remembered call has queued no input");
}

rt::Task<Result<model::InputId>> Inputs::submit(SessionRef session, model::SubmitInput submit,
                                                WriteTerms terms) {
  REPRISE_CO_TRY(const SessionView view, co_await service_.get(std::move(session)));
  const auto id = model::InputId::make(service_.clock().now(), service_.random());
  const bool is_rollback = submit.when_busy == model::WhenBusy::kRollback;
  submit.id = id;
  const auto answer =
      co_await call(view.state.id, model::Command(std::move(submit)), std::move(terms));
  if (!answer) {
    if (answer.error().code == Code::kSessionBusy) count(probe_.rejected);
    if (answer.error().code == Code::kTooManyRequests) count(probe_.refused);
    co_return fail(answer.error());
  }
  const Answer& told = **answer;
  if (!told.remembered.empty()) co_return co_await queued_among(view.stream, told.first, told.last);
  count(probe_.submitted);
  // The end of another, the new one, and its start: nothing else makes more than two events.
  if (told.last.value - told.first.value >= 2)
    count(is_rollback ? probe_.rolled_back : probe_.interrupted);
  co_return id;
}

rt::Task<Result<>> Inputs::finish(SessionRef session, model::FinishInput finish, WriteTerms terms) {
  REPRISE_CO_TRY(
      const auto answer,
      co_await call(std::move(session), model::Command(std::move(finish)), std::move(terms)));
  if (answer->remembered.empty()) count(probe_.finished);
  co_return Result<>{};
}

rt::Task<Result<>> Inputs::cancel(SessionRef session, model::CancelInput cancel, WriteTerms terms) {
  REPRISE_CO_CHECK(
      co_await call(std::move(session), model::Command(std::move(cancel)), std::move(terms)));
  count(probe_.cancelled);
  co_return Result<>{};
}

rt::Task<Result<InputView>> Inputs::read(StreamId stream, InputRecord record) {
  InputView view{.record = record};
  REPRISE_CO_TRY(const std::string queued_bytes, co_await entry(stream, record.queued));
  REPRISE_CO_TRY(const model::EntryView queued, model::decode_entry(queued_bytes));
  REPRISE_CO_TRY(const auto told, wire::parse_json(std::string(queued.data)));
  view.queued_at = queued.at;
  view.queued_by = queued.by;
  if (const auto data = told.root().find("data")) view.data = data->minified();
  if (const auto policy = told.root().find("whenBusy"))
    view.when_busy = policy->as_string().value_or("");
  if (record.started.value != 0) {
    REPRISE_CO_TRY(const std::string bytes, co_await entry(stream, record.started));
    REPRISE_CO_TRY(const model::EntryView started, model::decode_entry(bytes));
    view.started_at = started.at;
  }
  if (record.finished.value != 0) {
    REPRISE_CO_TRY(const std::string bytes, co_await entry(stream, record.finished));
    REPRISE_CO_TRY(const model::EntryView finished, model::decode_entry(bytes));
    REPRISE_CO_TRY(view.end, model::decode_input_finished(finished.data));
    view.finished_at = finished.at;
    view.finished_by = finished.by;
  }
  co_return view;
}

rt::Task<Result<std::optional<InputRecord>>> Inputs::record_of(StreamId stream, model::InputId id) {
  const std::string key = input_key(stream, id);
  REPRISE_CO_TRY(const auto found, co_await service_.store_here().get(key));
  if (!found) co_return std::nullopt;
  co_return decode_input(key, found->value);
}

rt::Task<Result<InputView>> Inputs::get(SessionRef session, model::InputId id) {
  REPRISE_CO_TRY(const SessionView view, co_await service_.get(std::move(session)));
  REPRISE_CO_TRY(const auto record, co_await record_of(view.stream, id));
  // A reset hides what was before it.
  if (!record || record->queued <= view.state.visible_after) co_return not_found(id);
  co_return co_await read(view.stream, *record);
}

rt::Task<Result<std::optional<InputView>>> Inputs::active(SessionRef session) {
  REPRISE_CO_TRY(const SessionView view, co_await service_.get(std::move(session)));
  if (model::is_terminal(view.state.status))
    co_return fail(Code::kSessionEnded,
                   fmt::format("the session is {}", model::word(view.state.status)));
  const auto& active = view.state.inputs.active;
  if (!active) co_return std::nullopt;
  REPRISE_CO_TRY(const auto record, co_await record_of(view.stream, active->id));
  // The store may know already that it is over, and then whoever watches is about to be told.
  if (!record || record->state != model::InputState::kActive) co_return std::nullopt;
  co_return co_await read(view.stream, *record);
}

rt::Task<Result<InputPage>> Inputs::list(SessionRef session, std::optional<model::InputState> state,
                                         std::optional<model::InputId> after, std::size_t limit) {
  REPRISE_CO_TRY(const SessionView view, co_await service_.get(std::move(session)));
  // What a reset hid is passed over.
  Seq last = view.state.visible_after;
  if (after) {
    REPRISE_CO_TRY(const auto known, co_await record_of(view.stream, *after));
    if (!known) co_return fail(Code::kBadCursor, "the cursor is not one of this list");
    last = std::max(last, known->queued);
  }
  const std::string end = prefix_end(input_order_prefix(view.stream));
  InputPage page;
  std::optional<model::InputId> examined_last;
  for (std::size_t examined = 0;;) {
    REPRISE_CO_TRY(
        const auto rows,
        co_await service_.store_here().scan(
            {.begin = input_order_key(view.stream, last.next()), .end = end, .limit = limit + 1}));
    for (const auto& row : rows.records) {
      if (page.inputs.size() == limit || examined == kMaxExaminedRows) {
        page.next = examined_last;
        co_return page;
      }
      ++examined;
      const auto id = model::InputId::from_bytes(row.value);
      if (!id) co_return fail(Code::kCorrupt, "the order of inputs does not decode");
      REPRISE_CO_TRY(const auto record, co_await record_of(view.stream, *id));
      if (!record) co_return page;  // the session is being swept
      examined_last = *id;
      last = record->queued;
      if (state && record->state != *state) continue;
      REPRISE_CO_TRY(auto one, co_await read(view.stream, *record));
      page.inputs.push_back(std::move(one));
    }
    if (!rows.has_more) co_return page;
    co_await rt::yield(service_.hub_here().loop());
  }
}

}  // namespace reprise::session
