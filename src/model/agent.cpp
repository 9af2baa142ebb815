#include "model/agent.h"

#include <fmt/format.h>

#include <array>

#include "base/bytes.h"
#include "model/text_rules.h"
#include "wire/json.h"

namespace reprise::model {
namespace {

constexpr std::uint8_t kAgentVersion = 1;
constexpr std::array<std::string_view, 2> kAgentStatusWords = {"alive", "lost"};

enum Stage : std::uint8_t { kAlive, kSeeingToSessions, kLost };

void put_time(std::string& out, TimePoint at) {
  put_varint(out, static_cast<std::uint64_t>(at.ms));
}

bool get_time(ByteReader& reader, TimePoint& at) {
  std::uint64_t ms = 0;
  if (!reader.varint(ms)) return false;
  at.ms = static_cast<std::int64_t>(ms);
  return true;
}

Stage stage_of(const Agent& agent) {
  if (!agent.loss) return kAlive;
  return agent.loss->is_done ? kLost : kSeeingToSessions;
}

bool get_loss(ByteReader& reader, std::uint8_t stage, AgentLoss& loss) {
  loss.is_done = stage == kLost;
  if (!get_time(reader, loss.at)) return false;
  if (loss.is_done) return true;
  std::uint8_t is_under_way = 0;
  if (!reader.byte(is_under_way) || is_under_way > 1) return false;
  if (is_under_way == 0) return true;
  std::string_view id;
  if (!reader.take(sizeof(Uuid), id)) return false;
  loss.after = SessionId::from_bytes(id);
  return true;
}

}  // namespace

std::string_view word(AgentStatus status) {
  return kAgentStatusWords[static_cast<std::size_t>(status)];
}

std::optional<AgentStatus> parse_agent_status(std::string_view text) {
  for (std::size_t i = 0; i < kAgentStatusWords.size(); ++i)
    if (kAgentStatusWords[i] == text) return static_cast<AgentStatus>(i);
  return std::nullopt;
}

Result<> check_agent_id(std::string_view id) {
  if (id.empty()) return fail(Code::kBadRequest, "an agent's id is empty");
  if (id.size() > kMaxIdentifierBytes)
    return fail(Code::kBadRequest,
                fmt::format("the agent's id has {} bytes, at most {} are allowed", id.size(),
                            kMaxIdentifierBytes));
  if (!wire::is_utf8(id) || has_control_character(id))
    return fail(Code::kBadRequest, "an agent's id must be UTF-8 without control characters");
  return {};
}

std::string_view app_of_agent(std::string_view id) {
  const std::size_t colon = id.find(':');
  return colon == std::string_view::npos ? kDefaultApp : id.substr(0, colon);
}

std::string encode_agent(const Agent& agent) {
  std::string out;
  out.push_back(static_cast<char>(kAgentVersion));
  put_varint(out, agent.generation.value);
  put_varint(out, agent.heartbeat_seconds);
  put_time(out, agent.registered_at);
  out.push_back(static_cast<char>(stage_of(agent)));
  if (!agent.loss) return out;
  put_time(out, agent.loss->at);
  if (agent.loss->is_done) return out;
  out.push_back(agent.loss->after ? '\1' : '\0');
  if (agent.loss->after) out += agent.loss->after->view();
  return out;
}

Result<Agent> decode_agent(std::string_view bytes) {
  ByteReader reader(bytes);
  std::uint8_t version = 0;
  if (!reader.byte(version)) return fail(Code::kCorrupt, "a stored agent is empty");
  if (version != kAgentVersion)
    return fail(Code::kCorrupt, fmt::format("a stored agent has the unknown version {}", version));
  Agent agent;
  std::uint8_t stage = 0;
  bool is_sound = reader.varint(agent.generation.value) && reader.varint(agent.heartbeat_seconds) &&
                  get_time(reader, agent.registered_at) && reader.byte(stage) && stage <= kLost;
  is_sound =
      is_sound && agent.heartbeat_seconds > 0 && agent.heartbeat_seconds <= kMaxHeartbeatSeconds;
  if (is_sound && stage != kAlive) is_sound = get_loss(reader, stage, agent.loss.emplace());
  if (!is_sound || !reader.at_end()) return fail(Code::kCorrupt, "a stored agent is damaged");
  return agent;
}

std::optional<Command> on_agent_lost(const SessionState& state, std::string_view agent) {
  if (is_terminal(state.status) || state.owner_agent != agent) return std::nullopt;
  std::string reason = fmt::format("the agent '{}' fell silent", agent);
  switch (state.on_worker_lost) {
    case OnWorkerLost::kPause:
      return Pause{.pause_reason = PauseReason::kWorkerLost, .reason = std::move(reason)};
    case OnWorkerLost::kFail:
      return Move{.to = Status::kFailed,
                  .pause_reason = std::nullopt,
                  .reason = std::move(reason),
                  .error = std::string(word(PauseReason::kWorkerLost)),
                  .expected_status = std::nullopt};
    case OnWorkerLost::kKeep: break;
  }
  return std::nullopt;
}

}  // namespace reprise::model
