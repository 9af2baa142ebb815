#include "api/mcp/endpoint.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/mcp/testing.h"
#include "browser/tools/run.h"

namespace reprise::api {
namespace {

using testing::Asking;
using testing::McpHeaders;
using testing::McpWorld;

wire::JsonDocument parsed(std::string text) {
  auto document = wire::parse_json(std::move(text));
  EXPECT_TRUE(document.has_value());
  return std::move(*document);
}

// What stands at a path of names in a JSON text, as it was written.
std::string at(const std::string& json, std::initializer_list<std::string_view> path) {
  const auto document = parsed(json);
  std::optional<wire::JsonValue> value = document.root();
  for (const std::string_view name : path) {
    if (value) value = value->find(name);
  }
  return value ? value->minified() : "nothing";
}

std::string error_code(Asking& asking) { return at(asking.text(), {"error", "code"}); }

std::string request(const std::string& method, const std::string& params = "{}") {
  return R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + '}';
}

std::string tool_call(const std::string& name, const std::string& arguments) {
  return request("tools/call", R"({"name":")" + name + R"(","arguments":)" + arguments + '}');
}

std::string stateless(const std::string& method, const std::string& more = "") {
  return request(method, R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                         R"("io.modelcontextprotocol/clientInfo":{"name":"new","version":"2"},)"
                         R"("io.modelcontextprotocol/clientCapabilities":{}})" +
                             more + '}');
}

McpHeaders stateless_headers(const std::string& method, const std::string& name = "") {
  McpHeaders headers = {{"MCP-Protocol-Version", "2026-07-28"},
                        {"Mcp-Method", method},
                        {"Accept", "application/json, text/event-stream"}};
  if (!name.empty()) headers.emplace_back("Mcp-Name", name);
  return headers;
}

TEST(Mcp, InitializeAgreesOnARevisionAndOpensASession) {
  McpWorld world;
  Asking& asking =
      world.post(request("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{},)"
                                       R"("clientInfo":{"name":"c","version":"1"}})"));
  EXPECT_EQ(asking.status(), 200);
  EXPECT_EQ(asking.reply().headers.get("content-type"), "application/json");
  EXPECT_EQ(asking.reply().headers.get("mcp-session-id")->size(), 43u);
  EXPECT_EQ(at(asking.text(), {"id"}), "1");
  EXPECT_EQ(at(asking.text(), {"result", "protocolVersion"}), "\"2025-11-25\"");
  EXPECT_EQ(at(asking.text(), {"result", "capabilities"}), R"({"tools":{}})");
  EXPECT_EQ(at(asking.text(), {"result", "serverInfo", "version"}), "\"test\"");
  EXPECT_EQ(at(asking.text(), {"result", "resultType"}), "nothing");
  Asking& newer = world.post(request("initialize", R"({"protocolVersion":"2026-07-28"})"));
  EXPECT_EQ(at(newer.text(), {"result", "protocolVersion"}), "\"2025-11-25\"");
  EXPECT_EQ(error_code(world.post(request("initialize", "{}"))), "-32602");
  EXPECT_EQ(world.endpoint().session_probe().open.load(), 2u);
}

TEST(Mcp, ListsWhatCanRunWithASessionInEveryToolThatWorksInOne) {
  McpWorld world;
  Asking& asking = world.post(request("tools/list"));
  const auto document = parsed(asking.text());
  const auto tools = document.root().find("result")->find("tools")->elements();
  ASSERT_EQ(tools.size(),
            static_cast<std::size_t>(std::ranges::count_if(browser::tools(), browser::can_run)));
  for (const auto& tool : tools) {
    const std::string name = *tool.find("name")->as_string();
    const auto properties = tool.find("inputSchema")->find("properties");
    EXPECT_EQ(properties->find("session").has_value(), name != "playwright_session_list") << name;
    const auto hints = tool.find("annotations");
    EXPECT_EQ(hints->find("openWorldHint")->as_bool(), true);
    EXPECT_FALSE(*hints->find("readOnlyHint")->as_bool() &&
                 *hints->find("destructiveHint")->as_bool());
    EXPECT_EQ(hints->find("title")->as_string(), tool.find("title")->as_string());
  }
  EXPECT_EQ(error_code(world.post(request("tools/list", R"({"cursor":"x"})"))), "-32602");
}

TEST(Mcp, AToolIsCalledInTheSessionOfTheTransport) {
  McpWorld world;
  world.host.answer = {
      .text = "hello", .images = {{"image/png", "aGk="}}, .structured = R"({"a":1})"};
  const std::string session = world.initialize();
  Asking& asking = world.post(tool_call("browser_click", R"({"ref":"e1"})"),
                              {{"Mcp-Session-Id", session}}, "anonymous");
  EXPECT_EQ(asking.status(), 200);
  EXPECT_EQ(at(asking.text(), {"result"}),
            R"({"content":[{"type":"text","text":"hello"},)"
            R"({"type":"image","data":"aGk=","mimeType":"image/png"}],)"
            R"("isError":false,"structuredContent":{"a":1}})");
  ASSERT_EQ(world.host.seen.size(), 1u);
  const auto& seen = world.host.seen.front();
  EXPECT_EQ(seen.tool, "browser_click");
  EXPECT_EQ(seen.arguments, R"({"target":"e1"})");
  EXPECT_EQ(seen.caller.session, std::nullopt);
  EXPECT_EQ(seen.caller.transport_session.size(), 36u);
  EXPECT_NE(seen.caller.transport_session, session) << "what may be stored is not the secret";
  EXPECT_EQ(seen.caller.client, "tester 7");
  EXPECT_EQ(seen.caller.principal.name, "anonymous");
}

TEST(Mcp, AToolIsCalledWithoutAnyTransportSession) {
  McpWorld world;
  world.post(tool_call("browser_close", R"({"session":"shop:a"})"));
  world.call(wire::Method::kPost, "/mcp?session=shop%3Ab", tool_call("browser_close", "{}"));
  ASSERT_EQ(world.host.seen.size(), 2u);
  EXPECT_EQ(world.host.seen[0].caller.session, "shop:a");
  EXPECT_EQ(world.host.seen[0].caller.transport_session, "");
  EXPECT_EQ(world.host.seen[1].caller.session, "shop:b");
  EXPECT_EQ(world.call(wire::Method::kPost, "/mcp?sesion=x", request("ping")).status(), 400);
}

TEST(Mcp, WhatAModelGotWrongIsToldToTheModel) {
  McpWorld world;
  Asking& asking = world.post(tool_call("browser_click", R"({"session":"a","buton":1})"));
  EXPECT_EQ(asking.status(), 200);
  EXPECT_EQ(at(asking.text(), {"result", "isError"}), "true");
  EXPECT_NE(asking.text().find("- /buton: is not a known member"), std::string::npos)
      << asking.text();
  EXPECT_EQ(at(asking.text(), {"result", "_meta", "reprise/error"}),
            R"({"code":"invalid","retryable":false})");
  EXPECT_TRUE(world.host.seen.empty());
  EXPECT_EQ(error_code(world.post(tool_call("browser_fly", "{}"))), "-32602");
  EXPECT_EQ(error_code(world.post(request("tools/call", "{}"))), "-32602");
}

TEST(Mcp, AHostThatFailsIsAFailedCallWithItsCode) {
  McpWorld world;
  world.host.error = Error{Code::kSessionNotFound, "there is no session 'x'"};
  world.host.error->retry_after_seconds = 3;
  Asking& asking = world.post(tool_call("browser_close", R"({"session":"x"})"));
  EXPECT_EQ(at(asking.text(), {"result"}),
            R"({"content":[{"type":"text","text":"### Error\nthere is no session 'x'\n)"
            R"(Try again in 3 s."}],"isError":true,)"
            R"("_meta":{"reprise/error":{"code":"session_not_found","retryable":false}}})");
  EXPECT_EQ(world.endpoint().probe().failed.load(), 1u);
}

