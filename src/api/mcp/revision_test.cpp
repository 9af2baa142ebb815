#include "api/mcp/revision.h"

#include <gtest/gtest.h>

#include "api/mcp/limits.h"

namespace reprise::api {
namespace {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

// What is spoken, or the code of the refusal.
std::string spoken(const HeaderList& list, const std::string& json) {
  wire::Headers headers;
  for (const auto& [name, value] : list) headers.add(name, value);
  const auto document = wire::parse_json(json);
  EXPECT_TRUE(document.has_value()) << json;
  const auto message = wire::parse_json_rpc(*document);
  EXPECT_TRUE(message.has_value()) << json;
  const auto terms = read_mcp_terms(headers, *message);
  if (terms) return std::string(word(terms->revision)) + ' ' + terms->client;
  EXPECT_EQ(terms.error().status, 400);
  EXPECT_EQ(terms.error().error.id, message->id);
  return std::to_string(terms.error().error.code);
}

std::string request(const std::string& method, const std::string& params) {
  return R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + '}';
}

std::string with_meta(const std::string& version, const std::string& more = "") {
  return R"({"_meta":{"io.modelcontextprotocol/protocolVersion":")" + version +
         R"(","io.modelcontextprotocol/clientCapabilities":{}})" + more + '}';
}

HeaderList stateless(const std::string& method, const std::string& name = "") {
  HeaderList headers = {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", method}};
  if (!name.empty()) headers.emplace_back("Mcp-Name", name);
  return headers;
}

TEST(McpRevision, OlderClientsSayItInAHeaderOrNotAtAll) {
  EXPECT_EQ(spoken({}, request("tools/list", "{}")), "2025-03-26 ");
  EXPECT_EQ(spoken({{"Mcp-Protocol-Version", "2025-06-18"}}, request("ping", "{}")), "2025-06-18 ");
  EXPECT_EQ(spoken({{"Mcp-Protocol-Version", "2025-11-25"}}, request("ping", "{}")), "2025-11-25 ");
  EXPECT_EQ(spoken({{"Mcp-Protocol-Version", "2024-11-05"}}, request("ping", "{}")), "-32022");
  EXPECT_EQ(spoken({{"Mcp-Protocol-Version", "later"}},
                   R"({"jsonrpc":"2.0","method":"notifications/initialized"})"),
            "-32022");
  // Before they have agreed, it does not matter.
  EXPECT_EQ(spoken({{"Mcp-Protocol-Version", "1900-01-01"}}, request("initialize", "{}")),
            "2025-11-25 ");
}

TEST(McpRevision, SinceStatelessEveryRequestSaysIt) {
  EXPECT_EQ(spoken(stateless("tools/list"), request("tools/list", with_meta("2026-07-28"))),
            "2026-07-28 ");
  EXPECT_EQ(spoken(stateless("ping"),
                   request("ping",
                           R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                           R"("io.modelcontextprotocol/clientCapabilities":{},)"
                           R"("io.modelcontextprotocol/clientInfo":{"name":"n","version":"1"}}})")),
            "2026-07-28 n 1");
  EXPECT_EQ(spoken(stateless("tools/list"), request("tools/list", "{}")), "-32602");
  EXPECT_EQ(
      spoken(stateless("tools/list"),
             request("tools/list", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":7}})")),
      "-32602");
  EXPECT_EQ(spoken(stateless("tools/list"),
                   request("tools/list", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":)"
                                         R"("2026-07-28"}})")),
            "-32602");
  // A newer client asks for something newer; that is not the same as a mistake.
  EXPECT_EQ(spoken({{"MCP-Protocol-Version", "2027-01-01"}, {"Mcp-Method", "ping"}},
                   request("ping", with_meta("2027-01-01"))),
            "-32022");
  // A notification has no such parts.
  EXPECT_EQ(spoken(stateless("x"), R"({"jsonrpc":"2.0","method":"notifications/x"})"),
            "2026-07-28 ");
}

TEST(McpRevision, HeadersMustSayWhatTheMessageSays) {
  const std::string list = request("tools/list", with_meta("2026-07-28"));
  const std::string click =
      request("tools/call", with_meta("2026-07-28", R"(,"name":"browser_click")"));
  EXPECT_EQ(spoken({}, list), "-32020");
  EXPECT_EQ(spoken({{"MCP-Protocol-Version", "2025-11-25"}, {"Mcp-Method", "tools/list"}}, list),
            "-32020");
  EXPECT_EQ(spoken({{"MCP-Protocol-Version", "2026-07-28"}}, list), "-32020");
  EXPECT_EQ(spoken(stateless("Tools/list"), list), "-32020");
  EXPECT_EQ(spoken(stateless("tools/call"), click), "-32020");
  EXPECT_EQ(spoken(stateless("tools/call", "browser_hover"), click), "-32020");
  EXPECT_EQ(spoken(stateless("tools/call", "browser_click"), click), "2026-07-28 ");
  EXPECT_EQ(spoken(stateless("tools/call", "=?base64?YnJvd3Nlcl9jbGljaw==?="), click),
            "2026-07-28 ");
  EXPECT_EQ(spoken(stateless("tools/call", "=?base64?!!!?="), click), "-32020");
  EXPECT_EQ(spoken({{"MCP-Protocol-Version", "2026-07-28"},
                    {"Mcp-Method", "tools/list"},
                    {"Mcp-Method", "tools/call"}},
                   list),
            "-32020");
}

TEST(McpRevision, InitializeGetsWhatItAsksForOrTheNewestThatHasIt) {
  EXPECT_EQ(negotiated("2025-03-26"), McpRevision::k2025_03_26);
  EXPECT_EQ(negotiated("2025-06-18"), McpRevision::k2025_06_18);
  EXPECT_EQ(negotiated("2025-11-25"), McpRevision::k2025_11_25);
  EXPECT_EQ(negotiated("2026-07-28"), McpRevision::k2025_11_25);
  EXPECT_EQ(negotiated("2024-11-05"), McpRevision::k2025_11_25);
}

TEST(McpRevision, WhatAClientCallsItselfIsCutAndHasNoControlCharacters) {
  const auto called = [](const std::string& json) {
    const auto document = wire::parse_json(json);
    return mcp_client_of(document->root());
  };
  EXPECT_EQ(called(R"({"name":"a\nb","version":"1.2"})"), "a b 1.2");
  EXPECT_EQ(called(R"({"name":7,"version":"1.2"})"), "1.2");
  EXPECT_EQ(called("[]"), "");
  EXPECT_EQ(mcp_client_of(std::nullopt), "");
  EXPECT_EQ(called("{\"name\":\"" + std::string(kMaxMcpClientBytes, 'x') + "\"}").size(),
            kMaxMcpClientBytes);
  // Not in the middle of a character.
  EXPECT_EQ(called("{\"name\":\"" + std::string(kMaxMcpClientBytes - 1, 'x') + "ä\"}"),
            std::string(kMaxMcpClientBytes - 1, 'x'));
}

TEST(McpRevision, ProgressTokensAreKeptAsTheyAreSpelled) {
  const auto token = [](const std::string& json) {
    const auto document =
        wire::parse_json(request("tools/call", R"({"_meta":{"progressToken":)" + json + "}}"));
    const auto message = wire::parse_json_rpc(*document);
    return read_mcp_terms({}, *message)->progress_token;
  };
  EXPECT_EQ(token("7"), "7");
  EXPECT_EQ(token(R"("a\"b")"), R"("a\"b")");
  EXPECT_EQ(token("1.5"), "");
  EXPECT_EQ(token("null"), "");
}

}  // namespace
}  // namespace reprise::api
