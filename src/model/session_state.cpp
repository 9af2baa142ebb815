#include "model/session_state.h"

#include <array>
#include <limits>

#include "base/assert.h"
#include "wire/json.h"

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

std::unexpected<Error> corrupt(std::string_view type, std::string_view why) {
  return fail(Code::kCorrupt, fmt::format("a stored {} event does not decode: {}", type, why));
}

// The data of a server's event, member by member. A member of the wrong kind is remembered as
// damage and read as if it were absent; the caller looks at is_damaged() once, before it changes
// anything.
class EventData {
 public:
  static Result<EventData> parse(std::string_view type, std::string_view data) {
    auto document = wire::parse_json(std::string(data));
    if (!document) return corrupt(type, document.error().detail);
    if (document->root().type() != wire::JsonType::kObject) return corrupt(type, "not an object");
    return EventData(std::move(*document));
  }

  bool is_damaged() const { return is_damaged_; }
  bool has(std::string_view name) const { return document_.root().find(name).has_value(); }
  bool has_null(std::string_view name) const {
    const auto value = document_.root().find(name);
    return value && value->is_null();
  }

  std::optional<std::string> string(std::string_view name) {
    return member(name, [](wire::JsonValue value) { return value.as_string(); });
  }
  std::optional<std::uint64_t> number(std::string_view name) {
    return member(name, [](wire::JsonValue value) { return value.as_uint(); });
  }
  std::optional<std::string> json(std::string_view name, wire::JsonType type) {
    return member(name, [type](wire::JsonValue value) -> std::optional<std::string> {
      if (value.type() != type) return std::nullopt;
      return value.minified();
    });
  }
  std::optional<Status> status(std::string_view name) {
    return member(name, [](wire::JsonValue value) -> std::optional<Status> {
      const auto text = value.as_string();
      for (const Status candidate : kStatuses)
        if (text && word(candidate) == *text) return candidate;
      return std::nullopt;
    });
  }
  std::optional<PauseReasons> pause_reasons(std::string_view name) {
    return member(name, [](wire::JsonValue value) -> std::optional<PauseReasons> {
      if (value.type() != wire::JsonType::kArray) return std::nullopt;
      PauseReasons reasons;
      for (const wire::JsonValue element : value.elements()) {
        const auto text = element.as_string();
        const auto reason = text ? parse_pause_reason(*text) : std::nullopt;
        if (!reason) return std::nullopt;
        reasons.insert(*reason);
      }
      return reasons;
    });
  }

 private:
  explicit EventData(wire::JsonDocument document) : document_(std::move(document)) {}

  template <typename Read>
  std::invoke_result_t<Read, wire::JsonValue> member(std::string_view name, Read read) {
    const auto value = document_.root().find(name);
    if (!value) return std::nullopt;
    auto found = read(*value);
    if (!found) is_damaged_ = true;
    return found;
  }

  wire::JsonDocument document_;
  bool is_damaged_ = false;
};

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
  state.status = Status::kActive;
  state.pause_reasons = {};
  state.last_error.clear();
  state.ended_at.reset();
  state.visible_after = {seq.value - 1};
  return {};
}

Result<> apply(SessionState& state, Seq seq, const EntryView& event) {
  if (event.type == event_type::kSessionCreated) return apply_created(state, event);
  if (event.type == event_type::kStatusChange) return apply_status_change(state, event);
  if (event.type == event_type::kSessionUpdated) return apply_updated(state, event);
  if (event.type == event_type::kSessionReset) return apply_reset(state, seq, event);
  return {};  // a server's event whose data other folds read (tool calls, tabs, ...)
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
    REPRISE_CHECK(apply(state, seq, event));
    state.updated_at = event.at;
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
                        .counters = {message_count_after(state, event.type)}};
  const Result<> folded = evolve(state, state.head.next(), entry);
  REPRISE_ASSERT(folded.has_value(), event.type, folded.error().detail);
}

}  // namespace reprise::model
