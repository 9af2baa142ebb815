#include "model/session_state.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/assert.h"
#include "model/event_data.h"
#include "model/interaction.h"

namespace reprise::model {
namespace {

constexpr std::array<std::string_view, 3> kOnWorkerLostWords = {"pause", "fail", "keep"};

// Later than any event if the sum does not fit: damaged numbers must not wrap around into the past.
TimePoint plus_seconds(TimePoint at, std::uint64_t seconds) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  std::int64_t sum = 0;
  if (seconds > static_cast<std::uint64_t>(kMax / 1000)) return {kMax};
  if (__builtin_add_overflow(at.ms, static_cast<std::int64_t>(seconds) * 1000, &sum)) return {kMax};
  return {sum};
}

Result<> apply_created(SessionState& state, const EntryView& event) {
  REPRISE_TRY(EventData data, EventData::parse(event.type, event.data));
  const auto id_text = data.string("id");
  const auto id = id_text ? SessionId::parse(*id_text) : std::nullopt;
  auto app = data.string("app");
  auto graph_id = data.string("graphId");
  const auto status = data.status("status");
  auto metadata = data.json("metadata", wire::JsonType::kObject);
  const auto policy_text = data.string("onWorkerLost");
  const auto policy = policy_text ? parse_on_worker_lost(*policy_text) : std::nullopt;
  SessionState made;
  made.name = data.string("name").value_or("");
  made.owner_agent = data.string("ownerAgent").value_or("");
  made.ttl_seconds = data.number("ttlSeconds");
  made.max_lifetime_seconds = data.number("maxLifetimeSeconds");
  made.steps = data.json("steps", wire::JsonType::kArray).value_or("");
  if (data.is_damaged() || !id || !app || !graph_id || !status || !metadata || !policy)
    return corrupt(event.type, "a member is missing or of the wrong kind");
  if (*status != Status::kInitializing && *status != Status::kActive)
    return corrupt(event.type, "no session begins in this status");
  made.id = *id;
  made.app = std::move(*app);
  made.graph_id = std::move(*graph_id);
  made.status = *status;
  made.metadata = std::move(*metadata);
  made.on_worker_lost = *policy;
  made.created_at = event.at;
  state = std::move(made);
  return {};
}

Result<> apply_status_change(SessionState& state, const EntryView& event) {
  REPRISE_TRY(EventData data, EventData::parse(event.type, event.data));
  const auto from = data.status("from");
  const auto to = data.status("to");
  const auto reasons = data.pause_reasons("pauseReasons");
  auto reason = data.string("reason");
  auto error = data.string("error");
  if (data.is_damaged() || !from || !to || !reasons)
    return corrupt(event.type, "a member is missing or of the wrong kind");
  const bool is_other_pause = *from == Status::kPaused && *to == Status::kPaused;
  if (*from != state.status || !(may_move(*from, *to) || is_other_pause))
    return corrupt(event.type, fmt::format("{} to {} cannot follow {}", word(*from), word(*to),
                                           word(state.status)));
  if (reasons->empty() == (*to == Status::kPaused))
    return corrupt(event.type, "the pause reasons do not fit the status");
  if (is_terminal(*to) && !state.interactions.empty())
    return corrupt(event.type, "a session ended with a question open");
  if (is_terminal(*to) && state.inputs.is_busy())
    return corrupt(event.type, "a session ended with an input open");
  state.status = *to;
  state.pause_reasons = *reasons;
  if (error)
    state.last_error = std::move(*error);
  else if (*to == Status::kFailed && reason)
    state.last_error = std::move(*reason);
  // CLEANUP follows a status that was terminal already: the session ended then.
  if (is_terminal(*to) && !state.ended_at) state.ended_at = event.at;
  return {};
}

Result<> apply_updated(SessionState& state, const EntryView& event) {
  REPRISE_TRY(EventData data, EventData::parse(event.type, event.data));
  auto metadata = data.json("metadata", wire::JsonType::kObject);
  const bool clears_ttl = data.has_null("ttlSeconds");
  const auto ttl_seconds = clears_ttl ? std::nullopt : data.number("ttlSeconds");
  const bool clears_owner = data.has_null("ownerAgent");
  auto owner_agent = clears_owner ? std::nullopt : data.string("ownerAgent");
  if (data.is_damaged()) return corrupt(event.type, "a member is of the wrong kind");
  if (metadata) state.metadata = std::move(*metadata);
  if (ttl_seconds || clears_ttl) state.ttl_seconds = ttl_seconds;
  if (owner_agent || clears_owner) state.owner_agent = owner_agent ? std::move(*owner_agent) : "";
  return {};
}

Result<> apply_reset(SessionState& state, Seq seq, const EntryView& event) {
  REPRISE_TRY(EventData data, EventData::parse(event.type, event.data));
  const auto from = data.status("from");
  if (data.is_damaged() || !from) return corrupt(event.type, "'from' is missing or no status");
  if (*from != state.status || *from == Status::kCleanup)
    return corrupt(event.type,
                   fmt::format("from {} cannot follow {}", word(*from), word(state.status)));
  if (state.inputs.is_busy()) return corrupt(event.type, "an input is open");
  state.status = Status::kActive;
  state.pause_reasons = {};
  state.last_error.clear();
  state.ended_at.reset();
  state.visible_after = {seq.value - 1};
  state.interactions.clear();
  // What was rolled back is hidden with all the rest.
  state.inputs = {};
  return {};
}

Result<> apply(SessionState& state, Seq seq, const EntryView& event) {
  if (event.type == event_type::kSessionCreated) return apply_created(state, event);
  if (event.type == event_type::kStatusChange) return apply_status_change(state, event);
  if (event.type == event_type::kSessionUpdated) return apply_updated(state, event);
  if (event.type == event_type::kSessionReset) return apply_reset(state, seq, event);
  if (event.type == event_type::kInputRequired) return apply_input_required(state, seq, event);
  if (event.type == event_type::kInputReceived) return apply_input_received(state, event);
  if (is_input_type(event.type)) return apply_input_event(state, seq, event);
  return apply_browser_event(state, event);
}

std::uint64_t message_count_after(const SessionState& state, std::string_view type) {
  if (type == event_type::kMessage) return state.message_count + 1;
  if (type == event_type::kSessionReset) return 0;
  return state.message_count;
}

}  // namespace

