#include "wire/websocket_handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/limits.h"

namespace reprise::wire {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";

Request request(std::initializer_list<std::pair<std::string_view, std::string>> headers) {
  Request made;
  for (const auto& [name, value] : headers) made.headers.add(name, value);
  return made;
}

Request sound() {
  return request({{"Connection", "keep-alive, Upgrade"},
                  {"Upgrade", "WebSocket"},
                  {"Sec-WebSocket-Version", "13"},
                  {"Sec-WebSocket-Key", std::string(kKey)}});
}

Code refusal(const Request& bad) { return read_websocket_offer(bad).error().code; }

TEST(WebSocketHandshake, AcceptsWhatTheRfcShows) {
  EXPECT_EQ(websocket_accept(kKey), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  const auto offer = read_websocket_offer(sound());
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_TRUE(offer->protocols.empty());
}

TEST(WebSocketHandshake, TakesListsInSeveralLines) {
  Request several = request({{"Connection", "close"},
                             {"Connection", ", ,upgrade"},
                             {"Upgrade", "h2c,websocket"},
                             {"Sec-WebSocket-Version", "13"},
                             {"Sec-WebSocket-Key", std::string(kKey)},
                             {"Sec-WebSocket-Protocol", "chat.v2, chat.v1"},
                             {"Sec-WebSocket-Protocol", "superchat"}});
  const auto offer = read_websocket_offer(several);
  ASSERT_TRUE(offer);
  EXPECT_THAT(offer->protocols, ElementsAre("chat.v2", "chat.v1", "superchat"));
}

TEST(WebSocketHandshake, WhatAsksForSomethingElseIsToldToUpgrade) {
  EXPECT_EQ(refusal(Request{}), Code::kUpgradeRequired);
  EXPECT_EQ(refusal(request({{"Upgrade", "websocket"}})), Code::kUpgradeRequired);
  EXPECT_EQ(refusal(request({{"Connection", "Upgrade"}, {"Upgrade", "h2c"}})),
            Code::kUpgradeRequired);
  Request other = sound();
  other.method = Method::kHead;
  EXPECT_EQ(refusal(other), Code::kUpgradeRequired);
  other = sound();
  other.minor_version = 0;
  EXPECT_EQ(refusal(other), Code::kUpgradeRequired);
  for (const char* version : {"8", "", "13, 8"})
    EXPECT_EQ(refusal(request({{"Connection", "Upgrade"},
                               {"Upgrade", "websocket"},
                               {"Sec-WebSocket-Version", version},
                               {"Sec-WebSocket-Key", std::string(kKey)}})),
              Code::kUpgradeRequired)
        << version;
}

TEST(WebSocketHandshake, AKeyIsSixteenBytesOnce) {
  for (const char* key :
       {"", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZQ=A", "dGhlIHNhbXBsZSBub25jZ===",
        "dGhlIHNhbXBsZSBub25j-Q==", "dGhlIHNhbXBsZSBub25jZSE=", "AdGhlIHNhbXBsZSBub25jZQ=="})
    EXPECT_EQ(refusal(request({{"Connection", "Upgrade"},
                               {"Upgrade", "websocket"},
                               {"Sec-WebSocket-Version", "13"},
                               {"Sec-WebSocket-Key", key}})),
              Code::kBadRequest)
        << key;
  Request twice = sound();
  twice.headers.add("Sec-WebSocket-Key", std::string(kKey));
  EXPECT_EQ(refusal(twice), Code::kBadRequest);
  SeededRandom random(3);
  const std::string key = make_websocket_key(random);
  EXPECT_TRUE(is_websocket_key(key));
  EXPECT_NE(key, make_websocket_key(random));
}

TEST(WebSocketHandshake, SubprotocolsAreTokensAndFew) {
  for (const char* list : {"a b", "a, a", "a;b", "\"a\""}) {
    Request bad = sound();
    bad.headers.add("Sec-WebSocket-Protocol", list);
    EXPECT_EQ(refusal(bad), Code::kBadRequest) << list;
  }
  const auto offering = [](std::size_t count) {
    Request many = sound();
    for (std::size_t i = 0; i < count; ++i)
      many.headers.add("Sec-WebSocket-Protocol", "p" + std::to_string(i));
    return many;
  };
  EXPECT_TRUE(read_websocket_offer(offering(kMaxSubprotocols)));
  EXPECT_EQ(refusal(offering(kMaxSubprotocols + 1)), Code::kBadRequest);
}

TEST(WebSocketHandshake, TheClientsPreferenceDecidesAmongTheKnown) {
  const std::vector<std::string_view> known = {"one", "two"};
  EXPECT_EQ(pick_subprotocol({.accept = "", .protocols = {"three", "two", "one"}}, known), "two");
  EXPECT_EQ(pick_subprotocol({.accept = "", .protocols = {"three"}}, known), "");
  EXPECT_EQ(pick_subprotocol({}, known), "");
}

TEST(WebSocketHandshake, AClientsRequestIsWhatAServerReads) {
  const std::vector<std::string_view> protocols = {"one", "two"};
  const auto head = websocket_request("127.0.0.1:9222", "/devtools/x", kKey, protocols);
  ASSERT_TRUE(head);
  RequestParser parser;
  ASSERT_EQ(parser.feed(*head), head->size());
  ASSERT_TRUE(parser.is_complete());
  const Request parsed = parser.take();
  EXPECT_EQ(parsed.target, "/devtools/x");
  EXPECT_EQ(parsed.headers.get("host"), "127.0.0.1:9222");
  EXPECT_FALSE(parsed.headers.get("origin"));
  const auto offer = read_websocket_offer(parsed);
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->accept, websocket_accept(kKey));
  EXPECT_THAT(offer->protocols, ElementsAre("one", "two"));
  for (const char* path : {"", "x", "/a b", "/a\r\nX: y"})
    EXPECT_EQ(websocket_request("h", path, kKey, {}).error().code, Code::kBadParameter) << path;
  EXPECT_EQ(websocket_request("h\r\n", "/", kKey, {}).error().code, Code::kBadParameter);
}

TEST(WebSocketHandshake, AClientChecksTheAnswer) {
  const std::vector<std::string_view> protocols = {"one"};
  const auto outcome = [&](int status,
                           std::initializer_list<std::pair<std::string_view, std::string>> all) {
    return check_websocket_answer(status, request(all).headers, kKey, protocols).has_value();
  };
  const std::pair<std::string_view, std::string> upgrade{"Upgrade", "websocket"};
  const std::pair<std::string_view, std::string> connection{"Connection", "Upgrade"};
  const std::pair<std::string_view, std::string> accept{"Sec-WebSocket-Accept",
                                                        websocket_accept(kKey)};
  EXPECT_TRUE(outcome(101, {upgrade, connection, accept}));
  EXPECT_TRUE(outcome(101, {upgrade, connection, accept, {"Sec-WebSocket-Protocol", "one"}}));
  EXPECT_FALSE(outcome(200, {upgrade, connection, accept}));
  EXPECT_FALSE(outcome(101, {connection, accept}));
  EXPECT_FALSE(outcome(101, {upgrade, accept}));
  EXPECT_FALSE(outcome(101, {upgrade, connection}));
  EXPECT_FALSE(outcome(101, {upgrade, connection, accept, accept}));
  EXPECT_FALSE(outcome(101, {upgrade, connection, {"Sec-WebSocket-Accept", "x"}}));
  EXPECT_FALSE(outcome(101, {upgrade, connection, accept, {"Sec-WebSocket-Protocol", "two"}}));
  EXPECT_FALSE(outcome(
      101, {upgrade, connection, accept, {"Sec-WebSocket-Extensions", "permessage-deflate"}}));
}

}  // namespace
}  // namespace reprise::wire
