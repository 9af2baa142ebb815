#include "model/agent.h"

#include <gtest/gtest.h>

#include "model/testing.h"

namespace reprise::model {
namespace {

SessionState owned(OnWorkerLost policy, std::string owner = "w") {
  Create create = create_command();
  create.status = Status::kActive;
  create.owner_agent = std::move(owner);
  create.on_worker_lost = policy;
  SessionState state;
  for (const Event& event : *decide(nullptr, create, kStart)) evolve(state, event);
  return state;
}

// The session after its worker was lost, and again, as when a crash makes the server do it twice.
SessionState after_loss(SessionState state, std::string_view agent = "w") {
  for (int times = 0; times < 2; ++times) {
    const auto command = on_agent_lost(state, agent);
    if (!command) return state;
    const auto events = decide(&state, *command, kStart);
    EXPECT_TRUE(events);
    if (times == 1) EXPECT_TRUE(events->empty());
    for (const Event& event : *events) evolve(state, event);
  }
  return state;
}

TEST(Agent, IsEncodedInOneWayInEveryStage) {
  const SessionId id = *SessionId::parse("0190a6b2-0000-7000-8000-000000000001");
  Agent agent{.generation = {7}, .heartbeat_seconds = 3'600, .registered_at = kStart, .loss = {}};
  std::vector<Agent> stages = {agent};
  for (const AgentLoss& loss : {AgentLoss{.at = kStart, .is_done = false, .after = {}},
                                AgentLoss{.at = kStart, .is_done = false, .after = id},
                                AgentLoss{.at = kStart, .is_done = true, .after = {}}}) {
    agent.loss = loss;
    stages.push_back(agent);
  }
  for (const Agent& stage : stages) {
    const std::string bytes = encode_agent(stage);
    EXPECT_EQ(*decode_agent(bytes), stage);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_EQ(decode_agent(bytes.substr(0, size)).error().code, Code::kCorrupt);
    EXPECT_EQ(decode_agent(bytes + "x").error().code, Code::kCorrupt);
  }
}

TEST(Agent, ALeaseIsCurrentUntilTheNextGenerationAndTheLoss) {
  Agent agent{.generation = {7}, .heartbeat_seconds = 15, .registered_at = {}, .loss = {}};
  EXPECT_TRUE(agent.is_current({7}));
  EXPECT_FALSE(agent.is_current({6}));
  EXPECT_FALSE(agent.is_current({8}));
  agent.loss = AgentLoss{.at = kStart, .is_done = false, .after = {}};
  EXPECT_FALSE(agent.is_current({7}));
}

TEST(Agent, IsLostAfterThreeBeats) {
  Agent agent;
  EXPECT_EQ(agent.heartbeat_seconds, kDefaultHeartbeatSeconds);
  EXPECT_EQ(agent.patience(), std::chrono::seconds(15 * kMissedBeatsUntilLost));
  agent.heartbeat_seconds = 1;
  EXPECT_EQ(agent.patience(), std::chrono::seconds(3));
}

TEST(Agent, HasAnIdLikeASessionsKey) {
  EXPECT_TRUE(check_agent_id(std::string(kMaxIdentifierBytes, 'a')));
  EXPECT_TRUE(check_agent_id("shop:w/1 ü"));
  for (const std::string& id : {std::string(), std::string(kMaxIdentifierBytes + 1, 'a'),
                                std::string("a\0b", 3), std::string("a\n"), std::string("\xff")})
    EXPECT_EQ(check_agent_id(id).error().code, Code::kBadRequest) << id;
  EXPECT_EQ(app_of_agent("shop:w:1"), "shop");
  EXPECT_EQ(app_of_agent("w"), kDefaultApp);
}

TEST(Agent, ItsLossPausesFailsOrKeepsASession) {
  const SessionState paused = after_loss(owned(OnWorkerLost::kPause));
  EXPECT_EQ(paused.status, Status::kPaused);
  EXPECT_TRUE(paused.pause_reasons.contains(PauseReason::kWorkerLost));
  const SessionState failed = after_loss(owned(OnWorkerLost::kFail));
  EXPECT_EQ(failed.status, Status::kFailed);
  EXPECT_EQ(failed.last_error, "workerLost");
  EXPECT_EQ(after_loss(owned(OnWorkerLost::kKeep)), owned(OnWorkerLost::kKeep));
}

TEST(Agent, ItsLossAddsToOtherReasonsAndLeavesOthersSessionsAndEndedOnesAlone) {
  SessionState state = owned(OnWorkerLost::kPause);
  for (const Event& event : *decide(&state, Pause{}, kStart)) evolve(state, event);
  const SessionState paused = after_loss(state);
  EXPECT_TRUE(paused.pause_reasons.contains(PauseReason::kOperator));
  EXPECT_TRUE(paused.pause_reasons.contains(PauseReason::kWorkerLost));
  EXPECT_FALSE(on_agent_lost(owned(OnWorkerLost::kPause, "other"), "w"));
  for (const Event& event : *decide(&state, Close{}, kStart)) evolve(state, event);
  EXPECT_FALSE(on_agent_lost(state, "w"));
}

TEST(Agent, HeartbeatsHaveALimit) {
  Agent agent;
  agent.heartbeat_seconds = kMaxHeartbeatSeconds;
  EXPECT_TRUE(decode_agent(encode_agent(agent)));
  agent.heartbeat_seconds = kMaxHeartbeatSeconds + 1;
  EXPECT_FALSE(decode_agent(encode_agent(agent)));
}

}  // namespace
}  // namespace reprise::model
