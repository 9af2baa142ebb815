// What a session is: the fold of its events.
//
// evolve() is the only way state changes; decide() (model/decide.h) the only way events come about.
// Both are pure: the same history gives the same state, whether folded at once, in parts, or from a
// stored snapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/audit.h"
#include "model/browsing.h"
#include "model/event.h"
#include "model/input.h"
#include "model/interaction.h"
#include "model/status.h"
#include "model/tool_calls.h"

namespace reprise::model {

// What happens to a session whose worker falls silent.
enum class OnWorkerLost : std::uint8_t { kPause, kFail, kKeep };
std::string_view word(OnWorkerLost policy);
std::optional<OnWorkerLost> parse_on_worker_lost(std::string_view text);

// A session's name: `app:name`. The name may hold further colons.
struct SessionKey {
  std::string app;
  std::string name;
  friend bool operator==(const SessionKey&, const SessionKey&) = default;
  std::string to_string() const { return app + ':' + name; }
};
inline constexpr std::string_view kDefaultApp = "default";
// Splits at the first colon; without one, the app is `default`. Empty app or name, control
// characters, invalid UTF-8 or more than kMaxAppBytes / kMaxNameBytes: kBadKey.
Result<SessionKey> parse_session_key(std::string_view text);
Result<> check_app(std::string_view app);
Result<> check_name(std::string_view name);

struct SessionState {
  SessionId id;
  std::string app;
  std::string name;  // empty: the session has no key
  std::string graph_id;
  std::string owner_agent;  // empty: none
  Status status = Status::kInitializing;
  PauseReasons pause_reasons;
  TimePoint created_at;
  TimePoint updated_at;        // the last change of the record (not of the counters)
  TimePoint last_activity_at;  // the last event, or a later touch
  std::optional<TimePoint> ended_at;
  std::optional<std::uint64_t> ttl_seconds;           // idle time
  std::optional<std::uint64_t> max_lifetime_seconds;  // absolute
  OnWorkerLost on_worker_lost = OnWorkerLost::kPause;
  std::uint64_t message_count = 0;
  std::string last_error;                     // empty: none
  std::string metadata = "{}";                // minified JSON object
  std::string steps;                          // minified JSON array, or empty: none
  Seq head;                                   // the last event folded
  Seq visible_after;                          // readers see what follows; moved by reset
  std::vector<OpenInteraction> interactions;  // open ones, in the order in which they were asked
  AuditChain audit;                           // over the whole history, what a reset hides included
  std::vector<OpenToolCall> open_tool_calls;  // in the order of their start
  InputQueue inputs;                          // what the session works on, and what waits
  std::optional<TabId> active_tab;            // of its browser
  std::vector<std::string> pools;             // that its browsers were of, the latest last

  bool has_key() const { return !name.empty(); }
  SessionKey key() const { return {app, name}; }
  // The earlier of the two clocks; none for a session without either and for one that has ended.
  std::optional<TimePoint> expires_at() const;
  bool is_expired(TimePoint now) const;
  // When something happens by itself: the session expires, or a question's deadline passes.
  std::optional<TimePoint> due_at() const;
  bool is_due(TimePoint now) const;
  friend bool operator==(const SessionState&, const SessionState&) = default;
};

// Folds one event in. Fails with kCorrupt where the event cannot follow the state (a gap, or server
// events whose data does not decode): only damaged storage can cause that.
Result<> evolve(SessionState& state, Seq seq, const EntryView& event);
// The same for an event just decided, before it is stored; it cannot fail.
void evolve(SessionState& state, const Event& event);

// The stored snapshot: a version byte, then all members. decode_state fails with kCorrupt on
// anything else.
std::string encode_state(const SessionState& state);
Result<SessionState> decode_state(std::string_view bytes);

}  // namespace reprise::model
