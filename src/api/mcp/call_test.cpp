// Calls that take their time: streams, heartbeats, progress, and the ways in which they end early.
#include "api/mcp/call.h"

#include <gtest/gtest.h>

#include "api/mcp/testing.h"
#include "wire/sse.h"

namespace reprise::api {
namespace {

using testing::Asking;
using testing::McpHeaders;
using testing::McpWorld;

const std::string kCall =
    R"({"jsonrpc":"2.0","id":"c1","method":"tools/call","params":{"name":"browser_close",)"
    R"("arguments":{"session":"a"}}})";
const std::string kCallWithProgress =
    R"({"jsonrpc":"2.0","id":"c1","method":"tools/call","params":{"name":"browser_close",)"
    R"("arguments":{"session":"a"},"_meta":{"progressToken":"p"}}})";
const std::string kAnswer =
    R"({"jsonrpc":"2.0","id":"c1","result":{"content":[{"type":"text","text":"### Result\ndone"}],)"
    R"("isError":false}})";
const std::string kCancelNotice =
    R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c1"}})";
const McpHeaders kBoth = {{"Accept", "application/json, text/event-stream"}};

std::vector<std::string> events(const std::string& bytes) {
  wire::SseDecoder decoder;
  std::vector<std::string> data;
  for (const auto& event : decoder.feed(bytes)) data.push_back(event.data);
  return data;
}

TEST(McpCall, OneThatEndsSoonIsAnsweredWithJson) {
  McpWorld world;
  world.host.holds = true;
  Asking& asking = world.post(kCall, kBoth);
  EXPECT_FALSE(asking.is_answered());
  world.advance(kMcpPatience - Millis{1});
  EXPECT_FALSE(asking.is_answered());
  world.release();
  ASSERT_TRUE(asking.is_answered());
  EXPECT_EQ(asking.reply().headers.get("content-type"), "application/json");
  EXPECT_EQ(asking.text(), kAnswer);
}

TEST(McpCall, OneThatTakesLongerIsAStreamThatBeats) {
  McpWorld world;
  world.host.holds = true;
  Asking& asking = world.post(kCall, kBoth);
  world.advance(kMcpPatience);
  ASSERT_TRUE(asking.is_answered());
  EXPECT_EQ(asking.reply().headers.get("content-type"), "text/event-stream");
  EXPECT_EQ(asking.text(), ": working\n\n");
  world.advance(Millis{15'000});
  world.advance(Millis{15'000});
  EXPECT_EQ(asking.text(), ": working\n\n: working\n\n: working\n\n");
  world.release();
  EXPECT_TRUE(asking.has_streamed);
  EXPECT_EQ(events(asking.text()), std::vector{kAnswer});
}

TEST(McpCall, ProgressIsToldToWhoAskedForIt) {
  McpWorld world;
  world.host.holds = true;
  Asking& asking = world.post(kCallWithProgress, kBoth);
  world.advance(kMcpPatience);
  world.advance(Millis{15'000});
  world.release();
  const auto told = events(asking.text());
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0], R"({"jsonrpc":"2.0","method":"notifications/progress","params":)"
                     R"({"progressToken":"p","progress":1,"message":"browser_close is running"}})");
  EXPECT_NE(told[1].find("\"progress\":2"), std::string::npos);
  EXPECT_EQ(told[2], kAnswer);
}

TEST(McpCall, AClientThatTakesJsonOnlyGetsBlanksAndThenJson) {
  McpWorld world;
  world.host.holds = true;
  Asking& asking = world.post(kCallWithProgress, {{"Accept", "application/json"}});
  world.advance(kMcpPatience);
  EXPECT_EQ(asking.reply().headers.get("content-type"), "application/json");
  world.advance(Millis{15'000});
  EXPECT_EQ(asking.text(), "  ");
  world.release();
  EXPECT_EQ(asking.text(), "  " + kAnswer);
  EXPECT_TRUE(wire::parse_json(asking.text()).has_value());
}

TEST(McpCall, AClientThatHasGoneCancelsItsCall) {
  McpWorld world;
  world.host.holds = true;
  Asking& asking = world.post(kCall, kBoth);
  world.advance(kMcpPatience);
  world.vanish(asking);
  EXPECT_TRUE(asking.has_streamed);
  EXPECT_EQ(world.host.cancelled, 1);
  EXPECT_EQ(events(asking.text()), std::vector<std::string>{});
  EXPECT_EQ(world.endpoint().probe().cancelled.load(), 1u);
  EXPECT_EQ(world.endpoint().probe().running.load(), 0u);
}

TEST(McpCall, ANotificationCancelsACallAndThenThereIsNoAnswer) {
  McpWorld world;
  world.host.holds = true;
  McpHeaders headers = kBoth;
  headers.emplace_back("Mcp-Session-Id", world.initialize());
  // Soon, and late.
  for (const bool is_late : {false, true}) {
    Asking& asking = world.post(kCall, headers);
    if (is_late) world.advance(kMcpPatience);
    EXPECT_EQ(world.post(kCancelNotice, headers).status(), 202);
    EXPECT_EQ(world.host.cancelled, is_late ? 2 : 1);
    ASSERT_TRUE(asking.is_answered());
    EXPECT_EQ(asking.reply().headers.get("content-type"), "text/event-stream");
    EXPECT_EQ(events(asking.text()), std::vector<std::string>{});
  }
  // JSON there must be something of.
  headers.front().second = "application/json";
  Asking& asking = world.post(kCall, headers);
  world.post(kCancelNotice, headers);
  EXPECT_EQ(asking.text(),
            R"({"jsonrpc":"2.0","id":"c1","error":{"code":-32800,"message":"cancelled"}})");
}

TEST(McpCall, OnlyTheCallThatIsMeantIsCancelled) {
  McpWorld world;
  world.host.holds = true;
  McpHeaders mine = kBoth;
  mine.emplace_back("Mcp-Session-Id", world.initialize());
  McpHeaders theirs = kBoth;
  theirs.emplace_back("Mcp-Session-Id", world.initialize());
  Asking& asking = world.post(kCall, mine);
  world.post(kCancelNotice, theirs);
  world.post(kCancelNotice);  // of nobody
  for (const char* id : {"\"c2\"", "1", "null", "{}"})
    world.post(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
                   std::string(id) + "}}",
               mine);
  EXPECT_EQ(world.host.cancelled, 0);
  world.release();
  EXPECT_EQ(asking.text(), kAnswer);
  // And what has ended cannot be cancelled any more.
  EXPECT_EQ(world.post(kCancelNotice, mine).status(), 202);
  EXPECT_EQ(world.host.cancelled, 0);
}

TEST(McpCall, AServerThatStopsSaysSoInTheStream) {
  for (const char* accept : {"application/json", "application/json, text/event-stream"}) {
    McpWorld world;
    world.host.holds = true;
    Asking& asking = world.post(kCall, {{"Accept", accept}});
    world.advance(kMcpPatience);
    world.stop_server(asking);
    EXPECT_TRUE(asking.has_streamed);
    EXPECT_EQ(world.host.cancelled, 1);
    EXPECT_NE(asking.text().find(R"({"jsonrpc":"2.0","id":"c1","error":{"code":-32603,)"),
              std::string::npos)
        << asking.text();
  }
}

TEST(McpCall, ALargeAnswerGoesOutAsItIsTaken) {
  McpWorld world;
  world.host.holds = true;
  world.host.answer.images = {{"image/png", std::string(8 * 1024 * 1024, 'A')}};
  Asking& asking = world.post(kCall, kBoth);
  asking.socket.room = 100;
  world.advance(kMcpPatience);
  world.release();
  EXPECT_FALSE(asking.has_streamed);
  while (!asking.has_streamed) {
    ASSERT_TRUE(asking.socket.is_waiting_for_room());
    asking.socket.make_room(1024 * 1024);
    world.run();
  }
  EXPECT_EQ(events(asking.text()).size(), 1u);
  EXPECT_GT(asking.text().size(), 8u * 1024 * 1024);
}

TEST(McpCall, ASessionThatEndsDoesNotEndItsCalls) {
  McpWorld world;
  world.host.holds = true;
  McpHeaders headers = {{"Mcp-Session-Id", world.initialize()}};
  Asking& asking = world.post(kCall, headers);
  EXPECT_EQ(world.call(wire::Method::kDelete, "/mcp", "", headers).status(), 204);
  world.release();
  EXPECT_EQ(asking.text(), kAnswer);
}

TEST(McpCall, ACallKeepsItsSessionFromExpiring) {
  McpWorld world;
  world.host.holds = true;
  McpHeaders headers = kBoth;
  headers.emplace_back("Mcp-Session-Id", world.initialize());
  world.post(kCall, headers);
  world.advance(kMcpPatience);
  world.advance(kMcpSessionIdle);
  const std::string ping = R"({"jsonrpc":"2.0","id":2,"method":"ping"})";
  world.release();
  EXPECT_EQ(world.post(ping, headers).status(), 200);
}

}  // namespace
}  // namespace reprise::api
