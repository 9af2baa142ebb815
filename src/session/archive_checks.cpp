// What a state must be for the server to take it from outside; see session/archive_history.h.
#include <fmt/format.h>

#include "model/decide.h"
#include "model/limits.h"
#include "session/archive_history.h"

namespace reprise::session {
namespace {

using model::SessionState;

std::unexpected<Error> bad(std::string detail) {
  return fail(Code::kBadArchive, std::move(detail));
}

// As if somebody had asked for such a session.
Result<> check_texts(const SessionState& state) {
  const model::Create create{.id = state.id,
                             .app = state.app,
                             .name = state.name,
                             .graph_id = state.graph_id,
                             .owner_agent = state.owner_agent,
                             .status = model::Status::kActive,
                             .ttl_seconds = state.ttl_seconds,
                             .max_lifetime_seconds = state.max_lifetime_seconds,
                             .metadata = state.metadata,
                             .steps = state.steps,
                             .on_worker_lost = state.on_worker_lost};
  if (const auto created = model::decide(nullptr, model::Command(create), state.created_at);
      !created)
    return bad(fmt::format("the session's record: {}", created.error().detail));
  if (state.last_error.size() > model::kMaxReasonBytes)
    return bad(fmt::format("lastError has {} bytes, at most {} are allowed",
                           state.last_error.size(), model::kMaxReasonBytes));
  return {};
}

// A question keeps a living session paused, and nothing else does for that reason.
Result<> check_questions(const SessionState& state) {
  const bool is_waiting = state.pause_reasons.contains(model::PauseReason::kInput);
  if (is_waiting == state.interactions.empty() ||
      (is_waiting && state.status != model::Status::kPaused))
    return bad("the session waits for answers that do not fit its open questions");
  return {};
}

// What a command would make of it.
Result<SessionState> after(SessionState state, const model::Command& command, TimePoint now) {
  const auto events = model::decide(&state, command, now);
  if (!events) return bad(fmt::format("the session cannot go on: {}", events.error().detail));
  if (events->empty()) return bad("the session cannot go on");
  for (const model::Event& event : *events) {
    const bool is_reset = event.type == model::event_type::kSessionReset;
    const model::EntryView entry{.type = event.type,
                                 .at = event.at,
                                 .data = event.data,
                                 .by = event.by,
                                 .counters = {is_reset ? 0 : state.message_count},
                                 .extra = {}};
    if (auto folded = model::evolve(state, state.head.next(), entry); !folded)
      return bad(fmt::format("the session cannot go on: {}", folded.error().detail));
  }
  return state;
}

Result<> check_goes_on(const SessionState& state) {
  const TimePoint now = state.last_activity_at;
  if (state.status != model::Status::kCleanup)
    REPRISE_CHECK(after(state, model::Command(model::Reset{}), now));
  if (model::is_living(state.status))
    REPRISE_CHECK(after(state, model::Command(model::Close{}), now));
  // Each due time makes the next one possible: at most one for each question, and the expiry.
  SessionState later = state;
  for (std::size_t i = 0; later.due_at(); ++i) {
    if (i > model::kMaxOpenInteractions + 1) return bad("the session expires without end");
    REPRISE_TRY(later, after(later, model::Command(model::Expire{}), *later.due_at()));
  }
  return {};
}

}  // namespace

Result<> check_importable(const SessionState& state) {
  REPRISE_CHECK(check_texts(state));
  REPRISE_CHECK(check_questions(state));
  const auto stored = model::decode_state(model::encode_state(state));
  if (!stored || *stored != state) return bad("the session's record cannot be stored");
  return check_goes_on(state);
}

}  // namespace reprise::session