TEST(Mcp, SinceStatelessResultsSayThatTheyAreCompleteAndWhoAnswers) {
  McpWorld world;
  Asking& discovered =
      world.post(stateless("server/discover"), stateless_headers("server/discover"));
  EXPECT_EQ(discovered.status(), 200);
  EXPECT_EQ(at(discovered.text(), {"result", "supportedVersions"}),
            R"(["2026-07-28","2025-11-25","2025-06-18","2025-03-26"])");
  EXPECT_EQ(at(discovered.text(), {"result", "resultType"}), "\"complete\"");
  Asking& listed = world.post(stateless("tools/list"), stateless_headers("tools/list"));
  EXPECT_EQ(at(listed.text(), {"result", "ttlMs"}), std::to_string(kMcpListFresh.count()));
  EXPECT_EQ(at(listed.text(), {"result", "cacheScope"}), "\"public\"");
  Asking& called =
      world.post(stateless("tools/call", R"(,"name":"browser_close","arguments":{"session":"a"})"),
                 stateless_headers("tools/call", "browser_close"));
  EXPECT_EQ(at(called.text(), {"result", "resultType"}), "\"complete\"");
  EXPECT_EQ(at(called.text(), {"result", "_meta", "io.modelcontextprotocol/serverInfo", "name"}),
            "\"reprise\"");
  EXPECT_EQ(world.host.seen.front().caller.client, "new 2");
  Asking& failed = world.post(stateless("tools/call", R"(,"name":"browser_close")"),
                              stateless_headers("tools/call", "browser_close"));
  EXPECT_EQ(at(failed.text(), {"result", "resultType"}), "\"complete\"");
  EXPECT_EQ(at(failed.text(), {"result", "_meta", "reprise/error", "code"}), "\"invalid\"");
}

