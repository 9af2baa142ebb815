// The limits of the MCP endpoint, reached and passed.
#include "api/mcp/limits.h"

#include <gtest/gtest.h>

#include "api/mcp/testing.h"

namespace reprise::api {
namespace {

using testing::Asking;
using testing::McpHeaders;
using testing::McpWorld;

const std::string kPing = R"({"jsonrpc":"2.0","id":2,"method":"ping"})";
const std::string kInitialize =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})";
const std::string kCall =
    R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"browser_close",)"
    R"("arguments":{"session":"a"}}})";

TEST(McpLimits, WhenThereIsNoRoomTheSessionThatWasIdleLongestGoesIfItWasIdleForLong) {
  McpWorld world({.server_version = "test", .sessions = {.max_sessions = 2}});
  const std::string first = world.initialize();
  const std::string second = world.initialize();
  Asking& refused = world.post(kInitialize);
  EXPECT_EQ(refused.status(), 429);
  EXPECT_EQ(world.endpoint().session_probe().refused.load(), 1u);
  world.advance(kMcpSessionMayGo - Millis{1});
  world.post(kPing, {{"Mcp-Session-Id", first}});
  EXPECT_EQ(world.post(kInitialize).status(), 429);
  world.advance(Millis{1});
  EXPECT_EQ(world.post(kInitialize).status(), 200);
  EXPECT_EQ(world.post(kPing, {{"Mcp-Session-Id", first}}).status(), 200);
  Asking& gone = world.post(kPing, {{"Mcp-Session-Id", second}});
  EXPECT_EQ(gone.status(), 404);
  EXPECT_NE(gone.text().find("\"reason\":\"expired\""), std::string::npos);
  EXPECT_EQ(world.endpoint().session_probe().open.load(), 2u);
}

TEST(McpLimits, AreThoseOfTheTable) {
  EXPECT_EQ(McpSessions::Options().max_sessions, kMaxMcpSessions);
  EXPECT_EQ(McpSessions::Options().max_remembered, kMaxMcpSessionsRemembered);
  EXPECT_EQ(McpOptions().max_calls_per_loop, kMaxMcpCallsPerLoop);
}

TEST(McpLimits, OnlySoManySessionsThatAreGoneAreRemembered) {
  McpWorld world({.server_version = "test", .sessions = {.max_remembered = 1}});
  const std::string first = world.initialize();
  const std::string second = world.initialize();
  for (const std::string& id : {first, second})
    world.call(wire::Method::kDelete, "/mcp", "", {{"Mcp-Session-Id", id}});
  EXPECT_NE(world.post(kPing, {{"Mcp-Session-Id", first}}).text().find("\"unknown\""),
            std::string::npos);
  EXPECT_NE(world.post(kPing, {{"Mcp-Session-Id", second}}).text().find("\"ended\""),
            std::string::npos);
}

TEST(McpLimits, ASessionHasOnlySoManyCallsAtATime) {
  McpWorld world;
  world.host.holds = true;
  const McpHeaders headers = {{"Mcp-Session-Id", world.initialize()}};
  for (std::size_t i = 0; i < kMaxMcpCallsPerSession; ++i) world.post(kCall, headers);
  EXPECT_EQ(world.host.seen.size(), kMaxMcpCallsPerSession);
  Asking& refused = world.post(kCall, headers);
  EXPECT_EQ(refused.status(), 429);
  EXPECT_TRUE(refused.reply().headers.get("retry-after").has_value());
  EXPECT_FALSE(world.post(kCall).is_answered()) << "others are not held up";
  EXPECT_EQ(world.endpoint().probe().refused.load(), 1u);
  world.release();
  world.host.holds = false;
  EXPECT_EQ(world.post(kCall, headers).status(), 200);
}

TEST(McpLimits, ALoopHasOnlySoManyCallsAtATime) {
  McpWorld world({.server_version = "test", .max_calls_per_loop = 2});
  world.host.holds = true;
  world.post(kCall);
  world.post(kCall);
  EXPECT_EQ(world.post(kCall).status(), 429);
  EXPECT_EQ(world.endpoint().probe().refused.load(), 1u);
  world.release();
  EXPECT_FALSE(world.post(kCall).is_answered());
}

}  // namespace
}  // namespace reprise::api