std::string_view word(OnWorkerLost policy) {
  return kOnWorkerLostWords[static_cast<std::size_t>(policy)];
}

std::optional<OnWorkerLost> parse_on_worker_lost(std::string_view text) {
  for (std::size_t i = 0; i < kOnWorkerLostWords.size(); ++i)
    if (kOnWorkerLostWords[i] == text) return static_cast<OnWorkerLost>(i);
  return std::nullopt;
}

std::optional<TimePoint> SessionState::expires_at() const {
  if (is_terminal(status)) return std::nullopt;
  std::optional<TimePoint> earliest;
  if (ttl_seconds) earliest = plus_seconds(last_activity_at, *ttl_seconds);
  if (max_lifetime_seconds) {
    const TimePoint end_of_life = plus_seconds(created_at, *max_lifetime_seconds);
    if (!earliest || end_of_life < *earliest) earliest = end_of_life;
  }
  return earliest;
}

bool SessionState::is_expired(TimePoint now) const {
  const auto at = expires_at();
  return at && *at <= now;
}

std::optional<TimePoint> SessionState::due_at() const {
  const auto expiry = expires_at();
  const auto deadline = next_deadline(interactions);
  if (!expiry || !deadline) return expiry ? expiry : deadline;
  return std::min(*expiry, *deadline);
}

bool SessionState::is_due(TimePoint now) const {
  const auto at = due_at();
  return at && *at <= now;
}

Result<> evolve(SessionState& state, Seq seq, const EntryView& event) {
  const bool is_first = event.type == event_type::kSessionCreated;
  if (seq.value == 0 || seq != state.head.next())
    return fail(Code::kCorrupt, fmt::format("event {} follows event {} in a stored session",
                                            seq.value, state.head.value));
  if (is_first != (seq.value == 1))
    return fail(Code::kCorrupt,
                fmt::format("event {} of a stored session is a {}", seq.value, event.type));
  const std::uint64_t message_count = message_count_after(state, event.type);
  if (message_count != event.counters.message_count)
    return fail(Code::kCorrupt,
                fmt::format("event {} of a stored session counts {} messages instead of {}",
                            seq.value, event.counters.message_count, message_count));
  if (is_reserved_type(event.type)) {
    if (is_audited_type(event.type)) {
      REPRISE_CHECK(apply_tool_event(state, seq, event));
    } else {
      REPRISE_CHECK(apply(state, seq, event));
      state.updated_at = event.at;
    }
  }
  state.last_activity_at = event.at;
  state.message_count = message_count;
  state.head = seq;
  return {};
}

void evolve(SessionState& state, const Event& event) {
  const EntryView entry{.type = event.type,
                        .at = event.at,
                        .data = event.data,
                        .by = event.by,
                        .counters = {message_count_after(state, event.type)},
                        .extra = {}};
  const Result<> folded = evolve(state, state.head.next(), entry);
  REPRISE_ASSERT(folded.has_value(), event.type, folded.error().detail);
}

}  // namespace reprise::model