TEST(Mcp, SinceStatelessThereIsNoSessionPingOrInitialize) {
  McpWorld world;
  McpHeaders headers = stateless_headers("tools/list");
  headers.emplace_back("Mcp-Session-Id", "whatever");
  EXPECT_EQ(world.post(stateless("tools/list"), headers).status(), 200);
  for (const char* method : {"ping", "initialize", "prompts/list", "toString"}) {
    Asking& asking = world.post(stateless(method), stateless_headers(method));
    EXPECT_EQ(asking.status(), 404) << method;
    EXPECT_EQ(error_code(asking), "-32601") << method;
  }
}

TEST(Mcp, ASubscriptionToNothingBeginsAndEnds) {
  McpWorld world;
  Asking& asking =
      world.post(stateless("subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})"),
                 stateless_headers("subscriptions/listen"));
  EXPECT_EQ(asking.reply().headers.get("content-type"), "text/event-stream");
  EXPECT_EQ(asking.text(),
            "event: message\ndata: "
            R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":)"
            R"({"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{}}})"
            "\n\nevent: message\ndata: "
            R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":)"
            R"({"io.modelcontextprotocol/subscriptionId":1,"io.modelcontextprotocol/serverInfo":)"
            R"({"name":"reprise","title":"Reprise","version":"test"}}}})"
            "\n\n");
  EXPECT_EQ(error_code(world.post(stateless("subscriptions/listen"),
                                  stateless_headers("subscriptions/listen"))),
            "-32602");
}

TEST(Mcp, MalformedMessagesAndUnknownMethodsHaveTheCodesOfJsonRpc) {
  McpWorld world;
  Asking& broken = world.post("{");
  EXPECT_EQ(broken.status(), 400);
  EXPECT_EQ(error_code(broken), "-32700");
  EXPECT_EQ(at(broken.text(), {"id"}), "nothing");
  EXPECT_EQ(world.post("").status(), 400);
  Asking& batch = world.post("[" + request("ping") + "]");
  EXPECT_EQ(batch.status(), 400);
  EXPECT_EQ(error_code(batch), "-32600");
  Asking& unknown = world.post(request("prompts/list"));
  EXPECT_EQ(unknown.status(), 200);
  EXPECT_EQ(error_code(unknown), "-32601");
  EXPECT_EQ(at(world.post(request("ping")).text(), {"result"}), "{}");
  Asking& old = world.post(request("ping"), {{"MCP-Protocol-Version", "2024-11-05"}});
  EXPECT_EQ(old.status(), 400);
  EXPECT_EQ(at(old.text(), {"error", "data", "requested"}), "\"2024-11-05\"");
  EXPECT_EQ(world.post(request("ping"), {{"Content-Type", "text/plain"}}).status(), 415);
  EXPECT_EQ(
      world.post(request("ping"), {{"Content-Type", "application/JSON ; charset=utf-8"}}).status(),
      200);
}

