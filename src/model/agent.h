// Agents: registered workers with a heartbeat and a fencing generation. What is stored of one, when
// a lease of its holds, and what its loss means to a session. Pure.
//
// Every registration gives a higher generation than all before, of all agents. A worker shows it
// with its writes (its lease); once the agent was lost, deleted or registered again, that
// generation is stale for good, and a worker that only seemed dead can no longer write.
//
// Stored form of an agent (encode_agent), version 1; its id is in the key:
//
//     byte      1                    the version
//     varint    generation
//     varint    heartbeat_seconds
//     varint    registered_at        milliseconds since 1970
//     byte      stage                0 alive; 1 lost, its sessions are being seen to; 2 lost
//     varint    lost_at              milliseconds since 1970 (only if lost)
//     byte      is_under_way         1 if some sessions have been seen to (only in stage 1)
//     16 bytes  seen_to              the last of them (only if under way)
//
// Heartbeats are not stored: they would cost a synced write each, and after a restart every agent
// gets its full time again anyway.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/decide.h"
#include "model/limits.h"
#include "model/session_state.h"

namespace reprise::model {

enum class AgentStatus : std::uint8_t { kAlive, kLost };
std::string_view word(AgentStatus status);
std::optional<AgentStatus> parse_agent_status(std::string_view text);

// It fell silent. Its sessions are seen to in the order of their ids, after that was stored.
struct AgentLoss {
  TimePoint at;
  bool is_done = false;            // all of its sessions have been seen to
  std::optional<SessionId> after;  // while they are not: the last that was
  friend bool operator==(const AgentLoss&, const AgentLoss&) = default;
};

struct Agent {
  Generation generation;
  std::uint64_t heartbeat_seconds = kDefaultHeartbeatSeconds;
  TimePoint registered_at;
  std::optional<AgentLoss> loss;

  AgentStatus status() const { return loss ? AgentStatus::kLost : AgentStatus::kAlive; }
  // A generation is current while it is the newest one and its agent is not lost.
  bool is_current(Generation shown) const { return !loss && shown == generation; }
  // Silence for so long means that it is lost.
  Millis patience() const {
    return std::chrono::seconds(heartbeat_seconds * kMissedBeatsUntilLost);
  }
  friend bool operator==(const Agent&, const Agent&) = default;
};

// Like a session's key: `app:name`, and a name alone is of the app `default`. kBadRequest for what
// is empty, too long (kMaxIdentifierBytes), not UTF-8 or holds control characters.
Result<> check_agent_id(std::string_view id);
std::string_view app_of_agent(std::string_view id);

std::string encode_agent(const Agent& agent);
// Fails with kCorrupt for bytes that encode_agent cannot have written.
Result<Agent> decode_agent(std::string_view bytes);

// What to do with a session when `agent` was lost, by the session's onWorkerLost; nothing for one
// that has ended or has another owner by now.
std::optional<Command> on_agent_lost(const SessionState& state, std::string_view agent);

}  // namespace reprise::model