TEST(Mcp, NotificationsAndResponsesAreAcceptedWithoutABody) {
  McpWorld world;
  for (const char* message : {R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
                              R"({"jsonrpc":"2.0","method":"notifications/unheard_of"})",
                              R"({"jsonrpc":"2.0","id":7,"result":{}})"}) {
    Asking& asking = world.post(message);
    EXPECT_EQ(asking.status(), 202) << message;
    EXPECT_EQ(asking.text(), "");
  }
  EXPECT_EQ(
      world
          .post(R"({"jsonrpc":"2.0","id":7,"result":{}})", {{"MCP-Protocol-Version", "2026-07-28"}})
          .status(),
      400);
}

TEST(Mcp, AClientThatTakesEventsOnlyGetsEvents) {
  McpWorld world;
  Asking& asking = world.post(request("ping"), {{"Accept", "text/event-stream"}});
  EXPECT_EQ(asking.reply().headers.get("content-type"), "text/event-stream");
  EXPECT_EQ(asking.text(),
            "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n");
}

TEST(Mcp, AnotherTokenCannotUseASession) {
  McpWorld world;
  const std::string session = world.initialize("2025-11-25", "alice");
  const McpHeaders headers = {{"Mcp-Session-Id", session}};
  EXPECT_EQ(world.post(request("ping"), headers, "alice").status(), 200);
  Asking& foreign = world.post(request("ping"), headers, "bob");
  EXPECT_EQ(foreign.status(), 404);
  EXPECT_EQ(at(foreign.text(), {"error", "data", "reason"}), "\"unknown\"");
}

TEST(Mcp, ASessionThatIsGoneIsSaidToBeSoAndWhy) {
  McpWorld world;
  const std::string ended = world.initialize();
  EXPECT_EQ(world.call(wire::Method::kDelete, "/mcp", "", {{"Mcp-Session-Id", ended}}).status(),
            204);
  const std::string expired = world.initialize();
  world.advance(kMcpSessionIdle);
  for (const auto& [id, reason] : {std::pair(ended, "\"ended\""),
                                   {expired, "\"expired\""},
                                   {std::string("never-was"), "\"unknown\""}}) {
    const McpHeaders headers = {{"Mcp-Session-Id", id}};
    for (const std::string& message :
         {request("ping"), tool_call("browser_close", "{}"), tool_call("browser_click", "{}"),
          std::string(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"),
          std::string(R"({"jsonrpc":"2.0","method":"notifications/cancelled",)"
                      R"("params":{"requestId":1}})")}) {
      Asking& asking = world.post(message, headers);
      EXPECT_EQ(asking.status(), 404) << message;
      EXPECT_EQ(error_code(asking), "-32001");
      EXPECT_EQ(at(asking.text(), {"error", "data", "reason"}), reason) << message;
    }
    EXPECT_EQ(world.call(wire::Method::kDelete, "/mcp", "", headers).status(), 404);
  }
  EXPECT_EQ(world.call(wire::Method::kDelete, "/mcp", "").status(), 400);
  EXPECT_TRUE(world.host.seen.empty());
  EXPECT_EQ(world.endpoint().session_probe().ended.load(), 1u);
  EXPECT_EQ(world.endpoint().session_probe().expired.load(), 1u);
}

TEST(Mcp, ASessionThatIsUsedNowAndThenLivesOn) {
  McpWorld world;
  const McpHeaders headers = {{"Mcp-Session-Id", world.initialize()}};
  for (int i = 0; i < 3; ++i) {
    world.advance(kMcpSessionIdle - Millis{1});
    EXPECT_EQ(world.post(request("ping"), headers).status(), 200);
  }
}

TEST(Mcp, ThereIsNoStreamToListenTo) {
  const McpWorld world;
  EXPECT_EQ(world.router().find(wire::Method::kGet, {"mcp"}).route, nullptr);
  EXPECT_EQ(world.router().allow({"mcp"}), "POST, DELETE, OPTIONS");
}

}  // namespace
}  // namespace reprise::api
